"""The key parser: Textual's, with a few sequences read as the keys that were pressed."""

from collections.abc import Iterable
from enum import Enum

from textual import events

from tui.terminal.textual_private import KEY_SEQUENCES, KeyParserBase


class _Keys(Enum):
    """Keys that Textual's own list lacks."""

    ALT_BACKSPACE = "alt+backspace"


# Textual reads Alt and a digit as the character that a Mac types with them: ™ for Alt+2.
for _digit in "123456789":
    KEY_SEQUENCES.pop(f"\x1b{_digit}", None)
# It reads one form of Alt+Backspace as Ctrl+W, the other as Backspace.
for _backspace in "\x7f\x08":
    KEY_SEQUENCES[f"\x1b{_backspace}"] = (_Keys.ALT_BACKSPACE,)


class KeyParser(KeyParserBase):
    """Reads Escape and a slash in one piece as two keys.

    Over a slow line they arrive together when a user leaves something and begins a command;
    Textual drops the Escape.
    """

    def key_events(self, sequence: str, *, alt: bool) -> Iterable[events.Key]:
        if sequence != "\x1b/":
            yield from super().key_events(sequence, alt=alt)
            return
        yield events.Key("escape", "\x1b")
        yield events.Key("slash", "/")
