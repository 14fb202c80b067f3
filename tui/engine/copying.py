"""Writing what this program knows of a session as a session of its own."""

from collections.abc import Sequence

from tui.domain.message import Message
from tui.domain.records import Opened, Record, State, Todos
from tui.domain.session import Session
from tui.storage.protocol import Lease, SessionStore


def write_copy(
    store: SessionStore,
    session: Session,
    messages: Sequence[Message],
    pending: Sequence[Record],
    now: str,
) -> Lease:
    """Write a new session with what is live in one, and give its lease.

    ``pending`` is what was to be written to the other and is none of ``messages``. Raises
    ``StorageError``; nothing is held then.
    """
    header = session.header
    lease = store.create(header.scope, header.project_path, session.model, forked_from=header.id)
    try:
        store.append(lease, _contents(session, messages, pending, now))
    except BaseException:
        lease.release()
        raise
    return lease


def _contents(
    session: Session, messages: Sequence[Message], pending: Sequence[Record], now: str
) -> list[Record]:
    contents: list[Record] = [Opened(at=now), *messages]
    if session.summary:
        contents.append(session.summary)
    if session.todos:
        contents.append(Todos(session.todos))
    waiting = [record for record in pending if not isinstance(record, Message | State | Opened)]
    return [*contents, *waiting, session.state(now)]
