"""The base of every screen that stands over another one."""

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, ScreenResultType


class Dialog(ModalScreen[ScreenResultType]):
    """A modal screen that answers once.

    Two answers in one read, or two clicks, would pop the screen below as well, and end the program.
    """

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Give the answer and close; nothing unless this screen is on top."""
        if not self.is_active:
            return AwaitComplete()
        return super().dismiss(result)
