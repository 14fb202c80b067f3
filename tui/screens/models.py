"""The model picker: the models of all connected servers."""

from collections.abc import Callable
from typing import ClassVar

from textual import events, on
from textual.binding import Binding, BindingType

from tui.domain.models import KEY, ModelRows, refusal
from tui.domain.providers import is_guide
from tui.domain.text import make_visible_line
from tui.screens.chooser_dialog import ChooserDialog
from tui.widgets.choice_list import Choice, ChoiceList
from tui.widgets.intents import CommandInvoked

_NAMED = "A model is named PROVIDER:MODEL. F5 connects a provider."
_KEYS = "Enter choose · Esc close · Ctrl+R refresh · F5 connect"


class ModelScreen(ChooserDialog[None]):
    """Shows models, and has the chosen one used."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+r", "ask_anew", "Ask again", priority=True, show=False),
        Binding("f5", "connect", "Connect", priority=True, show=False),
    ]

    def __init__(
        self,
        rows: ModelRows,
        choose: Callable[["ModelScreen", str], object],
        ask_anew: Callable[["ModelScreen"], object],
        text: str = "",
    ) -> None:
        """``text`` is put into the filter; ``ask_anew`` asks all servers again."""
        super().__init__()
        self._choose, self._ask_anew = choose, ask_anew
        self._rows = rows
        self._asked_about = ""
        self.filter.placeholder = "type to filter, or PROVIDER:MODEL"
        self.filter.value = make_visible_line(text)

    def on_mount(self) -> None:
        self.entitle("Models", _KEYS)
        self.say("")
        self.show(self._rows)
        self.type_into(self.filter)

    def show(self, rows: ModelRows) -> None:
        """Show what is known by now; the highlight stays on its model."""
        first = not self.choices.lines
        highlighted = self.choices.highlighted
        self._rows = rows
        current = next((row.name for row in rows.rows if row.current), "")
        keep = current if first else highlighted.id if highlighted else ""
        tail = [*rows.troubles, *(f"{name}: asking for its models …" for name in rows.asking)]
        self.offer(
            [
                Choice(
                    row.name,
                    row.name,
                    "answers about this program" if is_guide(row.name) else row.facts.words,
                    "●" if row.current else "",
                )
                for row in rows.rows
            ],
            keep,
            [Choice("", line) for line in tail],
        )

    def unlisted(self, text: str) -> Choice | None:
        provider, colon, model = text.partition(":")
        if not (colon and provider and model.strip()) or text in self._names or refusal(text):
            return None
        return Choice(text, f'Use "{text}"', "in no list")

    @property
    def _names(self) -> set[str]:
        return {row.name for row in self._rows.rows}

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.say(KEY, error=True)

    def action_connect(self) -> None:
        self.post_message(CommandInvoked("connect"))
        self.dismiss(None)

    def action_ask_anew(self) -> None:
        self._ask_anew(self)

    @on(ChoiceList.Chosen)
    def action_choose(self) -> None:
        choice = self.choices.highlighted
        if choice is None:
            self.say(refusal(self.filter.value) or _NAMED, error=True)
        elif choice.id in self._names or choice.id == self._asked_about:
            self._choose(self, choice.id)
        else:
            self._asked_about = choice.id
            self.say(f'No server lists "{choice.id}". Enter again uses it.')
