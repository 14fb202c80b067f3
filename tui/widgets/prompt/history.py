"""Walking through earlier prompts, as in a shell."""

from collections.abc import Sequence
from itertools import groupby


class EarlierPrompts:
    """The prompts of a session, oldest first, and after them what is being typed.

    What was changed on the way stays changed until ``leave``.
    """

    def __init__(self) -> None:
        self._prompts: tuple[str, ...] = ()
        self._place = 0
        self._draft = ""
        self._changed: dict[int, str] = {}

    def show(self, prompts: Sequence[str]) -> None:
        """Take another list; whoever is walking stays as near to where they are as can be."""
        new = tuple(prompt for prompt, _ in groupby(prompts))
        old, self._prompts = self._prompts, new
        if self._place == len(old):
            self._place = len(new)
        elif new[: len(old)] != old:
            self._place = max(0, len(new) - (len(old) - self._place))
            self._changed.clear()

    def leave(self) -> None:
        """Go back to what is being typed, which starts anew."""
        self._place = len(self._prompts)
        self._draft = ""
        self._changed.clear()

    def is_at(self, text: str) -> bool:
        """Whether this text is the earlier prompt that was walked to, as it was sent."""
        return self._place < len(self._prompts) and self._prompts[self._place] == text

    @property
    def draft(self) -> str:
        """What was typed before the walk began."""
        return self._draft

    @property
    def held(self) -> str:
        """The same while an earlier prompt is on screen in its place."""
        return self._draft if self._place < len(self._prompts) else ""

    def forget(self, sent: str) -> None:
        """What was typed before the walk began with this, and has been sent."""
        self._draft = self._draft.removeprefix(sent)

    def earlier(self, text: str) -> str | None:
        """The prompt before the one on screen, whose ``text`` is kept; ``None`` at the oldest."""
        return self._walk(text, -1)

    def later(self, text: str) -> str | None:
        """The prompt after it, at last what was being typed; ``None`` if that is on screen."""
        return self._walk(text, 1)

    def _walk(self, text: str, step: int) -> str | None:
        place = self._place + step
        if not 0 <= place <= len(self._prompts):
            return None
        self._keep(text)
        self._place = place
        if place == len(self._prompts):
            return self._draft
        return self._changed.get(place, self._prompts[place])

    def _keep(self, text: str) -> None:
        if self._place == len(self._prompts):
            self._draft = text
        elif self.is_at(text):
            self._changed.pop(self._place, None)
        else:
            self._changed[self._place] = text
