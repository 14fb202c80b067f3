"""What the driver makes of the bytes that a terminal sends for a key."""

import pytest
from textual import events
from textual._xterm_parser import XTermParser

import tui.driver  # noqa: F401 - corrects Textual's list of keys


@pytest.mark.parametrize("sent", ["\x1b\x7f", "\x1b\x08"])
def test_alt_and_backspace_is_not_the_key_that_closes_a_session(sent):
    keys = [event.key for event in XTermParser().feed(sent) if isinstance(event, events.Key)]
    assert keys == ["alt+backspace"]
