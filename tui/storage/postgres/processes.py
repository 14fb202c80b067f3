"""The identity of a process among those of other machines and containers.

A pid is not enough: containers can have equal host names and pids, and pids are used again.
"""

import os
from pathlib import Path

import msgspec

from tui.files import read_bounded

_PROC = Path("/proc")
_BOOT_ID = _PROC / "sys/kernel/random/boot_id"
_MOST_BYTES = 4096
_START_FIELD = 19
"""The field of ``stat`` after the name, which may contain blanks and brackets."""


class Process(msgspec.Struct, frozen=True):
    """A process; ``namespace`` is empty on systems without ``/proc``."""

    pid: int
    namespace: str
    started: str

    @property
    def is_here(self) -> bool:
        """True if it is of this machine and PID namespace; false where that is not known."""
        return bool(self.namespace) and self.namespace == _namespace()

    @property
    def has_ended(self) -> bool:
        """True if it is of this machine and PID namespace, and has ended."""
        if not self.is_here:
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            return False
        started = _started(self.pid)
        return bool(started and self.started) and started != self.started


def this_process() -> Process:
    return Process(os.getpid(), _namespace(), _started(os.getpid()))


def _namespace() -> str:
    """Identify the boot of the system and the PID namespace in it."""
    try:
        return f"{_text(_BOOT_ID).strip()} {os.readlink(_PROC / 'self/ns/pid')}"
    except OSError:
        return ""


def _started(pid: int) -> str:
    """Read the start time of a process, in clock ticks since boot."""
    try:
        return _text(_PROC / str(pid) / "stat").rpartition(")")[2].split()[_START_FIELD]
    except (OSError, IndexError):
        return ""


def _text(path: Path) -> str:
    return read_bounded(path, _MOST_BYTES).decode("utf-8", "replace")
