"""The terminal that programs are tested on."""

import pytest

from tests.terminal.emulator import Emulator


@pytest.fixture
def answers():
    return []


@pytest.fixture
def emulator(answers):
    return Emulator(20, 4, answers.append)


def test_what_is_written_is_shown(emulator):
    emulator.feed("one\r\n\x1b[31mtwo\x1b[0m 日本".encode())
    assert emulator.lines == ["one", "two 日本", "", ""]


def test_the_alternate_screen_is_another_and_leaves_the_first_as_it_was(emulator):
    emulator.feed(b"before\x1b[?1049h\x1b[Hon it")
    assert emulator.is_alternate
    assert emulator.lines[0] == "on it"
    emulator.feed(b"\x1b[?1049l, after")
    assert not emulator.is_alternate
    assert emulator.lines[0] == "before, after"


def test_entering_the_alternate_screen_clears_it_every_time(emulator):
    emulator.feed(b"\x1b[?1049hframe\x1b[?1049h")
    assert emulator.lines[0] == ""


def test_whether_the_cursor_shows_outlives_the_screen(emulator):
    emulator.feed(b"\x1b[?1049h\x1b[?25l\x1b[?1049l")
    assert not emulator.is_cursor_visible
    emulator.feed(b"\x1b[?25h")
    assert emulator.is_cursor_visible


def test_nothing_of_a_synchronized_update_is_seen_before_its_end(emulator):
    emulator.feed(b"old\x1b[?2026h\x1b[Hnew")
    assert emulator.lines[0] == "old"
    emulator.feed(b"\x1b[?2026l")
    assert emulator.lines[0] == "new"


@pytest.mark.parametrize(
    "silent", ["\x1b[>1u", "\x1b[<u", "\x1b[?2004h", "\x1b]0;title\x07", "\x1bP+q544e\x1b\\"]
)
def test_what_is_no_text_is_not_shown_however_it_is_cut(emulator, silent):
    for byte in f"a{silent}b".encode():
        emulator.feed(bytes([byte]))
    assert emulator.lines[0] == "ab"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (b"\x1b[?2026$p", b"\x1b[?2026;2$y"),
        (b"\x1b[?2048$p", b"\x1b[?2048;0$y"),
        (b"ab\x1b[6n", b"\x1b[1;3R"),
        (b"\x1b[5n", b"\x1b[0n"),
        (b"\x1b[c", b"\x1b[?62;22c"),
        (b"\x1b[18t", b"\x1b[8;4;20t"),
        (b"\x1b]11;?\x1b\\", b"\x1b]11;rgb:1010/1010/1010\x1b\\"),
    ],
)
def test_questions_are_answered(emulator, answers, question, answer):
    emulator.feed(question)
    assert answers == [answer]


def test_modes_that_are_set_are_known(emulator):
    emulator.feed(b"\x1b[?1000;1006h\x1b[?1000l")
    assert "1006" in emulator.modes
    assert "1000" not in emulator.modes
