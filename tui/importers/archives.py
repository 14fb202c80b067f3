"""Zips, unpacked to a private folder, where their files are found and read as in any other; zstd.

Only files that a program may have written are unpacked. A zip may be made to hurt: no file leaves
the folder, none is a link, and no more is written than the disk has room for.
"""

import errno
import os
import re
import shutil
import sys
import tempfile
import time
import weakref
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BufferedReader, FileIO
from lzma import LZMAError
from pathlib import Path
from typing import BinaryIO
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from tui.files import open_regular
from tui.importers.stopping import check

ZIP = b"PK\x03\x04"
DATABASE = b"SQLite format 3\x00"
BROKEN = (BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError)
"""Errors of an archive that is damaged, or written in a way that is not known here."""
MEMBERS = 200_000
"""Limit of the files in an archive."""
BYTES = 64 * 1024**3
"""Limit of what is unpacked of an archive; half of what is free on the disk, if that is less."""
DEPTH = 2
"""Archives within each other that are unpacked."""
BROKEN_MEMBER = "It is damaged."
PROTECTED = "It has a password."
UNKNOWN_PACKING = "It is packed in an unknown way."
OUTSIDE = "Its path leads out of the archive."
TOO_LARGE = "There is no room to unpack it."
TOO_MANY = "It has too many files; the first 200,000 are read."

_LIST_BYTES = 32 * 1024 * 1024
"""Limit of an archive's list of files, all of which is in memory."""
_PACKINGS = {ZIP_STORED, ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA}
_NAMES = re.compile(
    r"(?i).*\.(jsonl?|md|ya?ml|toml|el|lisp|db|sqlite3?|vscdb|zst|zip)(-wal|-journal)?"
    r"|\.project_root"
)
"""Names of files that programs write; others are told by how they begin."""
_BEGINS = re.compile(
    b"|".join(map(re.escape, (ZIP, DATABASE))) + rb"|(?:\xef\xbb\xbf)?\s*(?:[\[{]|# aider chat)"
)
_OF_OTHERS = {"node_modules", ".git", "__MACOSX"}
"""Folders of many files, none of which is a conversation."""
_BEGINNING_BYTES = 512
_BLOCK = 1024 * 1024
_ZSTD_WINDOW_BYTES = 64 * 1024 * 1024
_PREFIX = "sibyl-tui-zip-"
# Not /tmp, which may be in memory.
_ROOM = Path("/var/tmp")  # noqa: S108


def room() -> Path:
    """The directory for copies that are read and deleted."""
    return _ROOM if os.access(_ROOM, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())


class Archive:
    """A zip that is unpacked, until nobody has it any more."""

    def __init__(self, path: Path, within: "Archive | None" = None) -> None:
        """Unpack a zip, which may be a file of another one. Raises ``OSError``, and ``BROKEN``."""
        self._path = path
        self._within = within
        self.depth: int = within.depth + 1 if within else 1
        self.refused: dict[str, str] = {}
        """Files that are not read, or not to their end, with the reason."""
        self.folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=room()))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self._unpack()

    @property
    def file(self) -> Path:
        """The file of the zip, or of the outermost one."""
        return self._within.file if self._within else self._path

    def shown(self, path: Path) -> Path:
        """The path that stands for an unpacked file: in the zip, as if that were a folder."""
        outside = self._within.shown(self._path) if self._within else self._path
        return outside / path.relative_to(self.folder) if self.folder in path.parents else path

    def _unpack(self) -> None:
        left = min(BYTES, shutil.disk_usage(self.folder).free // 2)
        with (
            _Bounded(FileIO(open_regular(self._path, follow=True))) as file,
            ZipFile(file) as zipped,
        ):
            for member in self._wanted(zipped):
                target = self.folder.joinpath(*_parts(member))
                try:
                    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                    left -= _write(zipped, member, target, left)
                    changed = time.mktime((*member.date_time, 0, 0, -1))
                    os.utime(target, (changed, changed))
                except (*BROKEN, ValueError, OverflowError):
                    self.refused[member.filename] = BROKEN_MEMBER
                except OSError as error:
                    if error.errno in (errno.ENOSPC, errno.EDQUOT):
                        raise
                    self.refused[member.filename] = error.strerror or BROKEN_MEMBER
                if left <= 0:
                    self.refused[member.filename] = TOO_LARGE
                    return

    def _wanted(self, zipped: ZipFile) -> Iterator[ZipInfo]:
        """The files that a program may have written, and that can be unpacked."""
        # Of a name that is there twice, the last one counts.
        members = list({each.filename: each for each in zipped.infolist()}.values())
        if len(members) > MEMBERS:
            self.refused[""] = TOO_MANY
        for member in members[:MEMBERS]:
            check()
            parts = _parts(member)
            is_link = member.external_attr >> 28 == 0o12
            if member.is_dir() or is_link or not _OF_OTHERS.isdisjoint(parts):
                continue
            is_named = bool(parts) and _NAMES.fullmatch(parts[-1])
            if reason := _refusal(member, parts):
                if is_named:
                    self.refused[member.filename] = reason
                continue
            beginning = b""
            if not is_named:
                with suppress(*BROKEN), zipped.open(member) as stream:
                    beginning = stream.read(_BEGINNING_BYTES)
            if is_named or _BEGINS.match(beginning):
                yield member


class _Bounded(BufferedReader):
    """An archive of which not much is read at once, whatever it says of its parts."""

    def read(self, size: int | None = -1, /) -> bytes:
        if (size or 0) > _LIST_BYTES:
            raise BadZipFile
        return super().read(size)


def _parts(member: ZipInfo) -> list[str]:
    return member.filename.replace("\\", "/").split("/")


def _refusal(member: ZipInfo, parts: list[str]) -> str:
    """The reason why a file of an archive is not read; empty for one that is."""
    if not {"", ".", ".."}.isdisjoint(parts) or parts[0].endswith(":"):
        return OUTSIDE
    if member.flag_bits & 1:
        return PROTECTED
    return "" if member.compress_type in _PACKINGS else UNKNOWN_PACKING


def _write(zipped: ZipFile, member: ZipInfo, target: Path, most: int) -> int:
    """Unpack a file; gives its size. What is before a damage stays. Raises ``BROKEN``."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    written = 0
    with zipped.open(member) as stream, os.fdopen(os.open(target, flags, 0o600), "wb") as file:
        while written < most and (block := stream.read(_BLOCK)):
            check()
            written += file.write(block)
    return written


def remove_left_behind() -> None:
    """Remove what was unpacked by a program that was killed."""
    for folder in room().glob(f"{_PREFIX}*"):
        with suppress(OSError, ValueError):
            if folder.lstat().st_uid != os.getuid():
                continue
            try:
                os.kill(int(folder.name.removeprefix(_PREFIX).partition("-")[0]), 0)
            except ProcessLookupError:
                shutil.rmtree(folder)


def decompressed(stream: BinaryIO) -> Iterator[bytes]:
    """Decompress a stream block by block, as far as it is whole."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    limit: dict[int, int] = {
        zstd.DecompressionParameter.window_log_max: _ZSTD_WINDOW_BYTES.bit_length() - 1
    }
    with zstd.ZstdFile(stream, options=limit) as reader, suppress(zstd.ZstdError, EOFError):
        while block := reader.read1(_BLOCK):
            yield block
