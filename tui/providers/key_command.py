"""Keys that a command prints, such as that of a password manager."""

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress

from tui.errors import ModelUnavailable, UsageError
from tui.providers.secret import Secret, key_from_paste

SECONDS = 10.0
"""Limit of a command."""

_keys: dict[tuple[str, ...], Secret] = {}
_one_at_a_time = threading.Lock()


def key_from_command(command: Sequence[str], provider: str) -> Secret:
    """Run a command without a shell; the first line of its output is the key.

    It is run once: the key is kept until a server refuses it. Raises ``ModelUnavailable``, without
    the output of the command, which may be a part of the key.
    """
    with _one_at_a_time:
        key = _keys.get(tuple(command))
        if key is None:
            key = _keys[tuple(command)] = _printed(command, f"key_command of {provider}")
        return key


def forget_key(command: Sequence[str]) -> None:
    """Run a command again when its key is needed next: many keys are valid for an hour only."""
    with _one_at_a_time:
        _keys.pop(tuple(command), None)


def _printed(command: Sequence[str], name: str) -> Secret:
    status, output = _run(command, name)
    if status:
        raise ModelUnavailable(f"The {name} failed with status {status}: {command[0]}.")
    try:
        return key_from_paste(output.partition(b"\n")[0].decode("utf-8", "replace"), name)
    except UsageError:
        raise ModelUnavailable(f"The {name} printed no key in its first line.") from None


def _run(command: Sequence[str], name: str) -> tuple[int, bytes]:
    try:
        # A session of its own: it must not ask on the terminal, which belongs to the screen.
        with subprocess.Popen(  # noqa: S603 - the user's own command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as process:
            return _waited(process, name)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise ModelUnavailable(f"The {name} cannot be run: {command[0]}: {reason}.") from None


def _waited(process: subprocess.Popen[bytes], name: str) -> tuple[int, bytes]:
    try:
        output, _ = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        raise ModelUnavailable(f"The {name} printed no key within {SECONDS:g} seconds.") from None
    return process.returncode, output
