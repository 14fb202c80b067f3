"""The line that takes words to search the earlier prompts for."""

from collections.abc import Callable
from typing import ClassVar

from textual.binding import BindingType

from tui.widgets.keys import HISTORY
from tui.widgets.line_input import LineInput

MOST_CHARACTERS = 200


class HistoryLine(LineInput):
    """Stands in the prompt above the text, which shows what was found.

    ``step`` is called to go to an older (1) or newer (-1) prompt, ``take`` to keep the one that is
    shown, ``leave`` to bring the old text back.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*HISTORY]

    def __init__(
        self,
        step: Callable[[int], object],
        take: Callable[[], object],
        leave: Callable[[], object],
    ) -> None:
        super().__init__(
            placeholder="search earlier prompts", select_on_focus=False, max_length=MOST_CHARACTERS
        )
        self.display = False
        # Textual looks for the actions of BINDINGS here.
        self.action_step, self.action_take, self.action_leave = step, take, leave
