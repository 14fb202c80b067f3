"""Connections lie below the user's own settings, and are read as carefully."""

from pathlib import Path

import pytest

from tui.config.loading import load_connections, load_settings
from tui.config.settings_schema import Connections, ProviderSettings
from tui.config.writing import as_toml, connections_toml
from tui.errors import ConfigError

LOCAL = "http://127.0.0.1:8080/v1"


@pytest.fixture
def kept(tmp_path: Path):
    return Connections(
        model='local:q"w\\en\u2028',
        recent=("local:a", "openai:b"),
        providers={
            "local": ProviderSettings(base_url=LOCAL),
            "openai": ProviderSettings(api_key_file=str(tmp_path / "keys" / "openai.key")),
        },
    )


@pytest.fixture
def write(tmp_path: Path):
    """Write both files; gives the settings."""

    def write(config: str, connections: Connections):
        file = tmp_path / "config.toml"
        file.write_text(config)
        text = connections_toml(connections, tmp_path)
        (tmp_path / "connections.toml").write_text(text)
        return load_settings(file, {})

    return write


def test_the_file_holds_what_was_written(tmp_path: Path, kept):
    file = tmp_path / "connections.toml"
    file.write_text(connections_toml(kept, tmp_path))
    assert load_connections(file) == kept
    assert 'api_key_file = "keys/openai.key"' in file.read_text()


def test_without_a_file_there_are_none(tmp_path: Path):
    assert load_connections(tmp_path / "connections.toml") == Connections()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = 3", "model: expected PROVIDER:MODEL"),
        ('[providers.local]\nbase_url = "x"', "providers.local.base_url: expected an address"),
        ("nonsense", "this is not TOML"),
        ('colour = "red"', "colour: there is no such key"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(tmp_path: Path, text: str, said: str):
    file = tmp_path / "connections.toml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=f"^{file}: .*{said}"):
        load_connections(file)


def test_a_connection_counts_where_the_configuration_says_nothing(write, kept, tmp_path: Path):
    settings = write("", kept)
    assert settings.model == kept.model
    assert not settings.insists
    assert settings.providers == ("local", "openai")
    assert settings.provider("local").base_url == LOCAL


def test_one_without_an_address_is_there_as_long_as_the_configuration_has_its_server(write):
    kept = Connections(model="gate:a", recent=("gate:a",)).with_provider("gate", ProviderSettings())
    settings = write(f'[providers.gate]\nbase_url = "{LOCAL}"\n', kept)
    assert (settings.model, settings.provider("gate").base_url) == ("gate:a", LOCAL)
    settings = write("", kept)
    assert (settings.model, settings.providers) == (None, ())


def test_the_configuration_wins(write, kept):
    own = '[providers.local]\nbase_url = "http://mine/v1"\nretries = 0\n'
    settings = write(f'model = "openai:mine"\n{own}', kept)
    assert settings.model == "openai:mine"
    assert settings.provider("local").base_url == "http://mine/v1"
    assert settings.provider("local").retries == 0
    assert settings.provider("openai").api_key_file is not None


def test_it_is_shown_with_its_file_and_without_its_key(write, kept, tmp_path: Path):
    write("", kept)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "openai.key").write_text("sk-secret")
    shown = as_toml(load_settings(tmp_path / "config.toml", {}))
    place = tmp_path / "connections.toml"
    assert f'base_url = "{LOCAL}"  # {place}' in shown
    assert "sk-secret" not in shown


def test_the_model_that_was_chosen_last_comes_first():
    chosen = Connections().with_chosen("a:1").with_chosen("b:2").with_chosen("a:1")
    assert chosen.recent == ("a:1", "b:2")
    assert chosen.chosen_of("a") == ("1",)
    assert chosen.model is None
    assert chosen.with_default("c:3").model == "c:3"


def test_what_is_removed_takes_its_models_along(kept):
    left = kept.with_default("local:x").without("local")
    assert left.model is None
    assert left.recent == ("openai:b",)
    assert [*left.providers] == ["openai"]
