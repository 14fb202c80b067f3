"""Forks: a new session with the messages of another one."""

from collections.abc import Iterator, Sequence

import msgspec

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    VERSION,
    Closed,
    Opened,
    Partial,
    Record,
    SessionHeader,
    Settings,
    Todos,
)
from tui.domain.journal.session import Entry, Session
from tui.errors import UsageError
from tui.storage.protocol import JournalStore, Lease


def write_fork(store: JournalStore, session_id: str, now: str, last: str | None = None) -> str:
    """Write a session with another one's live messages, summary, to-dos and settings.

    With ``last``, up to that message of any version. Gives its id. Blocks on the disk. Raises
    ``UsageError`` if there is nothing to copy, and ``StorageError``; nothing is written then.
    """
    journal = store.journal(session_id)
    session = journal.load()
    if last is not None:
        session = journal.tail(session.total_count, last).session
    contents = [*_live(session), *_todos(session)]
    if not contents:
        raise UsageError("Nothing to fork yet.")
    # A pin is of that session alone.
    unpinned = msgspec.structs.replace(session.settings, pinned=False)
    contents += _settings(msgspec.structs.replace(session, settings=unpinned))
    lease = _reserve(store, session)
    try:
        fold = _folded(session, lease, contents, now)
        store.append(lease, [*contents, fold.session(held=True).state(now)])
    finally:
        lease.release()
    return lease.session_id


def write_copy(
    store: JournalStore, session: Session, earlier: Sequence[Message], now: str
) -> tuple[Lease, Session]:
    """Write all that is known of a session whose own file is lost; gives it, with its lease.

    ``earlier`` are live messages: those of them that are not in ``session`` come before it. Blocks
    on the disk. Raises ``StorageError``; nothing is held then.
    """
    contents = [Opened(at=now), *_known(session, earlier), *_todos(session)]
    contents += _settings(session)
    if session.closed_at:
        contents.append(Closed(at=session.closed_at))
    lease = _reserve(store, session)
    fold = _folded(session, lease, contents, now)
    fold.name, fold.prompt_count = session.name, session.prompt_count
    try:
        store.append(lease, [*contents, fold.session(held=True).state(now)])
    except BaseException:
        lease.release()
        raise
    return lease, fold.session(held=True)


def _reserve(store: JournalStore, session: Session) -> Lease:
    header = session.header
    return store.create(header.scope, header.project_path, session.model, forked_from=header.id)


def _folded(session: Session, lease: Lease, contents: Sequence[Record], now: str) -> Fold:
    fold = Fold(
        SessionHeader(
            version=VERSION,
            id=lease.session_id,
            created_at=now,
            scope=session.header.scope,
            ordinal=0,
            project_path=session.header.project_path,
            model=session.model,
            forked_from=session.header.id,
        )
    )
    for record in contents:
        fold.add(record)
    return fold


def _live(session: Session) -> Iterator[Record]:
    for entry in session.entries[session.live_from :]:
        if isinstance(entry, Message):
            # What it replaced, or was said before, stays behind; what is still arriving ends here.
            # Its tokens were paid for there.
            status = "interrupted" if entry.id in session.arriving else entry.status
            yield msgspec.structs.replace(_in_line(entry), status=status, usage=None)
            if session.summary and session.summary.through == entry.id:
                yield msgspec.structs.replace(session.summary, usage=None)


def _known(session: Session, earlier: Sequence[Message]) -> Iterator[Record]:
    at_hand = {entry.id for entry in session.entries if isinstance(entry, Message)}
    before: list[Entry] = [each for each in earlier if each.id not in at_hand]
    if session.summary and session.summary not in session.entries:
        before.append(session.summary)
    for entry in (*before, *session.entries):
        if not isinstance(entry, Message):
            yield entry
        elif entry.id in session.arriving:
            # All that has arrived of an answer: what comes goes on from there.
            yield Partial(
                message_id=entry.id,
                at=0,
                text=entry.text,
                role=entry.role,
                timestamp=entry.timestamp,
                model=entry.model,
            )
        else:
            yield _in_line(entry)


def _in_line(message: Message) -> Message:
    """A message that follows the one before it, and hides none."""
    return msgspec.structs.replace(message, replaces=None, after=None, after_at=None)


def _todos(session: Session) -> Sequence[Record]:
    return [Todos(session.todos)] if session.todos else []


def _settings(session: Session) -> Sequence[Record]:
    return [] if session.settings == Settings() else [session.settings]
