"""Pastes, kept away from the parser of keys."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual._xterm_parser import XTermParser

from tui.terminal.paste import BEGIN, END, PasteFilter

HOSTILE = "\x1b[31mred\x1b[0m\r\x1b]0;x\x07/delete\r\x1b\ry [201~ \x1b"


def told(*chunks):
    """What keys and pastes came of it, as the driver tells them."""
    parser, pastes, found = XTermParser(), PasteFilter(), []
    for chunk in chunks:
        for keys in pastes.keys(chunk):
            for event in parser.feed(keys):
                pasted = isinstance(event, events.Paste)
                found.append(("paste", pastes.text) if pasted else event.key)
    return found


@pytest.mark.parametrize("text", ["", "one", "one\ntwo\r", HOSTILE, "x" * 10_000])
def test_all_that_is_in_a_paste_is_one_text(text):
    assert told(f"a{BEGIN}{text}{END}b") == ["a", ("paste", text), "b"]


def test_each_paste_has_its_own_text():
    twice = f"{BEGIN}one{END}k{BEGIN}two{END}\r"
    assert told(twice) == [("paste", "one"), "k", ("paste", "two"), "enter"]


@pytest.mark.parametrize("at", range(1, 12 + len(HOSTILE) + 2))
def test_a_paste_may_come_in_pieces(at):
    whole = f"a{BEGIN}{HOSTILE}{END}b"
    assert told(whole[:at], whole[at:]) == ["a", ("paste", HOSTILE), "b"]


@given(st.lists(st.sampled_from(["\x1b", "[", "2", "0", "1", "~", "k", "\r"])).map("".join))
def test_nothing_of_a_paste_is_ever_a_key(text):
    whole = f"{BEGIN}{text}{END}"
    pasted, mark, _ = whole.removeprefix(BEGIN).partition(END)
    assert mark
    assert told(*whole)[0] == ("paste", pasted)


def test_without_a_paste_keys_are_what_they_were():
    assert told("ab\x1b[A", "\r") == ["a", "b", "up", "enter"]
