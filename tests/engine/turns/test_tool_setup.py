"""Tools that are set up: servers as they are typed, what is kept of them, and what is none."""

import pytest

from tests.engine.scripted_servers import ScriptedServers, set_up
from tests.tables import each_row
from tui.config.loading import load_tools
from tui.config.settings_schema import ToolServerSettings
from tui.engine.turns.tools import line_of, name_for, typed_server
from tui.errors import ConfigError, UsageError


@each_row(
    "line, name",
    [
        ("uvx mcp-server-time", "time"),
        ("npx -y @modelcontextprotocol/server-filesystem /home/me", "filesystem"),
        ("python3 weather.py --metric", "weather"),
        ("docker run -i --rm mcp/git", "git"),
        ("https://mcp.linear.app/mcp?key=1", "linear"),
        ("http://127.0.0.1:8080/mcp", "127"),
        ("npx a_very.long__name-that-goes-on-and-on", "a-very"),
        ("uvx -q", ""),
    ],
)
def test_a_server_is_named_after_its_program_or_host(line, name):
    assert name_for(line) == name


def test_a_command_line_is_read_as_by_a_shell_and_its_paths_are_whole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/me")
    (tmp_path / "server.py").touch()
    (tmp_path / "plain").touch()
    line = "python3 server.py --root ~/notes 'two words' plain none.py"
    server = typed_server(line, "notes", {"API_KEY": "s3cret"})
    path = str(tmp_path / "server.py")
    assert server.command == (
        *("python3", path, "--root", "/home/me/notes", "two words", "plain", "none.py"),
    )
    assert server.env == {"API_KEY": "s3cret"}
    assert typed_server(line_of(server), "notes", {}).command == server.command


def test_an_address_has_headers_and_is_not_shown_where_it_has_secrets():
    server = typed_server(" https://tools.example/mcp ", "web", {"X-Key": "1"})
    assert (server.url, server.headers) == ("https://tools.example/mcp", {"X-Key": "1"})
    assert line_of(server) == "https://tools.example/mcp"
    assert line_of(typed_server("https://a.example/?key=s3cret", "a", {})) == ""


def test_what_is_not_typed_stays():
    old = ToolServerSettings(command=("a",), env={"A": "1"}, tools=("b",), timeout=5.0)
    assert typed_server("c", "x", {}, old) == ToolServerSettings(
        command=("c",), tools=("b",), timeout=5.0
    )


def test_a_client_of_ones_own_is_for_its_address_alone():
    old = ToolServerSettings(url="https://a.example/mcp", client_id="me", client_secret="s3cret")
    assert typed_server("https://a.example/mcp", "a", {}, old) == old
    moved = typed_server("https://b.example/mcp", "a", {}, old)
    assert (moved.client_id, moved.client_secret) == (None, None)
    assert typed_server("uvx a", "a", {}, old).command == ("uvx", "a")


@each_row(
    "line, name, secrets, words",
    [
        ("", "time", {}, "expected either a command or a url"),
        ("python 'open", "time", {}, "This is not a command line: No closing quotation"),
        ("uvx time", "with blank", {}, "a name of at most 20"),
        ("uvx time", "time", {"A-B": "1"}, "the name of an environment variable"),
        ("http://", "web", {}, "an address"),
        ("http://a.example/mcp", "web", {"X": "two\nlines"}, "one line of ASCII"),
    ],
)
def test_what_is_no_server_says_so(line, name, secrets, words):
    with pytest.raises(UsageError, match=words):
        typed_server(line, name, secrets)


SERVER = ToolServerSettings(command=("time",))


async def test_a_server_that_cannot_be_kept_is_ended_and_the_file_left_as_it_is(tmp_path):
    file = tmp_path / "tools.toml"
    file.write_text("damaged")
    setup, trial = set_up(file=tmp_path / "config.toml"), ScriptedServers()
    with pytest.raises(ConfigError):
        await setup.keep("time", SERVER, trial)
    assert trial.closed == 1
    assert file.read_text() == "damaged"
    assert setup.kept_server("time") is None


async def test_what_another_window_has_kept_meanwhile_stays(tmp_path):
    one, other = (set_up(file=tmp_path / "config.toml") for _ in range(2))
    await one.switch("read_file", on=True)
    await other.switch("list_files", on=True)
    assert load_tools(tmp_path / "tools.toml").tools.enabled == ("read_file", "list_files")
    await one.switch("read_file", on=False)
    assert load_tools(tmp_path / "tools.toml").tools.enabled == ("list_files",)
    assert one.enabled == ("list_files",)
