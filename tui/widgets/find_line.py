"""The line in which a text is looked for in the conversation."""

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Static

from tui.widgets.line_input import LineInput

MOST_CHARACTERS = 200


class _Query(LineInput):
    """Where it is typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # An input's own, which is nearer than those of the line and not shown: F3 stood for it in
        # the line of keys, until a tool's question took that.
        Binding("enter", "submit", "Next", key_display="Enter"),
    ]

    def __init__(self) -> None:
        super().__init__(
            placeholder="find in this conversation",
            compact=True,
            select_on_focus=False,
            max_length=MOST_CHARACTERS,
        )


class FindLine(Horizontal):
    """Takes what is looked for, and tells how much of it there is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter,down,f3",
            "step(1)",
            "Next",
            id="find-line-next",
            tooltip="Next match",
            key_display="Enter",
        ),
        Binding(
            "up,shift+enter,shift+f3",
            "step(-1)",
            "Previous",
            id="find-line-previous",
            tooltip="Previous match",
            key_display="↑",
        ),
        Binding("escape", "close", "Close", id="find-line-close", tooltip="Close, and stay there"),
    ]
    DEFAULT_CSS = """
    FindLine {
        display: none;
        height: 1;
        padding: 0 1;
        & > .find-line--label { width: auto; }
        & > Input { width: 1fr; }
        & > .find-line--count { width: auto; padding: 0 0 0 2; }
    }
    """

    class Wanted(Message):
        """The reader looks for this now; for nothing if it is empty."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Stepped(Message):
        """The reader wants to see the next match, or the one before."""

        def __init__(self, count: int) -> None:
            super().__init__()
            self.count = count

    class Closed(Message):
        """The reader has found it, or gives up."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 - as every widget calls it
        super().__init__(id=id, classes=classes)
        self._query = _Query()
        self._count = Static(classes="find-line--count", markup=False)

    def compose(self) -> ComposeResult:
        yield Static("Find: ", classes="find-line--label", markup=False)
        yield self._query
        yield self._count

    @property
    def text(self) -> str:
        """What is looked for, also after the line was closed."""
        return self._query.value

    def open(self) -> None:
        """Show the line and give it the keys, at once: the next one is meant for it."""
        self.show()
        self._query.can_focus = True
        self._query.select_all()
        self.screen.set_focus(self._query, scroll_visible=False)

    def show(self) -> None:
        """Show the line with what was looked for last; the keys stay where they are."""
        if not self.display:
            self.display = True
            # Else Tab from the conversation would lead here, not to the prompt.
            self._query.can_focus = False
            self.call_later(self._want, self.text)

    def close(self) -> None:
        """Look for nothing any more; what was typed is there the next time."""
        if self.display:
            self.display = False
            self.call_later(self._want, "")

    def show_count(self, words: str) -> None:
        """Show where the reader is among how many."""
        self._count.update(Content(words))

    @property
    def has_keys(self) -> bool:
        """Whether keys come here."""
        return self.has_focus_within

    def step(self, count: int) -> None:
        """Go to the next match, or to the one before."""
        self.call_later(self.action_step, count)

    def _want(self, text: str) -> None:
        # In this widget's own turn: what the screen sends itself does not come to the application.
        self.post_message(self.Wanted(text))

    def action_step(self, count: int) -> None:
        self.post_message(self.Stepped(count))

    def action_close(self) -> None:
        self.post_message(self.Closed())

    def on_click(self) -> None:
        if not self._query.can_focus:
            self.open()

    @on(Input.Changed)
    def _look_for(self, event: Input.Changed) -> None:
        event.stop()
        if self.display:
            self.post_message(self.Wanted(event.value))

    @on(Input.Submitted)
    def _go_on(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_step(1)
