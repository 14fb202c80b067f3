"""Loads sessions into memory. Everything here blocks on the disk."""

from tui.domain.journal.records import VERSION
from tui.domain.journal.session import Session, Tail
from tui.domain.text.labels import damage_words
from tui.domain.views.notice import Notice
from tui.engine.requests.missing_results import answered
from tui.engine.sessions.draft_keeper import DraftKeeper
from tui.engine.sessions.loaded_session import Access, LoadedSession, Outbox
from tui.engine.sessions.open_session import (
    WINDOW,
    Clock,
    OpenSession,
    SessionOrigin,
    new_session,
    take_session,
)
from tui.errors import NewerVersion, SessionBusy, SessionNotFound, StorageError
from tui.storage.stores import SessionStores

_COUNTED_AT_ONCE = 5000
"""Messages of a session that may be read to count the versions of some, before it is shown."""


class SessionLoader:
    """Makes conversations of what is on disk."""

    def __init__(self, stores: SessionStores, prompts: DraftKeeper, clock: Clock) -> None:
        self._stores = stores
        self._store = stores.main
        self._prompts = prompts
        self._clock = clock
        self.outbox: Outbox = []

    def new(self, place: SessionOrigin) -> LoadedSession:
        """A new session, which takes up what was typed in one that never came to be."""
        try:
            unclaimed = self._prompts.unclaimed(place.scope)
            if unclaimed is not None:
                return self._reserved(place, unclaimed)
        except StorageError:
            # Another program was quicker, or it lies where nothing can be made.
            pass
        return self._reserved(place, None)

    def private(self, place: SessionOrigin) -> LoadedSession:
        """A new private session, of which nothing reaches a disk."""
        opened = new_session(self._stores.private, place, self._clock)
        return LoadedSession(opened, outbox=self.outbox)

    def looked_at(self, session_id: str) -> LoadedSession:
        """A session for reading. Raises ``SessionNotFound`` and other ``StorageError``."""
        # First: what is written between the two is seen again.
        stamp = self._store.stamp(session_id)
        tail = self._store.journal(session_id).tail(WINDOW)
        try:
            holder, unknown = self._store.holder(session_id), ""
        except StorageError as error:
            # It can be read all the same.
            holder, unknown = None, read_only_words(error)
        if holder is None:
            tail = Tail(answered(tail.session), tail.cursor)
        if tail.session.header.version > VERSION:
            reason = read_only_words(NewerVersion(session_id, tail.session.header.version))
        elif holder is not None:
            reason = read_only_words(SessionBusy(session_id, str(holder)))
        else:
            reason = unknown
        access = Access(
            read_only=reason,
            held_elsewhere=holder is not None,
            archived=stamp.where == "archived",
            stamp=stamp,
        )
        loaded = LoadedSession(
            None, tail, access, self._listed_as(tail.session, tail.cursor), self.outbox
        )
        if reason:
            loaded.say(Notice(reason, "warning", caused=True))
        self._complete(loaded)
        return loaded

    def opened(self, session_id: str) -> LoadedSession:
        """A session for writing, because the user asked for it; else for reading, and why."""
        try:
            opened = take_session(self._store, session_id, self._clock, resumed=True)
        except SessionNotFound:
            raise
        except StorageError as error:
            loaded = self.looked_at(session_id)
            loaded.access.asked_for = True
            if not loaded.read_only:
                loaded.access.read_only = read_only_words(error)
                loaded.say(Notice(loaded.read_only, "warning", caused=True))
            return loaded
        try:
            access = Access(archived=self._store.stamp(session_id).where == "archived")
            listed_as = self._listed_as(opened.session, opened.cursor)
            loaded = LoadedSession(opened, None, access, listed_as, self.outbox)
            self._complete(loaded)
        except BaseException:
            opened.abandon()
            raise
        return loaded

    def taken(self, loaded: LoadedSession) -> OpenSession:
        """The lease of a session that was looked at. Raises ``StorageError``."""
        opened = take_session(self._store, loaded.id, self._clock)
        try:
            self._prompts.spare(loaded, opened.session)
        except BaseException:
            opened.abandon()
            raise
        return opened

    def _reserved(self, place: SessionOrigin, session_id: str | None) -> LoadedSession:
        opened = new_session(self._store, place, self._clock, session_id=session_id)
        loaded = LoadedSession(opened, outbox=self.outbox)
        if session_id is None:
            return loaded
        try:
            # Only now does nobody else change what was typed there.
            self._prompts.show(loaded, self._prompts.typed(loaded))
        except BaseException:
            opened.abandon()
            raise
        return loaded

    def _listed_as(self, session: Session, cursor: str | None) -> str:
        """The label in a list, where the part that was read may have none."""
        if cursor is None or session.name:
            return ""
        return self._store.entry(session.id).label

    def _complete(self, loaded: LoadedSession) -> None:
        """Put to a session what is not in the part of it that was read, and what was typed."""
        session = loaded.session
        if session.damaged:
            words = damage_words(session.damaged, f'"{loaded.label()}"')
            loaded.say(Notice(words, "warning", caused=True))
        if session.total_count <= _COUNTED_AT_ONCE and loaded.lacks_versions(session.entries):
            loaded.kept_versions = self._store.journal(session.id).versions()
        self._prompts.show(loaded, self._prompts.typed(loaded))


def read_only_words(error: StorageError) -> str:
    """Why a session can only be read, without its id."""
    session = f"Session {getattr(error, 'session_id', '')} "
    reason = str(error).removesuffix(".").removeprefix(session)
    return f"Read-only: {reason.removeprefix('is ').removeprefix('was ')}"
