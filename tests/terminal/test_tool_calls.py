"""What ends the real program in the middle of a tool's call."""

import json
import os
import signal
import sys

import pytest

from tests.providers.chat_server import answers, calls_tools
from tests.terminal.endings import SIGNALS, assert_whole, quit_at_once
from tests.tool_servers.conftest import RAW
from tests.waiting import is_running
from tui.domain.journal.message import INTERRUPTED

pytestmark = pytest.mark.full

CALLS = calls_tools(("call_1", "raw__silent", ["{}"]), text="A plan.")


class Calling:
    """A server whose tool never answers, and what the program asked of it."""

    def __init__(self, chats, log):
        self.chats = chats
        self._log = log
        chats.answer(CALLS, answers("Done."))
        command = [sys.executable, RAW, json.dumps({"log": str(log), "ignore_end": True})]
        table = f"[mcp.raw]\ncommand = {json.dumps(command)}\n"
        chats.config.write_text(chats.config.read_text("utf-8") + table, "utf-8")

    @property
    def noted(self):
        lines = self._log.read_text().split("\n")[:-1] if self._log.exists() else []
        return [json.loads(line) for line in lines]

    @property
    def calls(self):
        return [line for line in self.noted if line.get("method") == "tools/call"]

    @property
    def processes(self):
        return [line["pid"] for line in self.noted if "pid" in line]

    def screen(self):
        """The program on its screen, while a call runs."""
        program = self.chats()
        program.type("Go\r")
        program.until("Allow raw: silent")
        program.press("f3")
        program.type("o")
        program.until(lambda _: self.calls, "the call")
        return program

    def ask(self):
        """``ask`` on a terminal, while a call runs."""
        program = self.chats.launch("ask", "Go")
        program.until("n deny")
        program.type("y\r")
        program.until(lambda _: self.calls, "the call")
        return program


@pytest.fixture
def calling(chats, tmp_path):
    calling = Calling(chats, tmp_path / "log")
    yield calling
    # A killed program ends no servers.
    for process in filter(is_running, calling.processes):
        os.kill(process, signal.SIGKILL)


def results(chats):
    return [text for role, text, _ in chats.said() if role == "tool"]


@pytest.mark.parametrize("place", ["screen", pytest.param("ask", marks=pytest.mark.full)])
def test_a_kill_while_a_call_runs_leaves_it_interrupted_and_it_is_not_run_again(
    chats, calling, place
):
    program = getattr(calling, place)()
    program.signal(signal.SIGKILL)
    program.wait()
    assert [each.role for each in chats.messages(chats.only)] == ["user", "assistant"]
    again = chats("--session", chats.only)
    again.until(f"raw: silent result: {INTERRUPTED}")
    again.type("And on\r")
    again.until("Done.")
    quit_at_once(again)
    assert results(chats) == [INTERRUPTED]
    assert len(calling.calls) == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("place", "way"),
    [("screen", "ctrl+q"), *((place, way) for place in ("screen", "ask") for way in SIGNALS)],
)
def test_the_end_while_a_call_runs_keeps_it_as_interrupted_and_ends_the_server(
    chats, calling, place, way
):
    program = getattr(calling, place)()
    if way == "ctrl+q":
        program.type("\x11")
        program.until("still in progress")
        program.type("\x11")
        assert program.wait() == 0
        assert_whole(program)
    else:
        program.signal(way)
        assert program.wait() == 128 + way
    assert results(chats) == [INTERRUPTED]
    assert not any(map(is_running, calling.processes))
    assert not chats.is_held(chats.only)


@pytest.mark.full
def test_always_holds_in_the_next_program_until_the_server_s_command_changes(chats, tmp_path):
    call = calls_tools(("call_1", "raw__echo", ['{"word": "zebra"}']), text="A plan.")
    chats.answer(call, answers("One."), call, answers("Two."), call, answers("Three."))
    written = chats.config.read_text("utf-8")

    def serve(**plan):
        command = [sys.executable, RAW, json.dumps({"log": str(tmp_path / "log"), **plan})]
        table = f"[mcp.raw]\ncommand = {json.dumps(command)}\n"
        chats.config.write_text(written + table, "utf-8")

    serve()
    first = chats.launch("ask", "Go")
    first.until("n deny")
    first.type("a\r")
    first.until("One.")
    second = chats.launch("ask", "Go")
    second.until("Two.")
    assert second.wait() == 0
    assert "n deny" not in second.text
    assert "zebra" in second.text
    serve(stderr="another")
    third = chats.launch("ask", "Go")
    third.until("It has changed since you allowed it.")
    third.until("n deny")
    third.type("n\r")
    third.until("Three.")
    assert third.wait() == 0
