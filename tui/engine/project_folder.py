"""The folder of a project, as tools look at it: bounded, and never out of it.

Whoever asks is a model, which may have read what an enemy wrote. Everything here blocks.
"""

import codecs
import errno
import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from time import monotonic

import msgspec

from tui.domain.journal.blocks import byte_words
from tui.domain.text.safe_text import make_visible_name
from tui.engine.project_files import project_files
from tui.engine.prompts.attaching import holds_secrets
from tui.files import check_kind, system_text

READ_BYTES = 8_000_000
"""The part of a file that is read."""
SEARCHED_BYTES = 1_000_000
"""The limit of files that are searched."""
SECONDS = 5.0
MOST_LISTED = 500
MOST_FOUND = 100

_LONGEST_LINE = 240
_INNER = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_REPOSITORY = ".git"


class NotShown(Exception):
    """A file or folder that is not looked at; the message is the reason, a sentence."""


class Text(msgspec.Struct, frozen=True):
    """The text of a file."""

    text: str
    notice: str = ""
    """A sentence about what is missing or odd."""


class Listing(msgspec.Struct, frozen=True):
    """The first of some lines, and how many there are."""

    lines: tuple[str, ...]
    total: int
    notice: str = ""


def unfit_project(path: str) -> str:
    """Say why nothing is looked at below a folder; empty for the folder of a project."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    if not path.startswith("/"):
        return "This session belongs to no folder."
    if Path(os.path.realpath(home)).is_relative_to(os.path.realpath(path)):
        return (
            f"{path} is no project: it has all of the user's files. Tell the user to start"
            " sibyl-tui in the folder of a project."
        )
    return ""


class ProjectFolder:
    """Reads, lists and searches the files below a folder; symbolic links lead nowhere else."""

    def __init__(self, path: str) -> None:
        self._root = Path(os.path.realpath(path))

    def read_file(self, name: str) -> Text:
        """Read a text file. Raises ``NotShown`` and ``OSError``."""
        return self._read(name, READ_BYTES)

    def list_files(self, folder: str, pattern: str) -> Listing:
        """List the files below a folder, nearer ones first. Raises ``NotShown`` and ``OSError``."""
        files = self._files(folder, pattern)
        shown = tuple(map(make_visible_name, files[:MOST_LISTED]))
        return Listing(shown, len(files))

    def search_files(self, text: str, folder: str, pattern: str) -> Listing:
        """Find lines that have a text, in any case. Raises ``NotShown`` and ``OSError``."""
        deadline, wanted = monotonic() + SECONDS, text.casefold()
        found: list[str] = []
        skipped = 0
        for name in self._files(folder, pattern):
            if monotonic() > deadline or len(found) > MOST_FOUND:
                return Listing(
                    tuple(found[:MOST_FOUND]), len(found), "There may be more: name a folder."
                )
            try:
                read = self._read(name, SEARCHED_BYTES)
            except (NotShown, OSError):
                skipped += 1
                continue
            lines = _found_lines(make_visible_name(name), read.text, wanted)
            found += islice(lines, MOST_FOUND + 1 - len(found))
        notice = f"Not searched: {skipped} files that are binary, secret or out of reach."
        return Listing(tuple(found[:MOST_FOUND]), len(found), notice if skipped else "")

    def _files(self, folder: str, pattern: str) -> list[str]:
        with self._opened(folder, is_folder=True) as (_, place):
            below = self._root / place
            names = (each for each in project_files(below) if not each.endswith("/"))
            paths = [str(place / each) for each in names if _fits(each, pattern)]
        return sorted(paths, key=lambda each: (each.count("/"), each))

    def _read(self, name: str, most: int) -> Text:
        with self._opened(name) as (descriptor, _):
            data = bytearray()
            while len(data) < most and (block := os.read(descriptor, most - len(data))):
                data += block
            size = max(os.fstat(descriptor).st_size, len(data))
        encoding = "utf-16" if data.startswith(_UTF16) else "utf-8-sig"
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        text = decoder.decode(data, final=size == len(data))
        if "\0" in text:
            raise NotShown(f"{make_visible_name(name)} is binary ({byte_words(size)}).")
        notices: list[str] = []
        if size > len(data):
            notices.append(f"Only the first {byte_words(len(data))} of {byte_words(size)} count.")
        if "\ufffd" in text:
            notices.append("Bytes that are not UTF-8 are shown as \ufffd.")
        return Text(text.replace("\r\n", "\n"), " ".join(notices))

    @contextmanager
    def _opened(self, name: str, *, is_folder: bool = False) -> Generator[tuple[int, Path]]:
        """Open a file or folder; gives its path below the project, too."""
        path = self._root / system_text(name)
        real = Path(os.path.realpath(path))
        shown = make_visible_name(name)
        if not real.is_relative_to(self._root):
            raise NotShown(f"{shown} is not in the folder of the project.")
        # Both names of a link: it may hide what it leads to.
        if _REPOSITORY in real.parts or any(map(holds_secrets, (path, real))):
            raise NotShown(f"{shown} may hold secrets.")
        place = real.relative_to(self._root)
        descriptor = os.open(self._root, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            for number, part in enumerate(place.parts, 1):
                if number == len(place.parts) and not is_folder:
                    # Before it is opened: a pipe's writer would notice.
                    status = os.stat(part, dir_fd=descriptor, follow_symlinks=False)
                    check_kind(status.st_mode, real)
                # No link is left, unless one has just been put there: it is not followed.
                inner = os.open(part, _INNER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            if is_folder:
                if not os.path.isdir(descriptor):  # noqa: PTH112 - of an open folder
                    raise NotADirectoryError(errno.ENOTDIR, "it is not a folder")
            else:
                check_kind(os.fstat(descriptor).st_mode, real)
            yield descriptor, place
        finally:
            os.close(descriptor)


def _fits(path: str, pattern: str) -> bool:
    return fnmatchcase(path, pattern) or fnmatchcase(path.rpartition("/")[2], pattern)


def _found_lines(name: str, text: str, wanted: str) -> Iterator[str]:
    if wanted not in text.casefold():
        return
    for number, line in enumerate(text.split("\n"), 1):
        place = line.casefold().find(wanted)
        if place >= 0:
            start = max(0, place - _LONGEST_LINE // 2) if len(line) > _LONGEST_LINE else 0
            yield f"{name}:{number}: {line[start : start + _LONGEST_LINE].strip()}"
