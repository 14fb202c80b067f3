"""The list of sessions over the conversation: its pages are read as they are wanted."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from tui.app.controllers.controller import Controller
from tui.domain.moves import Move
from tui.domain.search.search_results import Preview
from tui.domain.text import scope_name
from tui.domain.views.session_rows import PickerRows, PickerView, picker_row
from tui.engine.library.conversation import preview_of
from tui.engine.library.session_moves import opened_here, read_open_projects
from tui.engine.library.session_pages import PickerPages
from tui.errors import StorageError
from tui.screens.session_picker import SessionPicker
from tui.widgets.transcript import warm_up


class PickerController(Controller):
    """Opens the picker and reads its pages."""

    _pages: PickerPages | None = None
    _moves: Mapping[str, Move] = {}
    _open_projects: set[str] = msgspec.field(default_factory=set[str])
    _is_ready: bool = False

    def open(self, view: PickerView, *, everywhere: bool = True, text: str = "") -> None:
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
            screen.read_rows(anew=True, count=len(self._pages.entries) if self._pages else 0)

        self._session_list.changed = read_again

        def number(_: object) -> None:
            self._session_list.changed = lambda: None
            # An empty list leaves the numbers as they were.
            if screen.shown:
                self._shell().context.numbers[:] = [row.id for row in screen.shown]

        self._app.push_screen(screen, number)

    def _hold_keys(self, cancel: Callable[[], None]) -> Callable[[], None]:
        """Hold back later keys; once released, they come after all effects of the choice."""
        return partial(self._queue.call_when_handled, self._queue.hold(cancel))

    async def _preview(self, screen: SessionPicker, session_id: str) -> None:
        def read() -> Preview:
            warm_up()
            return preview_of(self._workspace.reader, session_id)

        screen.preview.show(await asyncio.to_thread(read), self._workspace.clock())

    async def _read(self, screen: SessionPicker, *, anew: bool, count: int) -> None:
        workspace, view = self._workspace, screen.view
        if anew or self._pages is None:
            scope = None if screen.everywhere else workspace.scope
            is_exclusive = self._parts.exclusive_projects and view == "closed"
            hidden = self._open_projects if is_exclusive else ()
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
        self._moves = {move.id: move for move in reader.moves()}
        if self._parts.exclusive_projects:
            opened = opened_here(self._workspace)
            self._open_projects.update(read_open_projects(reader, opened).values())
        self._is_ready = True
