"""Copies all sessions of a store into another one, byte for byte.

A session is at the target whole or not at all, or as a beginning, which the next run completes: a
copy that was killed is continued by running it again, and adds nothing twice.
"""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

import msgspec

from tui.domain.json_text import journal_json
from tui.engine.imports.report import Pace, Report, Stopped
from tui.errors import AttachmentNotFound, SessionNotFound, StorageError, StorageFull
from tui.logs import error_name
from tui.storage.copyable import Numbers, StoredJournal
from tui.storage.disk import odd_values
from tui.storage.protocol import SessionStore

_log = logging.getLogger(__name__)

_LINES = 1000
_T = TypeVar("_T")


class CopyFailure(msgspec.Struct, frozen=True):
    """A session that could not be copied."""

    id: str
    reason: str


class CopyResult(msgspec.Struct):
    """The result of a copy so far; each session is counted once."""

    sessions: int = 0
    """Of the source."""
    bytes: int = 0
    """Of their journals."""
    added: int = 0
    extended: int = 0
    present: int = 0
    """At the target before, with all that the source has."""
    copied_bytes: int = 0
    verified: int = 0
    """Read back from the target, with the SHA-256 of the source."""
    pictures: int = 0
    imports: int = 0
    moves: int = 0
    different: list[str] = msgspec.field(default_factory=list[str])
    failures: list[CopyFailure] = msgspec.field(default_factory=list[CopyFailure])
    missing_pictures: list[str] = msgspec.field(default_factory=list[str])
    """Used by sessions, but missing or damaged at the source."""
    stopped: bool = False
    error: str = ""

    @property
    def has_begun(self) -> bool:
        """True once a session was compared."""
        compared = self.added or self.extended or self.present
        return bool(compared or self.different or self.failures)

    @property
    def is_whole(self) -> bool:
        """True if all of the source is at the target."""
        wrong = self.different or self.failures or self.missing_pictures or self.error
        return not wrong and not self.stopped


def copy(
    source: SessionStore, target: SessionStore, report: Report, *, dry: bool = False
) -> CopyResult:
    """Copy all sessions, or if ``dry`` find out what that would do. Blocks, and raises nothing."""
    done = CopyResult()
    try:
        sizes = source.journals.sizes()
        done.sessions, done.bytes = len(sizes), sum(sizes.values())
        _Copy(source, target, done, Pace(report, done.bytes), dry=dry).run(sizes)
    except Stopped:
        done.stopped = True
    except StorageError as failed:
        done.error = str(failed)
    return done


class _Copy:
    """Compares the target with the source, session by session, and adds what it lacks.

    If ``dry``, that is only counted.
    """

    def __init__(
        self,
        source: SessionStore,
        target: SessionStore,
        done: CopyResult,
        pace: Pace,
        *,
        dry: bool,
    ) -> None:
        self._source, self._target = source, target
        self._done, self._pace, self._dry = done, pace, dry
        self._read, self._there = source.journals, target.journals
        self._pictures: Mapping[str, Collection[str]] = {} if dry else self._read.pictures()
        self._copied: set[str] = set()
        self._equal: list[str] = []

    def run(self, sizes: Mapping[str, int]) -> None:
        """Go through all sessions. Raises ``Stopped``, and ``StorageError`` if a store fails."""
        there = self._there.sizes()
        if not self._dry:
            # An undecided number could be given to another session meanwhile.
            numbers = self._read.numbers()
            given = tuple(number for number in numbers.given if number.id in sizes)
            active = {key: each for key, each in numbers.active.items() if each in sizes}
            self._there.add_numbers(Numbers(given, numbers.highest, active))
        for session_id, size in sizes.items():
            self._pace.begin("Comparing" if session_id in there else "Copying", size)
            self._process(session_id, is_there=session_id in there)
            self._pace.end()
        if not self._dry:
            self._complete_pictures()
        self._complete_logs()
        self._pace.report()

    def _process(self, session_id: str, *, is_there: bool) -> None:
        """Copy a session or complete it; a failure is noted."""
        try:
            with odd_values(session_id):
                try:
                    found = self._read.find(session_id)
                except SessionNotFound:
                    # It was purged meanwhile.
                    self._done.sessions -= 1
                    return
                if is_there:
                    self._complete(found, self._there.find(session_id))
                    return
                self._add(found)
                self._done.added += 1
                self._equal.append(session_id)
        except StorageFull:
            raise
        except StorageError as error:
            # Not if it is the store that fails: nothing more can be copied then.
            self._source.active("")
            self._target.active("")
            _log.info("copy of %s failed: %s", session_id, error_name(error))
            self._done.failures.append(CopyFailure(session_id, str(error)))

    def _complete(self, found: StoredJournal, there: StoredJournal) -> None:
        """Add what a session at the target lacks, if all that it has is the same."""
        common = min(found.size, there.size)
        read = _stepping(self._pace, self._read.read(found.id, common))
        if _hash(read) != _hash(self._there.read(found.id, common)):
            self._done.different.append(found.id)
            return
        if there.size < found.size:
            self._add(found, there)
            self._done.extended += 1
        else:
            self._done.present += 1
            self._done.verified += 1
        self._equal.append(found.id)

    def _add(self, found: StoredJournal, there: StoredJournal | None = None) -> None:
        if not self._dry:
            self._write(found, there)
        self._done.copied_bytes += found.size - (there.size if there else 0)

    def _write(self, found: StoredJournal, there: StoredJournal | None) -> None:
        """Copy a session, or the rest of one of which the target has the beginning."""
        self._copy_pictures(found.id)
        from hashlib import sha256

        hashed = sha256()

        def read() -> Iterator[bytes]:
            for block in self._read.read(found.id, found.size):
                hashed.update(block)
                yield block

        stepping = _stepping(self._pace, read())
        if there is None:
            self._there.add(found, stepping)
        else:
            self._there.extend(found, there.size, _from(stepping, there.size))
        if _hash(self._there.read(found.id, found.size)) != hashed.digest():
            raise StorageError(f"Session {found.id} reads differently at the target.")
        self._done.verified += 1

    def _complete_pictures(self) -> None:
        """Copy the pictures that were sent meanwhile, and those that the target has lost."""
        before, self._pictures = self._pictures, self._read.pictures()
        for session_id in self._equal:
            new = set(self._pictures.get(session_id, ())) - set(before.get(session_id, ()))
            if new or session_id not in self._copied:
                self._copy_pictures(session_id)

    def _copy_pictures(self, session_id: str) -> None:
        """Copy the pictures before the messages that refer to them."""
        self._copied.add(session_id)
        used = sorted(self._pictures.get(session_id, ()))
        for sha256 in self._there.use_pictures(session_id, used) if used else ():
            try:
                self._target.add_attachment(session_id, self._source.attachment(session_id, sha256))
            except AttachmentNotFound:
                if sha256 not in self._done.missing_pictures:
                    self._done.missing_pictures.append(sha256)
            else:
                self._done.pictures += 1

    def _complete_logs(self) -> None:
        """Add the imports and moves that the target lacks."""
        imports = _missing(
            self._source.imports(),
            self._target.imports(),
            lambda line: journal_json(msgspec.to_builtins(line)),
        )
        for begin in range(0, 0 if self._dry else len(imports), _LINES):
            self._target.note_imports(imports[begin : begin + _LINES])
        self._done.imports = len(imports)
        moves, theirs = self._source.moves(), self._target.moves()
        # The last move is undone first: the target's own stay the last.
        if set(theirs) <= set(moves):
            missing = _missing(moves, theirs, lambda move: move)
            if missing and not self._dry:
                self._there.add_moves(missing)
            self._done.moves = len(missing)


def _stepping(pace: Pace, blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Report the blocks that pass by. Raises ``Stopped``."""
    for block in blocks:
        pace.step(len(block))
        yield block


def _hash(blocks: Iterable[bytes]) -> bytes:
    # Late: it loads OpenSSL.
    from hashlib import sha256

    hashed = sha256()
    for block in blocks:
        hashed.update(block)
    return hashed.digest()


def _from(blocks: Iterable[bytes], begin: int) -> Iterator[bytes]:
    """Leave out the bytes before an offset."""
    position = 0
    for block in blocks:
        rest = block[max(0, begin - position) :]
        position += len(block)
        if rest:
            yield rest


def _missing(ours: Iterable[_T], theirs: Iterable[_T], key: Callable[[_T], object]) -> list[_T]:
    """Select what a log lacks of another one, in its order."""
    there = Counter(map(key, theirs))
    missing: list[_T] = []
    for line in ours:
        if there[key(line)] > 0:
            there[key(line)] -= 1
        else:
            missing.append(line)
    return missing
