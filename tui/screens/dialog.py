"""The base classes of dialogs: of any, and of those with a list or a filter."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar

from textual import events, on
from textual.app import App, ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widget import Widget
from textual.widgets import OptionList, Static

from tui.domain.models import looks_like_key, matches
from tui.domain.screen_sizes import KEY_LINE_FROM_ROWS
from tui.domain.text import make_visible, make_visible_line
from tui.widgets.choice_list import Choice, ChoiceList
from tui.widgets.keys import short_key_name
from tui.widgets.line_input import LineInput

if TYPE_CHECKING:
    from textual.timer import Timer

_BESIDE_KEYS = 4
"""Columns of the border that the keys in it leave free."""


class Dialog(ModalScreen[ScreenResultType]):
    """A modal screen that gives one result, with the status line of the chat below it.

    A box of the class ``dialog`` names the keys that work now in its lower border. Two answers in
    one read of input, or two clicks, would also pop the screen below.
    """

    KEYS_BEFORE: ClassVar[str] = ""
    """The keys that are named before those of the bindings."""
    VERTICAL_BREAKPOINTS: ClassVar[list[tuple[int, str]] | None] = [  # pyright: ignore[reportIncompatibleVariableOverride] - of Textual's own
        (0, "-short"),
        (KEY_LINE_FROM_ROWS, "-tall"),
    ]
    DEFAULT_CSS = """
    Dialog {
        background: transparent;
        /* No padding, which is drawn over the screen below. */
        & > * { margin: 0 0 1 0; }
        &.-tall > * { margin: 0 0 2 0; }
        /* Notices come in its own line. */
        &.-tall > .has-key-line { margin: 0 0 1 0; }

        .dialog {
            background: $surface; border: round $border;
            border-title-color: $text-primary; border-title-style: bold;
            border-subtitle-color: $text-muted;
        }
    }
    """

    def on_mount(self) -> None:
        self.bindings_updated_signal.subscribe(self, lambda _: self.name_keys())  # pyright: ignore[reportUnknownMemberType, reportUnknownLambdaType]

    @on(events.Resize)
    def _fit_keys(self) -> None:
        self.call_after_refresh(self.name_keys)

    def name_keys(self) -> None:
        """Show the keys that work now in the border."""
        for box in self.query(".dialog"):
            box.border_subtitle = Content(_fitting(self.key_words(), box.size.width))

    def key_words(self) -> str:
        """The keys that work where the focus is, with their descriptions; the way out is last."""
        shown: dict[str, str] = {}
        for active in self.active_bindings.values():
            binding = active.binding
            if active.enabled and binding.show and not isinstance(active.node, App):
                shown.setdefault(binding.description, short_key_name(binding.key))
        keys = sorted(shown.items(), key=lambda each: each[1] == "Esc")
        return self.KEYS_BEFORE + " · ".join(f"{key} {does.lower()}" for does, key in keys)

    def retry_failed(self) -> None:
        """Ask again what the store could not answer; most dialogs ask it nothing."""

    def dismiss(self, result: ScreenResultType | None = None) -> AwaitComplete:
        """Close with a result, and end what its workers do; only if this screen is on top."""
        if not self.is_active:
            return AwaitComplete()
        # Not with the screen, a little later: they may look for what is not on it any more.
        self.workers.cancel_node(self)  # pyright: ignore[reportUnknownMemberType]
        return super().dismiss(result)


def _fitting(keys: str, width: int) -> str:
    """Leave out the last keys that do not fit, but never the way out."""
    parts = keys.split(" · ")
    others = [each for each in parts if not each.startswith("Esc")]
    while width and others[1:] and len(" · ".join(parts)) > width - _BESIDE_KEYS:
        parts.remove(others.pop())
    return " · ".join(parts)


SETTLED_SECONDS = 0.05
"""Debounce of the highlight: to change the theme takes longer than a held key repeats."""


class ListDialog(Dialog[int | None]):
    """A title, what it is about, and rows; the result is the index of the chosen row."""

    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: the list binds the same key, and names it nowhere.
        Binding("enter", "choose", "Choose", priority=True),
        Binding("escape", "dismiss", "Back"),
    ]
    DEFAULT_CSS = """
    ListDialog {
        align: center middle;
        Vertical { width: 100%; max-width: 100; height: auto; max-height: 100%; padding: 0 1; }
        .list-dialog--detail { color: $text-muted; margin-bottom: 1; }
        OptionList {
            height: auto; max-height: 100%; border: none; padding: 0; background: $surface;
            scrollbar-size-vertical: 1;
            scrollbar-background: $surface; scrollbar-color: $foreground 30%;
            &:focus { border: none; background-tint: $foreground 0%; }
        }
    }
    """

    def __init__(
        self, title: str, rows: Sequence[str], highlighted: int = 0, *, detail: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._detail = detail
        self.list = OptionList(*[Content(make_visible_line(row)) for row in rows], markup=False)
        self.list.highlighted = highlighted
        # Textual looks for the actions of BINDINGS here.
        self.action_choose = self.list.action_select

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            if self._detail:
                yield Static(Content(make_visible(self._detail)), classes="list-dialog--detail")
            yield self.list

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(event.option_index)


class ThemePicker(ListDialog):
    """Lists themes at the side, and calls ``preview`` with the highlighted one."""

    DEFAULT_CSS = """
    ThemePicker {
        align: right middle;
        Vertical { max-width: 32; }
    }
    """

    def __init__(
        self, names: Sequence[str], current: str, preview: Callable[[str], object]
    ) -> None:
        super().__init__("Theme", names, names.index(current))
        self._names = names
        self._preview = preview
        self._timer: Timer | None = None

    @on(OptionList.OptionHighlighted)
    def _show_later(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        name = self._names[event.option_index]
        self._timer = self.set_timer(SETTLED_SECONDS, lambda: self._preview(name))


CHOOSER_KEYS: list[BindingType] = [
    # With priority: the line binds some of them.
    Binding("enter", "choose", "Choose", priority=True),
    Binding("down", "move(1)", "Next", show=False, priority=True),
    Binding("up", "move(-1)", "Previous", show=False, priority=True),
    Binding("pagedown", "move_page(1)", "Page down", show=False, priority=True),
    Binding("pageup", "move_page(-1)", "Page up", show=False, priority=True),
    Binding("escape", "back", "Back", priority=True),
]


class ShownInput(LineInput):
    """An input that leaves a pasted key to its screen, because it would be shown."""

    takes_pastes = True

    def on_paste(self, event: events.Paste) -> None:
        if not self.takes_pastes or looks_like_key(event.text):
            event.prevent_default()


class ChooserDialog(Dialog[ScreenResultType]):
    """A title, a line of words, a filter, and the choices that match it."""

    AUTO_FOCUS = ""
    BINDINGS: ClassVar[list[BindingType]] = CHOOSER_KEYS
    DEFAULT_CSS = """
    ChooserDialog {
        align: center middle;
        #chooser {
            width: 100%; max-width: 84; height: 100%; max-height: 18; padding: 0 1;
        }
        #chooser-words { height: auto; max-height: 4; color: $text-muted; }
        #chooser-words.-error { color: $text-error; }
        LineInput { height: 1; width: 100%; border: none; padding: 0; background: $panel; }
        ChoiceList { margin: 0; }
        &.-typing #chooser { height: auto; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self.words = Static(id="chooser-words", markup=False)
        self.filter = ShownInput(placeholder="type to filter", compact=True, select_on_focus=False)
        self.choices = ChoiceList()
        self._all: Sequence[Choice] = ()
        self._tail: Sequence[Choice] = ()
        self._keys = ""
        self._matched = ""

    def compose(self) -> ComposeResult:
        with Vertical(id="chooser", classes="dialog"):
            yield self.words
            yield from self.lines()
            yield self.choices

    def lines(self) -> ComposeResult:
        """The inputs: the filter, and those of subclasses."""
        yield self.filter

    # --- what it shows

    def entitle(self, title: str, keys: str) -> None:
        """Show a title, and the keys that work."""
        box = self.query_one("#chooser", Vertical)
        box.border_title = Content(make_visible_line(title))
        self._keys = keys
        self.name_keys()

    def key_words(self) -> str:
        return self._keys

    def say(self, words: str, *, error: bool = False) -> None:
        """Show words below the title."""
        self.words.update(Content(make_visible_line(words)))
        self.words.set_class(error, "-error")
        self.words.display = bool(words)

    def offer(
        self, choices: Sequence[Choice], highlighted: str = "", tail: Sequence[Choice] = ()
    ) -> None:
        """Show choices, those that match the filter; ``tail`` are lines below them."""
        self._all, self._tail = choices, tail
        self._show_matching(highlighted)

    def unlisted(self, text: str) -> Choice | None:  # noqa: ARG002 - for those that have one
        """The choice for a typed text that is not among the choices."""
        return None

    def _show_matching(self, highlighted: str) -> None:
        self._matched = self.filter.value
        text = self._matched.strip()
        found = [choice for choice in self._all if matches(f"{choice.text} {choice.id}", text)]
        typed = self.unlisted(text) if text else None
        self.choices.show([*found, *([typed] if typed else []), *self._tail], highlighted)

    @on(LineInput.Changed)
    def _follow_filter(self, event: LineInput.Changed) -> None:
        event.stop()
        # Not what the dialog has cleared itself: the choices were shown with their highlight since.
        if event.input is self.filter and self.filter.value != self._matched:
            self._show_matching("")

    # --- keys

    def action_move(self, lines: int) -> None:
        self.choices.move(lines)

    def action_move_page(self, pages: int) -> None:
        self.choices.move_page(pages)

    async def action_back(self) -> None:
        self.dismiss(None)

    @on(ChoiceList.Chosen)
    def action_choose(self) -> None:
        """Take the highlighted choice."""

    def type_into(self, line: Widget | None) -> None:
        """Show one line, or none, and let it have the keys."""
        for each in self.query(LineInput):
            each.display = each is line
        self.set_focus(line)
