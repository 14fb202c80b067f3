"""A session that this program writes to: what is on disk, what is pending, and the lease."""

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import msgspec

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message, Role
from tui.domain.journal.records import (
    MESSAGE_TOKEN_BYTES,
    NO_SUMMARY,
    VERSION,
    Closed,
    Opened,
    Partial,
    Record,
    Reset,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
    encode,
    new_message_id,
)
from tui.domain.journal.session import Entry, Session, Tail
from tui.domain.providers import is_guide
from tui.domain.timestamps import format_utc
from tui.engine.model_requests import HistoryWindow, context_of, missing_results, read_context
from tui.engine.sessions.answer import Answer
from tui.engine.sessions.fork import write_copy
from tui.engine.sessions.write_queue import WriteQueue
from tui.errors import LeaseLost, SessionDamaged, StorageError
from tui.storage.protocol import Appended, JournalStore, Lease, SessionStore
from tui.storage.stores import SessionStores

Clock = Callable[[], datetime]

WINDOW = 100
"""The number of last messages that are loaded at first."""
STATE_BYTES = 64 * 1024
"""A state is written at least once in so many bytes, so that an end is read without the rest."""


class SessionOrigin(msgspec.Struct, frozen=True):
    """The scope, project and model of a new session."""

    scope: str
    project_path: str
    model: str


Pending = tuple[Record, bytes]
"""A record that is not on disk yet, and its line.

That of a ``State`` is empty: the store completes and encodes it.
"""


class NewVersion(msgspec.Struct, frozen=True):
    """The message that a new version follows, and the session as if that were its ``end``.

    ``after`` is empty for a first message. ``beside`` is the message that it is a version of.
    """

    after: str
    end: Tail
    beside: str | None


class OpenSession:
    """One session with its lease. Every change is pending until ``save`` has written it.

    Records enter the pending queue at once and leave it when they are durable; tick, answer,
    switch and exit all save through the one lock here.
    """

    def __init__(
        self,
        store: JournalStore,
        lease: Lease,
        fold: Fold,
        clock: Clock,
        *,
        cursor: str | None = None,
        published: bool = False,
    ) -> None:
        self._store = store
        self._lease = lease
        self._fold = fold
        self._session: Session | None = None
        self._clock = clock
        self._pending: list[Pending] = []
        self._cut_off: set[str] = set()
        self._opened = False
        self.published = published
        """True if the session exists for others."""
        self.given_up = False
        self._stated = True
        self._since_state = 0
        self._history = None if published else HistoryWindow((), 0, whole=True)
        self._reading = asyncio.Lock()
        # Those that come during a reading: once saved, they are neither pending nor read.
        self._arrived: list[Record] | None = None
        self._answer: Answer | None = None
        self._cursor = cursor
        self._saving = WriteQueue()
        self._notices: list[str] = []
        self._version: NewVersion | None = None
        self._dropped: Callable[[], None] = lambda: None
        self.new_versions: list[tuple[str, str]] = []
        """The versions that this program has added: each with another one that it goes beside."""

    # --- what is known

    @property
    def id(self) -> str:
        return self._lease.session_id

    @property
    def session(self) -> Session:
        """The session as this program knows it, with what is pending."""
        if self._session is None:
            self._session = self._fold.session(held=True)
        return self._session

    @property
    def _shown(self) -> Session:
        """The session, or what it will be with the new version that was begun."""
        return self._version.end.session if self._version else self.session

    @property
    def summary(self) -> Summary | None:
        return self._shown.summary

    @property
    def pending(self) -> tuple[Record, ...]:
        """The records that are not on disk yet, oldest first."""
        return tuple(record for record, _ in self._pending)

    @property
    def unsaved(self) -> bool:
        """Tell whether something that was said or decided is not on disk yet.

        Records that only close an interrupted answer are rebuilt by the next holder.
        """
        kept = (record for record in self.pending if not isinstance(record, Opened | Closed))
        return any(not (isinstance(r, Message) and r.id in self._cut_off) for r in kept)

    @property
    def header(self) -> SessionHeader:
        return self._fold.header

    def take_notices(self) -> tuple[str, ...]:
        """Give the notices since the last call."""
        notices, self._notices = tuple(self._notices), []
        return notices

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The loaded entries, with the answer that is arriving."""
        entries, answer = self._shown.entries, self._answer
        if answer is None:
            return entries
        hidden = {answer.message_id, answer.replaces}
        others = [e for e in entries if not (isinstance(e, Message) and e.id in hidden)]
        return (*others, answer.message())

    @property
    def arriving(self) -> str | None:
        """The id of the answer that is arriving."""
        return self._answer.message_id if self._answer else None

    @property
    def cursor(self) -> str | None:
        """Leads to what comes before ``entries``; ``None`` if nothing does."""
        return self._version.end.cursor if self._version else self._cursor

    async def context(self, tokens: int) -> Sequence[Message]:
        """The newest live messages, at least as many as a window of so many tokens takes."""
        async with self._reading:
            history = self._history
            if history is None or not (history.whole or tokens <= history.tokens):
                history = self._history = await self._read_history(tokens)
        return history.messages

    async def _read_history(self, tokens: int) -> HistoryWindow:
        self._arrived = arrived = list(self.pending)
        last = self._version.after if self._version else _first_after(arrived)
        try:
            history = context_of(self._shown) or await asyncio.to_thread(
                read_context, self._store.journal(self.id), self.summary, tokens, last
            )
        finally:
            self._arrived = None
        for record in arrived:
            history.add(record)
        return history

    async def pictures(self, sha256s: Iterable[str]) -> dict[str, bytes]:
        """Read pictures, by their SHA-256, without those that are not in the store."""

        def read() -> dict[str, bytes]:
            found: dict[str, bytes] = {}
            for sha256 in sha256s:
                with suppress(StorageError):
                    found[sha256] = self._store.attachment(self.id, sha256)
            return found

        return await asyncio.to_thread(read)

    # --- changes

    def add(self, record: Record) -> None:
        """Make a change: it counts at once, and is pending until it is saved.

        What a list shows of it follows as a ``state``.
        """
        self._begin()
        if self._version is not None and isinstance(record, Message | Partial):
            self._add_version(self._version, record)
            return
        line = encode(record)
        if self._since_state + len(line) > STATE_BYTES and not self._stated:
            self.note_state()
        self._enter(record, line)
        if isinstance(record, Reset | Summary | Todos | Settings):
            self.note_state()

    def take_up(self, cut_off: Sequence[Message], *, resumed: bool) -> None:
        """Take as messages what an earlier holder could not bring to its end.

        ``resumed`` says that the user asked for this very session.
        """
        if resumed:
            self._enter(Opened(at=self._now(), resumed=True))
        self._cut_off.update(message.id for message in cut_off)
        for message in cut_off:
            if message.model and not is_guide(message.model):
                self.use_model(message.model)
            self.add(message)

    def add_message(
        self,
        role: Role,
        content: str | list[Any],
        *,
        tool_call_id: str | None = None,
        folded: tuple[tuple[int, int], ...] = (),
    ) -> Message:
        """Add a user's or a tool's message, whole and complete."""
        now = self._clock()
        message = Message(
            id=_new_id(now),
            role=role,
            content=content,
            timestamp=format_utc(now),
            tool_call_id=tool_call_id,
            folded=folded or None,
            after=self._version.after if self._version else None,
        )
        self.add(message)
        return message

    def begin_version(self, version: "NewVersion", dropped: Callable[[], None]) -> None:
        """Let the next message follow an earlier one; nothing is written until it arrives.

        Calls ``dropped`` if it never comes.
        """
        self.drop_version()
        self._version, self._dropped = version, dropped
        self._history = None

    @property
    def edited_question(self) -> str:
        """The message that the next one is another version of; empty if there is none."""
        return (self._version.beside or "") if self._version else ""

    def drop_version(self) -> None:
        """Return to the live version: the next message follows its last one."""
        if self._version is not None:
            self._version = None
            self._history = None
            self._dropped()

    def begin_answer(self, model: str, *, replaces: str | None = None) -> Answer:
        """Start collecting an answer; nothing of it is pending before it has text."""
        # The guide only stands in for the model of the session.
        if not is_guide(model):
            self.use_model(model)
        now = self._clock()
        after = self._version.after if self._version else None
        self._answer = Answer(_new_id(now), format_utc(now), model, replaces, after)
        return self._answer

    def add_piece(self, answer: Answer) -> None:
        """Make what has arrived of an answer pending, unless that has ended."""
        piece = answer.next_piece()
        if piece is not None and answer is self._answer:
            self.add(piece)

    def end_answer(
        self, answer: Answer, *, status: str | None = None, error: str | None = None
    ) -> Message:
        """Make an answer a message; pieces of it that were still pending are not needed then.

        One of which nothing came keeps the text of the answer that it was to replace.
        """
        self._pending = [
            (record, line)
            for record, line in self._pending
            if not (isinstance(record, Partial) and record.message_id == answer.message_id)
        ]
        message = answer.message(status, error)
        if answer.replaces and not (answer.text.strip() or answer.calls):
            messages = self.session.loaded_messages
            text = next((m.text for m in messages if m.id == answer.replaces), "")
            message = msgspec.structs.replace(message, content=text)
        if answer is not self._answer:
            return message  # ended before, by whoever could not wait
        self._answer = None
        if self._version and status == "interrupted" and not (answer.text or answer.calls):
            self.drop_version()
            return message
        self.add(message)
        return message

    def interrupt(self) -> None:
        """End an arriving answer where it is, and waiting calls; harmless without one."""
        if self._answer is not None:
            self._answer.calls.clear()
            self.end_answer(self._answer, status="interrupted")
            return
        for result in missing_results(self.session):
            self.add(result)

    def reset(self) -> None:
        """Let live start anew; what was before stays in the file."""
        self.add(Reset(at=self._now()))

    def rename(self, name: str) -> None:
        """Name the session."""
        self._begin()
        self._fold.name = name
        self.note_state()

    def use_model(self, model: str) -> None:
        """Say which model the session is held with from now on."""
        if model != self._fold.model:
            self._fold.model = model
            self._session = None
            self._stated = False

    def change_settings(self, settings: Settings) -> None:
        """Give the session settings of its own; a new session keeps them until it has more."""
        if settings == self._fold.settings:
            return
        if not (self.published or self._pending):
            self._fold.settings = settings
            self._session = None
            return
        self.add(settings)

    def note_state(self) -> None:
        """Add a ``state``, so that the end of the file tells all that a list shows."""
        self._enter(self._fold.session(held=True).state(self._now()))

    # --- private sessions

    async def keep(self, stores: SessionStores) -> None:
        """Save this private session as a new one, with all its messages, and continue there.

        Raises ``StorageError``, and then it stays private.
        """

        async def keep() -> None:
            batch = tuple(self._pending)
            written = await asyncio.to_thread(stores.keep, self._lease, *_columns(batch))
            self._lease, appended = written
            self._store = stores.main
            header = msgspec.structs.replace(self._fold.header, id=self._lease.session_id)
            self._fold.header = header
            self._take(appended, batch)

        await self._saving.run(keep)

    def forget(self, stores: SessionStores) -> None:
        """Destroy this private session, and give up its lease."""
        stores.private.forget(self._lease)
        self.abandon()

    # --- saving

    async def save(self) -> None:
        """Write what is pending; on return it is durable.

        Goes on to its end when the caller is cancelled. Raises ``StorageError``: all that was
        not written stays pending.
        """
        await self._saving.run(self._save)

    async def close(self) -> None:
        """Save, say that the session is closed, and give up the lease.

        Raises ``StorageError`` and then keeps the lease: ``give_up`` gives it up all the same.
        """
        self.note_closed()
        await self.save()
        await self.give_up()

    def note_closed(self) -> None:
        """Add ``closed``, after a ``state`` if that is due; harmless if nothing was opened."""
        if self._opened:
            if not self._stated:
                self.note_state()
            self._enter(Closed(at=self._now()))

    def save_at_once(self) -> None:
        """Write what is pending without an event loop, where none is left to save with.

        Raises ``StorageError``.
        """
        batch = tuple(self._pending)
        if batch:
            self._take(self._store.append(self._lease, *_columns(batch)), batch)

    async def give_up(self) -> None:
        """Give up the lease, whatever is pending."""
        self.given_up = True
        await asyncio.to_thread(self._lease.release)

    def abandon(self) -> None:
        """Give up the lease where no event loop runs. Blocks."""
        self.given_up = True
        self._lease.release()

    # --- within

    def _now(self) -> str:
        return format_utc(self._clock())

    def _begin(self) -> None:
        """Write ``opened``, before the first change of this program."""
        if self._opened:
            return
        self._enter(Opened(at=self._now()))
        if not self.published and self._fold.settings != Settings():
            self._enter(self._fold.settings)

    def _add_version(self, version: "NewVersion", record: Message | Partial) -> None:
        """Add the first record of a new version, with all that readers of the end need of it."""
        known, end = self.session, version.end
        counted, last = end.session.summary or NO_SUMMARY, self._fold.summary or NO_SUMMARY
        self._version, self._cursor = None, end.cursor
        self._history = None
        self._fold = Fold.continuing(
            msgspec.structs.replace(
                known,
                entries=end.session.entries,
                live_from=0,
                message_count=end.session.message_count,
                summary=end.session.summary,
                everything=(),
                parents={},
            )
        )
        if version.beside is not None:
            added = record.id if isinstance(record, Message) else record.message_id
            self.new_versions.append((version.beside, added))
        self._enter(record)
        if counted != last:
            self._enter(counted)
        self.note_state()

    def _enter(self, record: Record, line: bytes = b"") -> None:
        if not line and not isinstance(record, State):
            line = encode(record)
        self._pending.append((record, line))
        self._fold.add(record)
        self._session = None
        self._since_state += len(line)
        match record:
            case Opened():
                self._opened = True
            case Closed():
                self._opened = False
            case State():
                self._stated, self._since_state = True, 0
            case Message() | Summary() | Todos() | Settings() | Partial():
                self._stated = False
            case _:
                pass
        self._add_to_history(record)

    def _add_to_history(self, record: Record) -> None:
        if self._arrived is not None:
            self._arrived.append(record)
        if self._history is not None:
            self._history.add(record)

    async def _save(self) -> None:
        batch = tuple(self._pending)
        if not batch:
            return
        try:
            appended = await asyncio.to_thread(self._store.append, self._lease, *_columns(batch))
        except (SessionDamaged, LeaseLost) as loss:
            await self._write_beside(loss)
            return
        self._take(appended, batch)

    def _take(self, appended: Appended, batch: Sequence[Pending]) -> None:
        self.published = True
        self._session = None
        self._fold.header = msgspec.structs.replace(self._fold.header, ordinal=appended.ordinal)
        self._drop(batch)
        if appended.restored:
            self._notices.append("Restored this session from the archive")
        for record in appended.foreign:
            self._fold.add(record)
            if _first_after([record]) is not None:
                # Another version may be live now: what the model is sent is read again.
                self._history = None
            self._add_to_history(record)

    def _drop(self, batch: Sequence[Pending]) -> None:
        """Remove written records from the pending ones; those added meanwhile stay."""
        written = set(map(id, batch))
        self._pending = [each for each in self._pending if id(each) not in written]

    async def _write_beside(self, loss: SessionDamaged | LeaseLost) -> None:
        """Save this program's copy as a session of its own: the other one now differs."""
        batch, known = tuple(self._pending), self.session
        sent = self._history.messages if self._history else ()
        earlier = [each for each in sent if each.id not in self._fold.replaced]
        lost = self._lease
        self._lease, copy = await asyncio.to_thread(
            write_copy, self._store, known, earlier, self._now()
        )
        self._drop(batch)
        # What was further back than this program has read is not in the copy.
        self._fold.header, self._cursor = copy.header, None
        self._fold.message_count += copy.message_count - known.message_count
        self._fold.total_count += copy.total_count - known.total_count
        self._session = None
        if isinstance(loss, LeaseLost):
            told = f"Another window took session {loss.session_id} over; your copy is {self.id}."
        else:
            told = f"Session {loss.session_id}: {loss.reason}. It is unchanged; "
            told += f"your open copy is saved as {self.id}."
        self._notices.append(told)
        await asyncio.to_thread(lost.release)


def _new_id(now: datetime) -> str:
    return new_message_id(now, os.urandom(MESSAGE_TOKEN_BYTES).hex())


def _columns(batch: Sequence[Pending]) -> tuple[list[Record], list[bytes]]:
    return [record for record, _ in batch], [line for _, line in batch]


def _first_after(records: Sequence[Record]) -> str | None:
    """The message that the first new version among some records follows."""
    messages = (record for record in records if isinstance(record, Message | Partial))
    return next((record.after for record in messages if record.after is not None), None)


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
