"""The sessions whose lease this program holds: saving them, and giving them up."""

from collections.abc import Sequence
from functools import partial

from tui.domain.views.notice import Notice
from tui.engine.sessions.draft_keeper import DraftKeeper
from tui.engine.sessions.loaded_session import LoadedSession
from tui.engine.sessions.open_session import Clock, OpenSession
from tui.errors import StorageError


class OpenSessions:
    """Saves and closes sessions; nothing said or decided in one goes with its lease.

    ``changed`` are the ids of those in which something reached the disk, in the order in which it
    first did. ``unread`` are the ids of those closed since something came of them.
    """

    def __init__(self, prompts: DraftKeeper, clock: Clock) -> None:
        self.prompts = prompts
        self.clock = clock
        self.changed: dict[str, None] = {}
        self.held: list[LoadedSession] = []
        self.unread: set[str] = set()

    @property
    def open(self) -> tuple[LoadedSession, ...]:
        """The sessions whose lease this program holds, in the order in which they were opened."""
        return tuple(self.held)

    def given_up(self, conversation: LoadedSession) -> bool:
        """Whether a session was open, and is not any more: nothing is written there."""
        return conversation.opened is not None and conversation not in self.held

    async def save(self, conversation: LoadedSession) -> Sequence[str]:
        """Write what is pending in a session; give the notices that this led to.

        They are in the session as well. Raises ``StorageError``; then everything stays pending.
        """
        opened = conversation.opened
        if opened is None or not opened.pending:
            return ()
        unsaved = opened.unsaved
        if conversation.archived and not unsaved:
            # To open it is no change: only a change restores it.
            return ()
        return await self._write(conversation, opened, unsaved=unsaved)

    async def _write(
        self, conversation: LoadedSession, opened: OpenSession, *, unsaved: bool
    ) -> Sequence[str]:
        conversation.note_saving()
        try:
            await opened.save()
        except StorageError as error:
            conversation.note_failure(error.short)
            raise
        if unsaved:
            self._note_saved(conversation)
        else:
            conversation.note_nothing_unsaved()
        notices = opened.take_notices()
        for notice in notices:
            conversation.say(Notice(notice))
        return notices

    async def try_save(self, conversation: LoadedSession) -> bool:
        """Save; whether it could be. A failure stands in the status until a save succeeds."""
        try:
            await self.save(conversation)
        except StorageError:
            return False
        return True

    def save_at_once(self, conversation: LoadedSession) -> None:
        """Save without an event loop, where none is left. Raises ``StorageError``."""
        opened = conversation.opened
        if opened is None:
            return
        opened.interrupt()
        if opened.unsaved:
            opened.save_at_once()
            self._note_saved(conversation)

    def _note_saved(self, conversation: LoadedSession) -> None:
        """Something that was said or decided has reached the disk."""
        self.changed[conversation.id] = None
        conversation.archived = False
        conversation.note_saved(self.clock())

    async def keep_draft(self, conversation: LoadedSession) -> None:
        """Write what stands in its prompt, if that is not on disk. Raises ``StorageError``."""
        try:
            await self.prompts.keep(conversation, partial(self.try_save, conversation))
        except StorageError as error:
            conversation.note_failure(error.short)
            raise
        if conversation.save.failure and not conversation.unsaved:
            conversation.note_nothing_unsaved()

    async def close(self, conversation: LoadedSession) -> None:
        """End what goes on in a session, save it, and give it up.

        Raises ``StorageError`` and then keeps it: ``abandon`` gives it up all the same.
        """
        if conversation.opened is not None:
            await self.end(conversation)
            self.abandon(conversation)

    async def end(self, conversation: LoadedSession) -> None:
        """End what goes on in a session, save it, and say on disk that it is closed.

        It is still held: nobody else has it before it is given up. Raises ``StorageError``.
        """
        opened = conversation.opened
        if opened is None:
            return
        opened.interrupt()
        unsaved = opened.unsaved
        if conversation.archived and not unsaved:
            return
        opened.note_closed()
        try:
            await self._write(conversation, opened, unsaved=unsaved)
        except StorageError:
            # Nobody misses a lone ``closed`` record: it keeps the session from nobody.
            if opened.unsaved:
                raise
            conversation.note_nothing_unsaved()

    def abandon(self, conversation: LoadedSession) -> None:
        """Give a session up, whatever is pending in it."""
        if conversation.opened is not None:
            conversation.opened.abandon()
        if conversation in self.held:
            self.held.remove(conversation)
        if conversation.unread:
            self.unread.add(conversation.id)

    def drop(self, conversation: LoadedSession) -> None:
        """Give up what was opened to be shown and is not."""
        if conversation.opened is not None and conversation not in self.held:
            conversation.opened.abandon()
