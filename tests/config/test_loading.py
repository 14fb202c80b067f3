"""What is kept beside the configuration, the levels of a model, and passwords of a store."""

from pathlib import Path

import pytest

from tui.config.loading import (
    Flags,
    configured_levels,
    load_connections,
    load_settings,
    load_tools,
    without_password,
)
from tui.config.settings_schema import (
    Config,
    Connections,
    ProviderSettings,
    ToolServerSettings,
    ToolSettings,
)
from tui.config.writing import as_toml, connections_toml, example, tools_toml
from tui.domain.models import Level, ModelParameters, ModelSettings, Sourced
from tui.errors import ConfigError

TIME = ToolServerSettings(command=("uvx", "mcp-server-time"), env={"TZ": "s3cret"}, timeout=5.0)
READ = ToolSettings(enabled=("read_file",))
WEB = ToolServerSettings(url="https://tools.example/mcp", headers={"X-Key": 'a "b"'})


@pytest.fixture
def kept_tools(tmp_path):
    """Writes ``tools.toml``, and gives the path of ``config.toml``."""

    def write(tools: Config):
        (tmp_path / "tools.toml").write_text(tools_toml(tools))
        return tmp_path / "config.toml"

    return write


def test_what_is_kept_is_read_as_it_was_and_only_what_was_chosen_is_written(kept_tools):
    tools = Config(tools=READ, mcp={"time": TIME, "web": WEB})
    assert load_tools(kept_tools(tools).with_name("tools.toml")) == tools
    text = tools_toml(Config(mcp={"web": WEB}))
    assert [line for line in text.splitlines() if line and line[0] != "#"] == [
        "[tools]",
        "[mcp.web]",
        'url = "https://tools.example/mcp"',
        'headers = {X-Key = "a \\"b\\""}',
    ]


def test_the_users_own_server_of_a_name_wins_and_others_come_beside_it(kept_tools):
    file = kept_tools(Config(tools=READ, mcp={"time": TIME, "web": WEB}))
    file.write_text('[tools]\nenabled = ["write_todos"]\n[mcp.time]\ncommand = ["mine"]\n')
    settings = load_settings(file, {})
    assert {name: each.command for name, each in settings.tool_servers.items()} == {
        "time": ("mine",),
        "web": (),
    }
    shown = as_toml(settings)
    assert 'enabled = ["write_todos", "read_file"]' in shown
    assert "s3cret" not in shown
    assert "[mcp.web]" in shown


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[tools]\nenabled = ["rm"]', "tools.enabled[1]"),
        ("[mcp.time]", "mcp.time"),
        ("[mcp.time]\ncommand = []\nurl = 'x'", "mcp.time.url"),
        ("more = 1", "more"),
    ],
)
def test_a_damaged_file_is_named_with_its_key(tmp_path, text, key):
    file = tmp_path / "tools.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_tools(file)
    assert (caught.value.source, caught.value.key) == (str(file), key)


TEXT = """
system_prompt = "Everywhere."

[providers.openai]
temperature = 1
max_tokens = 300
effort = "low"

[models."openai:gpt-6-luna"]
system_prompt = ""
temperature = 0
effort = "off"
"""


@pytest.fixture
def configured(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text(TEXT)
    settings = load_settings(file, {})
    return lambda model: ModelSettings(configured_levels(settings, model))


def test_the_model_goes_before_its_provider_and_that_before_all(configured):
    settings = configured("openai:gpt-6-luna")
    assert settings.parameters == ModelParameters(temperature=0, max_tokens=300, effort="off")
    assert settings.system_prompt == ""
    assert settings.sourced("temperature") == Sourced(
        0, '[models."openai:gpt-6-luna"] in config.toml'
    )
    assert settings.sourced("max_tokens") == Sourced(300, "[providers.openai] in config.toml")
    settings = configured("openai:other")
    assert settings.parameters == ModelParameters(temperature=1, max_tokens=300, effort="low")
    assert settings.sourced("system_prompt") == Sourced("Everywhere.", "config.toml")
    settings = configured("ollama:gpt-6-luna")
    assert settings.parameters == ModelParameters()
    assert settings.sourced("temperature") is None
    assert settings.system_prompt == "Everywhere."


def test_tools_are_offered_unless_they_are_off_for_the_model_or_its_provider(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_text("providers.ollama.tools = false\nmodels.'ollama:qwen3'.tools = true")
    settings = load_settings(file, {})
    offered = {
        name: ModelSettings(configured_levels(settings, name)).offers_tools
        for name in ("ollama:gemma3", "ollama:qwen3", "openai:gpt-6-luna")
    }
    assert offered == {"ollama:gemma3": False, "ollama:qwen3": True, "openai:gpt-6-luna": True}


def test_the_first_level_counts_even_with_nothing_in_it():
    settings = ModelSettings(
        [Level("here", system_prompt="", temperature=0), Level("there", "x", 1)]
    )
    assert (settings.system_prompt, settings.parameters.temperature) == ("", 0)


ADDRESSES = [
    "postgresql://me:s3cret@db.example.org/sibyl",
    "postgresql://me:s3cret@db.example.org:5432/sibyl?sslmode=verify-full",
    "postgresql://me:s3/c?r@s3cret@db.example.org/sibyl",
    "postgresql://db.example.org/sibyl?user=me&password=s3cret",
    "postgresql://db.example.org/sibyl?sslpassword=s3cret&sslmode=require",
]
PLAIN = "postgresql://me@db.example.org:5432/sibyl?sslmode=verify-full"


@pytest.fixture
def file(tmp_path):
    return tmp_path / "config.toml"


@pytest.mark.parametrize("address", ADDRESSES)
def test_it_is_hidden_and_refused_as_an_argument_and_not_quoted(address, file):
    shown = without_password(address)
    assert ("s3" in shown, "db.example.org" in shown) == (False, True)
    with pytest.raises(ConfigError, match="--store: the address has a password") as refused:
        load_settings(file, {}, Flags(store=address))
    assert "s3" not in str(refused.value)


def test_an_address_without_a_password_may_be_anywhere_and_is_shown_whole(file):
    address = "postgresql://me:@db.example.org/sibyl"
    assert load_settings(file, {}, Flags(store=address)).config.store == address
    with pytest.raises(ConfigError, match="--store: the address has a password"):
        load_settings(file, {}, Flags(store="postgresql://me:@s3cret@db.example.org/sibyl"))

    file.write_text(f'store = "{PLAIN}"\n')
    file.chmod(0o644)
    assert load_settings(file, {}).config.store == without_password(PLAIN) == PLAIN
    assert load_settings(file, {}, Flags(store="")).config.store == ""
    assert '#store = "postgresql://me@db.example.org/sibyl"' in example()


def test_a_password_is_refused_in_a_file_that_others_can_read_else_read_and_not_shown(file):
    file.write_text(f'store = "{ADDRESSES[0]}"\n')
    file.chmod(0o640)
    with pytest.raises(ConfigError, match="other users can read this file") as refused:
        load_settings(file, {})
    assert "s3" not in str(refused.value)

    of_variable = load_settings(file, {"SIBYL_STORE": ADDRESSES[0]})
    file.write_text(f'store = "{ADDRESSES[0]}"\n')
    file.chmod(0o600)
    for settings in (of_variable, load_settings(file, {})):
        assert settings.config.store == ADDRESSES[0]
        assert 'store = "postgresql://me:[hidden]@db.example.org/sibyl"' in as_toml(settings)


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
    assert load_connections(file) == Connections()
    file.write_text(connections_toml(kept, tmp_path))
    assert load_connections(file) == kept
    assert 'api_key_file = "keys/openai.key"' in file.read_text()


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
    own = '[providers.local]\nbase_url = "http://mine/v1"\nretries = 0\n'
    settings = write(f'model = "openai:mine"\n{own}', kept)
    assert settings.model == "openai:mine"
    assert settings.provider("local").base_url == "http://mine/v1"
    assert settings.provider("local").retries == 0
    assert settings.provider("openai").api_key_file is not None


def test_one_without_an_address_is_there_as_long_as_the_configuration_has_its_server(write):
    kept = Connections().with_connected("gate", ProviderSettings(), "gate:a")
    settings = write(f'[providers.gate]\nbase_url = "{LOCAL}"\n', kept)
    assert (settings.model, settings.provider("gate").base_url) == ("gate:a", LOCAL)
    settings = write("", kept)
    assert (settings.model, settings.providers) == (None, ())


def test_it_is_shown_with_its_file_and_without_its_key(write, kept, tmp_path: Path):
    write("", kept)
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "openai.key").write_text("sk-secret")
    shown = as_toml(load_settings(tmp_path / "config.toml", {}))
    place = tmp_path / "connections.toml"
    assert f'base_url = "{LOCAL}"  # {place}' in shown
    assert "sk-secret" not in shown


def test_the_model_that_was_chosen_last_comes_first_and_goes_with_its_connection(kept):
    chosen = Connections().with_chosen("a:1").with_chosen("b:2").with_chosen("a:1")
    assert (chosen.recent, chosen.chosen_of("a")) == (("a:1", "b:2"), ("1",))
    assert chosen.model is None
    left = kept.with_connected("local", ProviderSettings(), "local:x").without("local")
    assert (left.model, left.recent, [*left.providers]) == (None, ("openai:b",), ["openai"])
