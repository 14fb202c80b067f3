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
    # A pin, a name and its closing are of that session alone.
    session = msgspec.structs.replace(
        session,
        settings=msgspec.structs.replace(session.settings, pinned=False),
        name="",
        closed_at=None,
        prompt_count=sum(isinstance(each, Message) and each.role == "user" for each in contents),
    )
    lease, _ = _write(store, session, contents, now)
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
    return _write(store, session, contents, now)


def _write(
    store: JournalStore, session: Session, contents: list[Record], now: str
) -> tuple[Lease, Session]:
    """Write a session of some contents, and all else of another one."""
    if session.todos:
        contents.append(Todos(session.todos))
    if session.settings != Settings():
        contents.append(session.settings)
    if session.closed_at:
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
