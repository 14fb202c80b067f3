"""Export files: a JSON file, a zip that contains some, or the folder that it was unpacked into."""

import lzma
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from tui.files import open_regular
from tui.importers.json_elements import elements
from tui.importers.protocol import Json, Ledger, Places, Source

MEMBERS = 200_000
"""Limit of the files in an archive."""
MEMBER_BYTES = 16 * 1024**3
"""Limit of one of them, unpacked."""
BEGINNING_BYTES = 256 * 1024
DAMAGED = "damaged file of the archive"
PROTECTED = "file of the archive with a password"
UNKNOWN_PACKING = "file of the archive in an unknown packing"
OUTSIDE = "file of the archive with a path outside of it"
TOO_LARGE = "file of the archive over 16 GiB"
BROKEN = (BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError)
"""Errors of an archive that is damaged, or written in a way that is not known here."""

_SIGNATURE = b"PK\x03\x04"
_PACKINGS = {ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA}
_CONVERSATIONS = re.compile(r"conversations[-_. (]*\d*\)?\.json", re.IGNORECASE)
"""Also numbered parts: ``conversations-003.json``."""


def nowhere(_: Places) -> Iterator[Source]:
    """Exports have no usual place: the user names the file."""
    return iter(())


def records(path: Path, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Json]:
    """Read the objects of an export one at a time; see ``json_elements``. Raises ``OSError``."""
    if path.is_dir():
        for part in _parts(path):
            yield from records(part, ledger, within)
    elif _is_archive(path):
        yield from _records_of_archive(path, ledger, within)
    else:
        with _opened(path) as stream:
            yield from elements(stream, ledger, within)


def beginning(path: Path, head: bytes) -> bytes:
    """The first bytes of an export's conversations, also if they are in an archive or a folder."""
    if head and not head.startswith(_SIGNATURE):
        return head if len(head) >= BEGINNING_BYTES else _beginning_of_file(path) or head
    if head:
        return _beginning_in_archive(path)
    part = next(iter(_parts(path)), None) if path.is_dir() else None
    return _beginning_of_file(part) if part else b""


def _records_of_archive(path: Path, ledger: Ledger, within: Sequence[str]) -> Iterator[Json]:
    with _opened(path) as file:
        try:
            archive = ZipFile(file)
        except BROKEN:
            ledger.skipped[DAMAGED] += 1
            return
        with archive:
            for member in _members(archive):
                if reason := refusal(member):
                    ledger.skipped[reason] += 1
                else:
                    yield from _records_of_member(archive, member, ledger, within)


def _records_of_member(
    archive: ZipFile, member: ZipInfo, ledger: Ledger, within: Sequence[str]
) -> Iterator[Json]:
    try:
        with archive.open(member) as stream:
            yield from elements(stream, ledger, within)  # pyright: ignore[reportArgumentType]
    except BROKEN:
        ledger.skipped[DAMAGED] += 1


def _members(archive: ZipFile) -> list[ZipInfo]:
    found = [
        member
        for member in archive.infolist()[:MEMBERS]
        if _CONVERSATIONS.fullmatch(member.filename.replace("\\", "/").rpartition("/")[2])
    ]
    return sorted(found, key=lambda member: _in_order(member.filename))


def refusal(member: ZipInfo) -> str:
    """The reason why a file of an archive is not read; empty for one that is."""
    path = member.filename.replace("\\", "/")
    if path.startswith("/") or ".." in path.split("/"):
        return OUTSIDE
    if member.flag_bits & 1:
        return PROTECTED
    if member.compress_type not in _PACKINGS:
        return UNKNOWN_PACKING
    return TOO_LARGE if member.file_size > MEMBER_BYTES else ""


def _parts(folder: Path) -> list[Path]:
    with suppress(OSError):
        found = [path for path in folder.iterdir() if _CONVERSATIONS.fullmatch(path.name)]
        return sorted(found, key=lambda path: _in_order(path.name))
    return []


def _in_order(name: str) -> list[tuple[int, str]]:
    """A key that sorts part 10 behind part 9."""
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in _pieces(name)]


def _pieces(name: str) -> list[str]:
    return [piece for piece in re.split(r"([0-9]+)", name) if piece]


def _is_archive(path: Path) -> bool:
    with _opened(path) as stream:
        return stream.read(len(_SIGNATURE)) == _SIGNATURE


def _opened(path: Path) -> BinaryIO:
    return os.fdopen(open_regular(path, follow=True), "rb")


def _beginning_of_file(path: Path) -> bytes:
    try:
        with _opened(path) as stream:
            return stream.read(BEGINNING_BYTES)
    except OSError:
        return b""


def _beginning_in_archive(path: Path) -> bytes:
    try:
        with _opened(path) as file, closing(ZipFile(file)) as archive:
            for member in _members(archive):
                if not refusal(member):
                    with archive.open(member) as stream:
                        return stream.read(BEGINNING_BYTES)
    except (OSError, *BROKEN):
        pass
    return b""
