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

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry
from tui.domain.journal.versions import Version
from tui.domain.views.usage import AnswerCost
from tui.widgets.key_line import COPY_SELECTED
from tui.widgets.keys import CONVERSATION, CONVERSATION_MOVES
from tui.widgets.textual_private.scroll_view import ScrollViewBase
from tui.widgets.transcript import messages
from tui.widgets.transcript.cursor_actions import CursorActions
from tui.widgets.transcript.document.document import (
    NO_VERSIONS,
    Document,
    DocumentRow,
    ScrollPosition,
)
from tui.widgets.transcript.find_state import FindState
from tui.widgets.transcript.folding import Folding
from tui.widgets.transcript.mouse import Mouse
from tui.widgets.transcript.rendering.canvas import Canvas
from tui.widgets.transcript.rendering.palette import COMPONENTS
from tui.widgets.transcript.row_painter import RowPainter, more_words
from tui.widgets.transcript.scrolling import HorizontalScroll, Scrolling
from tui.widgets.transcript.selection import offset_at, selected_text
from tui.widgets.transcript.state import HistoryEnds, TranscriptState
from tui.widgets.transcript.welcome import Welcome, WelcomeText

if TYPE_CHECKING:
    from textual.timer import Timer

FRAMES_A_SECOND = 30
LONGEST_WAIT = 0.5
"""In seconds: the first frame may have loaded a library, and the next must not wait for that."""


class Throttle:
    """Limits drawing to ``FRAMES_A_SECOND`` and to a quarter of the running time."""

    def __init__(self) -> None:
        self._begun = self._ended = 0.0

    def begin(self) -> None:
        """Note that drawing begins."""
        self._begun = time.monotonic()

    def end(self) -> None:
        """Note that drawing is done."""
        self._ended = time.monotonic()

    @property
    def wait(self) -> float:
        """Seconds until the next frame."""
        rest = min(3 * (self._ended - self._begun), LONGEST_WAIT)
        frame = max(1 / FRAMES_A_SECOND, rest)
        return max(0.001, self._ended + frame - time.monotonic())


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
    """Shows the messages of a session, and connects Textual's events with its collaborators."""

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

    PageWanted = messages.PageWanted
    EarlierWanted = messages.EarlierWanted
    LaterWanted = messages.LaterWanted
    PromptWanted = messages.PromptWanted
    MatchWanted = messages.MatchWanted
    LinksWanted = messages.LinksWanted

    def __init__(self) -> None:
        super().__init__()
        self._welcome = Welcome()
        self._state = state = TranscriptState(self, self._draw, self._draw_all)
        self.finder = FindState(state)
        self._painter = RowPainter(state, self.finder, self._welcome)
        self.scrolling = Scrolling(state)
        self.at_cursor = CursorActions(state)
        horizontal, folding = HorizontalScroll(state), Folding(state)
        self._mouse = Mouse(state, self._painter, self.scrolling, horizontal, folding)
        self._timer: Timer | None = None
        self._throttle = Throttle()
        self._has_selection = False
        self._bindings_state: tuple[object, ...] = (True, None, None, False, False)

        # Textual looks for the actions of CONVERSATION here.
        self.action_move = self.scrolling.move
        self.action_page = self.scrolling.page
        self.action_to_top = self.scrolling.to_top
        self.action_to_end = self.scrolling.to_end
        self.action_sideways = horizontal.step
        self.action_step = self.at_cursor.step
        self.action_copy_message = self.at_cursor.copy_message
        self.action_copy_code = self.at_cursor.copy_code
        self.action_ask_again = self.at_cursor.ask_again
        self.action_edit_question = self.at_cursor.edit_question
        self.action_version = self.at_cursor.version
        self.action_fork = self.at_cursor.fork
        self.action_open_link = self.at_cursor.open_link
        self.action_match = self.at_cursor.match
        self.action_fold = folding.fold
        self.action_details = folding.details
        self.action_all_details = folding.all_details

    # --- values

    def show_welcome(self, text: WelcomeText) -> None:
        """Show a text while there is no message."""
        if text != self._welcome.text:
            self._welcome.text = text
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
        document = Document(entries, arriving, self._state.costs, self._state.thoughts, versions)
        self._state.replace(document, HistoryEnds(earlier, later))
        self._painter.canvas = None
        # Also the rows below a session that is shorter than the one before.
        self._draw_all()

    def prepend(self, entries: Sequence[Entry], *, earlier: bool) -> None:
        """Put earlier entries before all others; nothing on screen moves."""
        self._state.document.prepend(entries)
        self._state.ends = HistoryEnds(earlier, self.later)
        self._draw()

    def append(self, entries: Sequence[Entry], *, later: bool, arriving: Collection[str]) -> None:
        """Put a page of later entries after the last one; nothing on screen moves."""
        self._state.document.append(entries, arriving)
        self._state.ends = HistoryEnds(self._state.ends.earlier, later)
        self._draw()

    def put(self, entry: Entry) -> None:
        """Add an entry at the end, or replace the message with the same id."""
        known = isinstance(entry, Message) and self._state.document.item_of(entry.id)
        if isinstance(entry, Message) and not known:
            self._state.note_unseen(entry.id)
        if known or not self.later:
            self._state.document.put(entry)
        self._draw()

    def add_text(self, message_id: str, text: str, model: str | None = None) -> None:
        """Add to an answer that is arriving; it is drawn with the next frame."""
        if not self.later:
            self._state.document.add_text(message_id, text, model)
        self._state.note_unseen(message_id)
        self._draw_soon()

    def add_thinking(self, message_id: str, text: str) -> None:
        """Add to the thinking before an answer, of whichever session it is."""
        thought = self._state.thoughts.add(message_id, text)
        if self._state.document.show_thought(message_id, thought):
            self._draw_soon()

    def end_thinking(self, message_id: str, seconds: float) -> None:
        """Fold the thinking before an answer: that begins, or has ended."""
        thought = self._state.thoughts.get(message_id)
        if thought is None:
            return
        thought.end(seconds)
        if self._state.document.show_thought(message_id, thought):
            self._draw_soon()

    def show_cost(self, message_id: str, cost: AnswerCost) -> None:
        """Add time and tokens to the details of an answer, of whichever session it is."""
        self._state.costs[message_id] = cost
        self._state.document.inform_anew(message_id)
        self._draw_soon()

    def show_versions(self, versions: Mapping[str, Version]) -> None:
        """Show which messages have other versions."""
        self._state.document.show_versions(versions)
        self._draw()

    def show_queued(self, prompts: Sequence[str]) -> None:
        """Show prompts that wait to be sent, after everything else."""
        self._state.document.show_queued(prompts)
        self._draw()

    def show_message(self, message_id: str) -> None:
        """Put the cursor on a message and scroll it into view."""
        item = self._state.cursor.stand_on(message_id)
        if item:
            self._state.document.go_near(item)
            self._draw_all()

    # --- the reader's place

    @property
    def place(self) -> ScrollPosition:
        """The scroll position, to come back to."""
        return self._state.document.place

    def go_to(self, place: ScrollPosition) -> None:
        """Go back to a scroll position; to the end if it is not in the document."""
        self._state.document.go_to(place)
        self._draw()

    @property
    def following(self) -> bool:
        """True while the end is in sight; new rows then scroll into view."""
        return self._state.following

    @property
    def later(self) -> bool:
        """True if there are messages after the last loaded one."""
        return self._state.ends.later

    @property
    def cursor_message(self) -> Message | None:
        """The message at the cursor."""
        return self._state.cursor.message

    @property
    def useful(self) -> frozenset[str]:
        """Keys with something to act on now; the others always have something."""
        has_use = {"find-next": self.finder.can_go_on, COPY_SELECTED: self._has_selection}
        return self.at_cursor.useful | {key for key, has in has_use.items() if has}

    def visible_text(self) -> list[str]:
        """The text on screen, row by row."""
        return [self.render_line(y).text.rstrip() for y in range(self._pane.height)]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters to the prompt that have nothing to act on."""
        if action == "match":
            return self.finder.can_go_on
        if action not in CONVERSATION_MOVES:
            return self._state.cursor.last() is not None
        return super().check_action(action, parameters)

    # --- drawing

    @property
    def _pane(self) -> Size:
        """The room beside the scrollbar."""
        return self.scrollable_content_region.size

    def _draw_soon(self) -> None:
        if self._timer is not None or not self.is_mounted:
            return
        self._timer = self.set_timer(self._throttle.wait, self._draw)

    def _draw(self) -> None:
        """Settle the viewport, and paint the rows that have changed."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        width, height = self._pane
        if not width or not height:
            return
        self._throttle.begin()
        document, ends = self._state.document, self._state.ends
        document.draw_on(self._fitted_canvas(width), height)
        rows = document.rows()
        at_end = not ends.later and document.reader.is_at_end()
        if at_end:
            self._state.unseen.clear()
        self._replace_rows(rows, "" if at_end else more_words(len(self._state.unseen)))
        above, total = document.reader.rows_above(), document.layout.total
        show_place(self, above, max(total, above + height))
        for end in ends.neared(above, total - above - height, height):
            self.post_message(self.EarlierWanted() if end == "earlier" else self.LaterWanted())
        self._refresh_bindings_if_changed()
        self._throttle.end()

    def _draw_all(self) -> None:
        self._draw()
        self.refresh()

    def _fitted_canvas(self, width: int) -> Canvas:
        canvas = self._painter.canvas
        if canvas is None or canvas.width != width:
            # The rows of the welcome are not compared.
            self.refresh()
        return self._painter.fit(width)

    def _replace_rows(self, rows: list[DocumentRow], more: str) -> None:
        if bool(self._state.rows) != bool(rows):
            # The welcome came or went.
            self.refresh()
        width, height = self._pane
        changed = self._painter.replace_rows(rows, more, height)
        if changed:
            # Without any region it would be all of them.
            self.refresh(*[Region(0, y, width, 1) for y in sorted(changed)])

    def _refresh_bindings_if_changed(self) -> None:
        """Update the line of keys where its contents may have changed."""
        item = self._state.cursor.item
        state = (
            self.following,
            item,
            item and item.fold_state,
            self.finder.can_go_on,
            self._has_selection,
        )
        if state != self._bindings_state:
            self._bindings_state = state
            self.refresh_bindings()

    def render_line(self, y: int) -> Strip:
        """One row of the transcript."""
        return self._painter.row(y, self._pane.height)

    # --- selecting

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without decoration."""
        text = selected_text(self._state.document, self._state.rows, selection)
        return (text, "\n") if text else None

    def offset_at(self, pointer: Offset) -> Offset | None:
        """The place in the document that is nearest to a place of the screen."""
        return offset_at(self._state.rows, self.content_region, pointer)

    def selection_updated(self, selection: Selection | None) -> None:
        """Paint the selection."""
        self._has_selection = selection is not None
        self.refresh()
        self._refresh_bindings_if_changed()

    # --- mouse

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    @on(events.MouseScrollLeft)
    @on(events.MouseScrollRight)
    def _turn_wheel(self, event: events.MouseEvent) -> None:
        event.prevent_default().stop()
        self._mouse.turn_wheel(event)

    def on_mouse_down(self) -> None:
        self.post_message(self.PromptWanted())

    def on_click(self, event: events.Click) -> None:
        self._mouse.click(event)

    # --- size, style and scrollbar

    def notify_style_update(self) -> None:
        """Draw everything anew if the styles have changed."""
        super().notify_style_update()
        if self._painter.canvas is not None:
            # The styles of the components are updated after this.
            self.call_later(self._restyle)

    def _restyle(self) -> None:
        if self._painter.restyle():
            # Rows without text look the same to the comparison.
            self._draw_all()

    def on_resize(self) -> None:
        self._draw()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the scrollbar, and everything else that scrolls by row numbers."""
        super().watch_scroll_y(old_value, new_value)
        old, new = round(old_value), round(new_value)
        if not self.is_resizing and old != new:
            at_end = new_value >= self.max_scroll_y
            self.scrolling.follow_scrollbar(old, new, at_end=at_end)
