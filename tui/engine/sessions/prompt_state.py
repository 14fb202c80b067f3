"""The prompt of a loaded session: its text, the prompt queue, and the draft on disk."""

from collections.abc import Mapping, Sequence

from tui.domain.journal.session import Draft
from tui.domain.references import NO_WORDS, words_in
from tui.domain.views.shown_session import PromptQueue
from tui.engine.sessions.write_queue import WriteQueue


class PromptState:
    """Typed text and queued prompts of one session, changed by the verbs below only.

    A prompt refers to files only by the words that ``references_of`` gives for it. Only
    ``DraftKeeper`` sets ``kept``, the draft on disk, and ``asides``, the parts of it that are there
    under a token.
    """

    def __init__(self) -> None:
        self.text = ""
        self.pastes: tuple[str, ...] = ()
        """The parts of the text that are shown folded."""
        self.queued: list[str] = []
        """The prompts that are sent without the user, the next one first."""
        self._held: list[str] = []
        # After a stop or a failure: they wait until the user sends them.
        self.leaving: list[str] = []
        """The prompts that were sent and are in no session yet: the draft has them."""
        self.editing = ""
        """The id of the question that the text is to replace; empty if there is none."""
        self._own: dict[str, frozenset[str]] = {}
        self.kept: Draft | None = None
        self.asides: Mapping[str, Draft] = {}
        self.writes = WriteQueue()
        """Those of the draft."""

    @property
    def queue(self) -> PromptQueue:
        """All prompts that wait."""
        return PromptQueue(tuple(self.queued), tuple(self._held), self._own_of(self._waiting))

    @property
    def has_draft(self) -> bool:
        return bool(self.text.strip() or self._held)

    def folded_in(self, prompt: str) -> tuple[tuple[int, int], ...]:
        """The begin and end of each paste that is still in a prompt of this session."""
        places: list[tuple[int, int]] = []
        end = 0
        for paste in self.pastes:
            start = prompt.find(paste, end)
            if start >= 0:
                end = start + len(paste)
                places.append((start, end))
        return tuple(places)

    # --- typing

    def edit(
        self,
        text: str,
        pastes: tuple[str, ...] | None = None,
        own: frozenset[str] | None = None,
    ) -> None:
        """Replace the text; the pastes and the user's own references too, if they are given."""
        if own is None:
            own = self.own_words & words_in(text) if self.own_words else NO_WORDS
        self._own = self._own_of(self._waiting)
        self.text = text
        self.refer(text, own)
        if pastes is not None:
            # With those of prompts that wait, or are on their way.
            others = (each for each in self.pastes if each not in pastes)
            sent = (each for each in others if any(each in one for one in self._waiting))
            self.pastes = (*pastes, *sent)

    def refer(self, prompt: str, own: frozenset[str]) -> None:
        """Remember the references in a prompt that are the user's own."""
        if own:
            self._own[prompt] = own

    def references_of(self, prompt: str) -> frozenset[str]:
        """The references in a prompt of this session that are the user's own."""
        return self._own.get(prompt, NO_WORDS)

    @property
    def own_words(self) -> frozenset[str]:
        """The references in the text that are the user's own."""
        return self.references_of(self.text)

    @property
    def references(self) -> frozenset[str]:
        """The references in text and queue that are the user's own."""
        return NO_WORDS.union(*self._own_of((self.text, *self._waiting)).values())

    @property
    def _waiting(self) -> Sequence[str]:
        return (*self.queued, *self._held, *self.leaving)

    def _own_of(self, prompts: Sequence[str]) -> dict[str, frozenset[str]]:
        return {prompt: self._own[prompt] for prompt in prompts if prompt in self._own}

    def take_over(self, other: "PromptState") -> None:
        """Add the text and the prompts of another reading of the same session."""
        self._held += [each for each in other.queue.prompts if each not in self.queue.prompts]
        if other.text not in self.text:
            own = self.own_words | other.own_words
            self.text = "\n\n".join(filter(None, [self.text, other.text]))
            self.refer(self.text, own)
        for prompt, own in other.queue.own.items():
            self.refer(prompt, own)

    def begin_edit(
        self,
        message_id: str,
        text: str,
        own: frozenset[str] = NO_WORDS,
        pastes: tuple[str, ...] = (),
    ) -> None:
        """Edit a question that was sent; the draft waits meanwhile."""
        if self.text.strip() and not self.editing:
            self.hold(self.text)
        self.editing, self.text, self.pastes = message_id, text, pastes
        self.refer(text, own)

    def end_edit(self) -> str:
        """Give the id of the question that was edited, once; empty if none was."""
        message_id, self.editing = self.editing, ""
        return message_id

    def cancel_edit(self) -> None:
        """Bring back the draft from before the edit."""
        self.editing, self.text = "", ""
        self.edit_next()

    # --- the queue

    def enqueue(self, prompt: str, place: int | None = None) -> None:
        """Let a prompt wait behind the others, or at a place."""
        self.queued.insert(len(self.queued) if place is None else place, prompt)

    def next_queued(self) -> str:
        """Take the next prompt out of the queue."""
        return self.queued.pop(0)

    def dequeue(self, prompt: str) -> bool:
        """Take the last prompt with this text out of the queue; false if there is none."""
        for prompts in (self._held, self.queued):
            for place in reversed(range(len(prompts))):
                if prompts[place] == prompt:
                    del prompts[place]
                    return True
        return False

    def hold(self, prompt: str, place: int = 0) -> None:
        """Hold a prompt for the user, at a place among the held ones."""
        self._held.insert(place, prompt)

    def hold_queue(self) -> None:
        """Hold all prompts for the user."""
        self._held, self.queued = [*self.queued, *self._held], []

    def release_queue(self) -> None:
        """Send the held prompts, too."""
        self.queued, self._held = [*self.queued, *self._held], []

    def edit_next(self) -> bool:
        """Move the next held prompt into an empty text; false if there is none, or a text."""
        if self.text.strip() or not self._held:
            return False
        self.text = self._held.pop(0)
        return True

    def begin_leaving(self, prompt: str) -> None:
        """Keep a prompt in the draft until it is in a session."""
        self.leaving.append(prompt)

    def end_leaving(self, prompt: str) -> None:
        """Note that a prompt is in a session, or was given back."""
        self.leaving.remove(prompt)

    # --- the draft on disk

    def restore(
        self,
        text: str,
        queued: Sequence[str],
        pastes: tuple[str, ...],
        asides: Mapping[str, Draft],
        references: frozenset[str] = NO_WORDS,
    ) -> None:
        """Replace text and queue by those found on disk; the queue is held for the user."""
        self.text, self.pastes, self.asides = text, pastes, asides
        for prompt in (text, *queued) if references else ():
            self.refer(prompt, references & words_in(prompt))
        self.queued, self._held = [], [*queued]
        self.edit_next()
