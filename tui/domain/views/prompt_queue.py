"""The view model of the prompts that wait to be sent."""

from collections.abc import Mapping, Sequence
from typing import Self

import msgspec

from tui.domain.references import NO_WORDS


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
