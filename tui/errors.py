"""Every error that a user can meet, with its sentence.

::

    SibylError
    ├── UsageError                the request cannot be carried out as given
    ├── ConfigError               the configuration names something unknown or of a wrong type
    ├── OutputError               standard output cannot be written
    ├── StorageError              the data directory could not be read or written
    │   ├── StorageFull           the disk or quota is full
    │   ├── UnexpectedSaveError   a save failed with an unknown exception
    │   ├── CallStopped           a tool's call or result could not be saved
    │   ├── SessionNotFound       no session matches the target
    │   ├── AmbiguousSession      several do
    │   ├── MessageNotFound       the session has no such message, or it was replaced
    │   ├── IndexBusy             another program is building the search index
    │   ├── SessionBusy           another window has the lease of the session
    │   ├── SessionExists         a session with this id is there already
    │   ├── SessionDamaged        the session's file was altered or is gone
    │   ├── NewerVersion          a newer sibyl-tui wrote it
    │   ├── ReadOnly              the session is open read-only
    │   │   └── LeaseLost         another window took it over
    │   ├── ServerUnreachable     the store's server does not answer
    │   │   └── ServerTooSlow     it answers too late
    │   └── ServerRefused         the store's server answers, and refuses
    └── ModelError                no answer, or an incomplete one
        ├── ModelUnavailable      not configured, unknown, or not reachable
        │   └── NoModelList       the server does not list its models
        ├── ModelRefused          the server refused (key, limit, bad request)
        │   └── KeyRefused        the server wants a key, or another one
        ├── ModelTimedOut         the server was silent for too long
        └── AnswerCut             the answer broke off

``str(error)`` may quote untrusted text; it is sanitised where it is shown, like all text.
"""

from collections.abc import Mapping, Sequence


class SibylError(Exception):
    """The base of all errors that the user sees as one sentence."""

    def lines(self, candidates: int) -> Sequence[str]:
        """The sentence, and below it at most ``candidates`` sessions that may have been meant."""
        del candidates
        return (str(self),)


class UsageError(SibylError):
    """The request cannot be carried out as given."""


class ConfigError(SibylError):
    """The configuration names something unknown, or gives a value of a wrong type.

    ``source`` is the file, ``environment`` or ``command line``; ``key`` is dotted.
    """

    def __init__(self, source: str, key: str, expected: str) -> None:
        super().__init__(f"{source}: {key}: {expected}")
        self.source = source
        self.key = key
        self.expected = expected


class OutputError(SibylError):
    """Standard output cannot be written."""


class StorageError(SibylError):
    """The data directory could not be read or written."""

    _short = ""

    @property
    def short(self) -> str:
        """The reason in the few words that fit the status bar."""
        return self._short or str(self)


class StorageFull(StorageError):
    """The disk or the user's quota is full."""

    _short = "disk full"


class UnexpectedSaveError(StorageError):
    """A save failed with an unknown exception; it is retried like any other."""

    def __init__(self, error: Exception) -> None:
        self._short = f"{type(error).__name__}: {error}"
        super().__init__(f"Unexpected error: {self._short}")


class CallStopped(StorageError):
    """A turn ended among its tools: a call or its result could not be saved."""


class SessionNotFound(StorageError):
    """No session matches the target, or none in the place where it was looked for.

    ``where`` is a sentence that says where it is; ``closest`` are similar names.
    """

    def __init__(self, target: str, closest: Sequence[str] = (), where: str = "") -> None:
        self._short = f"Session not found: {target}"
        super().__init__("\n".join(filter(None, [self._short, where])))
        self.where = where
        self.closest = tuple(closest)

    def lines(self, candidates: int) -> Sequence[str]:
        del candidates
        return (str(self), *([f"Closest: {', '.join(self.closest)}"] if self.closest else []))


class AmbiguousSession(StorageError):
    """Several sessions match the target."""

    def __init__(
        self, target: str, candidates: Sequence[str], about: Mapping[str, str] | None = None
    ) -> None:
        """``about`` describes candidates: their title, project and time."""
        super().__init__(f'Several sessions match "{target}":')
        self.target = target
        self.candidates = tuple(candidates)
        self._about = about or {}

    def lines(self, candidates: int) -> Sequence[str]:
        shown = [
            f"  {candidate}  {self._about.get(candidate, '')}".rstrip()
            for candidate in self.candidates[:candidates]
        ]
        more = len(self.candidates) - len(shown)
        return (str(self), *shown, *([f"  and {more} more"] if more else []))


class MessageNotFound(StorageError):
    """A session has no message with this id, or it was replaced."""

    def __init__(self, session_id: str, message_id: str) -> None:
        super().__init__(f"Message not found: {message_id} (in session {session_id})")


class AttachmentNotFound(StorageError):
    """A picture of a session is not in the store, or it is damaged."""

    def __init__(self, sha256: str) -> None:
        super().__init__(f"Picture not found: {sha256}")


class IndexBusy(StorageError):
    """``builder``, as ``an import (pid P on HOST since TIME)``, is building the search index."""

    def __init__(self, builder: str) -> None:
        super().__init__(f"The search index is being built by {builder}.")
        self.builder = builder


class SessionBusy(StorageError):
    """Another window has the lease of the session.

    ``holder`` reads ``in another window (pid P on HOST since TIME)``, with the local time to the
    minute, or ``on HOST since TIME`` for another machine.
    """

    def __init__(self, session_id: str, holder: str = "in another window") -> None:
        super().__init__(f"Session {session_id} is open {holder}.")
        self.session_id = session_id
        self.holder = holder


class SessionExists(StorageError):
    """A session with this id is there already."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id} exists already.")


class SessionDamaged(StorageError):
    """The session's file was altered: shortened, removed, or replaced by something else."""

    def __init__(self, session_id: str, reason: str) -> None:
        super().__init__(f"Session {session_id} is damaged: {reason}")
        self.session_id = session_id
        self.reason = reason


class NewerVersion(StorageError):
    """A newer sibyl-tui wrote the session: it can be read, but not written."""

    def __init__(self, session_id: str, version: int) -> None:
        super().__init__(
            f"Session {session_id} was written by a newer sibyl-tui (format {version})."
        )
        self.session_id = session_id
        self.version = version


class ReadOnly(StorageError):
    """The session cannot be changed: this window does not have its lease."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"Session {session_id} is read-only here.")
        self.session_id = session_id


class LeaseLost(ReadOnly):
    """Another window took the session over while this one could not renew its lease."""


class ServerUnreachable(StorageError):
    """The server of the store does not answer."""

    _words, _short = "cannot be reached", "server unreachable"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The store's server {self._words}: {reason}")


class ServerTooSlow(ServerUnreachable):
    """The server of the store gave a request up: for its time, or for a lock that another has."""

    _words, _short = "is too slow", "server too slow"


class ServerRefused(StorageError):
    """The server of the store answers, and refuses."""

    _short = "server refused"

    def __init__(self, reason: str) -> None:
        super().__init__(f"The store's server refused: {reason}")


class ModelError(SibylError):
    """The model gave no answer, or an incomplete one."""


class ModelUnavailable(ModelError):
    """The model is not configured, not known, or not reachable."""


class ModelRefused(ModelError):
    """The server refused: wrong key, rate limit, or a request it does not accept."""


class NoModelList(ModelUnavailable):
    """The server does not list its models."""


class KeyRefused(ModelRefused):
    """The server wants a key, or another one; or it failed in a way that such a server does."""


class ModelTimedOut(ModelError):
    """The server was silent for longer than the configuration allows."""


class AnswerCut(ModelError):
    """The answer broke off, or was not an answer."""
