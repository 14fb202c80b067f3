"""Reads journals: whole, from the end, and page by page in both directions.

One implementation, whatever store has the bytes.
"""

import json
import os
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Literal

import msgspec

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    VERSION,
    CountedRequest,
    DamagedRecord,
    Partial,
    Record,
    Reset,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
    Version,
    counted_requests,
    decode,
    may_answer,
)
from tui.domain.journal.session import (
    Page,
    Session,
    Surroundings,
    Tail,
    Versions,
    joined,
    title_question,
)
from tui.domain.json_text import LINE_BYTES, converted, journal_json, parse
from tui.errors import MessageNotFound, SessionDamaged, StorageError
from tui.files import UnfitFile
from tui.storage.disk import NOT_PLAIN, odd_values, open_to_read, storage_errors
from tui.storage.journal_lines import (
    AFTER,
    Branches,
    Read,
    Window,
    decoded,
    entry_id,
    line_at,
    lines_backward,
    lines_forward,
    lines_with,
    reader_of,
    whole_end,
)

BEGINNING = "0"
"""The cursor with which ``page_after`` reads the first page of a session."""
HeaderGuess = Callable[[], SessionHeader]
"""A callback that makes up the header of a journal whose first line is damaged."""

_Hint = Summary | Todos | Settings
_Filter = Callable[[Record | None], Record | None]
_Enough = Callable[[Window], bool]
_Cursor = tuple[int, set[str], set[str]]
_FIRST_PROMPT_BYTES = 1024 * 1024
_STATE = b'"state"'
_SETTINGS = b'"settings"'
_DIGITS = 18
_NEAR_MESSAGES = 200


class Journal(msgspec.Struct, eq=False):
    """The journal of one session, which each verb opens anew.

    Any thread may use it at any time, also while the session is written. Every verb raises
    ``SessionNotFound``, ``SessionDamaged`` and ``StorageError``. Cursors are opaque strings, valid
    for the journals of this session; one that was not made by these is a ``StorageError``.
    """

    _opened: Callable[[], AbstractContextManager["OpenJournal"]]

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
        """Read the tokens of all requests, whatever became of the answers: it reads all records."""
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

    def message(self, message_id: str) -> Message:
        """Read a message of any version. Raises as ``around``."""
        entries = self.around(message_id, 0, 0).entries
        return next(each for each in entries if isinstance(each, Message) and each.id == message_id)

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


class OpenJournal:
    """An open journal, read up to its length at the time of opening: the verbs of ``Journal``."""

    def __init__(
        self, read: Read, size: int, session_id: str, guess: HeaderGuess, *, held: bool
    ) -> None:
        self._read = read
        self._session_id = session_id
        self._guess = guess
        self._held = held
        self._size = size
        # While the holder lives, a last line without newline may be half written.
        self._end = whole_end(read, self._size) if held else self._size
        self._branches = Branches(read, self._size)

    def header(self) -> SessionHeader:
        """Read the header, with the id of the file's name; guess it if the line is damaged."""
        line = line_at(self._read, 0, self._size) or b""
        record = decoded(line)
        if isinstance(record, SessionHeader):
            # Outside of the journal an imported session is given its number later, and a copied one
            # another, if its own belongs to somebody else here.
            known = self._guess()
            is_known = known.ordinal and known.scope == record.scope
            ordinal = known.ordinal if is_known else record.ordinal
            return msgspec.structs.replace(record, id=self._session_id, ordinal=ordinal)
        return msgspec.structs.replace(self._guess(), id=self._session_id, version=_version(line))

    def load(self) -> Session:
        """Fold the whole file."""
        return self._whole_fold().session(held=self._held)

    def versions(self) -> Versions:
        """Find the messages that have other versions."""
        if next(lines_with(self._read, AFTER, self._end), None) is None:
            return {}
        return self._whole_fold(_without_text).session(held=self._held).versions

    def records(self) -> Iterator[Record]:
        """Read all records, the header first; damaged and unknown ones are left out."""
        yield self.header()
        for offset, line in lines_forward(self._read, 0, self._end):
            record = decoded(line)
            if offset and record is not None:
                yield record

    def requests(self) -> tuple[CountedRequest, ...]:
        """Read the tokens of all requests; damage is skipped."""
        lines = lines_forward(self._read, 0, self._end)
        return counted_requests(decoded(line) for _, line in lines if may_answer(line))

    def tail(self, count: int, last: str | None = None) -> Tail:
        """Read the last live messages and the state, and no more of the file than needed.

        With ``last`` as if that message were the last one. Raises ``MessageNotFound``.
        """
        if last is not None:
            return self._tail_at(last, count)
        # At least one, so that an answer still arriving is read whole.
        session, window = self._end_session(lambda read: read.shown >= max(count, 1))
        kept = session.entries[session.live_from :]
        places = [place for place, each in enumerate(kept) if isinstance(each, Message)]
        if len(places) > count:
            kept = kept[places[-count] :] if count else ()
        cut = msgspec.structs.replace(session, entries=kept, live_from=0)
        return Tail(cut, _cursor(window, window.offset_of(kept[0]) if kept else self._end))

    def _tail_at(self, last: str, count: int) -> Tail:
        session = self._near_end(last)
        if session is None:
            try:
                session = self._whole_fold(_without_text).up_to(last, held=self._held)
            except LookupError as error:
                raise MessageNotFound(self._session_id, last) from error
        end = self._end_of(last) if last else self._branches.begin_of_conversation(self._end)
        page = self._page(end, count if last else 0)
        resets = [place for place, each in enumerate(page.entries, 1) if isinstance(each, Reset)]
        if resets:
            live = page.entries[resets[-1] :]
            page = self._page(end, sum(isinstance(each, Message) for each in live))
        return Tail(
            msgspec.structs.replace(session, entries=page.entries, live_from=0), page.cursor
        )

    def _near_end(self, last: str) -> Session | None:
        """Read the tail of a session up to a live message; ``None`` if that is further back."""
        session, _ = self._end_session(
            lambda read: last in read.messages or read.shown >= _NEAR_MESSAGES
        )
        ids = [message.id for message in session.loaded_messages]
        if last not in ids or session.arriving or session.interrupted:
            return None
        later = ids[ids.index(last) + 1 :]
        if session.summary is not None and session.summary.through in later:
            return None
        return msgspec.structs.replace(
            session,
            message_count=session.message_count - len(later),
            everything=(),
            parents={},
        )

    def since(self, message_id: str | None) -> tuple[Message, ...]:
        """Read the live messages after one of them; all of them if there is no such message.

        After a message that is not live any more, those from the last one that it has in common.
        """
        messages = self._end_session(lambda read: message_id in read.messages)[0].loaded_messages
        ids = [message.id for message in messages]
        if message_id in ids:
            return messages[ids.index(message_id) + 1 :]
        # Perhaps it is of another version, or replaced.
        session = self.load()
        ids = [message.id for message in session.loaded_messages]
        while message_id and message_id not in ids:
            message_id = session.parents.get(message_id)
        return session.loaded_messages[ids.index(message_id) if message_id else 0 :]

    def _page(self, before: int, count: int) -> Page:
        cursor = json.dumps([before, [], []])
        return self.page(cursor, count) if count else Page((), cursor if before else None)

    def page(self, cursor: str, count: int) -> Page:
        """Read the messages before a cursor, with the marks between them."""
        before, replaced, shown = _read_cursor(cursor, self._end)
        window = Window(hidden=replaced | shown, replaced=replaced)
        self._collect(window, before, lambda read: read.shown >= count)
        fold = Fold(self.header(), whole=False)
        for offset, record in reversed(window.records):
            if entry_id(record) not in replaced and entry_id(record) not in shown:
                fold.add(record, offset)
        entries = fold.session(held=self._held).entries
        return Page(entries, _cursor(window, window.resume), window.damaged)

    def around(self, message_id: str, before: int, after: int) -> Surroundings:
        """Read a message and its neighbours in its version. Raises ``MessageNotFound``."""
        # From the end of its last record: its earlier records come before that.
        place = self._end_of(message_id)
        page = self._page(place, before + 1)
        end = self._branches.end_beside(place, self._end)
        later = self.page_after(_place_text(place, end), after)
        entries = joined(page.entries, later)
        if message_id not in (entry.id for entry in entries if isinstance(entry, Message)):
            raise MessageNotFound(self._session_id, message_id)
        damaged = page.damaged + later.damaged
        return Surroundings(entries, page.cursor, later.cursor, damaged, aside=end is not None)

    def page_after(self, cursor: str, count: int) -> Page:
        """Read ``count`` messages from an offset on, with the marks between them."""
        fold = Fold(self.header(), whole=False)
        seen: set[str] = set()
        following: str | None = None
        begin, end = _read_place(cursor, self._end)
        for offset, line in self._branches.lines(begin, self._end if end is None else end):
            try:
                record = decode(line)
            except DamagedRecord:
                fold.damaged += 1
                continue
            key = entry_id(record)
            if key is not None and key not in seen and len(seen) >= count:
                following = _place_text(offset, end)
                break
            seen.update(() if key is None else (key,))
            fold.add(record, offset)
        session = fold.session(held=self._held)
        return Page(session.entries, following, session.damaged, fold.replaced)

    def _end_of(self, message_id: str) -> int:
        """Find the offset behind a message's last record. Raises ``MessageNotFound``."""
        needle = journal_json(message_id)
        for offset, line in lines_with(self._read, needle, self._end):
            record = decoded(line)
            if isinstance(record, Message) and record.id == message_id:
                return min(offset + len(line) + 1, self._end)
        raise MessageNotFound(self._session_id, message_id)

    def ends(self) -> tuple[Session, str]:
        """Read what a list entry needs: the end folded, and the first prompt without a name.

        A few blocks, whatever the file's size.
        """
        session, _ = self._end_session(lambda read: bool(read.messages))
        if session.name.strip():
            # A name is the title.
            return session, ""
        end = min(self._size, _FIRST_PROMPT_BYTES + LINE_BYTES)
        lines = lines_forward(self._read, 0, end)
        beginning = takewhile(lambda line: line[0] <= _FIRST_PROMPT_BYTES, lines)
        records = (decoded(line) for _, line in beginning)
        return session, title_question(each for each in records if isinstance(each, Message))

    def name(self) -> str:
        """Read the name in the last ``state``, and nothing else."""
        for _, line in lines_backward(self._read, self._end):
            record = decoded(line) if _STATE in line else None
            if isinstance(record, State):
                return record.name
        return ""

    def _end_session(self, enough: _Enough) -> tuple[Session, Window]:
        """Fold the end, from the last ``state`` and far enough back, or from a reset."""
        window = Window()
        self._collect(
            window,
            self._end,
            lambda read: read.state is not None and (read.reset or enough(read)),
        )
        hints = None if window.torn else self._hints(window)
        if hints is None:
            # The state's offsets are wrong, or it is from before the live version.
            window, hints = self._read_whole(), []
        fold = self._fold(whole=window.whole)
        fold.damaged += window.damaged
        for offset, record in reversed(window.records):
            for hint in hints if record is window.state else ():
                fold.seed(hint)
            fold.add(record, offset)
        return fold.session(held=self._held), window

    def _whole_fold(self, kept: _Filter = lambda record: record) -> Fold:
        fold = self._fold(whole=True)
        for offset, line in lines_forward(self._read, 0, self._end):
            try:
                fold.add(kept(decode(line)), offset)
            except DamagedRecord:
                fold.damaged += 1
        return fold

    def _fold(self, *, whole: bool) -> Fold:
        # A journal is published with its header: without a whole line the header is lost.
        return Fold(self.header(), whole=whole, damaged=int(self._end == 0))

    def _read_whole(self) -> Window:
        """Read all lines, also of versions that are not live."""
        window = Window(begun=True, whole=True)
        for offset, line in lines_backward(self._read, self._end):
            record = window.read(line)
            if record is not None:
                window.take(offset, record)
        window.jumps = self._branches.parents(reversed(window.records))
        return window

    def _collect(self, window: Window, before: int, enough: _Enough) -> None:
        """Read backwards until there is enough, then on to the previous message.

        Records between the pieces of an answer and its message belong after that message.
        """
        done, whole = False, True
        lines = lines_backward(self._read, before)
        while (line := next(lines, None)) is not None:
            offset, data = line
            record = window.read(data)
            if record is None:
                continue
            jump = self._jump(window, record) if window.follower is not None else None
            if jump is not None:
                window.jump_to(jump)
                if done:
                    return
                lines, whole = lines_backward(self._read, jump), False
                continue
            if done and isinstance(record, Message) and record.id not in window.messages:
                # It is before all those collected.
                return
            window.take(offset, record)
            done = done or (window.unfinished is None and enough(window))
        self._jump(window, None)
        window.begun, window.whole = True, whole

    def _jump(self, window: Window, record: Record | None) -> int | None:
        """Find the offset to continue at, before the last message; ``None`` means ``record``."""
        follower = window.follower
        if follower is None or follower.after is None:
            return None
        if record is not None and not window.leaves(record):
            return None
        if not follower.after and (record is None or isinstance(record, Reset)):
            return None
        if record is not None and follower.after == entry_id(record):
            return None
        end = self._branches.end_of_parent(follower, window.follower_at)
        window.damaged += end is None
        return end

    def _hints(self, window: Window) -> list[_Hint] | None:
        """Read the records at the state's offsets; ``None`` if one is wrong."""
        if window.whole or window.state is None or not window.records:
            return []
        if window.state.offsets.settings is msgspec.UNSET:
            # An older program's ``state`` does not point there.
            lines = lines_with(self._read, _SETTINGS, self._end)
            settings = (at for at, line in lines if isinstance(decoded(line), Settings))
            window.complete_state(next(settings, None))
        offsets = window.state.offsets
        places = (offsets.summary, Summary), (offsets.todos, Todos), (offsets.settings, Settings)
        read = {place for place, _ in window.records}
        found: list[_Hint] = []
        for offset, kind in places:
            if offset is None or offset is msgspec.UNSET:
                continue
            record = decoded(line_at(self._read, offset, self._size) or b"")
            if not isinstance(record, kind):
                return None
            if offset not in read:
                found.append(record)
        return found


@contextmanager
def opened(
    path: Path, session_id: str, guess: HeaderGuess, *, held: bool
) -> Generator[OpenJournal]:
    """Open a journal for reading. Raises ``SessionDamaged`` if it is not a regular file."""
    with storage_errors(f"Cannot read session {session_id}"), odd_values(session_id):
        try:
            descriptor = open_to_read(path)
        except OSError as error:
            if isinstance(error, UnfitFile) and error.errno not in NOT_PLAIN:
                raise SessionDamaged(session_id, error.strerror or "") from error
            if error.errno not in NOT_PLAIN:
                raise
            raise SessionDamaged(session_id, "it is not a regular file") from error
        try:
            size = os.fstat(descriptor).st_size
            yield OpenJournal(reader_of(descriptor), size, session_id, guess, held=held)
        finally:
            os.close(descriptor)


class _Versioned(msgspec.Struct):
    """The fields of a header that every version has."""

    type: Literal["session"]
    version: Version


def _version(line: bytes) -> int:
    """Read the version of a header that cannot be decoded otherwise."""
    try:
        return converted(parse(line), _Versioned).version
    except ValueError:
        return VERSION


def _cursor(window: Window, place: int) -> str | None:
    if window.begun and not window.has_entries_before(place):
        return None
    # Replaced messages lie before it; so may earlier records of messages that are shown.
    shown = window.ids_from(place)
    return json.dumps([place, sorted(window.replaced - shown), sorted(shown)])


def _read_cursor(cursor: str, end: int) -> tuple[int, set[str], set[str]]:
    try:
        place, replaced, shown = converted(parse(cursor.encode()), _Cursor)
    except ValueError:
        place, replaced, shown = -1, set[str](), set[str]()
    return _within(place, end), replaced, shown


def _place_text(place: int, end: int | None) -> str:
    """Make a cursor for the pages after a place; with an ``end``, of a version."""
    return str(place) if end is None else f"{place} {end}"


def _read_place(cursor: str, end: int) -> tuple[int, int | None]:
    plain = [
        int(text) if text.isascii() and text.isdigit() and len(text) <= _DIGITS else -1
        for text in cursor.split(" ", 1)
    ]
    begin, *own_end = (_within(place, end) for place in plain)
    return begin, own_end[0] if own_end else None


def _without_text(record: Record | None) -> Record | None:
    """Drop a message's text: all texts of a large session would fill the memory."""
    if isinstance(record, Message):
        return msgspec.structs.replace(record, content=None, tool_calls=())
    return msgspec.structs.replace(record, text="") if isinstance(record, Partial) else record


def _within(place: int, end: int) -> int:
    if not 0 <= place <= end:
        raise StorageError("This page no longer exists: the session's file has changed.")
    return place
