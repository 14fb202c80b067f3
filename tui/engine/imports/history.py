"""The history of imports, in their log: known sources, and the sessions that came of them."""

from collections.abc import Iterable

import msgspec

from tui.domain.imports import ImportLine
from tui.errors import SessionNotFound
from tui.storage.protocol import SessionStore

_LOG_LINES = 100

_Place = tuple[str, str]
"""A program and a path."""


class FoundSource(msgspec.Struct, frozen=True):
    """A source as it was when it was found: the same later means that it was not changed."""

    program: str
    path: str
    device: int
    inode: int
    size: int
    mtime: int

    @property
    def place(self) -> _Place:
        return self.program, self.path


class History:
    """Looks up what was imported before, and adds to it.

    Lines are written in blocks: a sync for each takes longer than its session. Whoever is killed
    before finds the sessions again, and adds nothing to them.
    """

    def __init__(self, store: SessionStore) -> None:
        """Read the log. Raises ``StorageError``."""
        self.store = store
        self._whole: dict[_Place, ImportLine] = {}
        self._sessions: dict[_Place, dict[str, None]] = {}
        self._beginnings: dict[str, tuple[str, ...]] = {}
        self._rescued: set[str] = set()
        self._found_whole: set[tuple[str, str]] = set()
        """Programs and ids of conversations of which there was more than the prompts."""
        self._unwritten: list[ImportLine] = []
        for line in store.imports():
            self._add(line)

    def record(self, line: ImportLine) -> None:
        """Write the line of a session that was added, or of a source that was read."""
        is_known = line.prompts_only or self.is_whole(line.program, line.source_id)
        is_here = line.id in self._sessions.get((line.program, line.path), ())
        # Of a source that changes each hour, most sessions are as they were.
        if is_known and is_here and self._beginnings[line.id] == line.beginning and not line.whole:
            return
        self._add(line)
        self._unwritten.append(line)
        if len(self._unwritten) >= _LOG_LINES:
            self.close()

    def close(self) -> None:
        """Write what is not written. Raises ``StorageError``."""
        lines, self._unwritten = self._unwritten, []
        if lines:
            self.store.note_imports(lines)

    def _add(self, line: ImportLine) -> None:
        place = line.program, line.path
        if line.whole:
            self._whole[place] = line
        if line.replaced:
            self._sessions.get(place, {}).pop(line.id, None)
        elif line.id:
            self._sessions.setdefault(place, {})[line.id] = None
            self._beginnings[line.id] = line.beginning
            if line.prompts_only:
                self._rescued.add(line.id)
            else:
                self._found_whole.add((line.program, line.source_id))

    def is_rescue(self, session_id: str) -> bool:
        """Tell whether a session came of prompts alone, whatever became of it."""
        return session_id in self._rescued

    def is_whole(self, program: str, source_id: str) -> bool:
        """Tell whether a conversation was found with more than its prompts."""
        return (program, source_id) in self._found_whole

    def was_imported(self, session_id: str) -> bool:
        """Tell whether a session was imported at some time, whatever became of it."""
        return session_id in self._beginnings

    def beginning(self, session_id: str) -> tuple[str, ...]:
        """The ids of the first messages of a session that is gone; none if unknown."""
        return self._beginnings.get(session_id, ())

    def knows(self, found: FoundSource) -> bool:
        """Tell whether a source was imported at some time, as a whole or in part."""
        return found.place in self._whole or found.place in self._sessions

    def is_unchanged(self, found: FoundSource, revision: int) -> bool:
        """Tell whether a source was read to its end, as well as now, and is as it was then."""
        line = self._whole.get(found.place)
        if line is None or line.revision < revision:
            return False
        return (found.inode, found.size, found.mtime) == (line.inode, line.size, line.mtime)

    def sessions(self, found: FoundSource) -> Iterable[str]:
        """The ids of the sessions that came of a source."""
        return self._sessions.get(found.place, ())

    def is_gone(self, session_id: str) -> bool:
        """Tell whether a session that was imported is in the trash, or purged."""
        try:
            return self.store.stamp(session_id).where == "trashed"
        except SessionNotFound:
            return True
