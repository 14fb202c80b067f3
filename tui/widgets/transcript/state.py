"""The state that the transcript and its collaborators share."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

import msgspec
from textual.widget import Widget

from tui.widgets.hints import hint
from tui.widgets.transcript.document.document import Document, DocumentRow
from tui.widgets.transcript.document.thought import Thoughts
from tui.widgets.transcript.message_cursor import MessageCursor

if TYPE_CHECKING:
    from tui.domain.views.usage import AnswerCost

NO_MESSAGE = "There is no message yet."


class HistoryEnds(msgspec.Struct):
    """Flags for messages before and after the loaded ones; each page is asked for once."""

    earlier: bool = False
    later: bool = False
    _earlier_asked: bool = False
    _later_asked: bool = False

    def neared(self, above: int, below: int, height: int) -> Iterator[Literal["earlier", "later"]]:
        """The ends to load, by the rows left above and below the viewport."""
        if self.earlier and not self._earlier_asked and above < height:
            self._earlier_asked = True
            yield "earlier"
        if self.later and not self._later_asked and below < height:
            self._later_asked = True
            yield "later"


class TranscriptState:
    """The document, its rows on screen, the message cursor and the ends of the history.

    ``draw`` paints the rows that have changed, ``redraw`` all rows. ``widget`` posts messages.
    """

    def __init__(
        self, widget: Widget, draw: Callable[[], None], redraw: Callable[[], None]
    ) -> None:
        self.widget = widget
        self.draw = draw
        self.redraw = redraw
        self.costs: dict[str, AnswerCost] = {}
        self.thoughts = Thoughts()
        self.unseen: set[str] = set()
        self.is_loaded = False
        self._take(Document(costs=self.costs, thoughts=self.thoughts), HistoryEnds())

    def replace(self, document: Document, ends: HistoryEnds) -> None:
        """Show another document from now on."""
        self.is_loaded = True
        self.unseen.clear()
        self._take(document, ends)

    def _take(self, document: Document, ends: HistoryEnds) -> None:
        self.document = document
        self.cursor = MessageCursor(document)
        self.ends = ends
        self.rows: list[DocumentRow] = []

    @property
    def following(self) -> bool:
        """True while the end of the session is in sight; new rows then scroll into view."""
        return self.document.reader.following and not self.ends.later

    def note_unseen(self, message_id: str) -> None:
        """Count a message that arrives below the viewport."""
        if not self.following:
            self.unseen.add(message_id)

    def hint_if_empty(self) -> None:
        """Say that there is no message, unless there is a notice longer than the screen."""
        reader = self.document.reader
        if self.cursor.last() is None and reader.following and not reader.rows_above():
            hint(self.widget, NO_MESSAGE)
