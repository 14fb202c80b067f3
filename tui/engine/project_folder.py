"""The files of a project: for prompts that refer to them, and bounded for tools that look at them.

Whoever asks for a tool is a model, which may have read what an enemy wrote. Everything here blocks,
for some seconds where the disk answers, and gives what it has found by then.
"""

import os
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path, PurePath
from time import monotonic

from tui.domain.journal.message import byte_words
from tui.domain.text import late_pattern, make_visible_name
from tui.files import beginning_of, check_kind, check_regular, system_text, text_beginning
from tui.programs import output_of

MOST_FILES = 20_000
LIST_SECONDS = 3.0

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
    deadline = monotonic() + LIST_SECONDS
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
    deadline = monotonic() + LIST_SECONDS
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
            _GIT, _MOST_BYTES, LIST_SECONDS, root, {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
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


READ_BYTES = 8_000_000
"""The part of a file that is read or searched."""
SEARCH_SECONDS = 5.0
MOST_LISTED = 500
MOST_FOUND = 100

Notices = list[str]
"""Sentences about what is missing or odd."""

_LONGEST_LINE = 240
_INNER = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW


_FOLDERS = frozenset({".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", "gcloud"})
_NAMES = frozenset(
    {
        *(".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf"),
        *(".git-credentials", ".htpasswd", ".vault-token", ".dockercfg", ".bash_history"),
        *("credentials", "credentials.json", "secrets.json", "shadow", "connections.toml"),
    }
)
_OWN, _OWN_FOLDERS = ("config.toml", "tools.toml"), (["sibyl", "keys"], ["sibyl", "sign-ins"])
_PATTERNS = (
    *(".env.*", "*.env", "id_*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"),
    *("*.kdbx", "*.ppk", "*.asc", "*.gpg", "secrets.*"),
)


def holds_secrets(path: PurePath) -> bool:
    """Tell by its names whether a file or folder holds secrets, such as ``~/.ssh/id_rsa``."""
    parts = [part.casefold() for part in path.parts]
    name = parts[-1] if parts else ""
    is_ours = (parts[-2:-1] == ["sibyl"] and name in _OWN) or parts[-3:-1] in _OWN_FOLDERS
    if is_ours or not _FOLDERS.isdisjoint(parts):
        return True
    return name in _NAMES or any(fnmatchcase(name, pattern) for pattern in _PATTERNS)


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
        deadline, wanted = monotonic() + SEARCH_SECONDS, text.casefold()
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
