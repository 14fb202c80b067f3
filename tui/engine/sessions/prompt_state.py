"""The prompt of a loaded session: its text, the prompt queue, and the draft on disk."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from tui.domain.journal.session import Draft
from tui.engine.sessions.write_queue import WriteQueue


class PromptState:
    """Typed text and queued prompts of one session, changed by the verbs below only.

    ``pastes`` are the parts of the text that are shown folded. ``kept`` is the draft on disk, and
    ``asides`` are the parts of it that are there under a token.
    """

    def __init__(self) -> None:
        self._text = ""
        self._pastes: tuple[str, ...] = ()
        self._queued: list[str] = []
        self._kept: Draft | None = None
        self._asides: Mapping[str, Draft] = {}
        self._writes: WriteQueue | None = None

    @property
    def text(self) -> str:
        return self._text

    @property
    def pastes(self) -> tuple[str, ...]:
        return self._pastes

    @property
    def queued(self) -> Sequence[str]:
        """The prompts that wait to be sent, the next one first."""
        return list(self._queued)

    @property
    def kept(self) -> Draft | None:
        return self._kept

    @property
    def asides(self) -> Mapping[str, Draft]:
        return self._asides

    @property
    def has_draft(self) -> bool:
        return bool(self._text.strip())

    @property
    def folded(self) -> tuple[tuple[int, int], ...]:
        """The begin and end of each paste that is still in the text."""
        return tuple(_places(self._text, self._pastes))

    # --- typing

    def edit(self, text: str, pastes: tuple[str, ...] | None = None) -> None:
        """Replace the text; the pastes too, if they are given."""
        self._text = text
        if pastes is not None:
            self._pastes = pastes

    def remove_sent(self, text: str) -> None:
        """Remove a sent text; what was typed behind it stays."""
        self._text = self._text.removeprefix(text)

    def take_over(self, other: "PromptState") -> None:
        """Add the text of another reading of the same session."""
        if other.text not in self._text:
            self._text = "\n\n".join(filter(None, [self._text, other.text]))

    # --- the queue

    def enqueue(self, prompt: str, place: int | None = None) -> None:
        """Let a prompt wait behind the others, or at a place."""
        self._queued.insert(len(self._queued) if place is None else place, prompt)

    def next_queued(self) -> str:
        """Take the next prompt out of the queue."""
        return self._queued.pop(0)

    def dequeue(self, prompt: str) -> bool:
        """Take the last prompt with this text out of the queue; false if there is none."""
        for place in reversed(range(len(self._queued))):
            if self._queued[place] == prompt:
                del self._queued[place]
                return True
        return False

    def clear_queue(self) -> None:
        self._queued.clear()

    def take_back_queue(self) -> bool:
        """Move the queue into the prompt, before its text; false if nothing waits."""
        if not self._queued:
            return False
        self._text = "\n\n".join(filter(None, [*self._queued, self._text]))
        self._queued.clear()
        return True

    # --- the draft on disk

    def restore(self, text: str, pastes: tuple[str, ...], asides: Mapping[str, Draft]) -> None:
        """Replace the text by what was found on disk."""
        self._text, self._pastes, self._asides = text, pastes, asides

    def note_kept(self, draft: Draft | None, asides: Mapping[str, Draft] | None = None) -> None:
        """Remember the draft on disk; also the asides, if they have changed."""
        self._kept = draft
        if asides is not None:
            self._asides = asides

    def writes(self, write: Callable[[], Awaitable[None]]) -> WriteQueue:
        """The queue for writes of this draft; ``write`` counts the first time."""
        if self._writes is None:
            self._writes = WriteQueue(write)
        return self._writes

    async def settle(self) -> None:
        """Wait until no write of the draft is in progress."""
        if self._writes is not None:
            await self._writes.settle()


def _places(text: str, pastes: Sequence[str]) -> Iterator[tuple[int, int]]:
    end = 0
    for paste in pastes:
        start = text.find(paste, end)
        if start >= 0:
            end = start + len(paste)
            yield start, end
