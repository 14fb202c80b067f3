"""A session of its own that goes on from where another one is."""

from collections.abc import Iterator

import msgspec

from tui.domain.fold import Fold
from tui.domain.message import Message
from tui.domain.records import VERSION, Record, SessionHeader, Todos
from tui.domain.session import Session
from tui.errors import UsageError
from tui.storage.protocol import SessionStore


def write_fork(store: SessionStore, session_id: str, now: str) -> str:
    """Write a session with another one's live messages, summary and to-dos; gives its id.

    Blocks on the disk. Raises ``UsageError`` if there is nothing to go on from, and
    ``StorageError``; nothing is written then.
    """
    session = store.load(session_id)
    contents = list(_contents(session))
    if not contents:
        raise UsageError("Nothing to fork yet.")
    header = session.header
    lease = store.create(header.scope, header.project_path, session.model, forked_from=header.id)
    try:
        store.append(lease, [*contents, _state(session, lease.session_id, contents, now)])
    finally:
        lease.release()
    return lease.session_id


def _contents(session: Session) -> Iterator[Record]:
    for entry in session.entries[session.live_from :]:
        if isinstance(entry, Message):
            # What it replaced stays behind; what is still arriving ends here.
            status = "interrupted" if entry.id in session.arriving else entry.status
            yield msgspec.structs.replace(entry, replaces=None, status=status)
        elif entry == session.summary:
            yield entry
    if session.todos:
        yield Todos(session.todos)


def _state(session: Session, session_id: str, contents: list[Record], now: str) -> Record:
    header = SessionHeader(
        version=VERSION,
        id=session_id,
        created_at=now,
        scope=session.header.scope,
        ordinal=0,
        project_path=session.header.project_path,
        model=session.model,
    )
    fold = Fold(header)
    for record in contents:
        fold.add(record)
    return fold.session(held=True).state(now)
