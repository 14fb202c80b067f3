"""The controller of the sidebar: sessions on disk and open ones, as rows."""

from collections.abc import Awaitable, Callable
from functools import partial

import msgspec

from tui.app.controllers.session_view import SessionPresenter
from tui.app.controllers.store_server import StoreServer
from tui.domain.text import scope_name
from tui.domain.views.notice import Notice
from tui.domain.views.session_rows import Group, SessionRows, arrange
from tui.engine.library.retention import Retention
from tui.engine.library.session_pages import Aside, SessionPager
from tui.engine.sessions.open_session import OpenSession
from tui.engine.sessions.workspace import Workspace
from tui.errors import ServerUnreachable, StorageError, UsageError
from tui.screens.chat import ChatScreen
from tui.widgets import intents

ListIntent = (
    intents.SessionRenamed
    | intents.SessionPinned
    | intents.GroupUnfolded
    | intents.MoreWanted
    | intents.ScopeToggled
)
"""The sidebar's messages about its rows."""


class SessionListController(msgspec.Struct, eq=False):
    """Reads sessions page by page and keeps the sidebar as they are."""

    _chat: ChatScreen
    _workspace: Workspace
    _sessions: SessionPager
    _presenter: SessionPresenter
    _server: StoreServer
    changed: Callable[[], object] = lambda: None
    """Called when sessions were read again; whatever else lists sessions does so, too."""
    _told: str = ""
    _shown: SessionRows | None = None

    async def take(self, event: ListIntent) -> None:
        """Change the list as the sidebar asks for."""
        match event:
            case intents.SessionRenamed(session_id=session_id, name=name):
                await self.change(session_id, lambda opened: opened.rename(name))
            case intents.SessionPinned(session_id=session_id, pinned=pinned):
                await self.change(session_id, partial(_pin, pinned=pinned), moves=True)
            case intents.GroupUnfolded(group=group):
                status: Aside = "trashed" if group is Group.TRASHED else "archived"
                await self._after(partial(self._sessions.read_aside, status))
            case intents.MoreWanted():
                await self._after(self._sessions.read_more)
            case intents.ScopeToggled():
                await self._after(self._sessions.toggle_scope)

    async def refresh(self) -> None:
        """Read the newest page again; what hinders that is told once, as this comes by itself."""
        failure = await self._failure_of(self._sessions.refresh)
        # What was archived may have come back by a change in it.
        if failure is None and (self._sessions.counts.archived or not self._sessions.is_counted):
            self.show()
            failure = await self._failure_of(self._sessions.count)
        words = str(failure or "")
        if isinstance(failure, ServerUnreachable):
            self._server.note_away(failure)
        elif failure is not None and words != self._told:
            self._presenter.remark(Notice(words, "error"))
        if failure is None:
            self._server.note_back()
        self._told = words
        self.show()

    async def show_imported(self) -> None:
        """Read the newest page again, and count what has come into the archive."""
        await self._after(self._sessions.refresh)
        await self._after(self._sessions.count)

    async def show_scope(self) -> None:
        """Show the sessions of the scope that the session on screen belongs to."""
        await self._after(partial(self._sessions.show, self._workspace.scope))

    async def show_moved(self, session_id: str) -> None:
        """Show a session where it is by now."""
        await self._after(partial(self._sessions.note_moved, session_id))

    async def change(
        self, session_id: str, make: Callable[[OpenSession], None], *, moves: bool = False
    ) -> None:
        """Change a session, be it on screen or not, and show it where it then is."""
        try:
            await self._workspace.change(await self._workspace.find_to_change(session_id), make)
        except (StorageError, UsageError) as error:
            self._say(error)
        self._presenter.show_status()
        read_again = partial(self._sessions.read_again, session_id)
        await self._after(self._sessions.refresh if moves else read_again)

    def show(self) -> None:
        """Show the entries read so far, unless the same rows are on screen already."""
        now, marks, counts = self._workspace.clock(), self._workspace.marks(), self._sessions.counts
        rows = SessionRows(
            rows=arrange(self._sessions.entries, self._workspace.rows(), marks, now),
            current=self._workspace.current.id,
            more=self._sessions.more,
            scope=scope_name(self._sessions.scope),
            elsewhere=counts.elsewhere,
            archived=counts.archived,
            trashed=counts.trashed,
            others=arrange(self._sessions.others, (), marks, now),
        )
        if rows != self._shown:
            self._shown = rows
            self._chat.show_rows(rows, now)

    def show_ages(self) -> None:
        """Show the same rows with their current ages."""
        self._shown = None
        self.show()

    async def prune(self, retention: Retention) -> None:
        """Set aside what is old or too much, and say so in a line."""
        pruned = await retention.after_start(self._workspace)
        if pruned.count:
            self._presenter.remark(Notice(retention.words(pruned)))
            await self.refresh()
            # What went from other projects changes how many the filter hides, too.
            await self._after(self._sessions.count)
        if isinstance(pruned.failure, ServerUnreachable):
            self._server.note_away(pruned.failure)
        elif pruned.failure is not None:
            self._presenter.remark(Notice(str(pruned.failure), "warning"))
        for failure in await retention.tell_hook(pruned):
            self._presenter.remark(Notice(failure, "warning"))

    async def _after(self, read: Callable[[], Awaitable[None]]) -> None:
        self._say(await self._failure_of(read))
        self.show()
        self.changed()

    async def _failure_of(self, read: Callable[[], Awaitable[None]]) -> StorageError | None:
        await self._workspace.switcher.settle()
        try:
            await read()
        except StorageError as error:
            return error
        return None

    def _say(self, failure: StorageError | UsageError | None) -> None:
        if failure is not None:
            self._presenter.say(str(failure), "error")


def _pin(opened: OpenSession, *, pinned: bool) -> None:
    opened.change_settings(msgspec.structs.replace(opened.session.settings, pinned=pinned))
