"""The base class of modal screens."""

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    """A modal screen that gives one result.

    Two answers in one read of input, or two clicks, would also pop the screen below.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with a result; does nothing unless this screen is on top."""
        if not self.is_active:
            return AwaitComplete()
        return super().dismiss(result)
