"""API keys: reading them, and keeping them out of all output and files."""

import os
import stat
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tui.errors import ConfigError, ModelUnavailable, UsageError
from tui.files import system_text

SECONDS = 10.0
"""Limit of a command that prints a key."""
_MOST_BYTES = 65_536
_LONGEST = 16_384
_QUOTES = "\"'`\u2018\u2019\u201c\u201d"
_SHORTEST_TO_HIDE = 4
_FOR_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secret:
    """A key whose representation is only its source: a variable's name, or a file's path.

    ``was_quoted`` is true if it stood between quotes there, which are no part of it.
    """

    __slots__ = ("_text", "source", "was_quoted")

    def __init__(self, text: str, source: str, *, was_quoted: bool = False) -> None:
        self._text = text
        self.source = source
        self.was_quoted = was_quoted

    def __repr__(self) -> str:
        return f"Secret(from {self.source})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not to be written anywhere")

    def reveal(self) -> str:
        """The key itself, for the one place that sends it."""
        return self._text

    def hide_in(self, text: str) -> str:
        """Remove the key from a text, such as a server's error."""
        if len(self._text) < _SHORTEST_TO_HIDE:
            return text
        return text.replace(self._text, "[key]")


def key_from_environment(variable: str, environ: Mapping[str, str]) -> Secret | None:
    """Read a key; ``None`` if unset or blank. Raises ``ConfigError`` for what cannot be one."""
    text = environ.get(variable, "").strip()
    return _secret(text, variable, "environment", variable) if text else None


def key_from_paste(text: str, source: str) -> Secret:
    """Take a key that was pasted; ``source`` is the file that it goes to.

    Raises ``UsageError``, which does not quote it, for what cannot be a key.
    """
    try:
        return _secret(text, source, "", "")
    except ConfigError as error:
        raise UsageError(f"This is not a key: {error.expected.partition(': ')[2]}.") from None


def key_from_file(path: Path, source: str, key: str) -> Secret:
    """Read the key from a file that only its owner may read.

    Raises ``ConfigError`` with the ``source`` and the dotted ``key`` that name the file.
    """
    try:
        # Non-blocking: a named pipe must not stall the program.
        descriptor = os.open(system_text(str(path)), os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            mode = os.fstat(descriptor).st_mode
            data = os.read(descriptor, _LONGEST) if stat.S_ISREG(mode) else b""
        finally:
            os.close(descriptor)
    except OSError as error:
        raise ConfigError(source, key, f"{path} cannot be read: {error.strerror}") from None
    if not stat.S_ISREG(mode):
        raise ConfigError(source, key, f"{path} is not a file")
    if mode & _FOR_OTHERS:
        raise ConfigError(source, key, f"other users can read {path}. Run: chmod 600 {path}")
    return _secret(data.decode("utf-8", "replace"), str(path), source, key)


def _secret(text: str, origin: str, source: str, key: str) -> Secret:
    text = text.strip()
    plain = text.strip(_QUOTES)
    # Anything else would fail when the request is built, in an error that quotes the key.
    if not plain or not plain.isascii() or not plain.isprintable() or " " in plain:
        raise ConfigError(source, key, "this is not a key: expected one line of ASCII characters")
    return Secret(plain, origin, was_quoted=plain != text)


# --- keys that a command prints, such as that of a password manager

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
            if wanted not in _keys:
                _keys[wanted] = _printed(wanted, f"key_command of {provider}")
            return _keys[wanted]
    finally:
        _waiting[wanted] -= 1
        _stopped.discard(wanted)


def forget_key(command: Sequence[str]) -> None:
    """Run a command again when its key is needed next: many keys are valid for an hour only."""
    with _one_at_a_time:
        _keys.pop(tuple(command), None)


def stop_key_command(command: Sequence[str]) -> None:
    """End a command whose key one caller no longer wants, unless another waits for it, too."""
    from tui.programs import end_programs

    if _waiting[tuple(command)] == 1:
        _stopped.add(tuple(command))
        end_programs(command)


def _printed(command: tuple[str, ...], name: str) -> Secret:
    from tui.programs import output_of

    try:
        stopped = command in _stopped
        output = None if stopped else output_of(command, _MOST_BYTES, SECONDS, Path())
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ModelUnavailable(f"The {name} cannot be run: {command[0]}: {reason}.") from None
    if output is None or command in _stopped:
        raise ModelUnavailable(f"The {name} was stopped.")
    if len(output.data) > _MOST_BYTES:
        raise ModelUnavailable(f"The {name} printed more than a key.")
    if output.code is None:
        raise ModelUnavailable(f"The {name} printed no key within {SECONDS:g} seconds.")
    if output.code:
        raise ModelUnavailable(f"The {name} failed with status {output.code}: {command[0]}.")
    try:
        return key_from_paste(output.data.partition(b"\n")[0].decode("utf-8", "replace"), name)
    except UsageError:
        raise ModelUnavailable(f"The {name} printed no key in its first line.") from None
