"""The reading of a session: one implementation, whatever store has its bytes."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from tui.domain.journal.counts import CountedRequest
from tui.domain.journal.message import Message
from tui.domain.journal.records import Record
from tui.domain.journal.session import Page, Session, Surroundings, Tail
from tui.domain.journal.versions import Versions
from tui.storage.open_journal import OpenJournal

BEGINNING = "0"
"""The cursor with which ``page_after`` reads the first page of a session."""


class Journal:
    """The journal of one session, which each verb opens anew.

    Any thread may use it at any time, also while the session is written. Every verb raises
    ``SessionNotFound``, ``SessionDamaged`` and ``StorageError``. Cursors are opaque strings, valid
    for the journals of this session; one that was not made by these is a ``StorageError``.
    """

    def __init__(self, opened: Callable[[], AbstractContextManager[OpenJournal]]) -> None:
        self._opened = opened

    def load(self) -> Session:
        """Read the whole session."""
        with self._opened() as journal:
            return journal.load()

    def tail(self, count: int, last: str | None = None) -> Tail:
        """Read the session with only its last ``count`` live messages; all else whole.

        With ``last``, as if the conversation ended with that message, which is live or of another
        version of what is live; ``""`` is its beginning. Raises ``MessageNotFound`` if ``last`` is
        no such message.
        """
        with self._opened() as journal:
            return journal.tail(count, last)

    def versions(self) -> Versions:
        """Find the messages that have other versions; it may read the whole session."""
        with self._opened() as journal:
            return journal.versions()

    def records(self) -> Iterator[Record]:
        """Read the records one by one, the header first, in the order of the journal.

        Those that cannot be decoded are left out.
        """
        with self._opened() as journal:
            yield from journal.records()

    def requests(self) -> tuple[CountedRequest, ...]:
        """Read the tokens of all requests, whatever became of their answers.

        It reads the whole session.
        """
        with self._opened() as journal:
            return journal.requests()

    def page(self, cursor: str, count: int) -> Page:
        """Read the ``count`` messages before a cursor, across resets, in the order of the journal.

        All of them are of the version in which the cursor is. The marks of resets and summaries
        between them come along, and those right before the first and right behind the last.
        """
        with self._opened() as journal:
            return journal.page(cursor, count)

    def around(self, message_id: str, before: int, after: int) -> Surroundings:
        """Read a message with ``before`` messages before and ``after`` after it, across resets.

        Marks come along as in ``page``. Of a version that is not live, those after it end with that
        version, and ``aside`` is set. Raises ``MessageNotFound`` if the session has no message with
        this id, or one that was replaced.
        """
        with self._opened() as journal:
            return journal.around(message_id, before, after)

    def page_after(self, cursor: str, count: int) -> Page:
        """Read the ``count`` messages after a cursor, with the marks up to the next message.

        The cursor is ``Surroundings.later``, that of such a page, or ``BEGINNING``. The last page
        has the cursor ``None`` and includes messages written meanwhile: a message that was written
        again is on it once more, and ``replaced`` are those that its messages replace, so that
        ``tui.domain.journal.session.joined`` fits it to what was read before. Pages of ``page``
        have no ``replaced``.
        """
        with self._opened() as journal:
            return journal.page_after(cursor, count)

    def since(self, message_id: str | None) -> tuple[Message, ...]:
        """Read the live messages after a message; all of them if it is ``None`` or unknown.

        After a message of another version, those from the last one on that both have.
        """
        with self._opened() as journal:
            return journal.since(message_id)
