"""The rows of the transcript as strips, with everything that is drawn over them."""

from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip
from textual.widget import Widget

from tui.widgets.transcript.canvas import NAMES, Canvas, Palette
from tui.widgets.transcript.conversation import ConversationOnScreen
from tui.widgets.transcript.document import DocumentRow
from tui.widgets.transcript.find_state import FindState
from tui.widgets.transcript.items import Item
from tui.widgets.transcript.row_selection import look_of_selected, number_of, paint, selected
from tui.widgets.transcript.viewport import Spot
from tui.widgets.transcript.welcome_text import Welcome

_CURSOR = "▌"
_BELOW = "↓"


def with_cursor(row: DocumentRow, canvas: Canvas) -> Strip:
    """A row of the message at the cursor; the blank row before the message stays as it is."""
    if row.is_before:
        return row.strip
    _, *rest = row.strip
    return Strip([Segment(_CURSOR, canvas.palette["cursor"]), *rest], row.strip.cell_length)


def more_words(new: int) -> str:
    """The words of the mark for more rows below, with the number of unseen messages."""
    return f" {_BELOW} {new} new " if new else f" {_BELOW} latest "


def with_more(strip: Strip, words: str, canvas: Canvas) -> Strip:
    """The last row with that mark; where the row's text leaves no room, with an arrow."""
    mark = Strip([Segment(_shown(strip, words, canvas), canvas.palette["more"])])
    return Strip.join([strip.crop(0, canvas.width - mark.cell_length), mark])


def is_more(strip: Strip, words: str, canvas: Canvas, cell: int) -> bool:
    """True if a cell of the last row belongs to that mark."""
    return canvas.width - cell_len(_shown(strip, words, canvas)) <= cell < canvas.width


def _shown(strip: Strip, words: str, canvas: Canvas) -> str:
    room = canvas.width - cell_len(strip.text.rstrip())
    return words if room >= cell_len(words) else _BELOW


class RowPainter:
    """Draws one row at a time: cursor, matches and selection over the rows of the document."""

    def __init__(
        self, widget: Widget, conversation: ConversationOnScreen, finder: FindState
    ) -> None:
        self._widget = widget
        self._conversation = conversation
        self._finder = finder
        self.welcome = Welcome()
        self._more = ""
        self.canvas: Canvas | None = None

    def fit(self, width: int) -> Canvas:
        """The canvas of a width; a new one if the width has changed."""
        if self.canvas is None or self.canvas.width != width:
            self.canvas = Canvas(width, self._palette())
        return self.canvas

    def restyle(self) -> bool:
        """Take the colours of the theme; true if they have changed."""
        if self.canvas is None or self._palette() == self.canvas.palette:
            return False
        self.canvas = Canvas(self.canvas.width, self._palette())
        return True

    def replace_rows(self, rows: list[DocumentRow], more: str, height: int) -> set[int]:
        """Show other rows; ``more`` is the mark on the last one. Gives the rows to be painted."""
        old, self._conversation.rows = self._conversation.rows, rows
        changed = {y for y in range(height) if _row_at(old, y) != _row_at(rows, y)}
        if self._more != more:
            changed.add(height - 1)
            self._more = more
        return changed

    def row(self, y: int, height: int) -> Strip:
        """One row of so many."""
        canvas, rows = self.canvas, self._conversation.rows
        if canvas is None:
            return Strip.blank(self._widget.size.width, self._widget.rich_style)
        strip = self._row(rows[y], canvas) if y < len(rows) else self._below(y, height, canvas)
        return with_more(strip, self._more, canvas) if self._more and y == height - 1 else strip

    def is_more_at(self, row: DocumentRow, cell: int) -> bool:
        """True if a cell of the last row belongs to the mark for more rows below."""
        if not self._more or self.canvas is None:
            return False
        return is_more(row.strip, self._more, self.canvas, cell)

    def _palette(self) -> Palette:
        style = self._widget.get_component_rich_style
        return {name: style(f"transcript--{name}") for name in NAMES}

    def _below(self, y: int, height: int, canvas: Canvas) -> Strip:
        if self._conversation.rows or not self._conversation.is_loaded:
            return canvas.blank()
        return self.welcome.row(y, height, canvas)

    def _row(self, row: DocumentRow, canvas: Canvas) -> Strip:
        number, widget = number_of(row.spot), self._widget
        at_cursor = row.spot.item is self._conversation.cursor.item
        strip = with_cursor(row, canvas) if at_cursor else row.strip
        strip = self._finder.mark(row, strip, canvas)
        selection = widget.text_selection
        if selection and (span := selected(row.strip, row.block.margin, number, selection)):
            strip = paint(strip, *span, look_of_selected(widget.screen))
        return strip.apply_offsets(0, number)


def _row_at(rows: list[DocumentRow], y: int) -> tuple[int, Spot[Item]] | None:
    return (id(rows[y].strip), rows[y].spot) if y < len(rows) else None
