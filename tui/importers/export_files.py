"""Export files: JSON of any size, as a file of its own or as a member of a zip."""

import lzma
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from io import BufferedReader, FileIO
from pathlib import Path
from typing import NamedTuple
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec

from tui.files import open_regular
from tui.importers import databases
from tui.importers.json_elements import Element, placed_elements
from tui.importers.protocol import Json, Ledger, Source
from tui.importers.stopping import check

ZIP = b"PK\x03\x04"
PACKED = (ZIP, databases.MAGIC, b"\x28\xb5\x2f\xfd", b"\x1f\x8b")
"""Begin files that are no text, whatever text is seen in them: also those of zstd and gzip."""
MEMBERS = 200_000
"""Limit of the files in an archive."""
MEMBER_BYTES = 16 * 1024**3
"""Limit of one of them, unpacked."""
BEGINNING_BYTES = 256 * 1024
_LIST_BYTES = 32 * 1024 * 1024
"""Limit of an archive's list of files, all of which is in memory."""
DAMAGED = "damaged file of the archive"
BROKEN_MEMBER = "It is damaged."
PROTECTED = "It has a password."
UNKNOWN_PACKING = "It is packed in an unknown way."
OUTSIDE = "Its path leads out of the archive."
TOO_LARGE = "It is over 16 GiB."
BROKEN = (BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError)
"""Errors of an archive that is damaged, or written in a way that is not known here."""

_JSON_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]\s*(?:[\[{\"\]}]|\Z)")
_PACKINGS = {ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA}
_JSON = (".json", ".jsonl")
_TEXTS = (*_JSON, ".md", ".yaml", ".el", ".lisp")
"""The last ones are not read in an archive, but may be those of a program."""


class Member(NamedTuple):
    """A file of an archive, and its first bytes or the reason why it is not read."""

    name: str
    beginning: bytes
    refusal: str = ""


class _Bounded(BufferedReader):
    """An archive of which not much is read at once, whatever it says of its parts."""

    def read(self, size: int | None = -1, /) -> bytes:
        if (size or 0) > _LIST_BYTES:
            raise BadZipFile
        return super().read(size)


def files(source: Source) -> Iterator[Source]:
    """Divide an archive into its files; any other source is one."""
    if not source.members:
        yield source
    for name in source.members:
        yield msgspec.structs.replace(source, members=(name,))


def records(source: Source, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Json]:
    """Read the objects of an export one at a time; see ``json_elements``. Raises ``OSError``."""
    return (element.value for element in placed_records(source, ledger, within))


def placed_records(source: Source, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Element]:
    """Read the same objects with their places. Raises ``OSError``."""
    if source.members:
        with _archive(source.path) as file:
            yield from _records_of_members(file, source.members, ledger, within)
    else:
        with _opened(source.path) as stream:
            yield from placed_elements(stream, ledger, within)


def has_key(start: bytes, *names: bytes) -> bool:
    """Tell whether an export begins with objects that have some keys; no text is taken for one."""
    return all(re.search(rb'"(?:' + name + rb')"\s*+:', start) for name in names)


def beginning(path: Path, head: bytes) -> bytes:
    """The first bytes of an export: more than a head has, if the file is at hand.

    None of a file that is no JSON, such as a program that names the keys of one.
    """
    if not _JSON_BEGINS.match(head):
        return b""
    if len(head) >= BEGINNING_BYTES:
        return head
    try:
        with _opened(path) as stream:
            return stream.read(BEGINNING_BYTES)
    except OSError:
        return head


def members(path: Path) -> Iterator[Member]:
    """List the files of a zip that may be a program's. Raises ``OSError``, and ``BROKEN``."""
    with _archive(path) as file, ZipFile(file) as archive:
        for member in _texts(archive):
            reason = _refusal(member)
            if reason and member.filename.lower().endswith(_JSON):
                yield Member(member.filename, b"", reason)
            elif not reason:
                try:
                    with archive.open(member) as stream:
                        begun = Member(member.filename, stream.read(BEGINNING_BYTES))
                except BROKEN:
                    begun = Member(member.filename, b"", BROKEN_MEMBER)
                yield begun


def _texts(archive: ZipFile) -> Iterator[ZipInfo]:
    for member in archive.infolist()[:MEMBERS]:
        check()
        if member.filename.lower().endswith(_TEXTS):
            yield member


def _refusal(member: ZipInfo) -> str:
    """The reason why a file of an archive is not read; empty for one that is."""
    path = member.filename.replace("\\", "/")
    if path.startswith("/") or ".." in path.split("/"):
        return OUTSIDE
    if member.flag_bits & 1:
        return PROTECTED
    if member.compress_type not in _PACKINGS:
        return UNKNOWN_PACKING
    return TOO_LARGE if member.file_size > MEMBER_BYTES else ""


def _records_of_members(
    file: BufferedReader, names: Sequence[str], ledger: Ledger, within: Sequence[str]
) -> Iterator[Element]:
    try:
        archive = ZipFile(file)
    except BROKEN:
        ledger.skipped[DAMAGED] += 1
        return
    wanted = set(names)
    with archive:
        for member in _texts(archive):
            if member.filename in wanted and not _refusal(member):
                try:
                    with archive.open(member) as stream:
                        yield from placed_elements(stream, ledger, within)  # pyright: ignore[reportArgumentType]
                except BROKEN:
                    ledger.skipped[DAMAGED] += 1


def _archive(path: Path) -> _Bounded:
    return _Bounded(FileIO(open_regular(path, follow=True)))


def _opened(path: Path) -> BufferedReader:
    return os.fdopen(open_regular(path, follow=True), "rb")
