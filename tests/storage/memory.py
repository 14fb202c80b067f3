"""A store in memory that tests can make fail, and share between programs."""

from tui.storage.memory_shelf import as_read
from tui.storage.memory_store import MemoryStore


class ScriptedMemoryStore(MemoryStore):
    """Memory; ``fail_next`` makes appends fail, and ``slip_in`` writes without a lease."""

    def __init__(self, clock):
        super().__init__(clock)
        self._clock = clock
        self._failures = []

    def append(self, lease, records, *lines):
        if records and self._failures:
            raise self._failures.pop(0)
        return super().append(lease, records, *lines)

    def another_program(self):
        """Another store of the same sessions, without the leases of this one."""
        other = ScriptedMemoryStore(self._clock)
        other.shelf = self.shelf
        return other

    def fail_next(self, error, times=1):
        self._failures += [error] * times

    def slip_in(self, session_id, *records):
        self.shelf.boxes[session_id].records.extend(as_read(session_id, records))
