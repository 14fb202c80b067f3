"""The view model of the prompts that wait to be sent."""

from collections.abc import Sequence
from typing import Self

import msgspec


class PromptQueue(msgspec.Struct, frozen=True):
    """Prompts in order: those sent automatically, and those held until the user presses Enter."""

    sending: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def prompts(self) -> tuple[str, ...]:
        return (*self.sending, *self.held)

    @classmethod
    def of(cls, prompts: Sequence[str], sending: int) -> Self:
        """Make a queue of which the first ``sending`` are sent, and the others held."""
        return cls(tuple(prompts[:sending]), tuple(prompts[sending:]))
