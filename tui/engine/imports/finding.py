"""Finds sources: in their usual places, and below paths that a user has named."""

import logging
import os
import sqlite3
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from tui.engine.imports.history import FoundSource
from tui.files import open_regular
from tui.importers.export_files import BROKEN, refusal
from tui.importers.protocol import Places, Reader, Source
from tui.logs import error_name
from tui.storage.rescue import is_session_file

SOURCE_ERRORS = (OSError, ValueError, RecursionError, sqlite3.Error, *BROKEN)
"""Errors of a source that cannot be read, which end its reading and no more."""
_Each = TypeVar("_Each")
_log = logging.getLogger(__name__)
_HEAD_BYTES = 4096
_ZIP = b"PK"
_OWN = b'{"type":"session"'
_MOST_MEMBERS = 1000


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
        reason = error.strerror if isinstance(error, OSError) else None
        raise SourceFailed(reason or str(error) or type(error).__name__) from error


def found_in(reader: Reader, places: Places) -> Iterator[Source]:
    """Find the sources of a program in their usual places; those that cannot be read are none."""
    with suppress(*SOURCE_ERRORS):
        yield from reader.find(places)


def found_below(path: Path, readers: Iterable[Reader]) -> Iterator[tuple[Reader, Source]]:
    """Find the sources that a path leads to: it is one, or a folder with some, or a whole home."""
    readers = list(readers)
    # Path.is_dir raises for a name that is too long.
    if not os.path.isdir(path):  # noqa: PTH112
        yield from _recognised(path, readers)
        return
    reader = _reader_of(path, b"", readers)
    if reader is not None:
        yield reader, Source.of(path, *_files_below(path))
        return
    known: set[Path] = set()
    for reader in readers:
        for source in found_in(reader, Places(home=path, environment={})):
            known.add(source.path)
            yield reader, source
    for file in _files_below(path):
        if known.isdisjoint((file, *file.parents)):
            yield from _recognised(file, readers)


def as_found(reader: Reader, source: Source) -> FoundSource:
    """Look at a source, to know later if it was changed. Raises ``OSError``."""
    status = source.path.stat()
    return FoundSource(
        reader.program,
        str(source.path),
        status.st_dev,
        status.st_ino,
        source.size,
        source.changed,
    )


def _recognised(path: Path, readers: list[Reader]) -> Iterator[tuple[Reader, Source]]:
    with suppress(*SOURCE_ERRORS):
        head = _head(path)
        if head.startswith(_OWN) and is_session_file(path):
            return
        reader = _reader_of(path, head, readers)
        if reader is None and head.startswith(_ZIP):
            reader = _reader_of_members(path, readers)
        if reader is not None:
            yield reader, Source.of(path)


def _reader_of(path: Path, head: bytes, readers: list[Reader]) -> Reader | None:
    return next((each for each in readers if each.recognises(path, head)), None)


def _reader_of_members(path: Path, readers: list[Reader]) -> Reader | None:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist()[:_MOST_MEMBERS]:
            if refusal(member):
                continue
            with archive.open(member) as file:
                head = file.read(_HEAD_BYTES)
            reader = _reader_of(path / member.filename, head, readers)
            if reader is not None:
                return reader
    return None


def _head(path: Path) -> bytes:
    descriptor = open_regular(path, follow=True)
    try:
        return os.pread(descriptor, _HEAD_BYTES, 0)
    finally:
        os.close(descriptor)


def _files_below(path: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = Path(folder, name)
            if file.is_file() and not file.is_symlink():
                yield file
