"""The history of prompts, which Up and Down walk through as in a shell."""

from collections.abc import Callable, Sequence
from itertools import groupby


class EarlierPrompts:
    """The prompts that were sent, newest first, and before them the draft.

    A place counts them back from the draft, which has the place 0. Changes to earlier prompts are
    kept until ``leave``.
    """

    def __init__(self) -> None:
        self._prompts: tuple[str, ...] = ()
        self.more = False
        """True if there may be older ones than those that are known."""
        self.place = 0
        self.draft = ""
        """The text that was typed before the walk began."""
        self._changed: dict[int, str] = {}
        self.then: Callable[[], object] | None = None
        """Called once as soon as others are shown."""

    def show(self, prompts: Sequence[str], *, more: bool = False) -> None:
        """Replace the list; during a walk older ones are added at its end."""
        self._prompts = tuple(prompt for prompt, _ in groupby(prompts))
        self.more = more
        then, self.then = self.then, None
        if then is not None:
            then()

    @property
    def count(self) -> int:
        """The place of the oldest one that is known."""
        return len(self._prompts)

    def leave(self) -> None:
        """Return to the draft, which becomes empty; the prompts are those of another session."""
        self.then = None
        self.show(())
        self.place = 0
        self.draft = ""
        self._changed.clear()

    def is_at(self, text: str) -> bool:
        """Check whether a text is the earlier prompt at the current place, unchanged."""
        return self.place > 0 and self._prompts[self.place - 1 : self.place] == (text,)

    @property
    def held(self) -> str:
        """The draft while an earlier prompt is on screen instead of it, else empty."""
        return self.draft if self.place else ""

    def find(self, words: str, place: int, step: int = 1) -> int | None:
        """Find the first prompt from a place on that has the words, in any case.

        Back in time, or with a ``step`` of -1 towards now. A repetition of the one at the current
        place is passed over, unless the search begins anew there.
        """
        wanted = words.casefold()
        shown = self._prompts[self.place - 1] if 0 < self.place == place - step else None
        for found in range(max(1, place), self.count + 1) if step > 0 else range(place, 0, -1):
            text = self._prompts[found - 1]
            if text != shown and wanted in text.casefold():
                return found
        return None

    def go_to(self, place: int, text: str) -> str | None:
        """Go to a place, and keep ``text`` for this one; ``None`` if there is no such place."""
        if not 0 <= place <= self.count:
            return None
        if self.place == 0:
            self.draft = text
        elif self.is_at(text):
            self._changed.pop(self.place, None)
        else:
            self._changed[self.place] = text
        self.place = place
        return self._changed.get(place, self._prompts[place - 1]) if place else self.draft
