"""What the driver makes of the bytes that a terminal sends for a key."""

import pytest
from textual import events

from tui.terminal.key_parser import KeyParser


def keys(*sent):
    """The keys of what is sent, each with its character."""
    parser = KeyParser()
    found = [event for piece in sent for event in parser.feed(piece)]
    return [(event.key, event.character) for event in found if isinstance(event, events.Key)]


@pytest.mark.parametrize("sent", ["\x1b\x7f", "\x1b\x08"])
def test_alt_and_backspace_is_not_the_key_that_closes_a_session(sent):
    assert [key for key, _ in keys(sent)] == ["alt+backspace"]


@pytest.mark.parametrize("sent", [["\x1b/h"], ["\x1b", "/h"], ["\x1b/", "h"]])
def test_escape_and_a_slash_are_two_keys_however_fast_they_come(sent):
    assert keys(*sent) == [("escape", "\x1b"), ("slash", "/"), ("h", "h")]


def test_a_slash_alone_is_one():
    assert keys("/") == [("slash", "/")]
