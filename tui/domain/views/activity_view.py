"""The view model of the activity line: the work in the session on screen."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from tui.domain.text.labels import plural
from tui.domain.text.safe_text import make_visible_line

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
        attempt = f"{ordinal(self.attempt)} attempt{pause}"
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


def ordinal(number: int) -> str:
    """Format an ordinal number: ``2nd``."""
    return f"{number}{ ({1: 'st', 2: 'nd', 3: 'rd'}.get(number, 'th')) }"


def _join(*words: str) -> str:
    return " ".join(filter(None, words))
