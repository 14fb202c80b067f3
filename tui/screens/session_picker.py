"""The session picker: sessions of all states and projects in one list."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from tui.domain.text import make_visible_line
from tui.domain.views.session_rows import VIEWS, PickerRows, PickerView, SessionRow, about, matches
from tui.screens.keys import PICKER, PICKER_ACTIONS, PICKER_LETTER_ACTIONS
from tui.screens.preview_dialog import PreviewDialog
from tui.screens.typed_text import is_free_text
from tui.widgets.intents import CommandInvoked, MoreWanted, SessionSelected, hint
from tui.widgets.key_line import KeyLine
from tui.widgets.line_input import LineInput
from tui.widgets.picker_list import PickerList
from tui.widgets.sidebar.sidebar import RenameLine

_TITLES: dict[PickerView, str] = {
    "all": "All",
    "closed": "Closed",
    "archive": "Archive",
    "trash": "Trash",
}
_NOTHING: dict[PickerView, str] = {
    "all": "No sessions yet",
    "closed": "No closed sessions",
    "archive": "The archive is empty",
    "trash": "The trash is empty",
}
HoldKeys = Callable[[Callable[[], None]], Callable[[], None]]
"""Holds back later keys until the returned function is called; is given what cancels that."""

Read = Callable[..., Coroutine[Any, Any, None]]

_PREVIEW_FROM_ROWS = 20


class SessionPicker(PreviewDialog):
    """Shows sessions with the end of the highlighted one, filters them, and changes them.

    It leaves for the chosen one.
    """

    WIDE_FROM = 100
    SETTLED_SECONDS = 0.1
    DEFAULT_CSS = """
    SessionPicker {
        &.-low PreviewPane { display: none; }
        &.-wide PreviewPane { display: block; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*PICKER]

    def __init__(
        self,
        view: PickerView,
        read: Read,
        preview: Read,
        hold_keys: HoldKeys,
        *,
        everywhere: bool,
        text: str = "",
    ) -> None:
        """``text`` is put into the filter; ``hold_keys`` is for a choice that waits for rows.

        ``read`` shows the sessions of the screen's view, from the first (``anew``) or on, and
        ``preview`` the end of one, by its id.
        """
        super().__init__(
            LineInput(
                text,
                placeholder="title, project or id",
                compact=True,
                max_length=200,
                select_on_focus=False,
            )
        )
        self._read, self._preview, self._hold_keys = read, preview, hold_keys
        self._let_keys_go: Callable[[], None] | None = None
        self.sessions = sessions = PickerList()
        # Textual looks for the actions of BINDINGS here.
        self.action_archive, self.action_delete = sessions.action_archive, sessions.action_delete
        self.action_pin, self.action_undo = sessions.action_pin, sessions.action_undo
        self.action_filter = self.line.focus
        self.rename = RenameLine()
        self.views = Static(id="picker-views", classes="words")
        self.about = Static(id="picker-about", classes="words")
        self.view: PickerView = view
        self.everywhere = everywhere
        self._rows: PickerRows | None = None
        self._now: datetime | None = None
        self._previewed: SessionRow | None = None
        self._has_asked = False

    def compose(self) -> ComposeResult:
        with Container(classes="whole has-key-line"):
            yield from self.parts("Sessions: ", self.views, self.sessions)
            yield self.about
            yield KeyLine(PICKER, self._words_of_keys)
            yield self.rename

    def on_mount(self) -> None:
        self.read_rows(anew=True)

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < _PREVIEW_FROM_ROWS, "-low")
        self.call_after_refresh(self._place_rename_line)

    # --- what it shows

    def read_rows(self, *, anew: bool = False, count: int = 0) -> None:
        """Have the next sessions read, or ``anew`` the first ``count``."""
        self._has_asked = True
        self.run("list sessions", partial(self._read, self, anew=anew, count=count))

    @property
    def shown(self) -> Sequence[SessionRow]:
        """The sessions that the filter passes, in the order of their numbers."""
        return [row for _, row in self.sessions.lines]

    def show_rows(self, rows: PickerRows, now: datetime) -> None:
        """Show sessions; the highlight stays on its session in the same view."""
        before, self._rows, self._now = self._rows, rows, now
        self._has_asked = False
        same = before is not None and (before.view, before.project) == (rows.view, rows.project)
        self._match(from_top=not same)
        if self._let_keys_go is not None and not self._may_come():
            self.action_choose()

    def retry_failed(self) -> None:
        if self._rows is not None and self._rows.failure and not self._has_asked:
            self.read_rows()

    # --- keys

    def takes_key(self, event: events.Key | events.Paste) -> bool:
        """Let the filter have text that is no command of the list."""
        if self.rename.session_id or not is_free_text(event, self):
            return False
        self.set_focus(self.line)
        return self.line.post_message(event)

    @on(PickerList.Chosen)
    def action_choose(self) -> None:
        """Choose the highlighted session, or the first one that comes; later keys are for it."""
        if not self._may_come():
            self._choose_highlighted()
            self._end_wait()
        elif self._let_keys_go is None:
            self._let_keys_go = self._hold_keys(self._end_wait)

    def _may_come(self) -> bool:
        """Tell if the rows to choose from are still being read."""
        rows = self._rows
        if rows is None or (rows.view, not rows.project) != (self.view, self.everywhere):
            return True
        return self.sessions.highlighted is None and rows.more and not rows.failure

    def _end_wait(self) -> None:
        let_keys_go, self._let_keys_go = self._let_keys_go, None
        if let_keys_go is not None:
            let_keys_go()

    def _choose_highlighted(self) -> None:
        row = self.sessions.highlighted
        if row is None:
            return
        if row.state == "in the trash":
            self.sessions.focus()
            self.sessions.ask()
        elif row.state == "archived":
            # Looking at an archived session does not restore it: its first change does.
            self._leave_for(SessionSelected(row.id))
        else:
            command = "resume" if self.view == "closed" else "load"
            self._leave_for(CommandInvoked(command, row.id))

    def _leave_for(self, wanted: Message) -> None:
        self.dismiss()
        self.app.post_message(wanted)  # pyright: ignore[reportUnknownMemberType]

    def action_move(self, rows: int) -> None:
        if rows == -1 and self.sessions.place <= 0:
            self.line.focus()
            return
        if self.sessions.has_focus or rows != 1:
            self.sessions.move(rows)
        # From the filter the first key only leads to the first session.
        self.sessions.focus()

    def action_move_page(self, pages: int) -> None:
        self.sessions.move_page(pages)
        self.sessions.focus()

    def action_turn_view(self, step: int) -> None:
        self.view = VIEWS[(VIEWS.index(self.view) + step) % len(VIEWS)]
        self.read_rows(anew=True)

    def action_toggle_project(self) -> None:
        self.everywhere = not self.everywhere
        self.read_rows(anew=True)

    def action_bring_back(self) -> None:
        row = self.sessions.row_for_key()
        if row is not None and row.is_kept:
            hint(self, "This session is neither archived nor in the trash")
        elif row is not None:
            self._leave_for(CommandInvoked("restore", row.id))

    def action_rename(self) -> None:
        if (row := self.sessions.row_for_key()) is not None:
            back = partial(self.set_focus, self.sessions)
            self.rename.begin(row.id, row.name, row.label, back)
            self._place_rename_line()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters to the filter, and all keys to the line in which a session is renamed."""
        if action in PICKER_ACTIONS and self.rename.session_id:
            return False
        if action in PICKER_LETTER_ACTIONS:
            return self.sessions.has_focus
        return super().check_action(action, parameters)

    def _words_of_keys(self) -> Mapping[str, str]:
        """Hide the keys that do nothing to the highlighted session."""
        row = self.sessions.highlighted
        idle = ("bring-back",) if row and row.is_kept else ("archive", "delete", "pin")
        idle = (*idle, "next") if self.sessions.has_focus else idle
        return {f"picker-{each}": "" for each in idle}

    # --- messages of the parts

    @on(LineInput.Changed)
    def _narrow(self, event: LineInput.Changed) -> None:
        event.stop()
        self._match(from_top=True)

    @on(PickerList.Highlighted)
    def _show_highlighted(self, event: PickerList.Highlighted) -> None:
        event.stop()
        self._show_about()
        self.refresh_bindings()
        self.settle(self._show_preview)

    @on(CommandInvoked)
    def _leave_for_restored(self, event: CommandInvoked) -> None:
        if event.name == "restore":
            event.stop()
            self._leave_for(CommandInvoked("restore", event.arguments))

    @on(MoreWanted)
    def _want_more(self, event: MoreWanted) -> None:
        event.stop()
        rows = self._rows
        # Once until rows are shown, and not after a failure, which would come again at once.
        if rows is not None and rows.more and not rows.failure and not self._has_asked:
            self.read_rows()

    # --- within

    def _match(self, *, from_top: bool) -> None:
        if self._rows is None or self._now is None:
            return
        text = self.line.value
        rows = self._rows.rows
        found = [row for row in rows if matches(row, text)] if text.strip() else rows
        self.sessions.show(found, self._now, from_top=from_top)
        titles = [f"[{_TITLES[v]}]" if v == self._rows.view else _TITLES[v] for v in VIEWS]
        project = self._rows.project or "all projects"
        count = f"{len(self.sessions.lines)}{'+' if self._rows.more else ''}"
        if self._rows.failure and not self.sessions.lines:
            count = self._rows.failure_in_short
        words = f"{'  '.join(titles)}  · {make_visible_line(project)} · {count}"
        self.views.update(Content(words))
        self._show_about()

    def _show_preview(self) -> None:
        """Have the end of the highlighted session read, unless it is shown as it is."""
        row = self.sessions.highlighted
        if row == self._previewed:
            return
        if self._previewed is None or row is None or row.id != self._previewed.id:
            self.clear_preview()
        self._previewed = row
        if row is not None:
            self.run("preview", partial(self._preview, self, row.id))

    def _place_rename_line(self) -> None:
        above = self.sessions.region.y + self.sessions.place - self.sessions.scroll_offset.y
        self.rename.lie_at(self.sessions.cells_before_title, above)

    def _show_about(self) -> None:
        row, text, rows = self.sessions.highlighted, self.line.value.strip(), self._rows
        if rows is None or self._now is None:
            words = ""
        elif rows.failure or row is None:
            nothing = f'No session matches "{text}".' if text else _NOTHING[rows.view]
            words = rows.failure or ("Looking further…" if rows.more else nothing)
        else:
            words = about(row, self._now)
        self.about.update(Content(make_visible_line(words)))
