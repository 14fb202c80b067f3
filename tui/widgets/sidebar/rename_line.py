"""The line in which a session is renamed, in the place of its row."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input
from textual.widgets.input import Selection

from tui.domain.text.labels import EMPTY, NAME_CHARACTERS, UNREADABLE
from tui.widgets.cells import one_line
from tui.widgets.keys import RENAME
from tui.widgets.line_input import LineInput
from tui.widgets.sidebar import messages


class RenameLine(LineInput):
    """An input line with the name of one session; hidden while none is renamed."""

    BINDINGS: ClassVar[list[BindingType]] = [*RENAME]
    # As wide as the screen, whatever it lies in.
    DEFAULT_CSS = """
    RenameLine {
        layer: line; overlay: screen;
        background: $boost; color: $foreground; text-style: underline;
    }
    """

    @dataclass(eq=False, repr=False)
    class TitleWanted(Message):
        """The model is to be asked for a title."""

        line: "RenameLine"

    def __init__(self) -> None:
        super().__init__(compact=True, select_on_focus=False, max_length=NAME_CHARACTERS)
        self.display = False
        self.session_id = ""
        self._value_before = ""
        self._unchanged: tuple[str, ...] = ()
        self._go_back: Callable[[], object] = lambda: None

    def begin(self, session_id: str, name: str, label: str, go_back: Callable[[], object]) -> None:
        """Rename a session; ``go_back`` returns the focus.

        One without a name offers its title, selected: typing replaces it, and a move keeps it.
        """
        # The session's own words in a title, without the mark where it was cut.
        title = "" if label in (EMPTY, UNREADABLE) else one_line(label).removesuffix("…")
        before = one_line(name)
        self.session_id, self._go_back = session_id, go_back
        self._unchanged = (before,) if before else ("", title)
        self.value, self._value_before, self.placeholder = before or title, "", ""
        end = len(self.value)
        self.selection = Selection(end if before else 0, end)
        self.display = True
        # At once: the next keys may be in the queue already.
        self.screen.set_focus(self)

    def lie_at(self, x: int, y: int) -> None:
        """Lie over a row of the parent, as far as the edge of the screen."""
        parent = self.parent
        left = parent.region.x + x if isinstance(parent, Widget) else x
        self.styles.offset = (x, y)
        self.styles.width = max(1, self.screen.size.width - left)

    def action_leave(self) -> None:
        """Close without renaming."""
        if not self.session_id:
            return
        self.session_id = ""
        self.workers.cancel_node(self)  # pyright: ignore[reportUnknownMemberType]
        if self.has_focus:
            self._go_back()
        self.display = False

    async def action_submit(self) -> None:
        """Post the new name, unless it is the old one."""
        if self.placeholder and not self.value:
            return  # the model is being asked
        session_id, name = self.session_id, " ".join(self.value.split())
        if session_id and name not in self._unchanged:
            self.post_message(messages.SessionRenamed(session_id, name))
        self.action_leave()

    def action_ask_title(self) -> None:
        self.post_message(self.TitleWanted(self))

    def show_asking(self, words: str) -> None:
        """Show what is waited for in place of the text."""
        self._value_before = self.value or self._value_before
        self.value, self.placeholder = "", words

    def offer(self, title: str) -> None:
        """Offer a title to be edited, or if empty the text from before; not over typed text."""
        self.placeholder = ""
        if not self.value:
            self.value = title or self._value_before
            self.cursor_position = len(self.value)

    def on_blur(self) -> None:
        # A terminal that loses the focus gives it back to this line.
        if self.app.app_focus:  # pyright: ignore[reportUnknownMemberType]
            self.action_leave()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()

    def on_input_blurred(self, event: Input.Blurred) -> None:
        event.stop()
