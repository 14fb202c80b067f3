"""The find line: a query for the transcript, and the number of matches."""

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tui.widgets.keys import FIND
from tui.widgets.line_input import LineInput

MOST_CHARACTERS = 200


class _FindInput(LineInput):
    BINDINGS: ClassVar[list[BindingType]] = [
        # Textual's own binding is hidden: the line of keys would show F3 for this action.
        Binding("enter", "submit", "Next", key_display="Enter"),
    ]


class FindLine(Horizontal):
    """Takes a query, and shows the number of matches."""

    BINDINGS: ClassVar[list[BindingType]] = [*FIND]
    DEFAULT_CSS = """
    FindLine {
        height: 1;
        padding: 0 1;
        & > .find-line--label { width: auto; }
        & > Input { width: 1fr; }
        & > .find-line--count { width: auto; padding: 0 0 0 2; }
    }
    """

    @dataclass(eq=False, repr=False)
    class QueryChanged(Message):
        """The query changed; an empty one ends the search."""

        text: str

    @dataclass(eq=False, repr=False)
    class Stepped(Message):
        """The user wants the next match, or the one before."""

        count: int

    class CloseRequested(Message):
        """The user closes the line."""

    def __init__(self) -> None:
        super().__init__()
        self._input = _FindInput(
            placeholder="find in this conversation",
            compact=True,
            select_on_focus=False,
            max_length=MOST_CHARACTERS,
        )
        self._count = Static(classes="find-line--count", markup=False)
        self.display = False

    @property
    def text(self) -> str:
        """The query, also after the line was closed."""
        return self._input.value

    def open(self) -> None:
        """Show the line and focus it at once: the next key is meant for it."""
        self.show()
        self._input.can_focus = True
        self._input.select_all()
        self.screen.set_focus(self._input, scroll_visible=False)

    def show(self) -> None:
        """Show the line with the last query, without the focus."""
        if not self.children:
            # At once, as the next key is meant for it.
            label = Static("Find: ", classes="find-line--label", markup=False)
            self.mount(label, self._input, self._count)
        if not self.display:
            self.display = True
            # Tab from the transcript would lead here otherwise, not to the prompt.
            self._input.can_focus = False
            self._want(self.text)

    def close(self) -> None:
        """End the search; the query is kept for the next time."""
        if self.display:
            self.display = False
            self._want("")

    def show_count(self, words: str) -> None:
        """Show the number of the current match, and of all."""
        self._count.update(Content(words))

    def step(self, count: int) -> None:
        """Go to the next match, or to the one before."""
        self.call_later(self.action_step, count)

    def _want(self, text: str) -> None:
        # In this widget's own task: a message that the screen posts does not reach the application.
        self.call_later(lambda: self.post_message(self.QueryChanged(text)))

    def action_step(self, count: int) -> None:
        self.post_message(self.Stepped(count))

    def action_close(self) -> None:
        self.post_message(self.CloseRequested())

    def on_click(self) -> None:
        if not self._input.can_focus:
            self.open()

    @on(Input.Changed)
    def _look_for(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:
            self.post_message(self.QueryChanged(event.value))

    @on(Input.Submitted)
    def _go_on(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_step(1)
