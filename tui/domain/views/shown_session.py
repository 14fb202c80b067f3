"""The view model of the session on screen."""

from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from tui.domain.journal.session import Entry
from tui.domain.journal.todo import TodoItem
from tui.domain.journal.versions import Version
from tui.domain.references import NO_WORDS
from tui.domain.tool_servers import Question


class PromptQueue(msgspec.Struct, frozen=True):
    """Prompts in order: those sent automatically, and those held until the user presses Enter."""

    sending: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    own: Mapping[str, frozenset[str]] = {}
    """The user's own references in those prompts that have some."""

    @property
    def prompts(self) -> tuple[str, ...]:
        return (*self.sending, *self.held)

    def own_words(self, prompt: str) -> frozenset[str]:
        """The references in a prompt that are the user's own."""
        return self.own.get(prompt, NO_WORDS)

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
