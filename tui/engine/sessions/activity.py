"""The work in progress in a loaded session."""

from typing import TYPE_CHECKING

import msgspec

from tui.domain.views.activity_view import ActivityView, Phase
from tui.engine.requests.token_estimate import BYTES_PER_TOKEN

if TYPE_CHECKING:
    from tui.domain.tool_servers import Question

_STEADY: frozenset[Phase] = frozenset({"waiting", "answering"})
"""Phases that count the seconds since the prompt was sent, as nothing new begins with them."""


class _Progress(msgspec.Struct):
    """The progress of an answer; times in seconds of one clock."""

    model: str
    begun_at: float
    phase: Phase
    phase_at: float
    name: str = ""
    size: int = 0
    attempt: int = 1
    reason: str = ""
    resumes_at: float = 0.0

    def enter(self, phase: Phase, at: float, name: str = "") -> None:
        """Note that another phase has begun."""
        if phase != self.phase:
            self.phase, self.phase_at, self.name = phase, at, name

    def view(self, now: float) -> ActivityView:
        begun = self.begun_at if self.phase in _STEADY else self.phase_at
        return ActivityView(
            self.phase,
            self.name or self.model,
            max(0.0, now - begun),
            self.size // BYTES_PER_TOKEN,
            self.attempt,
            self.reason,
            max(0.0, self.resumes_at - now),
        )


class Activity:
    """An answer or a summary in progress, and the tool call that waits for approval.

    Controllers change it by its verbs: the worker that begins something also ends it. Times are
    seconds of the application's clock.
    """

    def __init__(self) -> None:
        self._answer: _Progress | None = None
        self._summary: _Progress | None = None
        self.asking: Question | None = None
        """The tool call that waits for approval."""

    @property
    def running(self) -> bool:
        """Tell whether an answer is in progress."""
        return self._answer is not None

    @property
    def phase(self) -> Phase | None:
        """The phase of the answer in progress."""
        return self._answer.phase if self._answer else None

    @property
    def summarising(self) -> bool:
        return self._summary is not None

    def begin_answer(self, model: str = "", at: float = 0.0) -> None:
        self._answer = _Progress(model, at, "saving", at)

    def enter(self, phase: Phase, at: float, name: str = "") -> None:
        """Note that another phase of the answer has begun; ``name`` is that of a tool."""
        if self._answer is not None:
            self._answer.enter(phase, at, name)

    def receive(self, phase: Phase, text: str, at: float) -> None:
        """Count a piece of the answer or of the thinking before it."""
        if self._answer is not None:
            self._answer.enter(phase, at)
            self._answer.size += len(text.encode(errors="replace"))

    def repeat(self, attempt: int, reason: str, resumes_at: float, at: float) -> None:
        """Note that the request has failed and is sent again."""
        if self._answer is not None:
            self._answer.enter("retrying", at)
            answer = self._answer
            answer.attempt, answer.reason, answer.resumes_at = attempt, reason, resumes_at

    def end_answer(self) -> None:
        self._answer = None

    def begin_summary(self, at: float = 0.0) -> None:
        self._summary = _Progress("", at, "summarising", at)

    def end_summary(self) -> None:
        self._summary = None

    def view(self, now: float) -> ActivityView | None:
        """The snapshot for the activity line; ``None`` if nothing is in progress."""
        if self.asking is not None:
            return ActivityView("approval", self.asking.tool.title)
        progress = self._answer or self._summary
        return progress.view(now) if progress else None
