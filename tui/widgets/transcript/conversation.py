"""The conversation on screen: its entries, the message cursor, and the ends that are not loaded."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry
from tui.domain.journal.versions import Version
from tui.widgets.transcript.document import Document, DocumentRow, ScrollPosition
from tui.widgets.transcript.message_cursor import MessageCursor
from tui.widgets.transcript.thought import Thoughts

if TYPE_CHECKING:
    from tui.domain.views.costs import AnswerCost


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


class ConversationOnScreen:
    """Takes the values that the transcript shows; no widget.

    ``draw`` paints the rows that have changed, ``draw_soon`` does so with the next frame, and
    ``draw_all`` paints all rows.
    """

    def __init__(
        self,
        draw: Callable[[], None],
        draw_soon: Callable[[], None],
        draw_all: Callable[[], None],
    ) -> None:
        self.draw = draw
        self.draw_soon = draw_soon
        self.draw_all = draw_all
        self.costs: dict[str, AnswerCost] = {}
        self.thoughts = Thoughts()
        self.unseen: set[str] = set()
        """The ids of messages that arrived below the viewport."""
        self.is_loaded = False
        self._show(Document(costs=self.costs, thoughts=self.thoughts), HistoryEnds())

    def replace(
        self,
        entries: Sequence[Entry],
        arriving: Collection[str],
        versions: Mapping[str, Version],
        ends: HistoryEnds,
    ) -> None:
        """Show the entries of another session, from their end."""
        self.is_loaded = True
        self.unseen.clear()
        self._show(Document(entries, arriving, self.costs, self.thoughts, versions), ends)

    def _show(self, document: Document, ends: HistoryEnds) -> None:
        self.document = document
        self.cursor = MessageCursor(document)
        self.ends = ends
        self.rows: list[DocumentRow] = []

    def prepend(self, entries: Sequence[Entry], *, earlier: bool) -> None:
        """Put earlier entries before all others; nothing on screen moves."""
        self.document.prepend(entries)
        self.ends = HistoryEnds(earlier, self.ends.later)
        self.draw()

    def append(self, entries: Sequence[Entry], *, later: bool, arriving: Collection[str]) -> None:
        """Put a page of later entries after the last one; nothing on screen moves."""
        self.document.append(entries, arriving)
        self.ends = HistoryEnds(self.ends.earlier, later)
        self.draw()

    def put(self, entry: Entry) -> None:
        """Add an entry at the end, or replace the message with the same id."""
        known = isinstance(entry, Message) and self.document.item_of(entry.id)
        if isinstance(entry, Message) and not known and not self.following:
            self.unseen.add(entry.id)
        if known or not self.ends.later:
            self.document.put(entry)
        self.draw()

    def add_text(self, message_id: str, text: str, model: str | None = None) -> None:
        """Add to an answer that is arriving; it is drawn with the next frame."""
        if not self.ends.later:
            self.document.add_text(message_id, text, model)
        if not self.following:
            self.unseen.add(message_id)
        self.draw_soon()

    def add_thinking(self, message_id: str, text: str) -> None:
        """Add to the thinking before an answer, of whichever session it is."""
        if self.document.show_thought(message_id, self.thoughts.add(message_id, text)):
            self.draw_soon()

    def end_thinking(self, message_id: str, seconds: float) -> None:
        """Fold the thinking before an answer: that begins, or has ended."""
        thought = self.thoughts.get(message_id)
        if thought is None:
            return
        thought.end(seconds)
        if self.document.show_thought(message_id, thought):
            self.draw_soon()

    def show_cost(self, message_id: str, cost: "AnswerCost") -> None:
        """Add time and tokens to the details of an answer, of whichever session it is."""
        self.costs[message_id] = cost
        self.document.inform_anew(message_id)
        self.draw_soon()

    def show_versions(self, versions: Mapping[str, Version]) -> None:
        """Show which messages have other versions."""
        self.document.show_versions(versions)
        self.draw()

    def show_queued(self, prompts: Sequence[str]) -> None:
        """Show prompts that wait to be sent, after everything else."""
        self.document.show_queued(prompts)
        self.draw()

    def show_message(self, message_id: str) -> None:
        """Put the cursor on a message and scroll it into view."""
        if item := self.cursor.stand_on(message_id):
            self.document.go_near(item)
            self.draw_all()

    def go_to(self, place: ScrollPosition) -> None:
        """Go back to a scroll position; to the end if it is not in the document."""
        self.document.go_to(place)
        self.draw()

    @property
    def following(self) -> bool:
        """True while the end is in sight; new rows then scroll into view."""
        return self.document.reader.following and not self.ends.later

    @property
    def is_blank(self) -> bool:
        """True without any message, unless there is a notice longer than the screen."""
        reader = self.document.reader
        return self.cursor.last() is None and reader.following and not reader.rows_above()
