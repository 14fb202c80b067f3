"""The folder of a project, as tools look at it: bounded, and never out of it.

Whoever asks is a model, which may have read what an enemy wrote. Everything here blocks.
"""

import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from time import monotonic

from tui.domain.journal.blocks import byte_words
from tui.domain.text.safe_text import make_visible_name
from tui.engine.project_files import project_files
from tui.engine.prompts.attaching import holds_secrets
from tui.files import beginning_of, check_kind, check_regular, system_text, text_beginning

READ_BYTES = 8_000_000
"""The part of a file that is read or searched."""
SECONDS = 5.0
MOST_LISTED = 500
MOST_FOUND = 100

Notices = list[str]
"""Sentences about what is missing or odd."""

_LONGEST_LINE = 240
_INNER = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


class NotShown(Exception):
    """A file or folder that is not looked at; the message is the reason."""


def unfit_project(path: str) -> str:
    """Say why nothing is looked at below a folder; empty for the folder of a project."""
    if not path.startswith("/"):
        return "This session belongs to no folder."
    home = os.path.expanduser("~")  # noqa: PTH111 - Path.home raises where there is none
    if not Path(os.path.realpath(home)).is_relative_to(os.path.realpath(path)):
        return ""
    return (
        f"{path} is no project: it has all files of the user. Start sibyl-tui in the folder of a"
        " project."
    )


class ProjectFolder:
    """Reads, lists and searches the files below a folder; symbolic links lead nowhere else.

    Its verbs raise ``NotShown`` and ``OSError``.
    """

    def __init__(self, path: str) -> None:
        self._root = Path(os.path.realpath(path))

    def read_file(self, name: str) -> tuple[str, Notices]:
        """Read a text file."""
        with self._opened(name) as (descriptor, _):
            data, size = beginning_of(descriptor, READ_BYTES)
        text = text_beginning(data, size, "replace")
        if "\0" in text:
            raise NotShown(f"{make_visible_name(name)} is binary ({byte_words(size)})")
        cut = f"Only the first {byte_words(len(data))} of {byte_words(size)} count."
        odd = "Bytes that are not UTF-8 are shown as \ufffd."
        notices = [cut] * (size > len(data)) + [odd] * ("\ufffd" in text)
        return text.replace("\r\n", "\n"), notices

    def list_files(self, folder: str, pattern: str) -> tuple[Sequence[str], Notices]:
        """List the files below a folder, nearer ones first."""
        files = self._files(folder, pattern)
        cut = [f"The first {MOST_LISTED} of {len(files)} files."]
        return [*map(make_visible_name, files[:MOST_LISTED])], cut if files[MOST_LISTED:] else []

    def search_files(self, text: str, folder: str, pattern: str) -> tuple[Sequence[str], Notices]:
        """Find lines that have a text, in any case."""
        deadline, wanted = monotonic() + SECONDS, text.casefold()
        found: list[str] = []
        skipped, late = 0, False
        for name in self._files(folder, pattern):
            late = monotonic() > deadline
            if late or len(found) > MOST_FOUND:
                break
            try:
                lines = _lines_with(wanted, self.read_file(name)[0])
            except (NotShown, OSError):
                skipped += 1
                continue
            shown = (f"{make_visible_name(name)}:{line}" for line in lines)
            found += islice(shown, MOST_FOUND + 1 - len(found))
        more = late or len(found) > MOST_FOUND
        notices = ["There may be more: name a folder or a pattern."] if more else []
        if skipped:
            notices.append(f"Not searched: {skipped} that are binary, secret or out of reach.")
        return found[:MOST_FOUND], notices

    def _files(self, folder: str, pattern: str) -> Sequence[str]:
        with self._opened(folder, os.O_DIRECTORY) as (_, place):
            names = [name for name in project_files(self._root / place) if name[-1] != "/"]
        # Both a name and the end of a path.
        wanted = "*/" + pattern.removeprefix("/").replace("**/", "")
        fitting = (str(place / name) for name in names if fnmatchcase(f"/{name}", wanted))
        return sorted(fitting, key=lambda each: (each.count("/"), each))

    @contextmanager
    def _opened(self, name: str, kind: int = 0) -> Generator[tuple[int, Path]]:
        """Open a file, or a folder by its flag; gives its path in the project, too."""
        path = self._root / system_text(name)
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(self._root):
            raise NotShown(f"{make_visible_name(name)} is not in the folder of the project")
        # Both names of a link: it may hide what it leads to.
        # Some file systems know a name in any case.
        if ".git" in map(str.casefold, real.parts) or any(map(holds_secrets, (path, real))):
            raise NotShown(f"{make_visible_name(name)} may hold secrets")
        if not kind:
            # Before it is opened, too: a pipe's writer would notice.
            check_kind(real.stat().st_mode, real)
        place = real.relative_to(self._root)
        descriptor = os.open(self._root, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
        try:
            for part in place.parts:
                # No link is left, unless one has just been put there: it is not followed.
                inner = os.open(part, _INNER | kind, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            if not kind:
                check_regular(descriptor, real)
            yield descriptor, place
        finally:
            os.close(descriptor)


def _lines_with(wanted: str, text: str) -> Iterator[str]:
    if wanted not in text.casefold():
        return
    for number, line in enumerate(text.split("\n"), 1):
        place = line.casefold().find(wanted)
        if place >= 0:
            start = max(0, place - _LONGEST_LINE // 2) if len(line) > _LONGEST_LINE else 0
            yield f"{number}: {line[start : start + _LONGEST_LINE].strip()}"
