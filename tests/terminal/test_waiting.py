"""What ends the real program while something waits: a call of a tool, a summary."""

import signal

import pytest

from tests.providers.chat_server import Gate, answers, answers_at, calls_tools
from tests.terminal.endings import SIGNALS, leave, quit_at_once
from tui.domain.journal.message import INTERRUPTED
from tui.engine.turns.tools import DENIED

pytestmark = pytest.mark.full

TODOS = '{"todos": [{"content": "会話を読む", "status": "pending", "active_form": "reading"}]}'
QUERY = '{"query": "会話"}'
CALLS = calls_tools(
    ("call_1", "search_sessions", [QUERY]),
    ("call_2", "write_todos", [TODOS]),
    text="A plan.",
)


@pytest.fixture
def with_tools(chats):
    """Connects a model with tools that gives these answers."""

    def connect(*replies):
        server = chats.answer(*replies)
        settings = '[tools]\nenabled = ["write_todos", "search_sessions"]\n'
        chats.config.write_text(chats.config.read_text("utf-8") + settings, "utf-8")
        return server

    return connect


@pytest.fixture
def asking(chats, with_tools):
    """The program, with a call that waits to be allowed, a prompt that waits, and a draft."""
    with_tools(CALLS, answers("Done."))
    program = chats()
    program.type("Make a plan\r")
    program.until("Allow search_sessions")
    program.type("Waits\r")
    program.until("queued")
    program.type("a draft")
    program.until("a draft")
    return program


@pytest.mark.parametrize("way", ["ctrl+q", *SIGNALS, "closed"])
def test_the_end_while_a_call_waits_allows_nothing_and_keeps_all(chats, asking, way):
    leave(asking, way)
    session = chats.only
    user, answer, *results = chats.messages(session)
    assert (user.text, answer.text, answer.status) == ("Make a plan", "A plan.", None)
    assert [call.id for call in answer.tool_calls] == ["call_1", "call_2"]
    assert [(each.tool_call_id, each.text) for each in results] == [
        ("call_1", INTERRUPTED),
        ("call_2", INTERRUPTED),
    ]
    assert chats.store.journal(session).load().todos == ()
    draft = chats.draft(session)
    assert (draft.text, draft.queued) == ("a draft", ("Waits",))
    assert not chats.is_held(session)


def test_a_kill_while_a_call_waits_loses_nothing_and_the_call_says_so(chats, asking):
    # What waits is on disk before the draft is.
    asking.until(
        lambda _: (draft := chats.draft(chats.only)) and draft.text == "a draft",
        "the draft on disk",
    )
    asking.signal(signal.SIGKILL)
    asking.wait()
    session = chats.only
    assert [each.role for each in chats.messages(session)] == ["user", "assistant"]
    again = chats("--session", session)
    again.until(r"search_sessions\(.*\n.*write_todos")
    again.until(f"write_todos result: {INTERRUPTED}")
    again.until(f"search_sessions result: {INTERRUPTED}")
    quit_at_once(again)
    results = chats.messages(session)[2:]
    assert [each.tool_call_id for each in results] == ["call_1", "call_2"]
    assert chats.draft(session).text.endswith("a draft")


@pytest.fixture
def summarising(chats):
    """The program, in the middle of a summary, with a draft."""
    gate = Gate()
    replies = [answers(f"Answer {number}.") for number in range(2)]
    chats.answer(*replies, answers_at(gate, "They spoke ", "of this."))
    program = chats()
    for number in range(2):
        program.type(f"Question {number}\r")
        program.until(rf"Answer {number}\.")
    program.type("/compact\r")
    program.until("summarising")
    program.type("a draft")
    program.until("a draft")
    return program


@pytest.mark.parametrize("way", ["ctrl+q", *SIGNALS, "closed"])
def test_the_end_while_a_summary_is_made_changes_nothing_of_what_was_said(chats, summarising, way):
    leave(summarising, way)
    said = chats.said()
    assert [text for _, text, _ in said] == ["Question 0", "Answer 0.", "Question 1", "Answer 1."]
    assert chats.store.journal(chats.only).load().summary is None
    assert chats.draft(chats.only).text == "a draft"
    assert not chats.is_held(chats.only)


@pytest.mark.parametrize(("key", "denied"), [("y", False), ("u", False), ("a", False), ("n", True)])
def test_ask_on_a_terminal_asks_for_each_call(chats, with_tools, key, denied):
    reply = calls_tools(("call_1", "search_sessions", [QUERY]), text="A plan.")
    with_tools(reply, answers("Done."))
    program = chats.launch("ask", "Make a plan")
    program.until("n deny")
    assert "会話" in program.text
    program.type(f"{key}\r")
    assert program.wait() == 0
    program.until("Done.")
    texts = [text for role, text, _ in chats.said() if role == "tool"]
    assert [text == DENIED for text in texts] == [denied]


def test_ask_ended_while_it_waits_for_an_answer_allows_nothing(chats, with_tools):
    with_tools(CALLS, answers("Done."))
    program = chats.launch("ask", "Make a plan")
    program.until("n deny")
    program.press("ctrl+c")
    assert program.wait() == 128 + signal.SIGINT
    assert [text for role, text, _ in chats.said() if role == "tool"] == [INTERRUPTED] * 2
    assert not chats.is_held(chats.only)
