"""The rows of the transcript as strips, with everything that is drawn over them."""

from collections.abc import Callable
from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.transcript.canvas import NAMES, Canvas, Palette, paint
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.row_selection import look_of_selected, number_of, selected
from tui.widgets.transcript.viewport import DocumentRow
from tui.widgets.transcript.welcome_text import Welcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.domain.search.find import Match, Needle, ReadingPosition
    from tui.widgets.transcript.match_marks import MatchMarks


class FindState(msgspec.Struct, eq=False):
    """The marks of what is looked for, and the match that the reader is at."""

    _document: Document
    found: "MatchMarks | None" = None
    _kept: "MatchMarks | None" = None
    _pointed: bool = False

    def look_for(self, needle: "Needle | None") -> None:
        """Mark all matches, or none for ``None``; nothing moves."""
        self.point_no_more()
        self._kept = self.found or self._kept
        if needle is None:
            self.found = None
        elif self._kept is not None and self._kept.needle == needle:
            self.found = self._kept
        else:
            from tui.widgets.transcript.match_marks import MatchMarks

            self.found = MatchMarks(needle, self._document)
        self._document.draw_all()

    def point_at(self, message_id: str, text: str) -> None:
        """Go to the first place of a text in a message, and mark it until the reader moves on."""
        from tui.domain.search.find import Match, needle
        from tui.widgets.transcript.match_marks import MatchMarks

        wanted = needle(text)
        if wanted is not None:
            self.found, self._pointed = MatchMarks(wanted, self._document), True
            self.show(Match(message_id, 0), unfold=True)

    def point_no_more(self) -> None:
        """Remove that mark; nothing moves."""
        if self._pointed:
            self.found, self._pointed = None, False
            self._document.draw_all()

    @property
    def can_go_on(self) -> bool:
        """True if there is a search whose next match can be asked for."""
        return (self._kept or (None if self._pointed else self.found)) is not None

    def has(self, message_id: str) -> bool:
        """True if a message is loaded and not hidden."""
        item = self._document.items.get(message_id)
        return item is not None and not item.hidden

    def show(self, match: "Match", *, unfold: bool) -> bool:
        """Go to a match, with the least movement; false if its message is not loaded."""
        spot = self.found.go_to(match, unfold=unfold) if self.found else None
        if spot is None:
            return False
        self._document.reader.show(spot)
        if self._document.cursor.item:
            self._document.cursor.stand_on(match.message_id)
        self._document.draw_all()
        return True

    def in_sight(self) -> "Sequence[Match]":
        """The matches on screen, from the top."""
        return tuple(self.found.in_sight()) if self.found else ()

    def reading(self) -> "ReadingPosition":
        """The reader's place, for a search that begins there."""
        from tui.domain.search.find import ReadingPosition

        return self.found.reading() if self.found else ReadingPosition(None)


_CURSOR = "▌"
_BELOW = "↓"
_LATEST = f" {_BELOW} latest "


class RowPainter(msgspec.Struct, eq=False):
    """Draws one row at a time: cursor, matches and selection over the rows of the document."""

    _widget: Widget
    _document: Document
    _finder: FindState
    welcome: Welcome = msgspec.field(default_factory=Welcome)
    _more: str = ""
    canvas: Canvas | None = None
    wraps: bool = True
    """False if long lines of code are cut."""

    def fit(self, width: int) -> Canvas:
        """The canvas of a width; a new one if the width has changed."""
        if self.canvas is None or (self.canvas.width, self.canvas.wraps) != (width, self.wraps):
            self.canvas = Canvas(width, self._palette(), wraps=self.wraps)
        return self.canvas

    def restyle(self, draw_all: Callable[[], None]) -> None:
        """Take the colours of the theme; if they have changed, draw all rows."""
        if self.canvas is not None and self._palette() != self.canvas.palette:
            self.canvas = Canvas(self.canvas.width, self._palette(), wraps=self.wraps)
            # Rows without text look the same to the comparison.
            draw_all()

    def replace_rows(self, rows: list[DocumentRow], height: int, unseen: int | None) -> set[int]:
        """Show other rows, and give those to be painted.

        ``unseen`` is the number of messages for the mark on the last row; ``None`` at the end.
        """
        old, self._document.seen = self._document.seen, rows
        changed = {
            y
            for y, (before, now) in enumerate(zip_longest(old[:height], rows))
            if not (before and now and before.strip is now.strip and before.spot == now.spot)
        }
        more = "" if unseen is None else f" {_BELOW} {unseen} new " if unseen else _LATEST
        if self._more != more:
            changed.add(height - 1)
            self._more = more
        return changed

    def row(self, y: int, height: int) -> Strip:
        """One row of so many."""
        canvas, rows = self.canvas, self._document.seen
        if canvas is None:
            return Strip.blank(self._widget.size.width, self._widget.visual_style.rich_style)
        if y < len(rows):
            strip = self._drawn_over(rows[y], canvas)
        elif rows or not self._document.is_loaded:
            strip = canvas.row(())
        else:
            strip = self.welcome.row(y, height, canvas)
        if not self._more or y != height - 1:
            return strip
        mark = Strip([Segment(self._fitting_more(strip, canvas), canvas.palette["more"])])
        return Strip.join([strip.crop(0, canvas.width - mark.cell_length), mark])

    def is_more_at(self, row: DocumentRow, cell: int) -> bool:
        """True if a cell of the last row belongs to the mark for more rows below."""
        canvas = self.canvas
        if not self._more or canvas is None:
            return False
        return canvas.width - cell_len(self._fitting_more(row.strip, canvas)) <= cell < canvas.width

    def _fitting_more(self, strip: Strip, canvas: Canvas) -> str:
        """The words of that mark; where the row's text leaves no room, an arrow."""
        room = canvas.width - cell_len(strip.text.rstrip())
        return self._more if room >= cell_len(self._more) else _BELOW

    def _palette(self) -> Palette:
        style = self._widget.get_component_rich_style
        return {name: style(f"transcript--{name}") for name in NAMES}

    def _drawn_over(self, row: DocumentRow, canvas: Canvas) -> Strip:
        number, widget, strip = number_of(row.spot), self._widget, row.strip
        # The blank row before a message stays as it is.
        if row.spot.item is self._document.cursor.item and not row.is_before:
            _, *rest = strip
            strip = Strip([Segment(_CURSOR, canvas.palette["cursor"]), *rest], strip.cell_length)
        if marks := self._finder.found:
            strip = marks.mark(row, strip, canvas)
        selection = widget.text_selection
        if selection and (span := selected(row.strip, row.block.margin, number, selection)):
            strip = paint(strip, *span, look_of_selected(widget.screen))
        return strip.apply_offsets(0, number)
