"""The conversation pane: keys and mouse, and what the reader wants of others by them."""

from typing import ClassVar

from textual import events
from textual.binding import BindingType

from tui.domain.text.fences import codes
from tui.domain.views.message_details import details
from tui.widgets.hints import hint
from tui.widgets.key_line import COPY_SELECTED
from tui.widgets.transcript import messages
from tui.widgets.transcript.document.document import DocumentRow
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.horizontal_scroll import move_code
from tui.widgets.transcript.overlay import is_more
from tui.widgets.transcript.pane import Pane
from tui.widgets.transcript.rendering.code_blocks import Code, code_of
from tui.widgets.transcript.rendering.row_blocks import Details, LineBlock
from tui.widgets.transcript.selection import offset_row, whole
from tui.widgets.transcript.transcript_keys import KEYS

_WHEEL_ROWS = 3
_SIDE_CELLS = 8
_NONE = "There is no message yet."
_NO_CODE = "No code to copy; y copies the message."


class Transcript(Pane):
    """The conversation pane, as its reader moves in it."""

    BINDINGS: ClassVar[list[BindingType]] = KEYS

    # Else what is typed after something was selected would be keys of the conversation.
    FOCUS_ON_CLICK: ClassVar[bool] = False

    PassageWanted = messages.PassageWanted
    PromptWanted = messages.PromptWanted
    MatchWanted = messages.MatchWanted
    LinksWanted = messages.LinksWanted
    CopyRequested = messages.CopyRequested

    @property
    def useful(self) -> frozenset[str]:
        """Which of the keys have something to do here that have it only now and then."""
        message = self._cursor.message
        text = message.text if message else ""
        keys = {
            "copy-code": message is None or "```" in text or "~~~" in text,
            "open-link": "://" in text,
            "fold": self._cursor.foldable(self._screen_rows) is not None,
        }
        useful = {f"conversation-{name}" for name, has_use in keys.items() if has_use}
        others = {"find-next": self.finder.can_go_on, COPY_SELECTED: self._has_selection}
        return frozenset(useful | {name for name, has_use in others.items() if has_use})

    # Moving.

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.prevent_default().stop()
        self._turn_wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.prevent_default().stop()
        self._turn_wheel(event, -1)

    def on_mouse_scroll_right(self, event: events.MouseScrollRight) -> None:
        event.prevent_default().stop()
        self._move_code_at(event, _SIDE_CELLS)

    def on_mouse_scroll_left(self, event: events.MouseScrollLeft) -> None:
        event.prevent_default().stop()
        self._move_code_at(event, -_SIDE_CELLS)

    def _turn_wheel(self, event: events.MouseEvent, way: int) -> None:
        if event.shift:
            self._move_code_at(event, way * _SIDE_CELLS)
        else:
            self.action_move(way * _WHEEL_ROWS)

    def _move_code_at(self, event: events.MouseEvent, cells: int) -> None:
        row = self._row_under(event)
        if row and move_code(self._conversation, [row], None, cells):
            self._draw_all()

    def action_move(self, rows: int) -> None:
        """Scroll by rows: down, or up if negative; the cursor comes along."""
        self._conversation.reader.move(rows)
        self._draw()
        self._bring_cursor()

    def action_page(self, pages: int) -> None:
        """Scroll by screens, with one row in common."""
        self._hint_if_empty()
        self.action_move(pages * max(1, self._pane.height - 1))

    def action_to_top(self) -> None:
        """See the first entry; the cursor comes along."""
        self._hint_if_empty()
        if self._ends.earlier:
            self.post_message(messages.BeginningWanted())
            return
        self.show_beginning()
        self._cursor.go_to_first()
        self._draw_all()

    def begin_reading(self, *, cursor: bool) -> None:
        """See the first row of all; with the ``cursor`` on its message."""
        self.show_beginning()
        if cursor:
            self._cursor.go_into_sight(self._screen_rows)
            self._cursor.go_to_first()
        self._draw_all()

    def action_to_end(self) -> None:
        """See the end and follow it."""
        if self._ends.later:
            self.post_message(messages.EndWanted())
            return
        self._conversation.reader.to_end()
        self._cursor.go_to_last()
        self._draw_all()

    def action_sideways(self, count: int) -> None:
        """Move code that has no room: that of the message at the cursor, else all in sight."""
        cells = count * _SIDE_CELLS
        if move_code(self._conversation, self._screen_rows, self._cursor.item, cells):
            self._draw_all()
        else:
            hint(self, f"No code goes on to the {'right' if count > 0 else 'left'} here.")

    # The message cursor.

    def action_step(self, count: int) -> None:
        """Put the cursor on the next message, or the one before."""
        self._cursor.step(count, self._screen_rows)
        self._draw_cursor()

    def action_question(self, count: int) -> None:
        """Put the cursor on the next message of the user, or the one before."""
        self._cursor.step(count, self._screen_rows, role="user")
        self._draw_cursor()

    def show_cursor(self) -> None:
        """Have the cursor on a message in sight."""
        self._cursor.go_into_sight(self._screen_rows)
        self._draw_all()

    def _draw_cursor(self) -> None:
        if self._cursor.item:
            self._conversation.reader.reveal(self._cursor.item)
        else:
            hint(self, _NONE)
        self._draw_all()

    def _hint_if_empty(self) -> None:
        """Say so where there is no message, and no notice that is longer than the screen."""
        reader = self._conversation.reader
        if self._cursor.last() is None and reader.following and not reader.rows_above():
            hint(self, _NONE)

    def action_copy_message(self) -> None:
        """Ask for a copy of the message at the cursor, or of the last one."""
        found = self._cursor.message or self._cursor.last()
        if found:
            self.post_message(self.CopyRequested(found.text))
        else:
            hint(self, _NONE)

    def action_copy_code(self) -> None:
        """Ask for a copy of a block of code: of the message at the cursor one after the other."""
        found, which = self._cursor.next_code(self._screen_rows)
        if found:
            self.post_message(self.CopyRequested(found, which))
        else:
            hint(self, _NO_CODE if self._cursor.last() else _NONE)

    def action_open_link(self) -> None:
        """Ask for a link of the message at the cursor, or of the last one, to be opened."""
        from tui.widgets.transcript.links import links_of

        message = self._cursor.message or self._cursor.last()
        links = links_of(message) if message else ()
        self.post_message(self.LinksWanted([(link.target, link.text) for link in links]))

    def action_details(self) -> None:
        """Show or hide time, model and more of the message at the cursor, or of one in sight."""
        if self._cursor.item is None:
            self._cursor.go_into_sight(self._screen_rows)
        item = self._cursor.item
        if item is None or item.message is None:
            hint(self, _NONE)
            return
        if not item.informed or self._shows_details_of(item):
            self._conversation.inform(item, shown=not item.informed)
            self._draw_all()
        if item.informed and not self._shows_details_of(item):
            # They stand where the message begins, and nobody asked to go there.
            hint(self, details(item.message, item.effort))

    def _shows_details_of(self, item: Item) -> bool:
        return any(isinstance(r.part, Details) and r.spot.item is item for r in self._screen_rows)

    def action_all_details(self) -> None:
        """Show or hide that of all messages."""
        self._hint_if_empty()
        self._conversation.inform_all()
        self._draw_all()

    def action_fold(self) -> None:
        """Show or hide what a tool call or a result is about."""
        item = self._cursor.foldable(self._screen_rows)
        if item:
            self._conversation.fold(item)
            self._draw()
        else:
            hint(self, "Nothing to open or fold here.")

    def action_match(self, count: int) -> None:
        """Ask for the next match, or the one before."""
        self.post_message(self.MatchWanted(count))

    # The mouse.

    def on_mouse_down(self) -> None:
        self.post_message(self.PromptWanted())

    def on_click(self, event: events.Click) -> None:
        """Fold by a click on the line; a double click selects a paragraph, a triple one more."""
        if event.chain > 1:
            event.prevent_default()
        row = self._row_under(event)
        if row is None:
            return
        if self._is_more_at(row, event):
            self.action_to_end()
            return
        if event.chain > 1:
            self._select(row, whole_item=event.chain > 2)
        elif not self.text_selection and (code := self._code_to_copy_at(row, event)):
            self.post_message(self.CopyRequested(code))
        elif isinstance(row.part, LineBlock) and row.part.foldable and not self.text_selection:
            self._conversation.fold(row.spot.item)
            self._draw()
        elif row.spot.item.message and not self.text_selection:
            self._open_link_at(row, event)

    def _is_more_at(self, row: DocumentRow, event: events.Click) -> bool:
        """Whether the mark is clicked which says that there is more below."""
        offset = event.get_content_offset(self)
        if not self._more or self._page is None or not offset or self.text_selection:
            return False
        is_last = offset.y == self._pane.height - 1
        return is_last and is_more(row.strip, self._more, self._page, offset.x)

    def _code_to_copy_at(self, row: DocumentRow, event: events.Click) -> str:
        offset, part, item = event.get_content_offset(self), row.part, row.spot.item
        if not isinstance(part, Code) or not offset:
            return ""
        if not part.copies_at(row.spot.row, row.strip, offset.x):
            return ""
        return code_of(part, item.parts(), codes(item.message.text) if item.message else ())

    def _open_link_at(self, row: DocumentRow, event: events.Click) -> None:
        offset, message = event.get_content_offset(self), row.spot.item.message
        strip = row.strip
        place = len(strip.crop(0, offset.x).text) if offset else 0
        style = (
            next((s.style for s in strip.crop(offset.x, offset.x + 1)), None) if offset else None
        )
        if message is None or not ((style and style.underline) or "://" in strip.text):
            return
        from tui.widgets.transcript.links import link_at, links_of

        if links := link_at(links_of(message), strip.text, place):
            self.post_message(self.LinksWanted([(link.target, link.text) for link in links]))

    def _row_under(self, event: events.MouseEvent) -> DocumentRow | None:
        y = event.get_content_offset(self)
        return self._screen_rows[y.y] if y and 0 <= y.y < len(self._screen_rows) else None

    def _select(self, row: DocumentRow, *, whole_item: bool) -> None:
        spot, last = row.spot, len(row.spot.item.parts()) - 1
        first, end = (0, last) if whole_item else (spot.part, spot.part)
        order = spot.item.order
        rows = whole(offset_row(order, first, 0), offset_row(order, end + 1, 0) - 1)
        self.screen.selections = {self: rows}
