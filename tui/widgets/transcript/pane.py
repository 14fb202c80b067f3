"""The rows of the conversation on screen: what the application tells of it, and drawing."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from tui.domain.journal.message import Message
from tui.domain.views.notice import Shown
from tui.domain.views.status_line import wait_words
from tui.domain.views.usage import Effort
from tui.widgets.transcript import messages
from tui.widgets.transcript.document.document import Document, DocumentRow
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.document.scroll_position import ScrollPosition
from tui.widgets.transcript.document.viewport import Spot
from tui.widgets.transcript.find_state import FindState
from tui.widgets.transcript.history_ends import HistoryEnds
from tui.widgets.transcript.message_cursor import MessageCursor
from tui.widgets.transcript.overlay import more_words, with_cursor, with_more
from tui.widgets.transcript.rendering.canvas import Canvas
from tui.widgets.transcript.rendering.palette import COMPONENTS, NAMES, Palette
from tui.widgets.transcript.scrollbar import show_place
from tui.widgets.transcript.selection import (
    look_of_selected,
    number_of,
    paint,
    selected,
    selected_text,
)
from tui.widgets.transcript.throttle import Throttle
from tui.widgets.transcript.welcome import Welcome

if TYPE_CHECKING:
    from textual.timer import Timer


_FEW_ROWS = 3
"""So many are scrolled at most by who does not go elsewhere."""


class Pane(ScrollView, can_focus=True):
    """What was said, as it is said, and where the reader is in it; moved by who derives from it."""

    DEFAULT_CSS = """
    Pane {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS

    EarlierWanted = messages.EarlierWanted
    LaterWanted = messages.LaterWanted

    def __init__(self, welcome: Sequence[tuple[str, str]] = ()) -> None:
        """``welcome``: keys and what they do, shown where nothing was said."""
        super().__init__()
        self._welcome = Welcome(welcome)
        self._is_known = False
        self._efforts: dict[str, Effort] = {}
        self._conversation = Document(efforts=self._efforts)
        self._cursor = MessageCursor(self._conversation)
        self._page: Canvas | None = None
        self._screen_rows: list[DocumentRow] = []
        self._ends = HistoryEnds()
        self._unseen: set[str] = set()
        self._syncing = False
        self._timer: Timer | None = None
        self._pace = Throttle()
        self._more = ""
        self._has_selection = False
        self._stood: tuple[bool, Item | None, bool, bool] = (True, None, False, False)
        self.finder = FindState(
            lambda: (self._conversation, self._screen_rows), self._draw_all, self._take_cursor
        )

    # What the application tells.

    def show(
        self,
        entries: Sequence[Shown],
        *,
        earlier: bool,
        later: bool = False,
        arriving: Collection[str] = (),
    ) -> None:
        """Show another conversation, from its end.

        ``earlier``: there are messages before the first one, ``later``: after the last one.
        ``arriving``: ids of answers that are still being written.
        """
        self._is_known = True
        if self._has_selection:
            # It would be of the same rows of another conversation.
            self.screen.clear_selection()
        self._conversation = Document(entries, arriving, self._efforts)
        self._cursor = MessageCursor(self._conversation)
        self._ends = HistoryEnds(earlier, later)
        self._unseen.clear()
        self._page = None
        self._screen_rows = []
        # Also the rows below a conversation that is shorter than the one before.
        self._draw_all()

    def prepend(self, entries: Sequence[Shown], *, earlier: bool) -> None:
        """Put earlier entries before all others; nothing on screen moves."""
        self._conversation.prepend(entries)
        self._ends = HistoryEnds(earlier, self._ends.later)
        self._draw()

    def append(self, entries: Sequence[Shown], *, later: bool, arriving: Collection[str]) -> None:
        """Put those after the last that is here after it; nothing on screen moves."""
        self._conversation.append(entries, arriving)
        self._ends = HistoryEnds(self._ends.earlier, later)
        self._draw()

    def show_message(self, message_id: str) -> None:
        """Put the cursor on a message and have it in sight."""
        item = self._cursor.stand_on(message_id)
        if item:
            self._conversation.go_near(item)
            self._draw()
            self.refresh()

    def put(self, entry: Shown) -> None:
        """Add an entry at the end, or exchange the message that has the same id."""
        known = isinstance(entry, Message) and self._conversation.item_of(entry.id)
        if isinstance(entry, Message) and not known:
            self._note_unseen(entry.id)
        if known or not self._ends.later:
            self._conversation.put(entry)
        self._draw()

    def add_text(self, message_id: str, text: str, model: str | None = None) -> None:
        """Add to an answer that is arriving; it is drawn when the pace allows."""
        if not self._ends.later:
            self._conversation.add_text(message_id, text, model)
        self._note_unseen(message_id)
        self._draw_soon()

    def show_wait(self, message_id: str, seconds: int) -> None:
        """Show for how long the first word of an answer is waited for."""
        self._conversation.show_wait(message_id, wait_words(seconds))
        self._draw_soon()

    def show_effort(self, message_id: str, effort: Effort) -> None:
        """Tell what an answer took, with its time and model, in whichever session it is."""
        self._efforts[message_id] = effort
        self._conversation.inform_anew(message_id)
        self._draw_soon()

    def _note_unseen(self, message_id: str) -> None:
        if not self.following:
            self._unseen.add(message_id)

    def show_queued(self, prompts: Sequence[str]) -> None:
        """Show prompts that wait to be sent, after everything else."""
        self._conversation.show_queued(prompts)
        self._draw()

    # What the application asks.

    @property
    def place(self) -> ScrollPosition:
        """Where the reader is, to come back to."""
        return self._conversation.place

    def go_to(self, place: ScrollPosition) -> None:
        """Go back to where the reader was; to the end if that is not there."""
        self._conversation.go_to(place)
        self._draw()

    def show_beginning(self) -> None:
        """See the first row of all."""
        self._conversation.reader.scroll_to(0)
        self._draw()

    @property
    def following(self) -> bool:
        """Whether the end is in sight, and stays so."""
        return self._conversation.reader.following and not self._ends.later

    @property
    def later(self) -> bool:
        """Whether the end is not here."""
        return self._ends.later

    @property
    def cursor_message(self) -> Message | None:
        """The message that the cursor is on."""
        return self._cursor.message

    def visible_text(self) -> list[str]:
        """What is on screen, row by row."""
        return [self.render_line(y).text.rstrip() for y in range(self._pane.height)]

    # Drawing.

    @property
    def _pane(self) -> Size:
        """What is left beside the scrollbar."""
        return self.scrollable_content_region.size

    def _draw_soon(self) -> None:
        if self._timer is not None or not self.is_mounted:
            return
        self._timer = self.set_timer(self._pace.wait, self._draw)

    def _draw(self) -> None:
        """Find out what is on screen now and have painted what is not what it was."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        width, height = self._pane
        if not width or not height:
            return
        self._pace.begin()
        if self._page is None or self._page.width != width:
            self._page = Canvas(width, self._palette())
            # The welcome stands in no row that could be told from what it was.
            self.refresh()
        self._conversation.draw_on(self._page, height)
        rows = self._conversation.rows()
        at_end = not self._ends.later and self._conversation.reader.is_at_end()
        if at_end:
            self._unseen.clear()
        self._repaint(rows, "" if at_end else more_words(len(self._unseen)))
        above, total = self._conversation.reader.rows_above(), self._conversation.layout.total
        show_place(self, above, max(total, above + height))
        self._ask_for_more(above, total - above - height)
        self._tell_of_keys()
        self._pace.end()

    def _tell_of_keys(self) -> None:
        """Have those who say what can be done look again, where that may have changed."""
        can_go_on, selected = self.finder.can_go_on, self._has_selection
        standing = self.following, self._cursor.item, can_go_on, selected
        if standing != self._stood:
            self._stood = standing
            self.refresh_bindings()

    def _draw_all(self) -> None:
        self._draw()
        self.refresh()

    def _repaint(self, rows: list[DocumentRow], more: str) -> None:
        old, self._screen_rows = self._screen_rows, rows
        if bool(old) != bool(rows):
            # The welcome came or went, which is in none of them.
            self.refresh()
        width, height = self._pane
        changed = {y for y in range(height) if _row_at(old, y) != _row_at(rows, y)}
        if self._more != more:
            changed.add(height - 1)
            self._more = more
        if changed:
            # Without any region it would be all of them.
            self.refresh(*[Region(0, y, width, 1) for y in sorted(changed)])

    def _ask_for_more(self, above: int, below: int) -> None:
        wanted = {"earlier": self.EarlierWanted, "later": self.LaterWanted}
        for end in self._ends.neared(above, below, self._pane.height):
            self.post_message(wanted[end]())

    def _palette(self) -> Palette:
        return {name: self.get_component_rich_style(f"transcript--{name}") for name in NAMES}

    def render_line(self, y: int) -> Strip:
        """One row of the pane."""
        page = self._page
        if page is None:
            return Strip.blank(self.size.width, self.rich_style)
        strip = self._row(y, page) if y < len(self._screen_rows) else self._below(y, page)
        last = y == self._pane.height - 1
        return with_more(strip, self._more, page) if self._more and last else strip

    def _below(self, y: int, page: Canvas) -> Strip:
        if self._screen_rows or not self._is_known:
            return page.blank()
        return self._welcome.row(y, self._pane.height, page)

    def _row(self, y: int, page: Canvas) -> Strip:
        row = self._screen_rows[y]
        number = number_of(row.spot)
        strip = with_cursor(row, page) if row.spot.item is self._cursor.item else row.strip
        strip = self.finder.mark(row, strip, page)
        selection = self.text_selection
        if selection and (span := selected(row.strip, row.part.margin, number, selection)):
            strip = paint(strip, *span, look_of_selected(self.screen))
        return strip.apply_offsets(0, number)

    # Selecting.

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text that is seen selected, without what only frames it."""
        text = selected_text(self._conversation, self._screen_rows, selection)
        return (text, "\n") if text else None

    def offset_at(self, pointer: Offset) -> Offset | None:
        """Where a place of the screen, or what is nearest to it here, is in what was said."""
        if not self._screen_rows:
            return None
        region, last = self.content_region, len(self._screen_rows) - 1
        x, y = pointer - region.offset
        row = self._screen_rows[min(max(0, y), last)]
        cells = 0 if y < 0 else region.width if y > last else min(max(0, x), region.width)
        return Offset(len(row.strip.crop(0, cells).text), number_of(row.spot))

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint the selection."""
        self._has_selection = selection is not None
        self.refresh()
        self._tell_of_keys()

    # What becomes of the pane.

    def notify_style_update(self) -> None:
        """Draw everything anew if the styles became others."""
        super().notify_style_update()
        if self._page is not None:
            # The components' styles are those of before until this is over.
            self.call_later(self._restyle)

    def _restyle(self) -> None:
        if self._page is not None and self._palette() != self._page.palette:
            self._page = Canvas(self._page.width, self._palette())
            self._draw()
            # That draws the rows which say something else; those with nothing in them, too.
            self.refresh()

    def _size_updated(
        self,
        size: Size,
        virtual_size: Size,
        container_size: Size,
        layout: bool = True,  # noqa: FBT001, FBT002 - Textual's own
    ) -> bool:
        # What is clamped to the new size is not the reader's doing.
        self._syncing = True
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self._syncing = False

    def on_resize(self) -> None:
        self._draw()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scrollbar, and whoever else scrolls by numbers."""
        super().watch_scroll_y(old_value, new_value)
        if self._syncing or round(old_value) == round(new_value):
            return
        rows = round(new_value) - round(old_value)
        if new_value >= self.max_scroll_y:
            self._conversation.reader.to_end()
        elif abs(rows) <= _FEW_ROWS:
            # By what is seen: where heights are only guessed, numbers would lead elsewhere.
            self._conversation.reader.move(rows)
        else:
            self._conversation.reader.scroll_to(round(new_value))
        self._draw()
        self._bring_cursor()

    def _take_cursor(self, message_id: str) -> None:
        """Let the cursor, if there is one, stand on a message that was gone to."""
        if self._cursor.item:
            self._cursor.stand_on(message_id)

    def _bring_cursor(self) -> None:
        """Let the cursor stay in sight where its reader has moved on: the keys are about it."""
        if self._cursor.come_along(self._screen_rows):
            self._draw_all()


def _row_at(rows: list[DocumentRow], y: int) -> tuple[int, Spot[Item]] | None:
    return (id(rows[y].strip), rows[y].spot) if y < len(rows) else None
