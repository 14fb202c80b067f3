"""Every error that a user can meet, with the sentence that the user sees.

::

    SibylError
    ├── UsageError                what was asked for cannot be done as asked
    ├── ConfigError               the configuration names something unknown or of a wrong type
    ├── OutputError               what was to be printed could not be
    ├── StorageError              the data directory could not be read or written
    │   ├── StorageFull           no room is left
    │   ├── UnexpectedSaveError   a save met an error that nobody foresaw
    │   ├── SessionNotFound       no session answers to the target
    │   ├── AmbiguousSession      several do
    │   ├── MessageNotFound       the session has no such message, or none that shows
    │   ├── IndexBusy             another program builds the search index
    │   ├── SessionBusy           another program holds the session
    │   ├── SessionDamaged        the session's file is not what was written
    │   ├── NewerVersion          a newer sibyl-tui wrote it
    │   └── ReadOnly              it was opened for reading only
    └── ModelError                no answer, or only a part of one
        ├── ModelUnavailable      not configured, unknown, or not reachable
        ├── ModelRefused          the server said no (key, limit, bad request)
        ├── ModelTimedOut         the server was silent for too long
        └── AnswerCut             the answer stopped before its end

``str(error)`` is plain text: it may quote what came from outside, and is made safe where it is
shown, like everything else.
"""

from collections.abc import Sequence


class SibylError(Exception):
    """The base of all errors that the user sees as one sentence."""

    def lines(self, candidates: int) -> Sequence[str]:
        """The sentence, and below it at most ``candidates`` sessions that may have been meant."""
        del candidates
        return (str(self),)


class UsageError(SibylError):
    """What was asked for cannot be done as asked."""


class ConfigError(SibylError):
    """The configuration names something unknown, or gives a value of a wrong type."""

    def __init__(self, source: str, key: str, expected: str) -> None:
        super().__init__(f"{source}: {key}: {expected}")
        self.source = source
        self.key = key
        self.expected = expected


class OutputError(SibylError):
    """Standard output does not take what was to be printed."""


class StorageError(SibylError):
    """The data directory could not be read or written."""

    @property
    def short(self) -> str:
        """Why, in as many words as a status line has room for."""
        return str(self)


class StorageFull(StorageError):
    """The disk, or the user's share of it, is full."""

    @property
    def short(self) -> str:
        return "disk full"


class UnexpectedSaveError(StorageError):
    """A save met an error that nobody foresaw; it failed like any other."""

    def __init__(self, error: Exception) -> None:
        self._reason = f"{type(error).__name__}: {error}"
        super().__init__(f"Unexpected error: {self._reason}")

    @property
    def short(self) -> str:
        return self._reason


class SessionNotFound(StorageError):
    """No session answers to the target, or not where it would have to be.

    ``where`` is a sentence that says where it is, for a line of its own.
    """

    def __init__(self, target: str, closest: Sequence[str] = (), where: str = "") -> None:
        self._words = f"Session not found: {target}"
        super().__init__("\n".join(filter(None, [self._words, where])))
        self.target = target
        self.closest = tuple(closest)

    def lines(self, candidates: int) -> Sequence[str]:
        del candidates
        return (str(self), *([f"Closest: {', '.join(self.closest)}"] if self.closest else []))

    @property
    def short(self) -> str:
        return self._words


class AmbiguousSession(StorageError):
    """Several sessions answer to the target."""

    def __init__(self, target: str, candidates: Sequence[str]) -> None:
        super().__init__(f"Ambiguous session: {target}")
        self.target = target
        self.candidates = tuple(candidates)

    def lines(self, candidates: int) -> Sequence[str]:
        shown = [f"  {candidate}" for candidate in self.candidates[:candidates]]
        more = len(self.candidates) - len(shown)
        return (str(self), *shown, *([f"  and {more} more"] if more else []))


class MessageNotFound(StorageError):
    """A session has no message with this id, or it was replaced."""

    def __init__(self, session_id: str, message_id: str) -> None:
        super().__init__(f"Message not found: {message_id} (in session {session_id})")
        self.session_id = session_id
        self.message_id = message_id


class IndexBusy(StorageError):
    """Another program is building the search index."""

    def __init__(self) -> None:
        super().__init__("The search index is being built by another program.")


class SessionBusy(StorageError):
    """Another program holds the session.

    ``holder`` reads ``pid P on HOST since TIME``, with the local time to the minute.
    """

    def __init__(self, session_id: str, holder: str) -> None:
        super().__init__(f"Session {session_id} is open in another program ({holder}).")
        self.session_id = session_id
        self.holder = holder


class SessionDamaged(StorageError):
    """The session's file is not what was written: shortened, gone, or no plain file."""

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(f"Session {session_id} is damaged: {reason}")
        self.session_id = session_id
        self.reason = reason


class NewerVersion(StorageError):
    """A newer sibyl-tui wrote the session: it is read, and not written."""

    def __init__(self, session_id: str, version: int) -> None:
        super().__init__(
            f"Session {session_id} was written by a newer version ({version}); opened read-only."
        )
        self.session_id = session_id
        self.version = version


class ReadOnly(StorageError):
    """A change was asked for in a session that this program does not hold."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id} is read-only here.")
        self.session_id = session_id


class ModelError(SibylError):
    """The model gave no answer, or only a part of one."""


class ModelUnavailable(ModelError):
    """The model is not configured, not known, or not reachable."""


class ModelRefused(ModelError):
    """The server answered that it will not: a key, a limit, a request it does not take."""


class ModelTimedOut(ModelError):
    """The server was silent for longer than the configuration allows."""


class AnswerCut(ModelError):
    """The answer stopped before its end, or was no answer."""
