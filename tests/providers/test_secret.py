"""Keys come from where the user put them, and are shown nowhere."""

import json
import os
import pickle
from pathlib import Path

import pytest

from tui.errors import ConfigError
from tui.providers.secret import Secret, key_from_environment, key_from_file

KEY = "sk-test-0123456789"


class TestASecret:
    def test_shows_only_where_it_came_from(self):
        secret = Secret(KEY, "OPENAI_API_KEY")
        shown = f"{secret} {[secret]}"
        assert "OPENAI_API_KEY" in shown
        assert KEY not in shown

    def test_is_written_nowhere(self):
        secret = Secret(KEY, "OPENAI_API_KEY")
        with pytest.raises(TypeError):
            pickle.dumps(secret)
        with pytest.raises(TypeError):
            json.dumps(secret)
        assert not hasattr(secret, "__dict__")

    def test_hides_itself_in_a_text(self):
        secret = Secret(KEY, "OPENAI_API_KEY")
        assert secret.hide_in(f"Bearer {KEY}, {KEY}!") == "Bearer [key], [key]!"

    def test_does_not_spoil_a_text_where_it_is_no_secret(self):
        assert Secret("x", "X_API_KEY").hide_in("extra text") == "extra text"


class TestFromTheEnvironment:
    def test_a_key_is_taken_without_the_space_around_it(self):
        secret = key_from_environment("K", {"K": f" {KEY}\n"})
        assert secret is not None
        assert (secret.reveal(), secret.source) == (KEY, "K")

    @pytest.mark.parametrize("environ", [{}, {"K": ""}, {"K": "  \n"}])
    def test_none_is_none(self, environ: dict[str, str]):
        assert key_from_environment("K", environ) is None

    @pytest.mark.parametrize("text", [f"{KEY}\n{KEY}", f"my {KEY}", f"{KEY}é", f"{KEY}\x00"])
    def test_what_cannot_be_a_key_is_an_error_that_does_not_quote_it(self, text: str):
        with pytest.raises(ConfigError) as caught:
            key_from_environment("K", {"K": text})
        assert str(caught.value).startswith("environment: K: this is not a key")
        assert KEY not in str(caught.value)


class TestFromAFile:
    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        file = tmp_path / "my.key"
        file.write_text(f"{KEY}\n")
        file.chmod(0o600)
        return file

    def read(self, file: Path) -> Secret:
        return key_from_file(file, "config.toml", "providers.local.api_key_file")

    def test_a_key_is_taken_and_told_by_the_files_name(self, file: Path):
        secret = self.read(file)
        assert (secret.reveal(), secret.source) == (KEY, str(file))

    @pytest.mark.parametrize("mode", [0o400, 0o600, 0o700])
    def test_it_may_be_the_owners_alone(self, file: Path, mode: int):
        file.chmod(mode)
        assert self.read(file).reveal() == KEY

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601, 0o644])
    def test_that_others_may_use_is_refused_with_the_remedy(self, file: Path, mode: int):
        file.chmod(mode)
        with pytest.raises(ConfigError) as caught:
            self.read(file)
        assert str(caught.value) == (
            "config.toml: providers.local.api_key_file: other users can read"
            f" {file}. Run: chmod 600 {file}"
        )

    def test_that_is_not_there_is_told(self, tmp_path: Path):
        with pytest.raises(ConfigError, match=r"none cannot be read: No such file"):
            self.read(tmp_path / "none")

    def test_that_is_no_file_is_told_and_not_waited_for(self, tmp_path: Path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe, 0o600)
        for place in (pipe, tmp_path):
            with pytest.raises(ConfigError, match="is not a file"):
                self.read(place)

    @pytest.mark.parametrize("quote", ['"', "'", "`"])
    def test_a_key_in_quotes_is_taken_without_them(self, file: Path, quote: str):
        file.write_text(f"{quote}{KEY}{quote}\n")
        secret = self.read(file)
        assert (secret.reveal(), secret.was_quoted) == (KEY, True)
        file.write_text(KEY)
        assert not self.read(file).was_quoted

    @pytest.mark.parametrize("text", ["", "\n", f"{KEY}\n{KEY}\n", "é", "\x00"])
    def test_that_holds_no_key_is_told_and_not_quoted(self, file: Path, text: str):
        file.write_text(text)
        with pytest.raises(ConfigError, match="this is not a key") as caught:
            self.read(file)
        assert KEY not in str(caught.value)
