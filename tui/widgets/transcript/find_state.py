"""The state of Find in the transcript: matches to mark, and the current one."""

from typing import TYPE_CHECKING

from textual.strip import Strip

from tui.widgets.transcript.canvas import Canvas
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.viewport import DocumentRow

if TYPE_CHECKING:
    # Imported with the first search.
    from collections.abc import Sequence

    from tui.domain.search.find_matches import Match, ReadingPosition
    from tui.domain.search.find_query import Needle
    from tui.widgets.transcript.match_marks import MatchMarks


class FindState:
    """The marks of what is looked for, and the match that the reader is at."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._found: MatchMarks | None = None
        self._kept: MatchMarks | None = None
        self._pointed = False

    def look_for(self, needle: "Needle | None") -> None:
        """Mark all matches, or none for ``None``; nothing moves."""
        self.point_no_more()
        self._kept = self._found or self._kept
        if needle is None:
            self._found = None
        elif self._kept is not None and self._kept.needle == needle:
            self._found = self._kept
        else:
            from tui.widgets.transcript.match_marks import MatchMarks

            self._found = MatchMarks(needle, self._document)
        self._document.draw_all()

    def point_at(self, message_id: str, text: str) -> None:
        """Go to the first place of a text in a message, and mark it until the reader moves on."""
        from tui.domain.search.find_matches import Match
        from tui.domain.search.find_query import needle
        from tui.widgets.transcript.match_marks import MatchMarks

        wanted = needle(text)
        if wanted is not None:
            self._found, self._pointed = MatchMarks(wanted, self._document), True
            self.show(Match(message_id, 0), unfold=True)

    def point_no_more(self) -> None:
        """Remove that mark; nothing moves."""
        if self._pointed:
            self._found, self._pointed = None, False
            self._document.draw_all()

    @property
    def can_go_on(self) -> bool:
        """True if there is a search whose next match can be asked for."""
        return (self._kept or (None if self._pointed else self._found)) is not None

    def has(self, message_id: str) -> bool:
        """True if a message is loaded and not hidden."""
        item = self._document.item_of(message_id)
        return item is not None and not item.hidden

    def show(self, match: "Match", *, unfold: bool) -> bool:
        """Go to a match, with the least movement; false if its message is not loaded."""
        spot = self._found.go_to(match, unfold=unfold) if self._found else None
        if spot is None:
            return False
        self._document.reader.show(spot)
        if self._document.cursor.item:
            self._document.cursor.stand_on(match.message_id)
        self._document.draw_all()
        return True

    def in_sight(self) -> "Sequence[Match]":
        """The matches on screen, from the top."""
        return tuple(self._found.in_sight()) if self._found else ()

    def reading(self) -> "ReadingPosition":
        """The reader's place, for a search that begins there."""
        from tui.domain.search.find_matches import ReadingPosition

        return self._found.reading() if self._found else ReadingPosition(None)

    def mark(self, row: DocumentRow, strip: Strip, canvas: Canvas) -> Strip:
        return self._found.mark(row, strip, canvas) if self._found else strip
