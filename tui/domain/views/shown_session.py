"""The view models of the session on screen: itself, its status, activity and attachments."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, Self

import msgspec

from tui.domain.journal.message import byte_words
from tui.domain.journal.session import Entry, Version
from tui.domain.journal.todo import TodoItem
from tui.domain.references import NO_WORDS
from tui.domain.text import make_visible_line, plural
from tui.domain.tool_servers import Question
from tui.domain.views.costs import ContextUse


class PromptQueue(msgspec.Struct, frozen=True):
    """Prompts in order: those sent automatically, and those held until the user presses Enter."""

    sending: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    own: Mapping[str, frozenset[str]] = {}
    """The user's own references in those prompts that have some."""

    @property
    def prompts(self) -> tuple[str, ...]:
        return (*self.sending, *self.held)

    @classmethod
    def of(
        cls, prompts: Sequence[str], sending: int, own: Mapping[str, frozenset[str]] | None = None
    ) -> Self:
        """Make a queue of which the first ``sending`` are sent, and the others held."""
        return cls(tuple(prompts[:sending]), tuple(prompts[sending:]), own or {})


class SessionView(msgspec.Struct, frozen=True):
    """Everything that the chat screen shows of a session."""

    session_id: str
    entries: tuple[Entry, ...]
    earlier: bool
    """True if the session has more before ``entries``."""
    arriving: str | None
    """The id of the arriving answer."""
    draft: str
    queue: PromptQueue
    """The prompts that wait to be sent."""
    prompt_count: int
    """All prompts of the session, also those that are not loaded."""
    read_only: str
    """The reason why nothing can be added; empty if it can."""
    todos: tuple[TodoItem, ...] = ()
    asking: Question | None = None
    versions: Mapping[str, Version] = msgspec.field(default_factory=dict[str, Version])
    """The number of each message that has other versions, by its id."""
    aside: bool = False
    """True if ``entries`` are of a version that is not live."""
    later: bool = False
    """True if the session has more after ``entries``."""
    editing: bool = False
    """True while the prompt edits a question that was sent."""
    pastes: tuple[str, ...] = ()
    """The texts of the draft's folded pastes."""
    own_words: frozenset[str] = NO_WORDS
    """The references in the draft that are the user's own."""

    @property
    def read_only_in_short(self) -> str:
        """The reason without the process, for the prompt's border; empty if writable."""
        return self.read_only.partition(" (pid ")[0].replace("Read-only", "read-only", 1)


class SaveState(msgspec.Struct, frozen=True):
    """The time of the last save, or the reason of its failure; empty for a private session."""

    saved_at: datetime | None = None
    saving: bool = False
    failure: str = ""
    private: bool = False

    def __str__(self) -> str:
        """The words in the status bar; empty for an empty session."""
        if self.failure:
            return f"NOT SAVED: {self.failure}"
        if self.private:
            return "PRIVATE, not saved"
        if self.saving:
            return "saving"
        return f"saved {self.saved_at.astimezone():%H:%M}" if self.saved_at else ""


class SessionStatus(msgspec.Struct, frozen=True):
    """Everything that the status bar shows of a session."""

    session_id: str
    label: str
    message_count: int
    model: str
    scope: str
    save: SaveState = SaveState()
    running: bool = False
    summarising: bool = False
    asking: bool = False
    queued: int = 0
    read_only: bool = False
    name: str = ""
    """The name that the user gave; empty without one."""
    context_use: ContextUse | None = None
    """``None`` if unknown."""


Phase = Literal[
    "reading",
    "saving",
    "starting",
    "waiting",
    "retrying",
    "thinking",
    "answering",
    "tool",
    "approval",
    "summarising",
]

_LONG_NAME = 200
_PATIENCE = 1.0
"""Seconds that reading or saving may take before the line says so: nobody reads a flash."""


class ActivityView(msgspec.Struct, frozen=True):
    """The work in a session: the phase, and the seconds since it began."""

    phase: Phase
    name: str
    """The model that is waited for, the tool, or the servers."""
    seconds: float = 0.0
    tokens: int = 0
    """An estimate of what has arrived."""
    attempt: int = 1
    reason: str = ""
    pause: float = 0.0
    """Seconds until the next attempt."""

    @property
    def moves(self) -> bool:
        """Tell whether it changes with time; a question to the user does not."""
        return self.phase != "approval"

    def lines(self, stop: str = "") -> Sequence[str]:
        """The words of the line, the longest first; ``stop`` is the key that stops."""
        words = self._words()
        tokens = f"~{plural(self.tokens, 'token')}" if self.tokens else ""
        stops = f"{stop} stops" if stop else ""
        lines = [(each, tokens, stops) for each in words]
        lines += [(words[-1], stops), (words[-1],)]
        return [" · ".join(filter(None, each)) for each in lines]

    def _words(self) -> tuple[str, ...]:
        """The phase in words: in full, then for narrower places."""
        name, time = make_visible_line(self.name[:_LONG_NAME]), seconds_words(self.seconds)
        pause = f" in {self.pause:.0f} s" if self.pause >= 0.5 else ""
        ending = {1: "st", 2: "nd", 3: "rd"}.get(self.attempt, "th")
        attempt = f"{self.attempt}{ending} attempt{pause}"
        after = f"{attempt} after {make_visible_line(self.reason[:_LONG_NAME])}"
        waiting = _join(f"waiting for {name}", time), _join("waiting", time)
        reading, saving = _join("reading files", time), _join("saving", time)
        words: dict[Phase, tuple[str, ...]] = {
            "reading": (reading, reading) if self.seconds >= _PATIENCE else waiting,
            "saving": (saving, saving) if self.seconds >= _PATIENCE else waiting,
            "starting": (_join("starting", name, time), _join("starting", time)),
            "waiting": waiting,
            "retrying": (f"{name}: {after}", after, attempt),
            "thinking": (_join(name, "· thinking", time), _join("thinking", time)),
            "answering": (_join(name, "answers", time), _join("answering", time)),
            "tool": (_join(name, time), _join("tool", time)),
            "approval": (f"{name} waits for approval", "waits for approval"),
            "summarising": (_join("summarising", time), _join("summarising", time)),
        }
        return words[self.phase]


def seconds_words(seconds: float) -> str:
    """Format a time: ``7 s``, ``1:05``; empty below one second."""
    whole = int(seconds)
    if not whole:
        return ""
    minutes, rest = divmod(whole, 60)
    return f"{minutes}:{rest:02}" if minutes else f"{whole} s"


def _join(*words: str) -> str:
    return " ".join(filter(None, words))


_MISSING_SHOWN = 3


class AttachedView(msgspec.Struct, frozen=True):
    """The files of a prompt, each with its size, and the references that lead to nothing."""

    files: tuple[str, ...] = ()
    size: int = 0
    """The bytes of all files that leave the machine."""
    missing: tuple[str, ...] = ()

    def words(self, fits: Callable[[str], bool]) -> str:
        """Describe it in as much of a line as fits; files that are left out are counted."""
        texts = (self._words(count) for count in range(len(self.files), 0, -1))
        return next(filter(fits, texts), self._words(0))

    def _words(self, count: int) -> str:
        missing = f"not found: {listed(self.missing, _MISSING_SHOWN)}" if self.missing else ""
        size = f"{byte_words(self.size)} " if len(self.files) > 1 or not count else ""
        attached = f"{size}attached: {listed(self.files, count)}" if self.files else ""
        return " · ".join(filter(None, (missing, attached)))


def listed(names: Sequence[str], most: int) -> str:
    """List at most so many names, and count the others: ``a, b and 7 more``."""
    left_out = len(names) - most
    if left_out <= 0:
        return ", ".join(names)
    if not most:
        return f"{left_out} {'file' if left_out == 1 else 'files'}"
    return f"{', '.join(names[:most])} and {left_out} more"
