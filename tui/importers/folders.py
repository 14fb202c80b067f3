"""Files of folders by a pattern; folders that cannot be looked at are told, not passed over."""

import errno
import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from tui.importers.stopping import check

_GONE = (FileNotFoundError, NotADirectoryError)


def matching(folder: Path, pattern: str, unread: list[OSError]) -> list[Path]:
    """List what matches a pattern below a folder, sorted; ``**`` stands for folders, no links.

    Errors of folders that are there are added to ``unread``, unlike those of ``Path.glob``.
    """
    return sorted(set(_matching(folder, pattern.split("/"), unread)))


def _matching(folder: Path, parts: list[str], unread: list[OSError]) -> Iterator[Path]:
    if not parts:
        yield folder
        return
    part, *rest = parts
    entries = _entries(folder, unread)
    if part == "**":
        yield from _matching(folder, rest, unread)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _matching(Path(entry), parts, unread)
        return
    for entry in entries:
        if fnmatchcase(entry.name, part) and (not rest or is_so(entry.is_dir, unread)):
            yield from _matching(Path(entry), rest, unread)


def is_so(test: Callable[[], bool], unread: list[OSError]) -> bool:
    """Test a kind of entry; a link that leads to itself is none, and any other error is told."""
    try:
        return test()
    except OSError as error:
        if error.errno != errno.ELOOP:
            unread.append(error)
        return False


def _entries(folder: Path, unread: list[OSError]) -> list[os.DirEntry[str]]:
    check()
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except _GONE:
        return []
    except OSError as error:
        unread.append(error)
        return []
