"""Two programs on terminals of their own, and one session."""

import signal

import pytest

from tests.providers.chat_server import Gate, answers, answers_at, answers_step_by_step
from tests.terminal.endings import quit_at_once

pytestmark = pytest.mark.full


def test_the_second_program_sees_what_the_first_says_and_goes_on_with_it(chats):
    gates = [Gate(), Gate()]
    chats.answer(answers_step_by_step(gates, "Once ", "twice."), answers("A third time."))
    first = chats()
    first.type("A question\r")
    gates[0].open()
    first.until("Once")
    session = chats.only
    second = chats("--session", session)
    second.until("read-only")
    second.until("Once")
    second.type("my own words")
    second.until("my own words")
    gates[1].open()
    second.until("Once twice")
    assert "interrupted" not in second.text
    assert quit_at_once(first) == 0
    second.until("The other window is gone")
    second.until(_may_write, "the end of the mark")
    assert chats.is_held(session)
    assert "my own words" in second.text
    second.press("enter")
    second.until("A third time")
    assert quit_at_once(second) == 0
    assert [text for _, text, _ in chats.said(session)] == [
        *("A question", "Once twice.", "my own words", "A third time.")
    ]


def _may_write(program):
    """Whether nothing around the prompt says that one reads only."""
    return not any("read-only" in row for row in program.screen[-5:])


@pytest.mark.parametrize("opened", [True, False], ids=["opened", "looked at"])
def test_the_first_program_is_killed_in_the_middle_of_an_answer(chats, opened):
    chats.answer(answers_at(Gate(), "The first piece, "), answers("All of it."))
    first = chats()
    first.type("A question\r")
    first.until("The first piece,")
    session = chats.only
    second = chats("--session", session) if opened else chats()
    if not opened:
        second.until("A question")
        second.press("alt+down")
    second.until("read-only")
    second.until("The first piece,")
    first.signal(signal.SIGKILL)
    first.wait()
    second.until("interrupted")
    second.until(_may_write, "the end of the mark")
    second.type("/retry\r")
    second.until("All of it")
    assert quit_at_once(second) == 0
    assert [text for _, text, _ in chats.said(session)] == ["A question", "All of it."]
