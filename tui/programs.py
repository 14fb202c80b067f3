"""Other programs' output, read for a limited time and to a limited size."""

import atexit
import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import IO

import msgspec

from tui.files import system_text

_BLOCK = 65_536
_SECONDS_TO_END = 0.1

_running: dict[subprocess.Popen[bytes], signal.Signals] = {}
"""With the signals that end them."""


class ProgramOutput(msgspec.Struct, frozen=True):
    """The output of a program; ``code`` is ``None`` if it was ended at a limit."""

    data: bytes
    code: int | None = None


def output_of(
    command: Sequence[str],
    most_bytes: int,
    seconds: float,
    directory: Path = Path("/"),
    environment: Mapping[str, str] = os.environ,
    *,
    ending: signal.Signals = signal.SIGKILL,
) -> ProgramOutput:
    """Run a program and read its standard output. It blocks; raises ``OSError``.

    A limit and ``end_programs`` end it by the signal ``ending``, as they do all that it has
    started: it has a process group of its own.
    """
    deadline = monotonic() + seconds
    process = subprocess.Popen(  # noqa: S603 - each caller names its program
        [*map(system_text, command)],
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101 - for the type
    _running[process] = ending
    code = None
    with process.stdout as pipe:
        try:
            data, is_whole = _read(pipe, most_bytes, deadline)
            if is_whole:
                with suppress(subprocess.TimeoutExpired):
                    code = process.wait(max(0.0, deadline - monotonic()))
            return ProgramOutput(data, code)
        finally:
            del _running[process]
            if code is None:
                _end(process, ending)
                # A disk that hangs keeps it: then it is left alone.
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_SECONDS_TO_END)


def end_programs(command: Sequence[str] | None = None) -> None:
    """End the running programs with this command line, or all of them."""
    for process, ending in tuple(_running.items()):
        if command is None or process.args == [*command]:
            _end(process, ending)


# Each is in a session of its own: no signal to this program reaches it.
atexit.register(end_programs)


def _read(pipe: IO[bytes], most: int, deadline: float) -> tuple[bytes, bool]:
    """Read to the end, or to a limit; says whether it was the end."""
    data = bytearray()
    while len(data) <= most and (seconds := deadline - monotonic()) > 0:
        if not select.select([pipe], [], [], seconds)[0]:
            break
        block = os.read(pipe.fileno(), _BLOCK)
        if not block:
            return bytes(data), True
        data += block
    return bytes(data), False


def _end(process: subprocess.Popen[bytes], ending: signal.Signals) -> None:
    # Also where the first process has ended: its children may hold the pipe.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, ending)
