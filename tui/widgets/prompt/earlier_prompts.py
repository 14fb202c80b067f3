"""The history of prompts, which Up and Down walk through as in a shell."""

from collections.abc import Sequence
from itertools import groupby


class EarlierPrompts:
    """The prompts of a session, oldest first, and after them the draft.

    Changes to earlier prompts are kept until ``leave``.
    """

    def __init__(self) -> None:
        self._prompts: tuple[str, ...] = ()
        self._place = 0
        self.draft = ""
        """The text that was typed before the walk began."""
        self._changed: dict[int, str] = {}

    def show(self, prompts: Sequence[str]) -> None:
        """Replace the list; the place in it is kept as well as possible."""
        new = tuple(prompt for prompt, _ in groupby(prompts))
        old, self._prompts = self._prompts, new
        if self._place == len(old):
            self._place = len(new)
        elif new[: len(old)] != old:
            self._place = max(0, len(new) - (len(old) - self._place))
            self._changed.clear()

    def leave(self) -> None:
        """Return to the draft, which becomes empty."""
        self._place = len(self._prompts)
        self.draft = ""
        self._changed.clear()

    def is_at(self, text: str) -> bool:
        """Check whether a text is the earlier prompt at the current place, unchanged."""
        return self._place < len(self._prompts) and self._prompts[self._place] == text

    @property
    def held(self) -> str:
        """The draft while an earlier prompt is on screen instead of it, else empty."""
        return self.draft if self._place < len(self._prompts) else ""

    def earlier(self, text: str) -> str | None:
        """Go to the prompt before, and keep ``text`` for this one; ``None`` at the oldest."""
        return self._walk(text, -1)

    def later(self, text: str) -> str | None:
        """Go to the prompt after, at last to the draft; ``None`` if that is on screen."""
        return self._walk(text, 1)

    def _walk(self, text: str, step: int) -> str | None:
        place = self._place + step
        if not 0 <= place <= len(self._prompts):
            return None
        self._keep(text)
        self._place = place
        if place == len(self._prompts):
            return self.draft
        return self._changed.get(place, self._prompts[place])

    def _keep(self, text: str) -> None:
        if self._place == len(self._prompts):
            self.draft = text
        elif self.is_at(text):
            self._changed.pop(self._place, None)
        else:
            self._changed[self._place] = text
