"""The controller of the session picker: reads pages on demand, and carries out the choice."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.app import App

from tui.app.controllers.session_list import SessionListController
from tui.app.input_queue import InputQueue
from tui.domain.text.labels import scope_name
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError
from tui.widgets.intents import CommandInvoked, PickerIntent
from tui.widgets.sidebar import messages

if TYPE_CHECKING:
    from tui.domain.moves import Move
    from tui.domain.views.session_picker import PickerRow, PickerRows, PickerView
    from tui.engine.library.picker_pages import PickerPages
    from tui.screens.session_picker import SessionPicker


class PickerController:
    """Opens the picker and answers it; ``note_shown`` is given the ids of its last list."""

    def __init__(
        self,
        app: App[Any],
        queue: InputQueue,
        workspace: Workspace,
        session_list: SessionListController,
        note_shown: Callable[[Sequence[str]], None],
        *,
        exclusive_projects: bool,
    ) -> None:
        self._exclusive_projects = exclusive_projects
        self._app = app
        self._queue = queue
        self._workspace = workspace
        self._session_list = session_list
        self._note_shown = note_shown
        self._screen: SessionPicker | None = None
        self._pages: PickerPages | None = None
        self._view: PickerView = "all"
        self._everywhere = True
        self._moves: Mapping[str, Move] = {}
        self._open_projects: set[str] = set()
        self._is_ready = False

    def open(self, view: "PickerView", *, everywhere: bool, text: str = "") -> None:
        """Show the picker, with the filter ``text``."""
        if self._screen is not None:
            return
        from tui.screens.session_picker import SessionPicker

        self._open_projects.clear()
        self._is_ready = False
        self._screen = SessionPicker(view, self._hold_keys, everywhere=everywhere, text=text)
        self._app.push_screen(self._screen, self._forget_screen)
        self._begin(view, everywhere=everywhere)

    def close(self) -> None:
        """Close the picker, if it is open."""
        if self._screen is not None:
            self._screen.dismiss()

    def take(self, intent: PickerIntent) -> None:
        """Act on an intent of the picker."""
        from tui.screens.session_picker import SessionPicker

        match intent:
            case SessionPicker.ViewWanted():
                self._begin(intent.view, everywhere=intent.everywhere)
            case SessionPicker.RowsWanted():
                self._read(self._pages)
            case SessionPicker.SessionChosen(row=row):
                self._open(row)
            case SessionPicker.BroughtBack(row=row):
                self._leave_for(CommandInvoked("restore", row.id))
            case SessionPicker.PinToggled(row=row):
                self._app.run_worker(partial(self._toggle_pin, row), name="pin the session")
            case _:
                pass

    def _forget_screen(self, _: None) -> None:
        shown = self._screen.shown if self._screen is not None else ()
        if shown:
            # An empty list leaves the numbers as they were.
            self._note_shown([row.id for row in shown])
        self._screen = self._pages = None

    # --- choosing

    def _open(self, row: "PickerRow") -> None:
        if row.state == "archived":
            # Looking at an archived session does not restore it: its first change does.
            self._leave_for(messages.SessionSelected(row.id))
        else:
            self._leave_for(CommandInvoked("resume" if self._view == "closed" else "load", row.id))

    def _hold_keys(self, cancel: Callable[[], None]) -> Callable[[], None]:
        """Hold back later keys; once released, they come after all effects of the choice."""
        return partial(self._queue.call_when_handled, self._queue.hold(cancel))

    def _leave_for(self, wanted: CommandInvoked | messages.SessionSelected) -> None:
        self.close()
        self._app.post_message(wanted)

    async def _toggle_pin(self, row: "PickerRow") -> None:
        await self._session_list.pin(row.id, pinned=not row.pinned)
        count = len(self._pages.entries) if self._pages is not None else 0
        self._begin(self._view, everywhere=self._everywhere, count=count)

    # --- pages

    def _begin(self, view: "PickerView", *, everywhere: bool, count: int = 0) -> None:
        """Read a view from its beginning."""
        from tui.engine.library.picker_pages import PickerPages

        self._view, self._everywhere = view, everywhere
        scope = None if everywhere else self._workspace.scope
        hidden = self._open_projects if self._exclusive_projects and view == "closed" else ()
        self._pages = PickerPages(self._workspace.reader, view, scope, hidden)
        self._read(self._pages, count)

    def _read(self, pages: "PickerPages | None", count: int = 0) -> None:
        if pages is not None:
            self._app.run_worker(partial(self._read_and_show, pages, count), name="list sessions")

    async def _read_and_show(self, pages: "PickerPages", count: int) -> None:
        await self._workspace.switcher.settle()
        failure: StorageError | None = None
        try:
            if not self._is_ready:
                await asyncio.to_thread(self._get_ready)
            await pages.read_more(count)
        except StorageError as error:
            failure = error
        # The user may have changed the view meanwhile.
        if self._screen is not None and pages is self._pages:
            self._screen.show_rows(self._rows(pages, failure), self._workspace.clock())

    def _get_ready(self) -> None:
        """Read the data that all pages need, once."""
        from tui.domain.moves import last_moves
        from tui.engine.library.closed_sessions import opened_here, read_open_projects

        reader = self._workspace.reader
        self._moves = last_moves(reader.moves())
        if self._exclusive_projects:
            opened = opened_here(self._workspace)
            self._open_projects.update(read_open_projects(reader, opened).values())
        self._is_ready = True

    def _rows(self, pages: "PickerPages", failure: StorageError | None) -> "PickerRows":
        from tui.domain.views.session_picker import PickerRows, picker_row

        now, marks = self._workspace.clock(), self._workspace.marks()
        own = {loaded.id for loaded in self._workspace.open}
        rows = (
            picker_row(entry, marks, own, self._moves.get(entry.id), now) for entry in pages.entries
        )
        project = "" if self._everywhere else scope_name(self._workspace.scope)
        said = (str(failure), failure.short) if failure else ("", "")
        return PickerRows(tuple(rows), self._view, project, pages.more, *said)
