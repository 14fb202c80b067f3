"""Leases sessions, new and existing ones. Everything here blocks on the disk."""

import msgspec

from tui.domain.journal.fold import Fold
from tui.domain.journal.records import VERSION, SessionHeader
from tui.domain.timestamps import format_utc
from tui.engine.requests.missing_results import missing_results
from tui.engine.sessions.open_session import Clock, OpenSession
from tui.storage.protocol import JournalStore, SessionStore

WINDOW = 100
"""The number of last messages that are loaded at first."""


class SessionOrigin(msgspec.Struct, frozen=True):
    """The scope, project and model of a new session."""

    scope: str
    project_path: str
    model: str


def new_session(
    store: JournalStore, place: SessionOrigin, clock: Clock, *, session_id: str | None = None
) -> OpenSession:
    """Reserve a session; nothing is written before its first record."""
    lease = store.create(place.scope, place.project_path, place.model, session_id=session_id)
    header = SessionHeader(
        version=VERSION,
        id=lease.session_id,
        created_at=format_utc(clock()),
        scope=place.scope,
        ordinal=0,
        project_path=place.project_path,
        model=place.model,
    )
    return OpenSession(store, lease, Fold(header), clock)


def take_session(
    store: SessionStore,
    session_id: str,
    clock: Clock,
    window: int = WINDOW,
    *,
    resumed: bool = False,
) -> OpenSession:
    """Take the lease of a session for a change, and keep an answer that a crash interrupted.

    ``window`` is how many of the last messages are read at once; ``resumed`` says that the user
    asked for this very session. Raises what ``SessionStore.lease`` and ``Journal.tail`` raise.
    """
    lease = store.lease(session_id)
    try:
        tail = store.journal(session_id).tail(window)
    except BaseException:
        lease.release()
        raise
    fold = Fold.continuing(tail.session)
    opened = OpenSession(store, lease, fold, clock, cursor=tail.cursor, published=True)
    cut_off = (*tail.session.interrupted, *missing_results(tail.session))
    opened.take_up(cut_off, resumed=resumed)
    return opened


def resume_session(
    store: SessionStore, session_id: str, clock: Clock, window: int = WINDOW
) -> OpenSession:
    """Open a session because the user asked for it."""
    return take_session(store, session_id, clock, window, resumed=True)
