"""All changes to Textual's key parser and its table of sequences."""

from collections.abc import Iterable
from enum import Enum
from typing import cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser


class _Keys(Enum):
    """Keys that Textual's own list lacks."""

    ALT_BACKSPACE = "alt+backspace"


# Textual takes Alt and a digit for what a Mac's keyboard writes with them: ™ for Alt+2.
_sequences = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
for _digit in "123456789":
    _sequences.pop(f"\x1b{_digit}", None)
# And one form of Alt+Backspace for Ctrl+W, the other for Backspace alone.
for _backspace in "\x7f\x08":
    _sequences[f"\x1b{_backspace}"] = (_Keys.ALT_BACKSPACE,)


class KeyParser(XTermParser):
    """Takes Escape and a slash that come as one for two keys.

    Who leaves something and begins a command types them fast, and over a line they come together.
    Textual makes of them a slash alone.
    """

    def _sequence_to_key_events(
        self,
        sequence: str,
        alt: bool = False,  # noqa: FBT001, FBT002 - the signature is Textual's
    ) -> Iterable[events.Key]:
        if sequence != "\x1b/":
            yield from super()._sequence_to_key_events(sequence, alt)
            return
        yield events.Key("escape", "\x1b")
        yield events.Key("slash", "/")
