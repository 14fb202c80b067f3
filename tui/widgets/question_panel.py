"""The panel in which a server of tools asks the user: a form, or an address to open.

It is made for one question, and never takes the focus by itself.
"""

from collections.abc import Mapping
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Button, Checkbox, Input, Select, Static

from tui.domain.tool_servers import Answer, Field, ServerQuestion
from tui.widgets.intents import AddressWanted, CopyRequested, QuestionAnswered
from tui.widgets.keys import QUESTION, short_key_name
from tui.widgets.line_input import LineInput


class QuestionPanel(VerticalScroll, can_focus=True):
    """Asks one question."""

    BINDINGS: ClassVar[list[BindingType]] = [*QUESTION]

    def __init__(
        self, question: ServerQuestion, chosen_keys: Mapping[str, str] | None = None
    ) -> None:
        """``chosen_keys`` are the user's own, by the ids of their bindings."""
        super().__init__()
        self.question = question
        self._keys = chosen_keys or {}
        self._editors = {field: _editor(field) for field in question.fields}
        self._said = Static(markup=False, classes="question-panel--said")

    def compose(self) -> ComposeResult:
        question = self.question
        asks = f'The server "{question.server}" asks: ' if question.kind != "sign-in" else ""
        yield Static(Content(f"? {asks}{question.message}"), classes="question-panel--message")
        if question.address:
            yield Static(Content(question.address), classes="question-panel--address")
        for field, editor in self._editors.items():
            if field.about:
                yield Static(Content(field.about), classes="question-panel--about")
            with Horizontal():
                yield Static(Content(f"{field.title}{' *' if field.required else ''}"))
                yield editor
        yield self._said
        with Horizontal(classes="question-panel--answers"):
            if question.address:
                yield Button("Open (o)", id="open", compact=True)
                yield Button("Copy (c)", id="copy", compact=True)
            else:
                yield Button("Send", id="send", compact=True)
            yield Button("Refuse (Esc)", id="refuse", compact=True)

    def on_mount(self) -> None:
        keys = (("approval-focus", "f3", "answers"), ("stop", "escape", "refuses"))
        named = [(self._keys.get(name, key).split(",")[0], does) for name, key, does in keys]
        self.border_subtitle = " · ".join(f"{short_key_name(key)} {does}" for key, does in named)

    def tell(self, words: str) -> None:
        """Show words about the answer."""
        self._said.display = True
        self._said.update(Content(words))
        self._said.scroll_visible()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave letters to the fields, and those about an address to a question that has one."""
        if action in {"open", "copy"} and not self.question.address:
            return False
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        self.post_message(AddressWanted(self.question))

    def action_copy(self) -> None:
        self.post_message(CopyRequested(self.question.address, "the address"))

    def action_refuse(self) -> None:
        self.post_message(QuestionAnswered(self.question, None))

    def action_step(self, step: int) -> None:
        if step > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    @on(Button.Pressed)
    def _press(self, event: Button.Pressed) -> None:
        event.stop()
        getattr(self, f"action_{event.button.id}")()

    @on(Input.Submitted)
    def _go_on(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next()

    def action_send(self) -> None:
        answer: Answer = {}
        for field, editor in self._editors.items():
            try:
                value = field.value(_entry(editor))
            except ValueError as error:
                self.tell(str(error))
                next(each for each in editor.query("*") or (editor,) if each.focusable).focus()
                return
            if value is not None:
                answer[field.name] = value
        self.post_message(QuestionAnswered(self.question, answer))


class _Tick(Checkbox):
    """A check box whose state is told without colour, too."""

    def __init__(self, label: str, *, value: bool) -> None:
        super().__init__(Content(label), value, compact=True)
        self.watch_value()

    def watch_value(self) -> None:
        self.BUTTON_INNER = "X" if self.value else " "
        super().watch_value()


class _Pick(Select[str], inherit_bindings=False):
    """A list to choose from; Textual's opens for the keys that lead past it, too."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter,space", "show_overlay", "Choose", show=False)
    ]


class _Choices(Vertical):
    """Check boxes for a field of several choices."""

    def __init__(self, field: Field) -> None:
        chosen = field.default or ()
        self.ticks = {each: _Tick(each.title, value=each.value in chosen) for each in field.options}
        super().__init__(*self.ticks.values())


def _editor(field: Field) -> Widget:
    """The widget in which a field is filled in, with its default."""
    match field.kind:
        case "boolean":
            return _Tick("yes", value=field.default is True)
        case "choice":
            rows = [(Content(each.title), each.value) for each in field.options]
            default = Select.NULL if field.default is None else field.default
            return _Pick(rows, value=default, type_to_search=False, compact=True)  # pyright: ignore[reportArgumentType] - Content is drawn
        case "choices":
            return _Choices(field)
        case _:
            return LineInput(field.shown, compact=True, select_on_focus=False)


def _entry(editor: Widget) -> str | bool | tuple[str, ...]:
    match editor:
        case Checkbox() | Input():
            return editor.value
        case _Choices():
            return tuple(option.value for option, tick in editor.ticks.items() if tick.value)
        case Select():
            return "" if editor.is_blank() else str(editor.value)
        case _:
            raise TypeError(editor)
