"""The transcript of a session: a virtual list of rows, of which only those on screen are drawn."""

import time
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.binding import BindingType
from textual.geometry import Offset, Region, Size
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.journal.message import ImageBlock, Message, Role
from tui.domain.journal.session import Entry, Version
from tui.domain.views.costs import details
from tui.widgets.intents import (
    CodeWrapChanged,
    CopyRequested,
    LinksWanted,
    MatchWanted,
    PageWanted,
    PromptWanted,
    VersionIntent,
    hint,
)
from tui.widgets.key_line import COPY_SELECTED
from tui.widgets.keys import CONVERSATION, CONVERSATION_MOVES
from tui.widgets.textual_bases import ScrollViewBase
from tui.widgets.transcript.canvas import COMPONENTS
from tui.widgets.transcript.document import NO_VERSIONS, Document, HistoryEnds
from tui.widgets.transcript.row_blocks import Details, FoldLine
from tui.widgets.transcript.row_painter import FindState, RowPainter
from tui.widgets.transcript.row_selection import offset_at, selected_text, selection_of, target_at
from tui.widgets.transcript.viewport import DocumentRow
from tui.widgets.transcript.welcome_text import WelcomeText

if TYPE_CHECKING:
    from textual.timer import Timer

FRAMES_A_SECOND = 30
LONGEST_WAIT = 0.5
"""In seconds: the first frame may have loaded a library, and the next must not wait for that."""

_WHEEL_ROWS = 3
_SIDE_CELLS = 8
_FEW_ROWS = 3
"""A scrollbar that moves by more rows than this is being dragged."""


def pause_after(seconds: float) -> float:
    """The pause after a frame that took so long: drawing has a quarter of the time at most."""
    return max(1 / FRAMES_A_SECOND, min(3 * seconds, LONGEST_WAIT))


def show_place(view: ScrollView, above: int, total: int) -> None:
    """Set the scrollbar to a position that was reached without it."""
    width, height = view.scrollable_content_region.size
    # An assignment would lay out the whole screen for each piece of an answer.
    virtual_size = Size(width, total)
    view.set_reactive(Widget.virtual_size, virtual_size)  # pyright: ignore[reportArgumentType]
    view.set_scroll(None, above)
    view.set_reactive(Widget.scroll_target_y, float(above))  # pyright: ignore[reportArgumentType]
    if view.show_vertical_scrollbar:
        bar = view.vertical_scrollbar
        bar.window_virtual_size, bar.window_size, bar.position = total, height, above


class Transcript(ScrollViewBase, can_focus=True):
    """Draws the conversation on screen, and does what keys and mouse ask for in it."""

    BINDINGS: ClassVar[list[BindingType]] = [*CONVERSATION]

    # Selecting text must not move the focus away from the prompt.
    FOCUS_ON_CLICK: ClassVar[bool] = False

    DEFAULT_CSS = """
    Transcript {
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = COMPONENTS

    def __init__(self) -> None:
        super().__init__()
        self.conversation = Document(self._draw, self._draw_soon, self._draw_all)
        self.finder = FindState(self.conversation)
        self._painter = RowPainter(self, self.conversation, self.finder)
        self._timer: Timer | None = None
        self._next_frame = 0.0
        self._has_selection = False
        self._bindings_state: tuple[object, ...] = (True, None, None, False, False)

    def show_welcome(self, text: WelcomeText) -> None:
        """Show a text while there is no message."""
        if text != self._painter.welcome.text:
            self._painter.welcome.text = text
            self.refresh()

    def show(
        self,
        entries: Sequence[Entry],
        *,
        earlier: bool,
        later: bool = False,
        arriving: Collection[str] = (),
        versions: Mapping[str, Version] = NO_VERSIONS,
    ) -> None:
        """Show another session, from its end.

        ``earlier``: there are messages before the first one, ``later``: after the last one.
        ``arriving``: ids of answers that are still being written. ``versions``: the messages that
        have other versions.
        """
        if self._has_selection:
            # It would apply to the same rows of another session.
            self.screen.clear_selection()
        self.conversation.replace(entries, HistoryEnds(earlier, later), arriving, versions)
        self._painter.canvas = None
        # Also the rows below a session that is shorter than the one before.
        self._draw_all()

    def wrap_code(self, *, wraps: bool) -> None:
        """Wrap lines of code that are too long, or cut them."""
        self._painter.wraps = wraps

    # --- the line of keys

    @property
    def useful(self) -> frozenset[str]:
        """Keys with something to act on now; the others always have something."""
        shown = self.conversation
        item, message = shown.cursor.item, shown.cursor.message
        has_use = {
            "find-next": self.finder.can_go_on,
            COPY_SELECTED: self._has_selection,
            "conversation-copy-code": item is None or item.has_code,
            "conversation-open-link": message is not None
            and ("://" in message.typed_text or bool(_pictures(message))),
            "conversation-ask-again": message is not None and message.role == "assistant",
            "conversation-edit": message is not None and message.role == "user",
            "conversation-version-previous": item is not None
            and shown.with_versions(item) in shown.versions,
            "conversation-fold": shown.cursor.foldable() is not None,
        }
        return frozenset(key for key, has in has_use.items() if has)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters to the prompt that have nothing to act on."""
        if action == "match":
            return self.finder.can_go_on
        if action not in CONVERSATION_MOVES:
            return self.conversation.cursor.last() is not None
        return super().check_action(action, parameters)

    def _refresh_bindings_if_changed(self) -> None:
        """Update the line of keys where its contents may have changed."""
        item = self.conversation.cursor.item
        state = (
            self.conversation.following,
            item,
            item and item.unfolded,
            self.finder.can_go_on,
            self._has_selection,
        )
        if state != self._bindings_state:
            self._bindings_state = state
            self.refresh_bindings()

    # --- drawing

    def _draw_soon(self) -> None:
        if self._timer is None and self.is_mounted:
            wait = max(0.001, self._next_frame - time.monotonic())
            self._timer = self.set_timer(wait, self._draw)

    @on(events.Resize)
    def _draw(self) -> None:
        """Settle the viewport, and paint the rows that have changed."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        width, height = self.scrollable_content_region.size
        if not width or not height:
            return
        begun = time.monotonic()
        shown, painter = self.conversation, self._painter
        if painter.canvas is None or painter.canvas.width != width:
            # The rows of the welcome are not compared.
            self.refresh()
        shown.draw_on(painter.fit(width), height)
        rows = shown.rows()
        if bool(shown.seen) != bool(rows):
            # The welcome came or went.
            self.refresh()
        at_end = not shown.ends.later and shown.reader.is_at_end()
        if at_end:
            shown.unseen.clear()
        unseen = None if at_end else len(shown.unseen)
        if changed := painter.replace_rows(rows, height, unseen):
            # Without any region it would be all of them.
            self.refresh(*[Region(0, y, width, 1) for y in sorted(changed)])
        above, total = shown.reader.rows_above(), shown.layout.total
        show_place(self, above, max(total, above + height))
        for end in shown.ends.neared(above, total - above - height, height):
            self.post_message(PageWanted(end))
        self._refresh_bindings_if_changed()
        ended = time.monotonic()
        self._next_frame = ended + pause_after(ended - begun)

    def _draw_all(self) -> None:
        self._draw()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One row of the transcript."""
        return self._painter.row(y, self.scrollable_content_region.height)

    # --- selecting

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without decoration."""
        text = selected_text(self.conversation, selection)
        return (text, "\n") if text else None

    def offset_at(self, pointer: Offset) -> Offset | None:
        """The place in the document that is nearest to a place of the screen."""
        return offset_at(self.conversation.seen, self.content_region, pointer)

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint the selection."""
        self._has_selection = selection is not None
        self.refresh()
        self._refresh_bindings_if_changed()

    # --- mouse

    def _row_under(self, event: events.MouseEvent) -> tuple[DocumentRow | None, Offset]:
        """The row under the pointer, and the pointer's place over the rows."""
        offset, rows = event.get_content_offset(self), self.conversation.seen
        if offset is None or not 0 <= offset.y < len(rows):
            return None, Offset()
        return rows[offset.y], offset

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    @on(events.MouseScrollLeft)
    @on(events.MouseScrollRight)
    def _turn_wheel(self, event: events.MouseEvent) -> None:
        """Scroll rows; with Shift, or a wheel that tilts, the code under the pointer."""
        event.prevent_default().stop()
        back = isinstance(event, events.MouseScrollUp | events.MouseScrollLeft)
        step = -1 if back else 1
        tilted = isinstance(event, events.MouseScrollLeft | events.MouseScrollRight)
        row, _ = self._row_under(event)
        if not tilted and not event.shift:
            self.action_move(step * _WHEEL_ROWS)
        elif row and self.conversation.scroll_code([row], None, step * _SIDE_CELLS):
            self._draw_all()

    def on_mouse_down(self) -> None:
        self.post_message(PromptWanted())

    def on_click(self, event: events.Click) -> None:
        """Act on the row; a double click selects a paragraph, a triple click a message."""
        if event.chain > 1:
            event.prevent_default()
        row, place = self._row_under(event)
        if row is None:
            return
        is_last = place.y == self.conversation.reader.height - 1
        if is_last and not self.text_selection and self._painter.is_more_at(row, place.x):
            self.action_to_end()
        elif event.chain > 1:
            self.screen.selections = {self: selection_of(row, whole_item=event.chain > 2)}
        elif not self.text_selection:
            match target_at(row, place.x):
                case None:
                    return
                case FoldLine():
                    self.conversation.fold(row.spot.item, row.spot.block)
                    self._draw()
                case intent:
                    self.post_message(intent)

    # --- size, style and scrollbar

    def notify_style_update(self) -> None:
        """Draw everything anew if the styles have changed."""
        super().notify_style_update()
        if self._painter.canvas is not None:
            # The styles of the components are updated after this.
            self.call_later(self._painter.restyle, self._draw_all)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scrollbar, and everything else that scrolls by row numbers."""
        super().watch_scroll_y(old_value, new_value)
        old, new = round(old_value), round(new_value)
        if self.is_resizing or old == new:
            return
        reader = self.conversation.reader
        if new_value >= self.max_scroll_y:
            reader.to_end()
        elif abs(new - old) <= _FEW_ROWS:
            # Not by row number: while heights are estimates, that would jump.
            reader.move(new - old)
        else:
            reader.scroll_to(new)
        self._draw_with_cursor()

    # --- keys: scrolling

    def _draw_with_cursor(self) -> None:
        """Draw; the message cursor stays in sight."""
        self._draw()
        if self.conversation.cursor.come_along():
            self._draw_all()

    def action_move(self, rows: int) -> None:
        """Scroll down by rows, or up if negative."""
        self.conversation.reader.move(rows)
        self._draw_with_cursor()

    def action_page(self, pages: int) -> None:
        """Scroll by screens, with one row in common."""
        self._hint_if_blank()
        self.action_move(pages * max(1, self.conversation.reader.height - 1))

    def action_to_top(self) -> None:
        """Go to the beginning of the session, which may have to be loaded first."""
        self._hint_if_blank()
        if self.conversation.ends.earlier:
            self.post_message(PageWanted("beginning"))
            return
        self.show_beginning()
        self.conversation.cursor.go_to_end(1)
        self._draw_all()

    def show_beginning(self, *, cursor: bool = False) -> None:
        """Show the first row; with ``cursor``, put the cursor on its message."""
        shown = self.conversation
        shown.reader.scroll_to(0)
        self._draw()
        if cursor:
            shown.cursor.go_into_sight()
            shown.cursor.go_to_end(1)
        self._draw_all()

    def action_to_end(self) -> None:
        """Go to the end of the session and follow it; it may have to be loaded first."""
        if self.conversation.ends.later:
            self.post_message(PageWanted("end"))
            return
        self.conversation.reader.to_end()
        self.conversation.cursor.go_to_end(-1)
        self._draw_all()

    def action_sideways(self, count: int) -> None:
        """Move the code of the message at the cursor, else all code on screen."""
        shown = self.conversation
        if shown.scroll_code(shown.seen, shown.cursor.item, count * _SIDE_CELLS):
            self._draw_all()

    def action_wrap(self) -> None:
        """Wrap long lines of code everywhere, or cut and scroll them; the program keeps it."""
        wraps = not self._painter.wraps
        self.wrap_code(wraps=wraps)
        self._draw_all()
        self.post_message(CodeWrapChanged(wraps))
        hint(
            self,
            "Long code lines wrap." if wraps else "Long code lines are cut; ← and → scroll them.",
        )

    def _hint_if_blank(self) -> None:
        if self.conversation.is_blank:
            hint(self, "There is no message yet.")

    # --- keys: the message at the cursor

    def action_step(self, count: int, role: Role | None = None) -> None:
        """Put the cursor on the next message of a role, or the one before."""
        shown = self.conversation
        shown.cursor.step(count, role)
        if shown.cursor.item:
            shown.reader.reveal(shown.cursor.item)
        self._draw_all()

    def show_cursor(self) -> None:
        """Put the cursor on a message in sight, and on the newest that has come since."""
        shown = self.conversation
        shown.cursor.go_into_sight(following=shown.following)
        self._draw_all()

    def action_copy_message(self) -> None:
        """Ask for a copy of the message at the cursor, or of the last one: of a whole answer."""
        message = self.conversation.cursor.message_or_last
        if message is None:
            return
        texts = [message.typed_text or message.text]
        if message.role == "assistant":
            parts = self.conversation.answer_with(message.id)
            texts = [each.message.text for each in parts]
        self.post_message(CopyRequested("\n\n".join(filter(str.strip, texts))))

    def action_copy_code(self) -> None:
        """Ask for a copy of a code block; each press takes the next block of the message."""
        code, number = self.conversation.cursor.next_code()
        if code:
            self.post_message(CopyRequested(code, number))
        else:
            hint(self, "No code to copy; y copies the message.")

    def action_open_link(self) -> None:
        """Ask for a link or picture of the message at the cursor, or of the last, to be opened."""
        from tui.widgets.transcript.rich_markdown import links_of

        message = self.conversation.cursor.message_or_last
        links = links_of(message) if message else ()
        pairs = [(link.target, link.text) for link in links]
        self.post_message(LinksWanted(pairs, _pictures(message) if message else ()))

    def action_version(self, step: int) -> None:
        """Request another version of the message at the cursor, or of the last that has some."""
        document, item = self.conversation, self.conversation.cursor.item
        message_id = document.with_versions(item)
        if message_id not in document.versions:
            hint(self, "This message has one version; r asks again, e edits a question.")
        else:
            self.post_message(VersionIntent(message_id, "step", step))

    def action_ask_again(self) -> None:
        """Request another version of the answer at the cursor, or of the last one."""
        if message := self.conversation.cursor.message_or_last:
            self.post_message(VersionIntent(message.id, "again"))

    def action_edit_question(self) -> None:
        """Request to edit the question at the cursor, or the last one."""
        if message := self.conversation.cursor.message_or_last:
            self.post_message(VersionIntent(message.id, "edit"))

    def action_fork(self) -> None:
        """Request a copy of the session up to the message at the cursor, with its whole answer."""
        if message := self.conversation.cursor.message_or_last:
            parts = self.conversation.answer_with(message.id)
            is_ended = bool(parts) and not parts[-1].message.tool_calls
            last = parts[-1].key if is_ended else message.id
            self.post_message(VersionIntent(last, "fork"))

    def action_match(self, count: int) -> None:
        """Ask for the next match, or the one before."""
        self.post_message(MatchWanted(count))

    # --- keys: folding

    def action_fold(self) -> None:
        """Open files, a tool call, a result or a summary, or fold them."""
        shown = self.conversation
        if item := shown.cursor.foldable():
            shown.fold(item)
            self._draw()

    def action_details(self) -> None:
        """Show or hide time, model and more of the message at the cursor, or of one in sight."""
        shown = self.conversation
        if shown.cursor.item is None:
            shown.cursor.go_into_sight()
        item = shown.cursor.item
        if item is None or item.message is None:
            return

        def are_in_sight() -> bool:
            rows = shown.seen
            return any(isinstance(row.block, Details) and row.spot.item is item for row in rows)

        if not item.informed or are_in_sight():
            shown.inform(item, shown=not item.informed)
            self._draw_all()
        if item.informed and not are_in_sight():
            # They are at the message's beginning, out of sight: scrolling there was not asked for.
            hint(self, details(item.message, item.cost))

    def action_all_details(self) -> None:
        """Show or hide the details of all messages."""
        self._hint_if_blank()
        self.conversation.inform_all()
        self._draw_all()


def _pictures(message: Message) -> Sequence[ImageBlock]:
    return [each for each in message.attachments if isinstance(each, ImageBlock)]
