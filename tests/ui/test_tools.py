"""The list of tools, on the screen of the whole program."""

import sys
from pathlib import Path

import pytest
from textual import events

from tests.engine.scripted_servers import ScriptedServers, offered, set_up
from tests.ui.screen import (
    activity,
    have_answered,
    notices,
    send,
    text_of,
    wait_for_answer,
)
from tests.ui.world import PLACE, full_disk, messages
from tests.visible_text import visible_text
from tests.waiting import until
from tui.app.controllers import background
from tui.config.loading import load_settings, load_tools
from tui.config.settings_schema import ToolServerSettings
from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import ToolApproval
from tui.engine.sessions.open_session import SessionOrigin
from tui.engine.turns.tools import ToolApprovals, Tools, ToolSetup
from tui.screens.page import ReportScreen
from tui.screens.tools import ToolScreen
from tui.storage import state_files

READ = ToolApproval("files", "read_file", "1")
CALL = ToolCall("c1", "files__read_file", {"path": "README.md"})


@pytest.fixture
def with_tools(world):
    """Makes a world whose model has tools and gives these answers."""

    def make(*answers, servers=None):
        w = world(*answers)
        w.servers = servers or ScriptedServers(
            offered(), offered("write_file", description="Write \x1b[31m\nit.")
        )
        names = ("write_todos", "search_sessions")
        setup = set_up(*names, servers=w.servers, file=w.root.parent / "config" / "config.toml")
        w.tools = Tools(setup, approvals=ToolApprovals(w.approvals_file))
        return w

    return make


def shown(app):
    """What the list says and shows."""
    screen = app.screen
    if not isinstance(screen, ToolScreen):
        return ""
    return "\n".join([str(screen.words.content), *visible_text(screen.choices)])


async def listed(app, pilot, words="search_sessions"):
    await send(pilot, "/tools")
    await until(lambda: words in shown(app), words)


async def highlight(app, pilot, row):
    """Go down to a row."""
    await until(lambda: app.screen.choices.highlighted, "a highlight")
    for _ in app.screen.choices.lines:
        if app.screen.choices.highlighted.id == row:
            return
        await pilot.press("down")
    raise AssertionError(f"no row {row} in {shown(app)}")


async def test_it_lists_tools_and_servers_and_starts_none(with_tools):
    w = with_tools(["Hello."])
    async with w.running() as (app, pilot):
        await listed(app, pilot)
        assert "● write_todos" in shown(app)
        assert "not started" in shown(app)
        assert w.servers.started == 0
        await pilot.press("escape")
        await have_answered(w, pilot, "hi")
        await listed(app, pilot, "ready, 2 tools")
        assert "read_file" in shown(app)
        assert "\x1b" not in shown(app)
        assert "Write ␛[31m it." in shown(app)


async def test_a_tool_is_switched_off_for_this_session_and_on_again(with_tools):
    w = with_tools(["One."], ["Two."], ["Three."])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "hi")
        await listed(app, pilot, "ready, 2 tools")
        await highlight(app, pilot, "tool:files__read_file")
        await pilot.press("space")
        await until(lambda: "○   read_file" in shown(app), "it is off")
        await pilot.press("escape")
        await send(pilot, "again", shows="Two.")
        offered_now = [each.name for each in w.model.requests[1].tools]
        assert offered_now == ["search_sessions", "write_todos", "files__write_file"]
        there = w.workspace.current.id
    assert w.other_program().journal(there).load().settings.tools_off == ("files__read_file",)
    async with w.running(there) as (app, pilot):
        await listed(app, pilot, "○   read_file")
        await highlight(app, pilot, "tool:files__read_file")
        await pilot.press("space")
        await until(lambda: "●   read_file" in shown(app), "it is on again")
        await pilot.press("escape")
        await send(pilot, "and on", shows="Three.")
        assert "files__read_file" in [each.name for each in w.model.requests[2].tools]


async def test_a_tool_of_the_program_is_switched_on_for_good_and_off_again(with_tools):
    w = with_tools(["One."], ["Two."])
    file = w.root.parent / "config" / "tools.toml"
    async with w.running() as (app, pilot):
        await listed(app, pilot, "○ read_file")
        await highlight(app, pilot, "tool:read_file")
        await pilot.press("space")
        await until(lambda: "● read_file" in shown(app), "it is on")
        assert load_tools(file).tools.enabled == ("read_file",)
        await pilot.press("escape")
        await have_answered(w, pilot, "hi")
        assert "read_file" in [each.name for each in w.model.requests[0].tools]
        await listed(app, pilot, "● read_file")
        await pilot.press("space")
        await until(lambda: "○ read_file" in shown(app), "it is off")
        assert load_tools(file).tools.enabled == ()
    assert file.stat().st_mode & 0o777 == 0o600


async def test_a_failed_server_says_why_and_is_restarted(with_tools):
    w = with_tools(["Hello."], servers=ScriptedServers(state="failed", reason="no such program"))
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "hi")
        await listed(app, pilot, "failed: no such program")
        await highlight(app, pilot, "server:files")
        await pilot.press("r")
        await until(lambda: "ready, 1 tool" in shown(app), "it is ready")
        assert w.servers.restarted == ["files"]


async def test_an_approval_is_withdrawn(with_tools):
    w = with_tools([CALL], ["Done."])
    state_files.allow(w.approvals_file, READ)
    async with w.running() as (app, pilot):
        await listed(app, pilot, "always allowed, not offered now")
        await pilot.press("escape")
        await have_answered(w, pilot, "read it")
        assert [t for r, t, _ in messages(w, w.workspace.current.id) if r == "tool"] == ["# Shop"]
        await listed(app, pilot, "always allowed · Read a file.")
        await highlight(app, pilot, "tool:files__read_file")
        await pilot.press("w")
        await until(lambda: "always allowed" not in shown(app), "it is withdrawn")
        assert state_files.read_approvals(w.approvals_file) == ()
        # All are, even from a damaged file.
        w.approvals_file.write_text("{")
        await pilot.press("escape")
        await listed(app, pilot, "Cannot read")
        await pilot.press("W")
        await until(lambda: not w.approvals_file.exists(), "it is gone")


async def test_a_tool_is_shown_whole_and_a_server_of_the_configuration_is_left_to_the_user(
    with_tools,
):
    w = with_tools()
    async with w.running() as (app, pilot):
        await listed(app, pilot)
        await highlight(app, pilot, "tool:search_files")
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ReportScreen), "the page")
        assert "Plain text, in any case; not a pattern." in text_of(app.screen)
        await pilot.press("escape")
        await until(lambda: "search_files" in shown(app), "the list again")
        await highlight(app, pilot, "server:files")
        for key in ("e", "x", "x"):
            await pilot.press(key)
        await until(lambda: "is in your config.toml" in shown(app), "the reason")


# --- setting servers up

PROGRAM = f"{sys.executable} {Path(__file__).parents[1] / 'tool_servers' / 'sdk_server.py'}"


async def type_line(app, pilot, words, text):
    """Wait for a step of a dialog, and answer it."""
    await until(lambda: words in shown(app), words)
    await pilot.press("ctrl+a", "ctrl+k")
    app.post_message(events.Paste(text))
    await pilot.press("enter")


async def test_a_server_is_added_edited_and_removed_without_a_restart(with_tools):
    w = with_tools(["One."])
    del w.tools.setup.servers
    file = w.root.parent / "config" / "tools.toml"
    async with w.running() as (app, pilot):
        await listed(app, pilot)
        await pilot.press("n")
        await type_line(app, pilot, "Its command line", PROGRAM)
        await type_line(app, pilot, "The name of the server", "sums")
        await type_line(app, pilot, "A variable", "API_KEY")
        await type_line(app, pilot, "The value of API_KEY", "s3cret")
        await until(lambda: "Set: API_KEY" in shown(app), "the next variable")
        assert "s3cret" not in app.screen.secret.shown_text().plain
        await pilot.press("enter")
        await until(lambda: "Add two numbers." in shown(app), "its tools")
        assert not file.exists()
        await pilot.press("enter")
        await until(
            lambda: "ready, 2 tools" in shown(app) and "●   add" in shown(app), "it is kept"
        )
        assert "s3cret" not in shown(app)
        assert load_tools(file).mcp["sums"].env == {"API_KEY": "s3cret"}
        assert file.stat().st_mode & 0o777 == 0o600
        await pilot.press("escape")
        await have_answered(w, pilot, "hi")
        assert "sums__add" in [each.name for each in w.model.requests[0].tools]
        await listed(app, pilot, "ready, 2 tools")
        await highlight(app, pilot, "server:sums")
        await pilot.press("e")
        await until(lambda: app.screen.line.value == PROGRAM, "the line that was typed")
        await pilot.press("enter")
        await until(lambda: "Set: API_KEY" in shown(app), "its variables")
        await pilot.press("escape", "escape")
        await until(lambda: "ready, 2 tools" in shown(app), "it is as it was")
        await pilot.press("x")
        await until(lambda: "Remove sums?" in shown(app), "the question")
        await pilot.press("x")
        await until(lambda: "sums" not in shown(app), "it is removed")
        assert load_tools(file).mcp == {}
    await w.tools.setup.servers.close()


async def test_a_server_that_cannot_be_started_says_why_and_keeps_what_was_typed(with_tools):
    w = with_tools()
    async with w.running() as (app, pilot):
        await listed(app, pilot)
        await pilot.press("n")
        await type_line(app, pilot, "Its command line", "/nowhere/mcp-server-time -v")
        await until(lambda: app.screen.line.value == "time", "a name for it")
        await type_line(app, pilot, "The name of the server", "clock")
        await until(lambda: "A variable" in shown(app), "its variables")
        await pilot.press("enter")
        await until(lambda: "/nowhere/mcp-server-time was not found" in shown(app))
        assert app.screen.line.value == "/nowhere/mcp-server-time -v"
        await pilot.press("enter")
        await until(lambda: app.screen.line.value == "clock", "the name that was given")
        await pilot.press("escape", "escape")
        await until(lambda: "read_file" in shown(app), "the list")
        await pilot.press("escape")
        assert not (w.root.parent / "config" / "tools.toml").exists()


async def test_escape_goes_one_step_back_and_keeps_what_was_typed(with_tools):
    w = with_tools()
    del w.tools.setup.servers
    async with w.running() as (app, pilot):
        await listed(app, pilot)
        await pilot.press("n")
        await type_line(app, pilot, "Its command line", PROGRAM)
        await type_line(app, pilot, "The name of the server", "sums")
        await type_line(app, pilot, "A variable", "API_KEY")
        await until(lambda: "The value of API_KEY" in shown(app), "its value")
        await pilot.press("escape")
        await until(lambda: app.screen.line.value == "API_KEY", "the variable")
        await type_line(app, pilot, "A variable", "")
        await until(lambda: "Keep sums?" in str(app.screen.query_one(".dialog").border_title))
        for words in ("A variable", "The name of the server", "Its command line"):
            await pilot.press("escape")
            await until(lambda words=words: words in shown(app), words)
        assert app.screen.line.value == PROGRAM
        await pilot.press("escape")
        await until(lambda: "search_sessions" in shown(app), "the list")
        assert isinstance(app.screen, ToolScreen)


async def test_escape_stops_a_server_that_does_not_start_and_goes_back(with_tools):
    w = with_tools()
    del w.tools.setup.servers
    async with w.running() as (app, pilot):
        await listed(app, pilot)
        await pilot.press("n")
        await type_line(app, pilot, "Its command line", "sleep 60")
        await type_line(app, pilot, "The name of the server", "slow")
        await type_line(app, pilot, "A variable", "")
        await until(lambda: "Starting slow" in shown(app), "the start")
        await pilot.press("escape")
        await until(lambda: "A variable" in shown(app), "the step before")


@pytest.fixture
def with_web(world):
    """Makes a world with a server at an address, by these lines of ``tools.toml``."""

    def make(*lines):
        w = world()
        file = w.root.parent / "config" / "config.toml"
        file.parent.mkdir(exist_ok=True)
        file.with_name("tools.toml").write_text("\n".join(["[mcp.web]", *lines]))
        w.tools = Tools(ToolSetup(load_settings(file, {})))
        return w

    return make


async def test_an_address_with_a_secret_is_kept_by_enter_and_shown_nowhere(with_web):
    async with with_web('url = "http://127.0.0.1:9/?key=s3cret"').running() as (app, pilot):
        await listed(app, pilot, "web")
        await pilot.press("e")
        await until(lambda: "Enter keeps it" in shown(app), "the address")
        assert "s3cret" not in shown(app) + app.screen.line.value
        await pilot.press("enter")
        await until(lambda: "A header" in shown(app), "its headers")
        await pilot.press("enter")
        await until(lambda: "cannot be reached" in shown(app), "the reason")
        assert "s3cret" not in shown(app) + app.screen.line.value


async def test_a_header_does_not_go_along_to_another_address(with_web):
    w = with_web('url = "http://127.0.0.1:9/a"', 'headers = {X-Key = "s3cret"}')
    async with w.running() as (app, pilot):
        await listed(app, pilot, "web")
        await pilot.press("e", "enter")
        await until(lambda: "Set: X-Key" in shown(app), "its headers")
        await pilot.press("escape")
        await type_line(app, pilot, "Its command line", "http://127.0.0.1:9/b")
        await until(lambda: "A header" in shown(app), "its headers")
        assert "Set:" not in shown(app)


async def test_servers_start_once_nobody_types(world, monkeypatch):
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.05)
    w = world()
    servers = ScriptedServers(state="failed", reason="no such program")
    configured = {"files": ToolServerSettings(command=("files",))}
    w.tools = Tools(set_up(servers=servers, configured=configured))
    async with w.running() as (app, _):
        await until(lambda: servers.started, "the start")
        await until(lambda: 'Not started: "files". /tools says why.' in notices(app), "a line")


async def test_a_model_that_is_asked_about_a_file_and_sees_none_has_the_way_told(world, tmp_path):
    (tmp_path / "notes.md").write_text("# Notes")
    w = world(["I see no files."], ["Nor now."])
    w.place = SessionOrigin(PLACE.scope, str(tmp_path), PLACE.model)
    # Tools of a server are no reason to say nothing.
    w.tools = Tools(set_up(servers=ScriptedServers(offered("time"))))
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "what is said in other.md?")
        assert "/tools" not in notices(app)
        await send(pilot, "what is said in notes.md?", says="/tools lets it read them")


# --- while a call runs


@pytest.fixture
def running_call(with_tools):
    """A world whose model calls a tool that is allowed, and that does not answer yet."""
    w = with_tools([CALL], ["On we go."])
    state_files.allow(w.approvals_file, READ)
    w.servers.may_answer.clear()
    return w


async def test_the_line_names_what_starts_and_server_tool_and_seconds(running_call):
    w = running_call
    w.servers.may_start.clear()
    async with w.running() as (app, pilot):
        await send(pilot, "read it")
        await until(lambda: "starting files" in activity(app))
        w.servers.may_start.set()
        await until(lambda: w.servers.calls)
        w.seconds += 3
        await until(lambda: "files: read_file 3 s" in activity(app))
        w.servers.may_answer.set()
        await wait_for_answer(w)


async def test_a_result_that_cannot_be_saved_ends_the_answer_and_retry_goes_on(running_call):
    w = running_call
    said = "Not sent, the result could not be saved: No space left on device; /retry asks again"
    async with w.running() as (app, pilot):
        await send(pilot, "read it")
        await until(lambda: w.servers.calls)
        with full_disk(w):
            w.servers.may_answer.set()
            await until(lambda: said in notices(app), "it is said")
            assert len(w.model.requests) == 1
        await send(pilot, "/retry", shows="On we go.")
        there = [text for role, text, _ in messages(w, w.workspace.current.id) if role == "tool"]
        assert there == ["# Shop"]
