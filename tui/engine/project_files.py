"""The files that a prompt may refer to: those of a project, and the entries of any folder.

Everything here blocks, for ``SECONDS`` where the disk answers, and gives what it has found by then.
"""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import monotonic

from tui.domain.text.patterns import late_pattern
from tui.programs import output_of

MOST_FILES = 20_000
SECONDS = 3.0

_MOST_BYTES = 4_000_000
_MOST_CHARACTERS, _MOST_NAMES = 10_000, 20
_NAME = late_pattern(r"(?<![\w@/.])\w[\w/-]*\.\w{1,5}\b")
# A repository may name a program as the monitor of its files, which nobody here has allowed.
_GIT = ("git", "-c", "core.fsmonitor=false", "ls-files", "-co", "--exclude-standard", "-z")
_LEFT_OUT = frozenset(
    {
        *(".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", "venv"),
        *(".cache", ".tox", ".nox", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"),
    }
)


def project_files(root: Path) -> Sequence[str]:
    """List files and folders below a directory, relative to it; folders end in ``/``.

    Of a git repository those that it does not ignore.
    """
    deadline = monotonic() + SECONDS
    files = _known_to_git(root)
    if files is None:
        return list(islice(_below(root, deadline), MOST_FILES))
    folders: set[str] = set()
    for path in files:
        while (path := path.rpartition("/")[0]) and f"{path}/" not in folders:
            folders.add(f"{path}/")
    return [*folders, *files]


def folder_entries(folder: Path) -> Sequence[str]:
    """List the names in a folder; those of folders, and of links to some, end in ``/``."""
    deadline = monotonic() + SECONDS
    entries = islice(_entries(folder, deadline), MOST_FILES)
    return [f"{entry.name}/" if _is_folder(entry, links=True) else entry.name for entry in entries]


def names_file(text: str, root: Path) -> bool:
    """Tell whether a text names a file below a directory, without a reference to it."""
    words = islice(_NAME.finditer(text[:_MOST_CHARACTERS]), _MOST_NAMES)
    with suppress(OSError):
        return any((root / word[0]).is_file() for word in words)
    return False


def _known_to_git(root: Path) -> Sequence[str] | None:
    """The files that git does not ignore; ``None`` outside of a repository."""
    try:
        output = output_of(
            _GIT, _MOST_BYTES, SECONDS, root, {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
        )
    except OSError:
        return None
    if output.code:
        return None
    names = output.data.split(b"\0")[:-1]
    return [os.fsdecode(name) for name in dict.fromkeys(names[:MOST_FILES])]


def _below(root: Path, deadline: float) -> Iterator[str]:
    """Walk a tree, breadth first: nearer files come before a limit is reached."""
    folders = deque([""])
    while folders:
        folder = folders.popleft()
        for entry in _entries(root / folder, deadline):
            if not _is_folder(entry):
                yield folder + entry.name
            elif entry.name not in _LEFT_OUT:
                path = f"{folder}{entry.name}/"
                folders.append(path)
                yield path


def _entries(folder: Path, deadline: float) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if monotonic() > deadline:
                return
            yield entry


def _is_folder(entry: os.DirEntry[str], *, links: bool = False) -> bool:
    try:
        return entry.is_dir(follow_symlinks=links)
    except OSError:
        return False
