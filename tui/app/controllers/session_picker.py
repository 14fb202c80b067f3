"""The list of sessions over the conversation: its pages are read as they are wanted."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec
from textual.app import App

from tui.app.controllers.session_list import SessionListController
from tui.app.input_queue import InputQueue
from tui.domain.moves import Move, last_moves
from tui.domain.text.labels import scope_name
from tui.domain.views.session_picker import PickerRows, PickerView, picker_row
from tui.engine.library.closed_sessions import opened_here, read_open_projects
from tui.engine.library.conversation import preview_of
from tui.engine.library.session_pages import PickerPages
from tui.engine.sessions.workspace import Workspace
from tui.errors import StorageError
from tui.screens.session_picker import SessionPicker


class PickerController(msgspec.Struct, eq=False):
    """Opens the picker and reads its pages; ``note_shown`` is given the ids of its last list."""

    _app: App[Any]
    _queue: InputQueue
    _workspace: Workspace
    _session_list: SessionListController
    _note_shown: Callable[[Sequence[str]], None]
    _exclusive_projects: bool
    _pages: PickerPages
    _moves: Mapping[str, Move] = {}
    _open_projects: set[str] = set()
    _is_ready: bool = False

    def open(self, view: PickerView, *, everywhere: bool, text: str = "") -> None:
        """Show the picker, with the filter ``text``."""
        if isinstance(self._app.screen, SessionPicker):
            return
        self._open_projects.clear()
        self._is_ready = False
        screen = SessionPicker(
            view, self._read, self._preview, self._hold_keys, everywhere=everywhere, text=text
        )

        def read_again() -> None:
            self._is_ready = False
            screen.read_rows(anew=True, count=len(self._pages.entries))

        self._session_list.changed = read_again

        def number(_: object) -> None:
            self._session_list.changed = lambda: None
            # An empty list leaves the numbers as they were.
            if screen.shown:
                self._note_shown([row.id for row in screen.shown])

        self._app.push_screen(screen, number)

    def _hold_keys(self, cancel: Callable[[], None]) -> Callable[[], None]:
        """Hold back later keys; once released, they come after all effects of the choice."""
        return partial(self._queue.call_when_handled, self._queue.hold(cancel))

    async def _preview(self, screen: SessionPicker, session_id: str) -> None:
        preview = await asyncio.to_thread(preview_of, self._workspace.reader, session_id)
        screen.preview.show(preview, self._workspace.clock())

    async def _read(self, screen: SessionPicker, *, anew: bool, count: int) -> None:
        workspace, view = self._workspace, screen.view
        if anew:
            scope = None if screen.everywhere else workspace.scope
            hidden = self._open_projects if self._exclusive_projects and view == "closed" else ()
            self._pages = PickerPages(workspace.reader, view, scope, hidden)
        pages, failure = self._pages, None
        await workspace.switcher.settle()
        try:
            if not self._is_ready:
                await asyncio.to_thread(self._get_ready)
            await pages.read_more(count)
        except StorageError as error:
            failure = error
        now, marks = workspace.clock(), workspace.marks()
        own = {loaded.id for loaded in workspace.open}
        rows = (
            picker_row(entry, marks, own, self._moves.get(entry.id), now) for entry in pages.entries
        )
        project = "" if screen.everywhere else scope_name(workspace.scope)
        said = (str(failure), failure.short) if failure else ("", "")
        screen.show_rows(PickerRows(tuple(rows), view, project, pages.more, *said), now)

    def _get_ready(self) -> None:
        """Read the data that all pages need, once."""
        reader = self._workspace.reader
        self._moves = last_moves(reader.moves())
        if self._exclusive_projects:
            opened = opened_here(self._workspace)
            self._open_projects.update(read_open_projects(reader, opened).values())
        self._is_ready = True
