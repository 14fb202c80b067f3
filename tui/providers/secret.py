"""API keys: reading them, and keeping them out of all output and files."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from tui.errors import ConfigError, UsageError
from tui.files import system_text

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
    """Read the key from an environment variable; ``None`` if it is unset or blank.

    Raises ``ConfigError`` if the value cannot be a key.
    """
    text = environ.get(variable, "").strip()
    return _secret(text, variable, "environment", variable) if text else None


def key_from_paste(text: str, source: str) -> Secret:
    """Take a key that was pasted; ``source`` is the file that it goes to.

    Raises ``UsageError``, which does not quote it, for what cannot be a key.
    """
    try:
        return _secret(text.strip(), source, "", "")
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
    return _secret(data.decode("utf-8", "replace").strip(), str(path), source, key)


def _secret(text: str, origin: str, source: str, key: str) -> Secret:
    plain = text.strip(_QUOTES)
    was_quoted, text = plain != text, plain
    # Anything else would fail when the request is built, in an error that quotes the key.
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise ConfigError(source, key, "this is not a key: expected one line of ASCII characters")
    return Secret(text, origin, was_quoted=was_quoted)
