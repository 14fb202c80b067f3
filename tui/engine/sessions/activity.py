"""The work that goes on in a loaded session."""

from tui.domain.views.approval import Question


class Activity:
    """An answer or a summary in progress, and the tool call that waits for approval.

    Controllers change it by its verbs: the worker that begins something also ends it.
    """

    def __init__(self) -> None:
        self._answering = False
        self._seconds = 0
        self._summarising = False
        self._question: Question | None = None

    @property
    def running(self) -> bool:
        """Tell whether an answer is in progress."""
        return self._answering

    @property
    def answering_for(self) -> int:
        """The seconds since the answer began."""
        return self._seconds

    @property
    def summarising(self) -> bool:
        return self._summarising

    @property
    def asking(self) -> Question | None:
        """The tool call that waits for approval."""
        return self._question

    def begin_answer(self) -> None:
        self._answering, self._seconds = True, 0

    def count_seconds(self, seconds: int) -> None:
        """Note for how long the answer has been in progress."""
        self._seconds = seconds

    def end_answer(self) -> None:
        self._answering = False

    def begin_summary(self) -> None:
        self._summarising = True

    def end_summary(self) -> None:
        self._summarising = False

    def ask(self, question: Question) -> None:
        """Let a tool call wait for approval."""
        self._question = question

    def end_question(self) -> None:
        """Withdraw the question, answered or not."""
        self._question = None
