"""The sidebar as others see it: values in, facts out."""

from datetime import datetime
from typing import ClassVar, Self

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.domain.rows import SessionRows
from tui.widgets.cells import one_line
from tui.widgets.intents import CommandInvoked
from tui.widgets.sidebar.filter_line import FilterLine
from tui.widgets.sidebar.session_list import SessionList


class Sidebar(Vertical):
    """The sessions of this project or of all, to be looked through and chosen from."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter", id="sidebar.filter"),
        Binding("n", "new", "New", id="sidebar.new"),
        # Before the filter's own, which goes to the start of its line.
        Binding("ctrl+a", "toggle_scope", "All projects", id="sidebar.scope", priority=True),
        Binding("escape", "clear_filter", "Clear the filter", show=False),
    ]
    DEFAULT_CSS = """
    Sidebar {
        width: 32;
        height: 1fr;
    }
    Sidebar > .sidebar--note {
        height: auto;
        text-wrap: nowrap;
        text-overflow: ellipsis;
    }
    """

    class SessionSelected(Message):
        """The reader chose a session."""

        def __init__(self, session_id: str) -> None:
            super().__init__()
            self.session_id = session_id

    class MoreWanted(Message):
        """The reader comes near the end of rows of which there are more."""

    class ScopeToggled(Message):
        """The reader wants the sessions of all projects, or those of this one again."""

    class FilterChanged(Message):
        """The reader typed into the filter; the rows that are here are filtered already."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 -- as every widget calls it
        super().__init__(id=id, classes=classes)
        self._list = SessionList()
        self._filter = FilterLine()
        self._note = Static(classes="sidebar--note", markup=False)
        self._rows: SessionRows | None = None

    def compose(self) -> ComposeResult:
        yield self._filter
        yield self._list
        yield self._note

    @property
    def highlighted(self) -> str | None:
        """The id of the session that the highlight is on; ``None`` on a heading."""
        return self._list.highlighted

    def show_rows(self, rows: SessionRows, now: datetime) -> None:
        """Show these rows, their ages as of ``now``.

        The highlight stays on its session and the view where it is. On the first rows the
        highlight goes to the current session.
        """
        self._rows = rows
        self._list.show_rows(rows, now)
        self._show_note()

    def highlight(self, session_id: str) -> None:
        """Put the highlight on a session and bring it into view, if it is among the rows."""
        self._list.highlight(session_id)

    def focus(self, scroll_visible: bool = True) -> Self:  # noqa: FBT001, FBT002 -- as Textual has it
        """Give the keys to the rows."""
        self._list.focus(scroll_visible)
        return self

    # --- keys

    def action_filter(self) -> None:
        self._filter.display = True
        self._filter.focus()

    def action_clear_filter(self) -> None:
        self._filter.clear()
        self._list.focus()
        self._filter.display = False

    def action_toggle_scope(self) -> None:
        self.post_message(self.ScopeToggled())

    def action_new(self) -> None:
        self.post_message(CommandInvoked("new"))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Escape to others unless there is a filter to be cleared."""
        if action == "clear_filter":
            return self._filter.display
        return super().check_action(action, parameters)

    # --- what the parts say

    @on(FilterLine.Changed)
    def _narrow(self, event: FilterLine.Changed) -> None:
        event.stop()
        self._list.filter(event.value)
        self._show_note()
        self.post_message(self.FilterChanged(event.value))

    @on(FilterLine.Submitted)
    def _go_to_rows(self, event: FilterLine.Submitted) -> None:
        event.stop()
        if (found := self._list.highlighted) is not None:
            self._list.highlight(found)  # to stay there when the filter is cleared
        self._list.focus()

    @on(FilterLine.Blurred)
    def _put_away(self, event: FilterLine.Blurred) -> None:
        event.stop()
        self._filter.display = bool(self._filter.value)

    @on(SessionList.Chosen)
    def _select(self, event: SessionList.Chosen) -> None:
        event.stop()
        self.post_message(self.SessionSelected(event.session_id))

    @on(SessionList.EndNeared)
    def _want_more(self, event: SessionList.EndNeared) -> None:
        event.stop()
        self.post_message(self.MoreWanted())

    def _show_note(self) -> None:
        """Say what is not shown: what the filter hides, and the other projects."""
        if self._rows is None:
            return
        scope = one_line(self._rows.scope)
        lines = [f"project {scope}" if scope else "all projects"]
        if hidden := self._list.hidden:
            # Of those that are here: what is not loaded is not counted.
            count = f"{hidden}+" if self._rows.more else f"{hidden}"
            lines.insert(0, f"{count} hidden by the filter")
        self._note.update(Content("\n".join(lines)))
