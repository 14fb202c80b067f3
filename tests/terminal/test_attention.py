"""Told when done, on a real terminal that says whether it has the focus."""

import pytest

from tests.providers.chat_server import Gate, answers_at, refuses
from tests.terminal.endings import quit_at_once

FOCUS_OUT, FOCUS_IN = "\x1b[O", "\x1b[I"
ANSWERED = b'\x1b]9;"A question" answered\x1b\\'
SAVE_TITLE, RESTORE_TITLE = b"\x1b[22;2t", b"\x1b[23;2t"
BELL = b"\x07"
POINTER = b"\x1b]22;default\x07"
ENVIRONMENT = {"TMUX": None, "STY": None, "VTE_VERSION": None}


def asked(chats, gate):
    """The program with half of an answer."""
    chats.answer(answers_at(gate, "The first piece, ", "and the rest."))
    program = chats(environment=ENVIRONMENT)
    program.type("A question\r")
    program.until("The first piece")
    return program


def test_the_end_is_told_without_focus_and_the_title_comes_back_with_it_or_at_the_end(chats):
    gate = Gate()
    program = asked(chats, gate)
    program.type(FOCUS_OUT)
    gate.open()
    program.until(lambda it: ANSWERED in it.raw, "the notification")
    program.until(lambda it: BELL in it.raw.partition(ANSWERED)[2], "the bell")
    assert SAVE_TITLE in program.raw
    assert RESTORE_TITLE not in program.raw
    program.type(FOCUS_IN)
    program.until(lambda it: RESTORE_TITLE in it.raw, "the title from before")
    program.type("Another\r" + FOCUS_OUT)
    program.until(lambda it: it.raw.count(SAVE_TITLE) == 2, "the title")
    program.signal(15)
    program.wait()
    assert program.raw.count(RESTORE_TITLE) == 2


@pytest.mark.full
def test_who_looks_is_told_nothing(chats):
    gate = Gate()
    program = asked(chats, gate)
    gate.open()
    program.until("and the rest")
    quit_at_once(program)
    assert ANSWERED not in program.raw
    assert SAVE_TITLE not in program.raw
    after = program.raw.partition(b"and the rest")[2]
    assert BELL not in after.replace(POINTER, b"")


@pytest.mark.full
def test_attempts_are_seen_in_the_line(chats):
    gate = Gate()
    now = {"Retry_After": "0"}
    refused = refuses(500, **now), refuses(500, **now)

    def waits(exchange) -> None:
        exchange.wait(gate)
        answers_at(gate, "At last", ".")(exchange)

    chats.answer(*refused, waits)
    program = chats()
    program.type("A question\r")
    program.until("3rd attempt after status 500 · Esc stops")
    gate.open()
    program.until("At last.")
