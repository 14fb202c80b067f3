"""Keys come from where the user put them, and are shown nowhere."""

import asyncio
import json
import os
import pickle
import sys
from pathlib import Path

import pytest

from tests.providers.chat_server import ChatServer, answers
from tests.providers.conftest import a_choice, asks, collected, text_of
from tests.tables import each_row
from tests.waiting import until
from tui.errors import ConfigError, KeyRefused, ModelUnavailable
from tui.programs import end_programs
from tui.providers import secret as secrets
from tui.providers.secret import Secret, key_from_command, key_from_environment, key_from_file
from tui.providers.source import LazyModel

KEY = "sk-test-0123456789"


class TestASecret:
    def test_shows_only_where_it_came_from_and_is_written_nowhere(self):
        secret = Secret(KEY, "OPENAI_API_KEY")
        shown = f"{secret} {[secret]}"
        assert "OPENAI_API_KEY" in shown
        assert KEY not in shown
        for write in (pickle.dumps, json.dumps):
            with pytest.raises(TypeError):
                write(secret)
        assert not hasattr(secret, "__dict__")

    def test_hides_itself_in_a_text_but_does_not_spoil_one_where_it_is_no_secret(self):
        assert Secret(KEY, "K").hide_in(f"Bearer {KEY}, {KEY}!") == "Bearer [key], [key]!"
        assert Secret("x", "K").hide_in("extra text") == "extra text"


class TestFromTheEnvironment:
    def test_a_key_is_taken_without_the_space_around_it_and_none_is_none(self):
        secret = key_from_environment("K", {"K": f" {KEY}\n"})
        assert secret is not None
        assert (secret.reveal(), secret.source) == (KEY, "K")
        assert not any(key_from_environment("K", each) for each in ({}, {"K": ""}, {"K": " \n"}))

    @each_row("text", [f"{KEY}\n{KEY}", f"my {KEY}", f"{KEY}é", f"{KEY}\x00"])
    def test_what_cannot_be_a_key_is_an_error_that_does_not_quote_it(self, text):
        with pytest.raises(ConfigError, match=r"^environment: K: this is not a key") as caught:
            key_from_environment("K", {"K": text})
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

    @pytest.mark.parametrize("mode", [0o400, 0o600, 0o700])
    def test_a_key_that_is_the_owners_alone_is_taken_and_told_by_the_files_name(self, file, mode):
        file.chmod(mode)
        secret = self.read(file)
        assert (secret.reveal(), secret.source, secret.was_quoted) == (KEY, str(file), False)

    @pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o601, 0o644])
    def test_that_others_may_use_is_refused_with_the_remedy(self, file, mode):
        file.chmod(mode)
        with pytest.raises(ConfigError) as caught:
            self.read(file)
        assert str(caught.value) == (
            "config.toml: providers.local.api_key_file: other users can read"
            f" {file}. Run: chmod 600 {file}"
        )

    def test_that_is_not_there_is_told(self, tmp_path):
        with pytest.raises(ConfigError, match=r"none cannot be read: No such file"):
            self.read(tmp_path / "none")

    def test_that_is_no_file_is_told_and_not_waited_for(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe, 0o600)
        for place in (pipe, tmp_path):
            with pytest.raises(ConfigError, match="is not a file"):
                self.read(place)

    @pytest.mark.parametrize("quote", ['"', "'", "`"])
    def test_a_key_in_quotes_is_taken_without_them(self, file, quote):
        file.write_text(f"{quote}{KEY}{quote}\n")
        secret = self.read(file)
        assert (secret.reveal(), secret.was_quoted) == (KEY, True)

    @pytest.mark.parametrize("text", ["", "\n", f"{KEY}\n{KEY}\n", "é", "\x00"])
    def test_that_holds_no_key_is_told_and_not_quoted(self, file, text):
        file.write_text(text)
        with pytest.raises(ConfigError, match="this is not a key") as caught:
            self.read(file)
        assert KEY not in str(caught.value)


def printing(text: str, after: str = "") -> list[str]:
    return [sys.executable, "-c", f"import sys, time; sys.stdout.write({text!r}); {after}"]


class TestFromACommand:
    def test_a_key_is_the_first_line_and_the_command_is_run_once(self, tmp_path):
        log = tmp_path / "log"
        command = printing("sk-1234\nuser: me\n", f"open({str(log)!r}, 'a').write('x')")
        key = key_from_command(command, "local")
        assert (key.reveal(), key.source) == ("sk-1234", "key_command of local")
        assert key_from_command(command, "local") is key
        assert log.read_text() == "x"

    def test_that_failed_is_run_again(self, tmp_path):
        file = tmp_path / "key"
        with pytest.raises(ModelUnavailable):
            key_from_command(["cat", str(file)], "local")
        file.write_text("sk-1234")
        assert key_from_command(["cat", str(file)], "local").reveal() == "sk-1234"

    @each_row(
        "command, said",
        [
            (["/none/pass"], "cannot be run: /none/pass: No such file or directory."),
            (["a\0b"], "cannot be run: a\0b: it has characters that no name can have."),
            (["sh", "-c", "echo sk-secret; echo sk-s >&2; exit 3"], "failed with status 3: sh."),
            (printing(""), "printed no key in its first line."),
            (printing("", "\nwhile True: print('sk-secret')"), "printed more than a key."),
            (printing("sk secret \n"), "printed no key in its first line."),
        ],
    )
    def test_a_failure_is_told_without_what_was_printed(self, command, said):
        with pytest.raises(ModelUnavailable) as caught:
            key_from_command(command, "local")
        assert str(caught.value) == f"The key_command of local {said}"

    def test_that_does_not_end_is_ended(self, monkeypatch):
        monkeypatch.setattr(secrets, "SECONDS", 0.2)
        with pytest.raises(ModelUnavailable, match=r"printed no key within 0\.2 seconds\."):
            key_from_command(["sh", "-c", "sleep 600 | cat"], "local")

    async def test_ends_with_the_answer_that_waits_for_it(self, tmp_path):
        begun = tmp_path / "pid"
        command = ("sh", "-c", f"sleep 600 & echo $! > {begun}; wait")
        model = LazyModel(a_choice("local", "m", "http://127.0.0.1:9", key_command=command))
        answer = asyncio.create_task(collected(model.stream(asks())))
        await until(lambda: begun.exists() and begun.read_text().endswith("\n"), "the command")
        answer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answer
        await until(lambda: not Path(f"/proc/{begun.read_text().strip()}/fd").exists(), "its end")
        begun.rename(tmp_path / "pid2")
        again = asyncio.create_task(model.window())
        await until(lambda: begun.exists() and begun.read_text().endswith("\n"), "the second run")
        # It may not yet be known as running when its file is there.
        await until(lambda: end_programs(command) or again.done(), "its end")
        await asyncio.gather(again, return_exceptions=True)

    def test_is_that_of_a_choice_unless_it_has_one(self):
        choice = a_choice("local", "m", key_command=tuple(printing("sk-of-a-command")))
        keyed = choice.keyed()
        assert keyed.key is not None
        assert keyed.key.reveal() == "sk-of-a-command"
        assert keyed.keyed() is keyed
        assert a_choice().keyed().key is None

    async def test_that_is_refused_is_printed_anew_for_the_next_request(self, tmp_path):
        expired = tmp_path / "expired"
        code = f"import os; p = {str(expired)!r}; print('sk-new' if os.path.exists(p) else 'sk-a')"
        command = (sys.executable, "-c", code)
        with ChatServer(answers("Hello."), key="sk-new") as server:
            choice = a_choice("local", "m", server.base_url, key_command=command, timeout=30)
            model = LazyModel(choice)
            with pytest.raises(KeyRefused, match="refused the key from key_command of local"):
                await collected(model.stream(asks()))
            expired.touch()
            assert text_of(await collected(model.stream(asks()))) == "Hello."
