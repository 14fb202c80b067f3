"""Long pastes, remembered so that they are folded again when their text is put back."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from textual.widgets.text_area import Location

from tui.widgets.prompt.document import Rows, folded, is_long, marked_rows

_MOST = 20


class Paste(NamedTuple):
    """A text that was pasted, and its place in the prompt."""

    text: str
    start: Location
    end: Location


class Pastes:
    """The last long pastes, the newest first."""

    def __init__(self) -> None:
        self._texts: tuple[str, ...] = ()

    def remember(self, texts: Sequence[str]) -> None:
        """Fold these texts where they occur in any text from now on."""
        self._texts = tuple(dict.fromkeys((*texts, *self._texts)))[:_MOST]

    def forget(self, text: str) -> None:
        """Fold this text no more."""
        self._texts = tuple(paste for paste in self._texts if paste != text)

    def fold(self, text: str) -> str:
        """Fold a text that was just typed or pasted, if it is long."""
        if not is_long(text):
            return text
        self.remember([text])
        return folded(text)

    def rows(self, text: str, own: Collection[str] = ()) -> Rows:
        """Cut a text into rows; ``own`` are the user's references in it."""
        return Rows(marked_rows(text, self._texts, own))
