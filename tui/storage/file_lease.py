"""The leases that a program holds, with the state of their journals."""

import logging
import threading
from collections.abc import Callable
from datetime import datetime

import msgspec

from tui.errors import ReadOnly
from tui.storage import locks
from tui.storage.beginning import Beginning
from tui.storage.folders import Folder
from tui.storage.protocol import Lease
from tui.storage.writer import JournalWriter

_log = logging.getLogger(__name__)


class FileLease(msgspec.Struct):
    """A session's lock, and the state of its journal.

    ``newer`` is the version of a journal that is too new to append to; ``unmarked_restore`` is
    true while an archived session was moved back without a ``Restored`` record.
    """

    session_id: str
    lock: locks.Lock
    folder: Folder = Folder.SESSIONS
    scope: str = ""
    ordinal: int = 0
    writer: JournalWriter | None = None
    beginning: Beginning | None = None
    newer: int | None = None
    unmarked_restore: bool = False
    written: bool = False

    def __post_init__(self) -> None:
        _log.info("lease of %s taken", self.session_id)

    @property
    def size(self) -> int:
        """The bytes of the journal that are on disk."""
        return self.writer.size if self.writer is not None else 0

    def release(self) -> None:
        if self.lock.held:
            _log.info("lease of %s released", self.session_id)
        self.lock.release()


class HeldLeases:
    """The leases of one program; thread-safe."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._leases: dict[str, FileLease] = {}
        self._lock = threading.Lock()

    def keep(self, lease: FileLease) -> FileLease:
        """Register a lease, and sign its lock."""
        lease.lock.note(self._clock())
        with self._lock:
            alive = {name: other for name, other in self._leases.items() if other.lock.held}
            self._leases = {**alive, lease.session_id: lease}
        return lease

    def find(self, session_id: str) -> FileLease | None:
        """Find this program's lease on a session, if it holds one."""
        lease = self._leases.get(session_id)
        return lease if lease is not None and lease.lock.held else None

    def own(self, lease: Lease) -> FileLease:
        """Check that a lease is one of these and held. Raises ``ReadOnly``."""
        held = self.find(lease.session_id)
        if held is None or held is not lease:
            raise ReadOnly(lease.session_id)
        return held

    def unwritten(self, session_id: str) -> bool:
        """Check for a lease under which nothing was written yet.

        Unfinished answers in its session were left by an earlier holder.
        """
        held = self.find(session_id)
        return held is not None and not held.written
