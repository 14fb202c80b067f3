"""Keys that a command prints, such as that of a password manager."""

import threading
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tui.errors import ModelUnavailable, UsageError
from tui.programs import end_programs, output_of
from tui.providers.secret import Secret, key_from_paste

SECONDS = 10.0
"""Limit of a command."""

_MOST_BYTES = 65_536

_keys: dict[tuple[str, ...], Secret] = {}
_one_at_a_time = threading.Lock()
_waiting: Counter[tuple[str, ...]] = Counter()
_stopped: set[tuple[str, ...]] = set()


def key_from_command(command: Sequence[str], provider: str) -> Secret:
    """Run a command without a shell; the first line of its output is the key.

    It is run once: the key is kept until a server refuses it. Raises ``ModelUnavailable``, without
    the output of the command, which may be a part of the key.
    """
    wanted = tuple(command)
    _waiting[wanted] += 1
    try:
        with _one_at_a_time:
            key = _keys.get(wanted)
            if key is None:
                key = _keys[wanted] = _printed(wanted, f"key_command of {provider}")
            return key
    finally:
        _waiting[wanted] -= 1
        _stopped.discard(wanted)


def forget_key(command: Sequence[str]) -> None:
    """Run a command again when its key is needed next: many keys are valid for an hour only."""
    with _one_at_a_time:
        _keys.pop(tuple(command), None)


def stop_key_command(command: Sequence[str]) -> None:
    """End a command whose key one caller no longer wants, unless another waits for it, too."""
    if _waiting[tuple(command)] == 1:
        _stopped.add(tuple(command))
        end_programs(command)


def _printed(command: tuple[str, ...], name: str) -> Secret:
    status, output = (0, b"") if command in _stopped else _run(command, name)
    if command in _stopped:
        raise ModelUnavailable(f"The {name} was stopped.")
    if status:
        raise ModelUnavailable(f"The {name} failed with status {status}: {command[0]}.")
    try:
        return key_from_paste(output.partition(b"\n")[0].decode("utf-8", "replace"), name)
    except UsageError:
        raise ModelUnavailable(f"The {name} printed no key in its first line.") from None


def _run(command: Sequence[str], name: str) -> tuple[int, bytes]:
    try:
        output = output_of(command, _MOST_BYTES, SECONDS, Path())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelUnavailable(f"The {name} cannot be run: {command[0]}: {reason}.") from None
    if len(output.data) > _MOST_BYTES:
        raise ModelUnavailable(f"The {name} printed more than a key.")
    if output.code is None:
        raise ModelUnavailable(f"The {name} printed no key within {SECONDS:g} seconds.")
    return output.code, output.data
