"""Checks of a data directory: damage, leftovers and permissions, with repairs; and its sizes.

Repairs change no record: they tighten permissions, remove temporary files without a holder, finish
moves that were killed half-way, complete ``scopes.jsonl`` and remove pictures that nothing uses.
"""

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache, partial
from pathlib import Path
from typing import Literal

import msgspec

from tui.domain.imports import is_unknown
from tui.domain.journal.records import VERSION, SessionHeader, is_session_id
from tui.domain.journal.session import Session
from tui.domain.text import damage_words, plural
from tui.domain.timestamps import utc_now
from tui.errors import StorageError
from tui.files import UnfitFile
from tui.storage import locks
from tui.storage.attachments import AttachmentFiles, is_picture, used_pictures
from tui.storage.disk import DIRECTORY_MODE, FILE_MODE, TEMPORARY, storage_errors
from tui.storage.drafts import Drafts, read_draft
from tui.storage.folders import SUFFIX, Folder, Folders
from tui.storage.journal import opened
from tui.storage.json_lines import damaged_moves
from tui.storage.scopes import ScopeLine, ScopeNumber, Scopes, damaged_scopes, unknown_header

Verdict = Literal["clean", "findings", "damage"]
_DAMAGE = frozenset(
    {"damaged_records", "damaged_header", "unreadable", "damaged_draft", "missing_picture"}
)
_NAMED = 100
"""The number of files of one kind named in each directory; others are only counted."""

_NO_NUMBERS = "numbers are read from the sessions"
_NO_UNDO = "moves cannot be undone after a restart"
_LEFT_BEHIND = "left behind by an interrupted write; safe to remove"
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class _Defect(msgspec.Struct, frozen=True):
    """A defect, and its repair if there is one."""

    kind: str
    path: Path
    message: str
    session_id: str | None = None
    mend: Callable[[], object] | None = None


class PictureCheck:
    """Compares the pictures of a data directory with the messages that refer to them.

    First it is given every session.
    """

    def __init__(self, folders: Folders, scopes: Scopes) -> None:
        self._folders = folders
        self._scopes = scopes
        self._files = AttachmentFiles(folders, utc_now)
        self._users: defaultdict[str, set[str]] = defaultdict(set)
        self._is_intact = cache(self._files.is_intact)

    def check(self, session: Session, path: Path) -> Iterator[_Defect]:
        """Find the pictures that a session's messages refer to and that are not there."""
        pictures = set(used_pictures(session.all_messages))
        for sha256 in pictures:
            self._users[sha256].add(session.id)
        try:
            missing = sum(not self._is_intact(sha256) for sha256 in pictures)
        except StorageError as error:
            yield _Defect("unreadable", path, str(error), session.id)
            return
        if missing:
            message = f"missing or damaged: {plural(missing, 'picture')} of its messages"
            yield _Defect("missing_picture", path, message, session.id)

    def findings(self) -> Iterator[_Defect]:
        """Find what is wrong in the folder itself."""
        folder = self._folders.attachments
        if not os.path.lexists(folder):
            return
        if not folder.is_dir():
            message = "not a directory: no picture can be kept until it is moved away"
            yield _Defect("unreadable", folder, message)
            return
        try:
            noted, pictures = self._files.uses(), set(self._files.pictures())
            for sha256 in self._users.keys() & pictures:
                for session_id in sorted(self._users[sha256] - set(noted.get(sha256, ()))):
                    message = "its use by a session is not noted: a purge would not spare it"
                    mend = partial(self._note, session_id, sha256)
                    yield _Defect("unnoted_picture", folder / sha256, message, session_id, mend)
            for sha256 in self._files.unused(sorted({*pictures, *noted} - self._users.keys())):
                message = "no session and no draft uses this picture; safe to remove"
                mend = partial(self._free, sha256)
                yield _Defect("unused_picture", folder / sha256, message, mend=mend)
        except StorageError as error:
            yield _Defect("unreadable", folder, str(error))
        for name in self._files.unknown():
            path = folder / name
            if _is_temporary(name):
                mend = partial(path.unlink, missing_ok=True)
                yield _Defect("temporary_file", path, _LEFT_BEHIND, mend=mend)
            else:
                yield _Defect("unknown_file", path, "not a picture; left alone")

    def _note(self, session_id: str, sha256: str) -> None:
        with self._scopes.locked():
            self._files.note(session_id, [sha256])

    def _free(self, sha256: str) -> None:
        with self._scopes.locked():
            # Again: it may have been sent meanwhile.
            for unused in self._files.unused([sha256]):
                self._files.free(unused)


class Finding(msgspec.Struct, frozen=True):
    """A defect of the data directory; ``path`` is relative to it."""

    kind: str
    session_id: str | None
    path: str
    message: str
    repaired: bool = False


def verdict(findings: Iterable[Finding]) -> Verdict:
    """Sum up findings; repaired ones count too."""
    kinds = {finding.kind for finding in findings}
    if kinds & _DAMAGE:
        return "damage"
    return "findings" if kinds else "clean"


class Doctor:
    """Examines one data directory and reads every journal whole."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folders = Folders(root)
        self._scopes = Scopes(self._folders)
        self._headers: dict[str, SessionHeader] = {}
        self._pinned: dict[str, bool] = {}
        self._pictures = PictureCheck(self._folders, self._scopes)
        self.unknown: defaultdict[str, Counter[str]] = defaultdict(Counter)
        """The imported records and blocks of an unknown form, by program."""

    @property
    def formats(self) -> Counter[int]:
        """The numbers of examined journals by their format version."""
        return Counter(header.version for header in self._headers.values())

    def examine(self, *, repair: bool = False) -> Iterator[Finding]:
        """Yield the findings, repaired first if possible and requested."""
        if not os.path.lexists(self._root):
            return
        if not self._root.is_dir():
            yield Finding("unreadable", None, ".", "it is not a directory")
            return
        for each in self._found():
            place = "." if each.path == self._root else str(each.path.relative_to(self._root))
            repaired = False
            if repair and each.mend is not None:
                with suppress(OSError, StorageError):
                    each.mend()
                    repaired = True
            yield Finding(each.kind, each.session_id, place, each.message, repaired)

    def _found(self) -> Iterator[_Defect]:
        with storage_errors(f"Cannot examine {self._root}"):
            yield from self._directories()
            yield from self._modes()
            yield from self._temporaries()
            for folder in Folder:
                yield from self._folder(folder)
            yield from self._twice()
            yield from self._locks()
            yield from self._scope_lines()
            if os.path.lexists(self._folders.moves):
                yield from _damaged_lines(self._folders.moves, "moves", damaged_moves, _NO_UNDO)
            yield from self._drafts()
            yield from self._pictures.findings()
            yield from self._index()

    def _directories(self) -> Iterator[_Defect]:
        sessions = self._folders.of(Folder.SESSIONS)
        for path in (sessions, self._folders.drafts, self._folders.locks):
            if os.path.lexists(path) and not path.is_dir():
                message = "not a directory: nothing can be saved until it is moved away"
                yield _Defect("unreadable", path, message)
        for folder in (Folder.ARCHIVE, Folder.TRASH):
            if message := self._folders.obstacle(folder):
                yield _Defect("unreadable", self._folders.of(folder), message)

    def _modes(self) -> Iterator[_Defect]:
        directories = [self._root, self._folders.drafts, self._folders.locks]
        directories += [self._folders.attachments, *map(self._folders.of, Folder)]
        for directory in filter(_can_be_listed, directories):
            yield from _mode(directory, DIRECTORY_MODE)
            # Names, not paths: there may be a million.
            with os.scandir(directory) as entries:
                names = sorted(
                    entry.name
                    for entry in entries
                    if entry.is_file(follow_symlinks=False)
                    and entry.stat(follow_symlinks=False).st_mode & _OTHERS
                )
            for name in names[:_NAMED]:
                yield from _mode(directory / name, FILE_MODE)
            if more := names[_NAMED:]:
                yield _Defect(
                    "wrong_mode",
                    directory,
                    f"others can open {len(more):,} more files; each should be {FILE_MODE:04o}",
                    mend=partial(_make_private, directory, more),
                )

    def _folder(self, folder: Folder) -> Iterator[_Defect]:
        directory = self._folders.of(folder)
        if not _can_be_listed(directory):
            return
        foreign: list[str] = []
        for name in _names(directory, lambda name: not _is_temporary(name)):
            session_id = name.removesuffix(SUFFIX)
            if session_id == name or not is_session_id(session_id):
                foreign.append(name)
            else:
                yield from self._journal(session_id, directory / name)
        for name in foreign[:_NAMED]:
            yield _Defect("unknown_file", directory / name, "not a session; left alone")
        if len(foreign) > _NAMED:
            message = f"{len(foreign) - _NAMED:,} more files that are not sessions; left alone"
            yield _Defect("unknown_file", directory, message)

    def _temporaries(self) -> Iterator[_Defect]:
        for directory in (self._root, self._folders.drafts, *map(self._folders.of, Folder)):
            for path in map(directory.joinpath, _names(directory, _is_temporary)):
                session_id = path.name.removeprefix(".").rsplit(".", 3)[0]
                if not (is_session_id(session_id) and self._folders.is_held(session_id)):
                    yield _Defect("temporary_file", path, _LEFT_BEHIND, mend=path.unlink)

    def _journal(self, session_id: str, path: Path) -> Iterator[_Defect]:
        unknown = unknown_header(session_id)
        try:
            held = self._folders.is_held(session_id)
            with opened(path, session_id, lambda: unknown, held=held) as journal:
                session, header = journal.load(), journal.header()
                damaged = session.damaged
        except StorageError as error:
            yield _Defect("unreadable", path, str(error), session_id)
            return
        if not header.scope:
            message = "its first line is damaged; its id and number were found elsewhere"
            yield _Defect("damaged_header", path, message, session_id)
        else:
            self._headers.setdefault(session_id, header)
            self._pinned.setdefault(session_id, session.settings.pinned)
        imported = session.imported
        for reason, count in imported.skipped.items() if imported else ():
            if imported and is_unknown(reason):
                self.unknown[imported.program][reason] += count
        if damaged:
            message = damage_words(damaged, session_id)
            yield _Defect("damaged_records", path, message, session_id)
        yield from self._pictures.check(session, path)
        if header.version > VERSION:
            message = f"written by a newer sibyl-tui (format {header.version}); read-only here"
            yield _Defect("newer_version", path, message, session_id)

    def _twice(self) -> Iterator[_Defect]:
        seen: dict[str, Path] = {}
        for folder in Folder:
            directory = self._folders.of(folder)
            names = _names(directory, lambda name: name.endswith(SUFFIX))
            for path in map(directory.joinpath, names):
                first = seen.setdefault(path.name, path)
                if first is path:
                    continue
                same = path.samefile(first)
                message = f"a second copy: the one in {first.parent.name} counts" + (
                    "; a move was interrupted" if same else "; their contents differ"
                )
                session_id = path.name.removesuffix(SUFFIX)
                mend = path.unlink if same else None
                yield _Defect("two_folders", path, message, session_id, mend)

    def _locks(self) -> Iterator[_Defect]:
        paths = [*self._folders.locks.glob("*"), self._folders.scopes_lock]
        for path in sorted(path for path in paths if os.path.lexists(path)):
            if path.is_symlink() or not path.is_file():
                message = "not a regular file: its sessions cannot be opened; move it away"
                yield _Defect("unreadable", path, message)
        with suppress(OSError):
            try:
                locks.holder_of(self._folders.scopes_lock)
            except UnfitFile as error:
                yield _Defect("no_locks", self._root, str(error.strerror))

    def _scope_lines(self) -> Iterator[_Defect]:
        path = self._folders.scopes
        if not path.exists():
            if self._headers:
                message = "the list of session numbers is missing"
                # Taking the lock rebuilds a missing file.
                yield _Defect("scopes_missing", path, message, mend=self._add)
            return
        found = [*_damaged_lines(path, "scopes", damaged_scopes, _NO_NUMBERS)]
        yield from found
        if any(each.kind == "unreadable" for each in found):
            return
        table = self._scopes.table()
        owners: dict[ScopeNumber, str] = {place: key for key, place in table.places.items()}
        for session_id, header in self._headers.items():
            if session_id in table.places or not header.ordinal:
                continue
            place = ScopeNumber(header.scope, header.ordinal)
            if owners.setdefault(place, session_id) != session_id:
                message = f"its number #{header.ordinal} also belongs to {owners[place]}"
                yield _Defect("number_taken_twice", path, message, session_id)
                continue
            message = "missing from the list of session numbers"
            line = ScopeLine(header.scope, header.created_at, header.ordinal, header.id)
            yield _Defect("unlisted", path, message, session_id, partial(self._add, line))
        for session_id, is_pinned in self._pinned.items():
            if is_pinned != (session_id in table.pinned):
                message = "its pin is missing from the list of session numbers"
                header = self._headers[session_id]
                line = ScopeLine(header.scope, header.created_at, None, header.id, None, is_pinned)
                mend = partial(self._add, line)
                yield _Defect("unlisted_pin", path, message, session_id, mend)

    def _add(self, *lines: ScopeLine) -> None:
        with self._scopes.locked():
            if lines:
                self._scopes.add(*lines)

    def _drafts(self) -> Iterator[_Defect]:
        for path in sorted(Drafts(self._root).files()):
            if read_draft(path) is None:
                message = "a draft that cannot be read; left alone"
                yield _Defect("damaged_draft", path, message)

    def _index(self) -> Iterator[_Defect]:
        # Imported here: it loads SQLite.
        from tui.storage.index import database
        from tui.storage.index.maintenance import IndexMaintenance

        path = self._root / database.NAME
        try:
            wrong = database.check(path)
        except database.Unusable as error:
            yield _Defect("index_out_of_use", path, f"the search index cannot be used: {error}")
            return
        if wrong is not None:
            message = f"the search index is damaged ({wrong}); it can be rebuilt from the sessions"
            mend = IndexMaintenance(self._root).set_aside
            yield _Defect("damaged_index", path, message, mend=mend)
        for aside in sorted(self._root.glob(f"{database.NAME}{database.DAMAGED}*")):
            message = "a damaged search index that was moved aside; it can be deleted"
            yield _Defect("index_set_aside", aside, message, mend=aside.unlink)


def _damaged_lines(
    path: Path, name: str, count: Callable[[Path], int], unreadable: str
) -> Iterator[_Defect]:
    """Check a file of lines; ``unreadable`` says what follows if it is no file."""
    try:
        damaged = count(path)
    except OSError:
        yield _Defect("unreadable", path, f"not a regular file: {unreadable}; move it away")
        return
    if damaged:
        yield _Defect(f"damaged_{name}", path, plural(damaged, "damaged line"))


def _can_be_listed(directory: Path) -> bool:
    return directory.is_dir() and os.access(directory, os.R_OK | os.X_OK)


def _names(directory: Path, wanted: Callable[[str], bool]) -> list[str]:
    try:
        return sorted(filter(wanted, os.listdir(directory)))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(TEMPORARY)


def _mode(path: Path, wanted: int) -> Iterator[_Defect]:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & _OTHERS:
        message = f"others can open it (mode {mode:04o}); it should be {wanted:04o}"
        yield _Defect("wrong_mode", path, message, mend=partial(path.chmod, wanted))


def _make_private(directory: Path, names: Sequence[str]) -> None:
    for name in names:
        (directory / name).chmod(FILE_MODE)


def folder_sizes(root: Path) -> dict[str, str]:
    """Describe each folder of a data directory; names what is not readable, and raises nothing."""
    folders = Folders(root)

    def is_journal(name: str) -> bool:
        return name.endswith(SUFFIX) and not name.startswith(".")

    sessions = {each.value: _described(folders.of(each), "session", is_journal) for each in Folder}
    return {**sessions, "pictures": _described(folders.attachments, "picture", is_picture)}


def index_state(root: Path) -> str:
    """Describe the search index, without building or changing it."""
    # Imported here: it loads SQLite.
    import sqlite3

    from tui.storage.index import database

    path = root / database.NAME
    try:
        with closing(database.connect(path)) as connection:
            counts = [
                int(connection.execute(f"select count(*) from {table}").fetchone()[0])  # noqa: S608 - no name from outside
                for table in ("messages", "sessions")
            ]
            size = path.stat().st_size
    except database.Unusable as error:
        return f"{error.kind} ({error})"
    except (OSError, sqlite3.Error) as error:
        return f"unreadable ({type(error).__name__})"
    messages, sessions = plural(counts[0], "message"), plural(counts[1], "session")
    return f"version {database.VERSION}, {messages} of {sessions}, {size:,} bytes"


def _described(directory: Path, kind: str, counts: Callable[[str], bool]) -> str:
    try:
        with os.scandir(directory) as entries:
            sizes = [
                each.stat(follow_symlinks=False).st_size for each in entries if counts(each.name)
            ]
    except FileNotFoundError:
        return "none"
    except OSError as error:
        return f"unreadable ({error.strerror})"
    return f"{plural(len(sizes), kind)}, {sum(sizes):,} bytes"
