"""Rescue files: unsaved records, written to any directory with room, and imported later.

A rescue file has the format of a journal: the header, and every record that was pending.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec.structs import replace

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    VERSION,
    DamagedRecord,
    Partial,
    Record,
    Reset,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
    decode,
    encode,
    is_session_id,
)
from tui.domain.journal.session import Draft, Session
from tui.domain.text import as_bytes
from tui.errors import AttachmentNotFound, SessionNotFound, UsageError
from tui.files import read_bounded
from tui.storage.attachments import ATTACHMENT_BYTES, hash_of, used_pictures
from tui.storage.disk import FILE_MODE, reading, storage_errors, sync_file, write_whole
from tui.storage.folders import Folders
from tui.storage.journal_lines import decoded, lines_forward, reader_of
from tui.storage.protocol import Lease, SessionStore

_HEADER_BYTES = 64 * 1024


class Imported(msgspec.Struct, frozen=True):
    """The result of an import: the session, its new messages, and damaged lines of the file."""

    session_id: str
    messages: int
    damaged: int


def write_rescue(
    directories: Iterable[Path], header: SessionHeader, records: Sequence[Record]
) -> Path:
    """Write a rescue file into the first usable directory, else a private temporary one.

    Raises ``StorageError`` if all of them fail.
    """
    data = encode(header) + b"".join(map(encode, records))
    return _rescued(directories, f"rescue-{header.id}-{os.urandom(3).hex()}.jsonl", data)


def write_draft(directories: Iterable[Path], draft: Draft) -> Path:
    """Write a draft as plain text into the directory that ``write_rescue`` would choose.

    Raises ``StorageError`` if all of them fail.
    """
    text = "\n\n".join(filter(None, [*draft.queued, draft.text]))
    name = f"draft-{draft.session_id}-{os.urandom(3).hex()}.txt"
    return _rescued(directories, name, as_bytes(text))


def _rescued(directories: Iterable[Path], name: str, data: bytes) -> Path:
    for directory in directories:
        try:
            directory.mkdir(parents=True, exist_ok=True)
            return _write_new(directory / name, data)
        except OSError:
            continue
    with storage_errors("No rescue file could be written"):
        return _write_new(Path(tempfile.mkdtemp(prefix="sibyl-")) / name, data)


def import_file(store: SessionStore, path: Path, now: str) -> Imported:
    """Import the messages of a rescue file or journal that its session lacks.

    Creates the session if it is missing. Raises ``UsageError`` for a file that is no journal, and
    ``StorageError`` and its subclasses if saving fails.
    """
    found = _read(path)
    existing = None
    with suppress(SessionNotFound):
        existing = store.journal(found.header.id).load()
    if existing is None and not _contents(found) and not found.session.name:
        raise UsageError(f"{path} contains nothing to import.")
    lease = store.lease(found.header.id) if existing else _create(store, found.header, path)
    try:
        # Loaded again: an earlier holder may have written until now.
        existing = store.journal(found.header.id).load() if existing else None
        records = _missing(found, existing) if existing else _contents(found)
        # Like every holder: write answers that a crash interrupted as messages.
        written = [*(existing.interrupted if existing else ()), *records]
        state = _state(found, existing, written, now)
        _take_pictures(store, found, path)
        if records or existing is None or state.name != existing.name:
            store.append(lease, [*written, state])
    finally:
        lease.release()
    messages = {record.id for record in records if isinstance(record, Message)}
    return Imported(found.header.id, len(messages), found.session.damaged)


def pictures_beside(path: Path) -> Path:
    """The folder with the pictures of an exported session, from which an import takes them."""
    return path.with_name(f"{path.stem}-attachments")


def is_session_file(path: Path) -> bool:
    """Tell whether a file is a rescue file or a journal of this program, by its first line."""
    try:
        with reading(path) as descriptor:
            lines = lines_forward(reader_of(descriptor), 0, _HEADER_BYTES)
            line = next((each for _, each in lines), b"")
    except OSError:
        return False
    header = decoded(line)
    return isinstance(header, SessionHeader) and is_session_id(header.id)


def _write_new(path: Path, data: bytes) -> Path:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, FILE_MODE)
    try:
        write_whole(descriptor, data)
        sync_file(descriptor)
    except OSError:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)
    return path


class _File(msgspec.Struct, frozen=True):
    """The contents of a file to be imported."""

    header: SessionHeader
    records: tuple[Record, ...]
    session: Session


def _read(path: Path) -> _File:
    with storage_errors(f"Cannot read {path}"), reading(path) as descriptor:
        size = os.fstat(descriptor).st_size
        lines = [line for _, line in lines_forward(reader_of(descriptor), 0, size)]
    header = decoded(lines[0]) if lines else None
    if not isinstance(header, SessionHeader) or not is_session_id(header.id):
        raise UsageError(f"{path} is not a session file: its first line names no session.")
    if header.version > VERSION:
        raise UsageError(f"{path} was written by a newer sibyl-tui (format {header.version}).")
    # A rescue file is a part: what its first messages follow may be in the session only.
    fold = Fold(header, whole=False)
    records: list[Record] = []
    for line in lines[1:]:
        try:
            record = decode(line)
        except DamagedRecord:
            fold.damaged += 1
            continue
        if record is not None:
            fold.add(record)
            records.append(record)
    return _File(header, tuple(records), fold.session())


def _create(store: SessionStore, header: SessionHeader, path: Path) -> Lease:
    return store.create(
        header.scope,
        header.project_path,
        header.model,
        session_id=header.id,
        created_at=header.created_at,
        forked_from=header.forked_from,
        imported_from=path.name,
    )


def _take_pictures(store: SessionStore, found: _File, path: Path) -> None:
    """Keep the pictures that the store lacks and that are found near the file."""
    for sha256 in set(used_pictures(found.records)):
        try:
            store.attachment(found.header.id, sha256)
        except AttachmentNotFound:
            data = next(_pictures(path, sha256), None)
            if data is not None:
                store.add_attachment(found.header.id, data)


def _pictures(path: Path, sha256: str) -> Iterator[bytes]:
    """Read a picture beside an exported file, and in the data directory that a journal is in."""
    kept = Folders(path.absolute().parent.parent).attachments / sha256
    for each in (*pictures_beside(path).glob(f"{sha256}.*"), kept):
        with suppress(OSError):
            data = read_bounded(each, ATTACHMENT_BYTES)
            if hash_of(data) == sha256:
                yield data


def _contents(found: _File) -> list[Record]:
    """Select the records for a new session: contents, never leases."""
    kept = (Message, Partial, Summary, Todos, Settings, Reset)
    return [*(r for r in found.records if isinstance(r, kept)), *found.session.interrupted]


def _missing(found: _File, existing: Session) -> list[Record]:
    """Select the records that a session lacks; a newer file also brings what is not a message."""
    messages = existing.all_messages
    replaced = {message.replaces for message in messages}
    own = {message.id: message for message in messages}
    # Only in a session that has versions a message says what it follows.
    parents = found.session.parents
    missing = [
        replace(message, after=parents[message.id]) if parents else message
        for message in found.session.all_messages
        if message.id not in replaced and _adds_to(own.get(message.id), message)
    ]
    if not _later(found.session, existing):
        return [*missing]
    live = {message.id for message in found.session.loaded_messages}
    # Live messages begin at the last reset; the session has it if it has a message after it.
    resets = [r for r in found.records if isinstance(r, Reset) and live.isdisjoint(own)]
    return [
        *(message for message in missing if message.id not in live),
        *resets[-1:],
        *(message for message in missing if message.id in live),
        *(r for r in found.records if isinstance(r, Summary | Todos | Settings)),
    ]


def _adds_to(own: Message | None, message: Message) -> bool:
    """Check that a message is missing, or longer than the session's interrupted version."""
    if own is None:
        return True
    begun = own.status == "interrupted" and message.text.startswith(own.text)
    return begun and (message.status != "interrupted" or len(message.text) > len(own.text))


def _state(found: _File, existing: Session | None, records: Sequence[Record], now: str) -> State:
    fold = Fold.continuing(existing) if existing else Fold(found.header)
    for record in records:
        fold.add(record)
    if existing is None or (found.session.name and _later(found.session, existing)):
        fold.name = found.session.name
    return fold.session(held=True).state(now)


def _later(session: Session, existing: Session) -> bool:
    return (session.updated_at or "") > (existing.updated_at or "")
