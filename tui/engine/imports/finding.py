"""Finds sources: in their usual places, and below paths that a user has named."""

import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from msgspec.structs import replace

from tui.engine.imports.history import FoundSource
from tui.engine.imports.outcome import Failure
from tui.files import open_regular
from tui.importers import databases
from tui.importers.archives import BROKEN, DEPTH, ZIP, Archive
from tui.importers.folders import is_so
from tui.importers.protocol import Places, Reader, Source
from tui.importers.stopping import check
from tui.logs import error_name
from tui.storage.rescue import is_session_file

SOURCE_ERRORS = (OSError, ValueError, RecursionError, sqlite3.Error, *BROKEN)
"""Errors of a source that cannot be read, which end its reading and no more."""
_Each = TypeVar("_Each")
_log = logging.getLogger(__name__)
_HEAD_BYTES = 4096
_OWN = b'{"type":"session"'
OWN_FILE = "It is a session of sibyl-tui. Name the file itself to import it."
_DAMAGED = "The archive is damaged, or packed in an unknown way."
_TOO_DEEP = "It is an archive within archives. Unpack it first."
_PACKED = (ZIP, databases.MAGIC, b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""Begin files that are no text, whatever text is seen in them: also those of zstd and gzip."""


class SourceFailed(Exception):
    """A source could not be read any further."""


def guarded(items: Iterable[_Each]) -> Iterator[_Each]:
    """Iterate over what a reader reads; tells its errors from those of a store.

    Raises ``SourceFailed``.
    """
    try:
        yield from items
    except SOURCE_ERRORS as error:
        _log.info("reading failed: %s", error_name(error))
        raise SourceFailed(_reason(error)) from error


def _reason(error: Exception) -> str:
    told = error.strerror if isinstance(error, OSError) else None
    return told or str(error) or type(error).__name__


def found_in(reader: Reader, places: Places, unread: list[Failure]) -> Iterator[Source]:
    """Find the sources of a program in their usual places.

    Places that cannot be looked at are added to ``unread``.
    """
    places.unread.clear()
    try:
        yield from reader.find(places)
    except SOURCE_ERRORS as error:
        unread.append(_failure(error, places))
    unread.extend(_failure(error, places) for error in places.unread)


def _failure(error: Exception, places: Places) -> Failure:
    name = error.filename if isinstance(error, OSError) else None
    return Failure(Path(name or places.home), _reason(error))


def found_below(
    path: Path, readers: Iterable[Reader], unread: list[Failure], within: Archive | None = None
) -> Iterator[tuple[Reader, Source]]:
    """Find the sources that a path leads to: it is one, or a folder with some, or a whole home.

    What cannot be looked at is added to ``unread``. ``within`` is the archive of these.
    """
    readers = list(readers)
    # Path.is_dir raises for a name that is too long.
    if not os.path.isdir(path):  # noqa: PTH112
        if not is_session_file(path):
            yield from _recognised(path, readers, unread, within)
        return
    known: set[Path] = set()
    for reader in readers:
        # What cannot be looked at is told of the folders, once for all programs.
        for source in found_in(reader, Places(home=path, environment={}), []):
            known.add(source.path)
            yield reader, source
    owners: dict[Path, _Owner] = {}

    def tell(error: OSError) -> None:
        unread.append(Failure(Path(error.filename), _reason(error)))

    for name, folders, _ in os.walk(path, onerror=tell):
        check()
        folders.sort()
        folder = Path(name)
        if known.isdisjoint((folder, *folder.parents)):
            yield from _found_in_folder(folder, readers, owners, known, unread, within)


class _Owner(NamedTuple):
    """The program to which a folder is one conversation, and the files that it reads there."""

    reader: Reader
    parts: frozenset[Path]


def _found_in_folder(
    folder: Path,
    readers: list[Reader],
    owners: dict[Path, _Owner],
    known: set[Path],
    unread: list[Failure],
    within: Archive | None,
) -> Iterator[tuple[Reader, Source]]:
    owner: _Owner | None = None
    # Of a folder without rights, its files tell.
    with suppress(OSError):
        if reader := _reader_of(folder, b"", readers):
            owner = _Owner(reader, frozenset(reader.parts(folder)))
    if owner is not None:
        yield owner.reader, Source.of(folder, *owner.parts)
    owner = owner or owners.get(folder.parent)
    if owner is not None:
        owners[folder] = owner
    for file in _files_in(folder, unread):
        if file in known or (owner is not None and file in owner.parts):
            continue
        for reader, source in _recognised(file, readers, unread, within):
            # What else its program has there is none of its conversations.
            if owner is None or reader.program != owner.reader.program:
                yield reader, source


def as_found(reader: Reader, source: Source) -> FoundSource:
    """Look at a source, to know later if it was changed. Raises ``OSError``."""
    status = (source.archive.file if source.archive else source.path).stat()
    return FoundSource(
        reader.program,
        str(source.shown),
        status.st_dev,
        status.st_ino,
        source.size,
        source.changed,
    )


def _recognised(
    path: Path, readers: list[Reader], unread: list[Failure], within: Archive | None
) -> Iterator[tuple[Reader, Source]]:
    check()
    try:
        head = _head(path)
        if head.startswith(_OWN) and is_session_file(path):
            unread.append(Failure(path, OWN_FILE))
            return
        if head.startswith(ZIP):
            yield from _found_in_archive(path, readers, unread, within)
        elif reader := _reader_of(path, head, readers):
            is_database = head.startswith(databases.MAGIC)
            yield (
                reader,
                databases.source(path) if is_database else Source.of(path, *reader.parts(path)),
            )
    except (OSError, sqlite3.Error) as error:
        unread.append(Failure(path, _reason(error)))
    except BROKEN:
        unread.append(Failure(path, _DAMAGED))
    except (ValueError, RecursionError):
        return


def _reader_of(path: Path, head: bytes, readers: list[Reader]) -> Reader | None:
    # What may be seen of texts in a database is not its beginning.
    head = next((mark for mark in _PACKED if head.startswith(mark)), head)
    return next((each for each in readers if each.recognises(path, head)), None)


def _found_in_archive(
    path: Path, readers: list[Reader], unread: list[Failure], within: Archive | None
) -> Iterator[tuple[Reader, Source]]:
    if within is not None and within.depth >= DEPTH:
        unread.append(Failure(path, _TOO_DEEP))
        return
    archive = Archive(path, within)
    failures: list[Failure] = []
    for reader, source in found_below(archive.folder, readers, failures, archive):
        yield reader, source if source.archive else replace(source, archive=archive)
    for reason in dict.fromkeys(archive.refused.values()):
        refused = [name for name, each in archive.refused.items() if each == reason]
        more = f" So do {len(refused) - 1} more of its files." if len(refused) > 1 else ""
        failures.append(Failure(archive.folder / refused[0].lstrip("/\\"), reason + more))
    unread.extend(replace(each, path=archive.shown(each.path)) for each in failures)


def _head(path: Path) -> bytes:
    descriptor = open_regular(path, follow=True)
    try:
        return os.pread(descriptor, _HEAD_BYTES, 0)
    finally:
        os.close(descriptor)


def _files_in(folder: Path, unread: list[Failure]) -> list[Path]:
    errors: list[OSError] = []
    files: list[Path] = []
    try:
        with os.scandir(folder) as entries:
            files = sorted(Path(entry) for entry in entries if is_so(entry.is_file, errors))
    except OSError as error:
        # It was there when its parent was listed.
        errors.append(error)
    unread.extend(Failure(Path(error.filename), _reason(error)) for error in errors)
    return files
