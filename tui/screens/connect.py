"""The connection of a model: provider, key or address, model."""

from collections.abc import Sequence
from typing import ClassVar, Literal

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui.domain.model_choice import matches
from tui.domain.model_names import looks_like_key, refusal
from tui.domain.views.model_rows import OWN_SERVER, ProviderRow
from tui.screens.chooser_dialog import ChooserDialog, ShownInput
from tui.widgets.choice_list import Choice, ChoiceList
from tui.widgets.intents import ConnectIntent
from tui.widgets.line_input import MaskedInput

Step = Literal["provider", "key", "address", "model"]

_BACK = "Enter continue · Esc back"
_KEYS: dict[Step, str] = {
    "provider": "Enter choose · Esc close",
    "key": _BACK,
    "address": _BACK,
    "model": "Enter choose · Esc back",
}
_REMOVE = "Enter choose · Del remove · Esc close"


class ConnectScreen(ChooserDialog[None]):
    """Leads through the steps; decides nothing."""

    class ProviderChosen(ConnectIntent):
        """A provider was chosen, by the name of its row."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class KeyEntered(ConnectIntent):
        """A key was entered."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class AddressEntered(ConnectIntent):
        """The address of a server was entered."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class ModelChosen(ConnectIntent):
        """A model of the server was chosen, or named."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class RemovalConfirmed(ConnectIntent):
        """A connection is to be removed."""

        def __init__(self, name: str) -> None:
            super().__init__()
            self.name = name

    class WentBack(ConnectIntent):
        """The user went back: drop the pending request."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete", "remove", "Remove", priority=True, show=False),
    ]

    def __init__(self, rows: Sequence[ProviderRow]) -> None:
        super().__init__()
        self.key = MaskedInput()
        self.address = ShownInput(compact=True, select_on_focus=False)
        self.step: Step = "provider"
        self._rows = rows
        self._row = rows[0]
        self._names: Sequence[str] = ()
        self._removing = ""
        self._waiting = False

    def lines(self) -> ComposeResult:
        yield self.filter
        yield self.key
        yield self.address

    def on_mount(self) -> None:
        self._show_providers()

    # --- what it shows

    def show_rows(self, rows: Sequence[ProviderRow]) -> None:
        """Show the providers as they are now."""
        self._rows = rows
        if self.step == "provider":
            highlighted = self.choices.highlighted
            self._offer_providers(highlighted.id if highlighted else "")

    def ask_key(self, words: str = "", *, error: bool = False) -> None:
        """Ask for the key of the chosen provider."""
        self._begin("key", f"Connect {self._row.within}: paste its key")
        page = f"Keys are made at {self._row.key_page}" if self._row.key_page else ""
        self.say(words or page, error=error)
        self.type_into(self.key)

    def ask_address(self, words: str = "", *, error: bool = False) -> None:
        """Ask for the address of the chosen server."""
        self._begin("address", f"Connect {self._row.within}: type its address")
        example = self._row.example_address or "http://127.0.0.1:8080/v1"
        self.say(words or f"For example {example}", error=error)
        self.type_into(self.address)

    def show_waiting(self, words: str) -> None:
        """Show that a server is being asked."""
        self._waiting = True
        self.say(words)

    def show_error(self, words: str) -> None:
        """Show an error; the typed text stays."""
        self._waiting = False
        self.say(words, error=True)

    def show_models(self, names: Sequence[str]) -> None:
        """Let a model of the server be chosen, or named where it lists none."""
        self._begin("model", f"Connect {self._row.within}: choose a model")
        self._names = names
        self._clear_filter("type to filter, or a name", takes_pastes=True)
        none = "This server lists no models. Type the name of one."
        self.say("" if names else none)
        self.offer([Choice(name, name) for name in names])
        self.choices.display = True
        self.type_into(self.filter)

    def unlisted(self, text: str) -> Choice | None:
        if self.step == "provider":
            # A server of one's own has no name yet.
            own = next(row for row in self._rows if row.name == OWN_SERVER)
            known = any(matches(f"{row.title} {row.name}", text) for row in self._rows)
            return None if known else Choice(own.name, own.title, own.note)
        if self.step != "model" or text in self._names or refusal(text):
            return None
        return Choice(text, f'Use "{text}"', "not listed" if self._names else "")

    # --- steps

    def _begin(self, step: Step, title: str) -> None:
        self._waiting, self.step = False, step
        self.entitle(title, _KEYS[step])
        self.choices.display = step in ("provider", "model")
        self.set_class(not self.choices.display, "-typing")

    def _show_providers(self) -> None:
        removable = any(row.connected for row in self._rows)
        self._begin("provider", "Connect a model")
        self.entitle("Connect a model", _REMOVE if removable else _KEYS["provider"])
        self.say("")
        self._clear_filter("type to filter", takes_pastes=False)
        self._offer_providers(self._row.name)
        self.type_into(self.filter)

    def _clear_filter(self, placeholder: str, *, takes_pastes: bool) -> None:
        self.filter.value = ""
        self.filter.placeholder = placeholder
        self.filter.takes_pastes = takes_pastes

    def _offer_providers(self, highlighted: str) -> None:
        rows = self._rows
        self.offer(
            [Choice(row.name, row.title, row.note, "●" if row.found else "") for row in rows],
            highlighted,
        )

    def action_back(self) -> None:
        """Go back a step; from the first one, close."""
        self.post_message(self.WentBack())
        if self._waiting and self.step != "provider":
            self.show_error("Stopped.")
        elif self._removing:
            self._removing = ""
            self.say("")
        elif self.step == "provider":
            self.dismiss(None)
        elif self.step == "model":
            (self.ask_key if self._row.wants_key else self.ask_address)()
        else:
            self._show_providers()

    @on(ChoiceList.Chosen)
    def action_choose(self) -> None:
        if self._waiting:
            return
        choice = self.choices.highlighted
        if self.step == "key":
            self.post_message(self.KeyEntered(self.key.value))
        elif self.step == "address":
            self.post_message(self.AddressEntered(self.address.value))
        elif choice is None:
            self.say(refusal(self.filter.value), error=True)
        elif self.step == "model":
            self.post_message(self.ModelChosen(choice.id))
        else:
            self._choose_provider(choice.id)

    def _choose_provider(self, name: str) -> None:
        self._removing = ""
        row = next(row for row in self._rows if row.name == name)
        if row.name != self._row.name or not self.address.value:
            self.key.value = ""
            self.address.value = row.address
            # Typing or pasting another address replaces it.
            self.address.select_all()
        self._row = row
        self.post_message(self.ProviderChosen(name))

    def action_remove(self) -> None:
        """Ask, and on the second key remove a connection."""
        choice = self.choices.highlighted
        row = next((row for row in self._rows if choice and row.name == choice.id), None)
        if self.step != "provider" or row is None or not row.connected:
            return
        if self._removing == row.name:
            self._removing = ""
            self.post_message(self.RemovalConfirmed(row.name))
            return
        self._removing = row.name
        self.say(f"Remove {row.title} and its key? Del removes it, Esc keeps it.", error=True)

    def on_paste(self, event: events.Paste) -> None:
        """Take a key that was pasted in another place; it is not shown."""
        event.stop()
        if self.step == "address":
            self.say("The address comes first, then the key.", error=True)
        elif self.step == "model" or (self._waiting and looks_like_key(event.text)):
            self.post_message(self.WentBack())
            self.ask_key("Enter tests the pasted key.")
            self.key.value = ""
            self.key.post_message(events.Paste(event.text))
        else:
            self.say("Choose the provider first, then paste its key.", error=True)
