"""The base class of dialogs with a list that is filtered while the user types."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ScreenResultType
from textual.widget import Widget
from textual.widgets import Static

from tui.domain.models import looks_like_key, matches
from tui.domain.text import make_visible_line
from tui.screens.dialog import Dialog
from tui.widgets.choice_list import Choice, ChoiceList
from tui.widgets.line_input import LineInput

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
