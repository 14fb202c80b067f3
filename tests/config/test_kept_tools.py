"""The tools that were set up on the screen, and the user's own settings over them."""

import pytest

from tui.config.loading import load_settings, load_tools
from tui.config.settings_schema import Config, ToolServerSettings, ToolSettings
from tui.config.writing import as_toml, tools_toml
from tui.errors import ConfigError

TIME = ToolServerSettings(command=("uvx", "mcp-server-time"), env={"TZ": "s3cret"}, timeout=5.0)
READ = ToolSettings(enabled=("read_file",))
WEB = ToolServerSettings(url="https://tools.example/mcp", headers={"X-Key": 'a "b"'})


@pytest.fixture
def kept(tmp_path):
    """Writes ``tools.toml``, and gives the path of ``config.toml``."""

    def write(tools: Config):
        (tmp_path / "tools.toml").write_text(tools_toml(tools))
        return tmp_path / "config.toml"

    return write


def test_what_is_kept_is_read_as_it_was(kept):
    tools = Config(tools=READ, mcp={"time": TIME, "web": WEB})
    assert load_tools(kept(tools).with_name("tools.toml")) == tools


def test_only_what_was_chosen_is_written():
    text = tools_toml(Config(mcp={"web": WEB}))
    assert [line for line in text.splitlines() if line and line[0] != "#"] == [
        "[tools]",
        "[mcp.web]",
        'url = "https://tools.example/mcp"',
        'headers = {X-Key = "a \\"b\\""}',
    ]


def test_the_users_own_server_of_a_name_wins_and_others_come_beside_it(kept):
    file = kept(Config(tools=READ, mcp={"time": TIME, "web": WEB}))
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
