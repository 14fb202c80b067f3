"""Checks of a data directory: damage, leftovers and permissions, with repairs.

Repairs change no record: they tighten permissions, remove temporary files without a holder, finish
moves that were killed half-way, complete ``scopes.jsonl`` and remove pictures that nothing uses.
"""

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Literal

import msgspec

from tui.domain.imports import is_unknown
from tui.domain.journal.ids import is_session_id
from tui.domain.journal.records import VERSION, Import, SessionHeader
from tui.domain.journal.session import Session
from tui.domain.text.labels import damage_words, plural
from tui.domain.timestamps import utc_now
from tui.errors import StorageError
from tui.files import UnfitFile
from tui.storage import locks
from tui.storage.attachments import AttachmentFiles, used_pictures
from tui.storage.directory import open_scopes, unknown_header
from tui.storage.disk import DIRECTORY_MODE, FILE_MODE, TEMPORARY, storage_errors
from tui.storage.drafts import Drafts, read_draft
from tui.storage.folders import SUFFIX, Folder, Folders
from tui.storage.moves import damaged_moves
from tui.storage.open_journal import opened
from tui.storage.scopes import LINES, ScopeLine, ScopeNumber, Scopes, read_scopes

Verdict = Literal["clean", "findings", "damage"]
_DAMAGE = frozenset(
    {"damaged_records", "damaged_header", "unreadable", "damaged_draft", "missing_picture"}
)
Mend = Callable[[], object]
_Found = tuple["Finding", Mend | None]
_NAMED = 100
"""The number of files of one kind named in each directory; others are only counted."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class PictureFinding(msgspec.Struct, frozen=True):
    """A defect of the pictures, and its repair if there is one."""

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

    def check(self, session: Session, path: Path) -> Iterator[PictureFinding]:
        """Find the pictures that a session's messages refer to and that are not there."""
        pictures = set(used_pictures(session.all_messages))
        for sha256 in pictures:
            self._users[sha256].add(session.id)
        try:
            missing = sum(not self._is_intact(sha256) for sha256 in pictures)
        except StorageError as error:
            yield PictureFinding("unreadable", path, str(error), session.id)
            return
        if missing:
            message = f"missing or damaged: {plural(missing, 'picture')} of its messages"
            yield PictureFinding("missing_picture", path, message, session.id)

    def findings(self) -> Iterator[PictureFinding]:
        """Find what is wrong in the folder itself."""
        folder = self._folders.attachments
        if not os.path.lexists(folder):
            return
        if not folder.is_dir():
            message = "not a directory: no picture can be kept until it is moved away"
            yield PictureFinding("unreadable", folder, message)
            return
        try:
            yield from self._unnoted()
            yield from self._unused()
        except StorageError as error:
            yield PictureFinding("unreadable", folder, str(error))
        yield from self._unknown()

    def _unnoted(self) -> Iterator[PictureFinding]:
        noted = self._files.uses()
        for sha256 in self._users.keys() & set(self._files.pictures()):
            for session_id in sorted(self._users[sha256] - set(noted.get(sha256, ()))):
                path = self._folders.attachments / sha256
                message = "its use by a session is not noted: a purge would not spare it"
                mend = partial(self._note, session_id, sha256)
                yield PictureFinding("unnoted_picture", path, message, session_id, mend)

    def _unused(self) -> Iterator[PictureFinding]:
        known = {*self._files.pictures(), *self._files.uses()} - self._users.keys()
        for sha256 in self._files.unused(sorted(known)):
            path = self._folders.attachments / sha256
            message = "no session and no draft uses this picture; safe to remove"
            mend = partial(self._free, sha256)
            yield PictureFinding("unused_picture", path, message, None, mend)

    def _unknown(self) -> Iterator[PictureFinding]:
        for name in self._files.unknown():
            path = self._folders.attachments / name
            if name.startswith(".") and name.endswith(TEMPORARY):
                message = "left behind by an interrupted write; safe to remove"
                mend = partial(path.unlink, missing_ok=True)
                yield PictureFinding("temporary_file", path, message, None, mend)
            else:
                yield PictureFinding("unknown_file", path, "not a picture; left alone")

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
        self._scopes = open_scopes(self._folders)
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
        for finding, mend in self._found():
            if repair and mend is not None:
                yield msgspec.structs.replace(finding, repaired=_mended(mend))
            else:
                yield finding

    def _found(self) -> Iterator[_Found]:
        with storage_errors(f"Cannot examine {self._root}"):
            yield from self._directories()
            yield from self._modes()
            yield from self._temporaries()
            for folder in Folder:
                yield from self._folder(folder)
            yield from self._twice()
            yield from self._locks()
            yield from self._scope_lines()
            yield from self._moves()
            yield from self._drafts()
            yield from map(self._of_pictures, self._pictures.findings())
            yield from self._index()

    def _directories(self) -> Iterator[_Found]:
        sessions = self._folders.of(Folder.SESSIONS)
        for path in (sessions, self._folders.drafts, self._folders.locks):
            if os.path.lexists(path) and not path.is_dir():
                message = "not a directory: nothing can be saved until it is moved away"
                yield self._finding("unreadable", None, path, message), None
        for folder in (Folder.ARCHIVE, Folder.TRASH):
            if message := self._folders.obstacle(folder):
                yield self._finding("unreadable", None, self._folders.of(folder), message), None

    def _modes(self) -> Iterator[_Found]:
        directories = [self._root, self._folders.drafts, self._folders.locks]
        directories += [self._folders.attachments, *map(self._folders.of, Folder)]
        for directory in filter(_can_be_listed, directories):
            yield from self._mode(directory, DIRECTORY_MODE)
            names = _open_to_others(directory)
            for name in names[:_NAMED]:
                yield from self._mode(directory / name, FILE_MODE)
            yield from self._more_modes(directory, names[_NAMED:])

    def _mode(self, path: Path, wanted: int) -> Iterator[_Found]:
        mode = stat.S_IMODE(path.stat().st_mode)
        if not mode & _OTHERS:
            return
        message = f"others can open it (mode {mode:04o}); it should be {wanted:04o}"
        yield self._finding("wrong_mode", None, path, message), lambda: path.chmod(wanted)

    def _more_modes(self, directory: Path, names: Sequence[str]) -> Iterator[_Found]:
        if names:
            message = f"others can open {len(names):,} more files; each should be {FILE_MODE:04o}"
            finding = self._finding("wrong_mode", None, directory, message)
            yield finding, lambda: [(directory / name).chmod(FILE_MODE) for name in names]

    def _folder(self, folder: Folder) -> Iterator[_Found]:
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
        yield from self._foreign(directory, foreign)

    def _foreign(self, directory: Path, names: Sequence[str]) -> Iterator[_Found]:
        for name in names[:_NAMED]:
            path = directory / name
            yield self._finding("unknown_file", None, path, "not a session; left alone"), None
        if len(names) > _NAMED:
            message = f"{len(names) - _NAMED:,} more files that are not sessions; left alone"
            yield self._finding("unknown_file", None, directory, message), None

    def _temporaries(self) -> Iterator[_Found]:
        for directory in (self._root, self._folders.drafts, *map(self._folders.of, Folder)):
            for path in map(directory.joinpath, _names(directory, _is_temporary)):
                session_id = path.name.removeprefix(".").rsplit(".", 3)[0]
                if is_session_id(session_id) and self._held(session_id):
                    continue
                message = "left behind by an interrupted write; safe to remove"
                yield self._finding("temporary_file", None, path, message), path.unlink

    def _journal(self, session_id: str, path: Path) -> Iterator[_Found]:
        unknown = unknown_header(session_id)
        try:
            held = self._held(session_id)
            with opened(path, session_id, lambda: unknown, held=held) as journal:
                session, header = journal.load(), journal.header()
                damaged = session.damaged
        except StorageError as error:
            yield self._finding("unreadable", session_id, path, str(error)), None
            return
        if not header.scope:
            message = "its first line is damaged; its id and number were found elsewhere"
            yield self._finding("damaged_header", session_id, path, message), None
        else:
            self._headers.setdefault(session_id, header)
            self._pinned.setdefault(session_id, session.settings.pinned)
        self._note_unknown(session.imported)
        if damaged:
            message = damage_words(damaged, session_id)
            yield self._finding("damaged_records", session_id, path, message), None
        yield from map(self._of_pictures, self._pictures.check(session, path))
        if header.version > VERSION:
            message = f"written by a newer sibyl-tui (format {header.version}); read-only here"
            yield self._finding("newer_version", session_id, path, message), None

    def _note_unknown(self, imported: Import | None) -> None:
        skipped = imported.skipped if imported else {}
        for reason, count in skipped.items():
            if imported and is_unknown(reason):
                self.unknown[imported.program][reason] += count

    def _twice(self) -> Iterator[_Found]:
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
                finding = self._finding("two_folders", session_id, path, message)
                yield finding, path.unlink if same else None

    def _locks(self) -> Iterator[_Found]:
        paths = [*self._folders.locks.glob("*"), self._folders.scopes_lock]
        for path in sorted(path for path in paths if os.path.lexists(path)):
            if path.is_symlink() or not path.is_file():
                message = "not a regular file: its sessions cannot be opened; move it away"
                yield self._finding("unreadable", None, path, message), None
        with suppress(OSError):
            try:
                locks.holder_of(self._folders.scopes_lock)
            except UnfitFile as error:
                yield self._finding("no_locks", None, self._root, str(error.strerror)), None

    def _scope_lines(self) -> Iterator[_Found]:
        path = self._folders.scopes
        if not path.exists():
            if self._headers:
                finding = self._finding(
                    "scopes_missing", None, path, "the list of session numbers is missing"
                )
                yield finding, self._rebuild
            return
        try:
            damaged = LINES.damaged(read_scopes(path))
        except OSError:
            message = "not a regular file: numbers are read from the sessions; move it away"
            yield self._finding("unreadable", None, path, message), None
            return
        if damaged:
            yield self._finding("damaged_scopes", None, path, plural(damaged, "damaged line")), None
        yield from self._unlisted(path)

    def _moves(self) -> Iterator[_Found]:
        path = self._folders.moves
        if not os.path.lexists(path):
            return
        try:
            damaged = damaged_moves(path)
        except OSError:
            message = "not a regular file: moves cannot be undone after a restart; move it away"
            yield self._finding("unreadable", None, path, message), None
            return
        if damaged:
            yield self._finding("damaged_moves", None, path, plural(damaged, "damaged line")), None

    def _unlisted(self, path: Path) -> Iterator[_Found]:
        table = self._scopes.table()
        owners: dict[ScopeNumber, str] = {place: key for key, place in table.places.items()}
        for session_id, header in self._headers.items():
            if session_id in table.places or not header.ordinal:
                continue
            place = ScopeNumber(header.scope, header.ordinal)
            if owners.setdefault(place, session_id) != session_id:
                message = f"its number #{header.ordinal} also belongs to {owners[place]}"
                yield self._finding("number_taken_twice", session_id, path, message), None
                continue
            message = "missing from the list of session numbers"
            line = ScopeLine(header.scope, header.created_at, header.ordinal, header.id)
            yield self._finding("unlisted", session_id, path, message), partial(self._add, line)
        for session_id, is_pinned in self._pinned.items():
            if is_pinned != (session_id in table.pinned):
                message = "its pin is missing from the list of session numbers"
                header = self._headers[session_id]
                line = ScopeLine(header.scope, header.created_at, None, header.id, None, is_pinned)
                finding = self._finding("unlisted_pin", session_id, path, message)
                yield finding, partial(self._add, line)

    def _add(self, line: ScopeLine) -> None:
        with self._scopes.locked():
            self._scopes.add(line)

    def _rebuild(self) -> None:
        with self._scopes.locked():
            # Taking the lock rebuilds a missing file.
            return

    def _drafts(self) -> Iterator[_Found]:
        for path in sorted(Drafts(self._root).files()):
            if read_draft(path) is None:
                message = "a draft that cannot be read; left alone"
                yield self._finding("damaged_draft", None, path, message), None

    def _index(self) -> Iterator[_Found]:
        # Imported here: it loads SQLite.
        from tui.storage.index import database
        from tui.storage.index.maintenance import IndexMaintenance

        path = self._root / database.NAME
        try:
            wrong = database.check(path)
        except database.Unusable as error:
            message = f"the search index cannot be used: {error}"
            yield self._finding("index_out_of_use", None, path, message), None
            return
        if wrong is not None:
            message = f"the search index is damaged ({wrong}); it can be rebuilt from the sessions"
            yield (
                self._finding("damaged_index", None, path, message),
                IndexMaintenance(self._root).set_aside,
            )
        for aside in sorted(self._root.glob(f"{database.NAME}{database.DAMAGED}*")):
            message = "a damaged search index that was moved aside; it can be deleted"
            yield self._finding("index_set_aside", None, aside, message), aside.unlink

    def _of_pictures(self, found: PictureFinding) -> _Found:
        return self._finding(found.kind, found.session_id, found.path, found.message), found.mend

    def _held(self, session_id: str) -> bool:
        try:
            return locks.holder_of(self._folders.lock(session_id)) is not None
        except OSError:
            # ``_locks`` reports an unreadable lock.
            return False

    def _finding(self, kind: str, session_id: str | None, path: Path, message: str) -> Finding:
        place = "." if path == self._root else str(path.relative_to(self._root))
        return Finding(kind, session_id, place, message)


def _can_be_listed(directory: Path) -> bool:
    return directory.is_dir() and os.access(directory, os.R_OK | os.X_OK)


def _names(directory: Path, wanted: Callable[[str], bool]) -> list[str]:
    try:
        return sorted(filter(wanted, os.listdir(directory)))
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []


def _is_temporary(name: str) -> bool:
    return name.startswith(".") and name.endswith(TEMPORARY)


def _open_to_others(directory: Path) -> list[str]:
    """List the names of files that others than their owner can open."""
    # Names, not paths: there may be a million.
    with os.scandir(directory) as entries:
        return sorted(
            entry.name
            for entry in entries
            if entry.is_file(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_mode & _OTHERS
        )


def _mended(mend: Mend) -> bool:
    try:
        mend()
    except (OSError, StorageError):
        return False
    return True
