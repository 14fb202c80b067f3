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
    contents = [*_live(session)]
    if not contents and not session.todos:
        raise UsageError("Nothing to fork yet.")
    # A pin is of that session alone.
    unpinned = msgspec.structs.replace(session.settings, pinned=False)
    session = msgspec.structs.replace(session, settings=unpinned)
    lease, _ = _write(store, session, contents, now, as_it_is=False)
    lease.release()
    return lease.session_id


def write_copy(
    store: JournalStore, session: Session, earlier: Sequence[Message], now: str
) -> tuple[Lease, Session]:
    """Write all that is known of a session whose own file is lost; gives it, with its lease.

    ``earlier`` are live messages: those of them that are not in ``session`` come before it. Blocks
    on the disk. Raises ``StorageError``; nothing is held then.
    """
    contents = [Opened(at=now), *_known(session, earlier)]
    return _write(store, session, contents, now, as_it_is=True)


def _write(
    store: JournalStore, session: Session, contents: list[Record], now: str, *, as_it_is: bool
) -> tuple[Lease, Session]:
    """Write a session of some contents, and another one's to-dos and settings.

    ``as_it_is``: its name, its number of prompts and the time of its closing, too.
    """
    if session.todos:
        contents.append(Todos(session.todos))
    if session.settings != Settings():
        contents.append(session.settings)
    if as_it_is and session.closed_at:
        contents.append(Closed(at=session.closed_at))
    scope, project, model = session.header.scope, session.header.project_path, session.model
    lease = store.create(scope, project, model, forked_from=session.header.id)
    try:
        fold = Fold(
            SessionHeader(
                version=VERSION,
                id=lease.session_id,
                created_at=now,
                scope=scope,
                ordinal=0,
                project_path=project,
                model=model,
                forked_from=session.header.id,
            )
        )
        for record in contents:
            fold.add(record)
        if as_it_is:
            fold.name, fold.prompt_count = session.name, session.prompt_count
        written = fold.session(held=True)
        store.append(lease, [*contents, written.state(now)])
    except BaseException:
        lease.release()
        raise
    return lease, written


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
