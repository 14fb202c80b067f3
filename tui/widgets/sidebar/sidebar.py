"""The sidebar: rows, filter, note and width, and the line in which a session is renamed."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import ClassVar, Self

from textual import on
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.events import MouseDown, MouseMove
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static
from textual.widgets.input import Selection

from tui.domain import screen_sizes as sizes
from tui.domain.text import EMPTY, NAME_CHARACTERS, UNREADABLE
from tui.domain.views.session_rows import SessionRows
from tui.widgets import intents
from tui.widgets.cells import one_line
from tui.widgets.keys import FILTER, RENAME, SIDEBAR, SIDEBAR_ROW_ACTIONS
from tui.widgets.line_input import LineInput
from tui.widgets.sidebar.rows_view import RowsView


class RenameLine(LineInput):
    """An input line with the name of one session; hidden while none is renamed."""

    BINDINGS: ClassVar[list[BindingType]] = [*RENAME]
    # As wide as the screen, whatever it lies in.
    DEFAULT_CSS = """
    RenameLine {
        layer: line; overlay: screen;
        background: $boost; color: $foreground; text-style: underline;
    }
    """

    @dataclass(eq=False, repr=False)
    class TitleWanted(Message):
        """The model is to be asked for a title."""

        line: "RenameLine"

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=False, max_length=NAME_CHARACTERS)
        self.display = False
        self.session_id = ""
        self._value_before = ""
        self._unchanged: tuple[str, ...] = ()
        self._go_back: Callable[[], object] = lambda: None

    def begin(self, session_id: str, name: str, label: str, go_back: Callable[[], object]) -> None:
        """Rename a session; ``go_back`` returns the focus.

        One without a name offers its title, selected: typing replaces it, and a move keeps it.
        """
        # The session's own words in a title, without the mark where it was cut.
        title = "" if label in (EMPTY, UNREADABLE) else one_line(label).removesuffix("…")
        before = one_line(name)
        self.session_id, self._go_back = session_id, go_back
        self._unchanged = (before,) if before else ("", title)
        self.value, self._value_before, self.placeholder = before or title, "", ""
        end = len(self.value)
        self.selection = Selection(end if before else 0, end)
        self.display = True
        # At once: the next keys may be in the queue already.
        self.screen.set_focus(self)

    def lie_at(self, x: int, y: int) -> None:
        """Lie over a row of the parent, as far as the edge of the screen."""
        parent = self.parent
        left = parent.region.x + x if isinstance(parent, Widget) else x
        self.styles.offset = (x, y)
        self.styles.width = max(1, self.screen.size.width - left)

    def action_leave(self) -> None:
        """Close without renaming."""
        if not self.session_id:
            return
        self.session_id = ""
        self.workers.cancel_node(self)  # pyright: ignore[reportUnknownMemberType]
        if self.has_focus:
            self._go_back()
        self.display = False

    async def action_submit(self) -> None:
        """Post the new name, unless it is the old one."""
        if self.placeholder and not self.value:
            return  # the model is being asked
        session_id, name = self.session_id, " ".join(self.value.split())
        if session_id and name not in self._unchanged:
            self.post_message(intents.SessionRenamed(session_id, name))
        self.action_leave()

    def action_ask_title(self) -> None:
        self.post_message(self.TitleWanted(self))

    def show_asking(self, words: str) -> None:
        """Show what is waited for in place of the text."""
        self._value_before = self.value or self._value_before
        self.value, self.placeholder = "", words

    def offer(self, title: str) -> None:
        """Offer a title to be edited, or if empty the text from before; not over typed text."""
        self.placeholder = ""
        if not self.value:
            self.value = title or self._value_before
            self.cursor_position = len(self.value)

    def on_blur(self) -> None:
        # A terminal that loses the focus gives it back to this line.
        if self.app.app_focus:  # pyright: ignore[reportUnknownMemberType]
            self.action_leave()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_input_blurred(self, event: Input.Blurred) -> None:
        event.stop()


_CELLS_BEFORE_LABEL = 3


class FilterLine(LineInput):
    """An input line for the filter; Enter or Down leads to the rows."""

    BINDINGS: ClassVar[list[BindingType]] = [*FILTER]


class Sidebar(Vertical):
    """Lists the sessions of this project or of all."""

    BINDINGS: ClassVar[list[BindingType]] = [*SIDEBAR]
    DEFAULT_CSS = f"""
    Sidebar {{
        width: {sizes.USUAL_SIDEBAR_PERCENT}%;
        min-width: {sizes.LEAST_USUAL_SIDEBAR};
        max-width: {sizes.MOST_USUAL_SIDEBAR};
        height: 1fr;
        layers: rows line;
    }}
    Sidebar.-set {{
        min-width: {sizes.LEAST_SIDEBAR};
        max-width: {sizes.MOST_SIDEBAR_PERCENT}%;
    }}
    Sidebar > .sidebar--filter {{
        height: 1;
        & > Static {{ width: auto; }}
        & > FilterLine {{ width: 1fr; }}
    }}
    Sidebar > .sidebar--note {{
        height: auto;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }}
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 -- as every widget calls it
        self.rows = rows = RowsView()
        self._note = Static(classes="sidebar--note", markup=False)
        super().__init__(rows, self._note, id=id, classes=classes)
        # Textual looks for the actions of BINDINGS here.
        self.action_archive, self.action_delete = rows.action_archive, rows.action_delete
        self.action_pin, self.action_undo = rows.action_pin, rows.action_undo
        self._filter = FilterLine(compact=True, select_on_focus=False, max_length=200)
        self._filter_row = Horizontal(classes="sidebar--filter")
        self._filter_row.display = False
        self.rename_line = RenameLine()
        self._dragged = False
        self._width: int | None = None

    @property
    def renaming(self) -> bool:
        """True while a session is being renamed."""
        return bool(self.rename_line.session_id)

    def show_width(self, columns: int) -> int:
        """Set the width, edge included, within its bounds; gives the width that was set."""
        width = max(sizes.LEAST_SIDEBAR, min(columns, sizes.MOST_SIDEBAR))
        self.add_class("-set")
        self.styles.width = self._width = width
        return width

    def show_rows(self, rows: SessionRows, now: datetime) -> None:
        """Show these rows, their ages as of ``now``.

        Highlight and view stay. With the first rows, the highlight goes to the current session.
        """
        self.rows.show_rows(rows, now)
        self._place_rename_line()
        self._show_note()

    def begin_renaming(
        self, session_id: str, name: str, label: str, go_back: Callable[[], object]
    ) -> None:
        """Rename a session in the place of its row, at the top if it has none.

        ``label`` is its title without a name. ``go_back`` is called when the line closes, before
        the next key.
        """
        self.rows.highlight(session_id)
        if self.rename_line.parent is None:
            self.mount(self.rename_line)
        self.rename_line.begin(session_id, name, label, go_back)
        self._place_rename_line()

    def focus(self, scroll_visible: bool = True) -> Self:  # noqa: FBT001, FBT002 -- as Textual has it
        """Give the focus to the rows."""
        # At once: the next keys may be in the queue already.
        self.screen.set_focus(self.rows, scroll_visible)
        return self

    # --- keys

    def action_filter(self) -> None:
        if self._filter_row.parent is None:
            self.mount(self._filter_row, before=self.rows)
            self._filter_row.mount(Static(Content("Filter: ")), self._filter)
        self._filter_row.display = True
        # At once: the next keys may be in the queue already.
        self.screen.set_focus(self._filter)

    def action_clear_filter(self) -> None:
        self._filter.clear()
        self.rows.focus()
        self._filter_row.display = False

    def action_widen(self, columns: int) -> None:
        # Not from the layout: a key held down repeats faster than layouts follow.
        allowed = self.screen.size.width * sizes.MOST_SIDEBAR_PERCENT // 100
        width = self.outer_size.width if self._width is None else self._width
        width = self.show_width(min(width, allowed) + columns)
        self.post_message(intents.WidthChanged(width))

    def action_toggle_scope(self) -> None:
        self.post_message(intents.ScopeToggled())

    def action_new(self) -> None:
        self.post_message(intents.CommandInvoked("new"))

    def action_close(self) -> None:
        if (row := self.rows.row_for_key()) is not None:
            self.post_message(intents.CommandInvoked("session", f"close {row.id}"))

    def action_rename(self) -> None:
        if (row := self.rows.row_for_key()) is not None:
            back = partial(self.screen.set_focus, self.rows)
            self.begin_renaming(row.id, row.name, row.label, back)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Escape to others without a filter, and letters to input lines."""
        if action == "clear_filter":
            return self._filter_row.display
        if action in SIDEBAR_ROW_ACTIONS:
            return self.rows.has_focus
        if action == "toggle_scope":
            return not self.renaming
        return super().check_action(action, parameters)

    # --- its edge

    def on_mouse_down(self, event: MouseDown) -> None:
        if event.x == self.outer_size.width - 1:
            self._dragged = True
            self.capture_mouse()

    def on_mouse_move(self, event: MouseMove) -> None:
        if self._dragged:
            self.show_width(event.screen_x - self.region.x + 1)

    def on_mouse_up(self) -> None:
        if self._dragged:
            self._dragged = False
            self.release_mouse()
            self.post_message(intents.WidthChanged(self.show_width(self.outer_size.width)))

    # --- messages of the parts

    @on(FilterLine.Changed)
    def _narrow(self, event: FilterLine.Changed) -> None:
        event.stop()
        self.rows.filter(event.value)
        self._show_note()

    @on(FilterLine.Submitted)
    def _go_to_rows(self, event: FilterLine.Submitted) -> None:
        event.stop()
        if (found := self.rows.highlighted) is not None:
            self.rows.highlight(found.id)  # to stay there when the filter is cleared
        self.rows.focus()

    @on(FilterLine.Blurred)
    def _put_away(self, event: FilterLine.Blurred) -> None:
        event.stop()
        self._filter_row.display = bool(self._filter.value)

    @on(intents.SessionSelected)
    def _end_filter(self) -> None:
        """Show all sessions again once one was chosen."""
        if self._filter.value:
            self._filter.clear()
            self._filter_row.display = False

    @on(RowsView.ViewMoved)
    def _move_rename_line(self, event: RowsView.ViewMoved) -> None:
        event.stop()
        self._place_rename_line()

    def _place_rename_line(self) -> None:
        """Put the line over its row, or at the edge of the view nearest to it."""
        if not self.rename_line.session_id:
            return
        row = self.rows.outline.place_of_session(self.rename_line.session_id) or 0
        place = max(0, min(row - self.rows.scroll_offset.y, self.rows.height - 1))
        above = 1 if self._filter_row.display else 0
        self.rename_line.lie_at(_CELLS_BEFORE_LABEL, above + place)

    def _show_note(self) -> None:
        """Show the project, and the number of sessions that are not listed."""
        loaded = self.rows.loaded
        if loaded is None:
            return
        scope = one_line(loaded.scope)
        lines = [f"project {scope}" if scope else "all projects"]
        if hidden := len(loaded.rows) - len(self.rows.matching):
            # Rows that are not loaded are not counted.
            count = f"{hidden}+" if loaded.more else f"{hidden}"
            lines.insert(0, f"{count} hidden by the filter")
        if scope and loaded.elsewhere:
            lines.append(f"{loaded.elsewhere} in other projects")
        self._note.update(Content("\n".join(lines)))
