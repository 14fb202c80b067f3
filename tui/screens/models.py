"""The dialogs of models: the picker, and the connection of a provider."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import Any, ClassVar, Literal, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui.domain.models import (
    KEY,
    OWN_SERVER,
    ModelRows,
    ProviderRow,
    looks_like_key,
    matches,
    refusal,
)
from tui.domain.providers import is_guide
from tui.domain.text import make_visible_line
from tui.screens.dialog import ChooserDialog, ShownInput
from tui.widgets.choice_list import Choice, ChoiceList
from tui.widgets.intents import CommandInvoked
from tui.widgets.line_input import MaskedInput

_NAMED = "A model is named PROVIDER:MODEL. F5 connects a provider."
_PICKER_KEYS = "Enter choose · Esc close · Ctrl+R refresh · F5 connect"


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
        self._choose = choose
        self._rows = rows
        self._names: set[str] = set()
        self._asked_about = ""
        # Textual looks for the actions of BINDINGS here.
        self.action_ask_anew = partial(ask_anew, self)
        self.filter.placeholder = "type to filter, or PROVIDER:MODEL"
        self.filter.value = make_visible_line(text)

    def on_mount(self) -> None:
        self.entitle("Models", _PICKER_KEYS)
        self.say("")
        self.show(self._rows)
        self.type_into(self.filter)

    def show(self, rows: ModelRows) -> None:
        """Show what is known by now; the highlight stays on its model."""
        first = not self.choices.lines
        highlighted = self.choices.highlighted
        self._rows, self._names = rows, {row.name for row in rows.rows}
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

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        self.say(KEY, error=True)

    def action_connect(self) -> None:
        self.post_message(CommandInvoked("connect"))
        self.dismiss(None)

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


Step = Literal["provider", "key", "address", "model"]
ProviderWork = Callable[["ConnectScreen", str], Coroutine[Any, Any, None]]
"""What is done with the provider of a name."""
Result = TypeVar("Result")

_BACK = "Enter continue · Esc back"
_KEYS: dict[Step, str] = {
    "provider": "Enter choose · Esc close",
    "key": _BACK,
    "address": _BACK,
    "model": "Enter choose · Esc back",
}
_REMOVE = "Enter choose · Del remove · Esc close"


class WentToStep(Exception):
    """The user went to another step, or does not want to wait in this one."""

    def __init__(self, step: Step, words: str = "") -> None:
        super().__init__(words)
        self.step: Step = step


class ConnectScreen(ChooserDialog[None]):
    """Lists the providers, and asks for the parts of a connection one by one; decides nothing."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete", "remove", "Remove", priority=True, show=False),
    ]

    def __init__(
        self, rows: Sequence[ProviderRow], connect: ProviderWork, remove: ProviderWork
    ) -> None:
        """``connect`` leads through the steps; another choice and leaving cancel it."""
        super().__init__()
        self.key = MaskedInput()
        self.address = ShownInput(compact=True, select_on_focus=False)
        self.step: Step = "provider"
        self._connect = connect
        self._remove = remove
        self._rows = rows
        self._row = rows[0]
        self._names: Sequence[str] = ()
        self._removing = ""
        self._waiting = self._has_pasted = False
        self._answer: asyncio.Future[str] | None = None

    def lines(self) -> ComposeResult:
        yield self.filter
        yield self.key
        yield self.address

    def on_mount(self) -> None:
        self.show_providers()

    # --- the providers

    def show_providers(self) -> None:
        """Let a provider be chosen."""
        removable = any(row.connected for row in self._rows)
        self._begin("provider", "Connect a model", _REMOVE if removable else "")
        self.say("")
        self._clear_filter("type to filter", takes_pastes=False)
        self._offer_providers(self._row.name)
        self.type_into(self.filter)

    def show_rows(self, rows: Sequence[ProviderRow]) -> None:
        """Show the providers as they are now."""
        self._rows = rows
        if self.step == "provider":
            highlighted = self.choices.highlighted
            self._offer_providers(highlighted.id if highlighted else "")

    def _offer_providers(self, highlighted: str) -> None:
        rows = self._rows
        self.offer(
            [Choice(row.name, row.title, row.note, "●" if row.found else "") for row in rows],
            highlighted,
        )

    # --- the steps that follow

    async def ask_key(self, error: str = "") -> str:
        """Ask for the key of the chosen provider. Raises ``WentToStep``."""
        self._begin("key", f"Connect {self._row.within}: paste its key")
        page = f"Keys are made at {self._row.key_page}" if self._row.key_page else ""
        hint = "Enter tests the pasted key." if self._has_pasted else page
        self._has_pasted = False
        self.say(error or hint, error=bool(error))
        self.type_into(self.key)
        return await self._next_answer()

    async def ask_address(self, error: str = "") -> str:
        """Ask for the address of the chosen server. Raises ``WentToStep``."""
        self._begin("address", f"Connect {self._row.within}: type its address")
        example = self._row.example_address or "http://127.0.0.1:8080/v1"
        self.say(error or f"For example {example}", error=bool(error))
        self.type_into(self.address)
        return await self._next_answer()

    async def ask_model(self, names: Sequence[str], error: str = "") -> str:
        """Ask for a model of the server, to be named where it lists none. Raises ``WentToStep``.

        Asked again for an ``error``, the typed text stays.
        """
        if self.step != "model":
            self._begin("model", f"Connect {self._row.within}: choose a model")
            self._names = names
            self._clear_filter("type to filter, or a name", takes_pastes=True)
            self.offer([Choice(name, name) for name in names])
            self.type_into(self.filter)
        none = "This server lists no models. Type the name of one."
        self.say(error or ("" if names else none), error=bool(error))
        return await self._next_answer()

    async def wait_for(self, work: Awaitable[Result], words: str) -> Result:
        """Show words while work is done, which ends when the user does not want to wait.

        Raises ``WentToStep``, and what the work raises.
        """
        task, answer = asyncio.ensure_future(work), self._next_answer()
        task.add_done_callback(lambda _: answer.done() or answer.set_result(""))
        self._waiting = True
        self.say(words)
        try:
            await answer
            return await task
        finally:
            self._waiting = False
            task.cancel()

    def _next_answer(self) -> "asyncio.Future[str]":
        self._answer = asyncio.get_running_loop().create_future()
        return self._answer

    def _answer_with(self, answer: str | WentToStep) -> None:
        if self._answer is None or self._answer.done():
            return
        if isinstance(answer, WentToStep):
            self._answer.set_exception(answer)
        else:
            self._answer.set_result(answer)

    def _begin(self, step: Step, title: str, keys: str = "") -> None:
        self.step = step
        self.entitle(title, keys or _KEYS[step])
        self.choices.display = step in ("provider", "model")
        self.set_class(not self.choices.display, "-typing")

    def _clear_filter(self, placeholder: str, *, takes_pastes: bool) -> None:
        self.filter.value = ""
        self.filter.placeholder = placeholder
        self.filter.takes_pastes = takes_pastes

    def unlisted(self, text: str) -> Choice | None:
        if self.step == "provider":
            # A server of one's own has no name yet.
            own = next(row for row in self._rows if row.name == OWN_SERVER)
            known = any(matches(f"{row.title} {row.name}", text) for row in self._rows)
            return None if known else Choice(own.name, own.title, own.note)
        if self.step != "model" or text in self._names or refusal(text):
            return None
        return Choice(text, f'Use "{text}"', "not listed" if self._names else "")

    # --- keys

    async def action_back(self) -> None:
        """Go back a step; from the first one, close."""
        if self.step == "provider":
            if not self._removing:
                self.dismiss(None)
            self._removing = ""
            self.say("")
            return
        if self._answer is None or self._answer.done():
            # Nobody waits for one: a defect has ended the work, and was reported.
            self.show_providers()
            return
        back: Step = "provider"
        if self.step == "model":
            back = "key" if self._row.wants_key else "address"
        self._answer_with(WentToStep(self.step, "Stopped.") if self._waiting else WentToStep(back))
        # The step is there before the next key.
        await asyncio.sleep(0)

    @on(ChoiceList.Chosen)
    def action_choose(self) -> None:
        choice = self.choices.highlighted
        if self._waiting:
            return
        if self.step == "key":
            self._answer_with(self.key.value)
        elif self.step == "address":
            self._answer_with(self.address.value)
        elif choice is None:
            self.say(refusal(self.filter.value), error=True)
        elif self.step == "model":
            self._answer_with(choice.id)
        else:
            self._choose_provider(choice.id)

    def _choose_provider(self, name: str) -> None:
        row = next(row for row in self._rows if row.name == name)
        if row.name != self._row.name or not self.address.value:
            self.key.value = ""
            # An address that was typed into the list is one for a server of one's own.
            typed = self.filter.value if name == OWN_SERVER and ":" in self.filter.value else ""
            self.address.value = row.address or typed
            # Typing or pasting another address replaces it.
            self.address.select_all()
        self._row = row
        self._work_on(name, self._connect)

    def action_remove(self) -> None:
        """Ask, and on the second key remove a connection."""
        choice = self.choices.highlighted
        row = next((row for row in self._rows if choice and row.name == choice.id), None)
        if self.step != "provider" or row is None or not row.connected:
            return
        if self._removing == row.name:
            self._work_on(row.name, self._remove)
            return
        self._removing = row.name
        self.say(f"Remove {row.title} and its key? Del removes it, Esc keeps it.", error=True)

    def _work_on(self, name: str, work: ProviderWork) -> None:
        self._removing = ""
        self.run_worker(partial(work, self, name), name="connect", group="connect", exclusive=True)

    async def on_paste(self, event: events.Paste) -> None:
        """Take a key that was pasted in another place; it is not shown."""
        event.stop()
        is_key = looks_like_key(event.text)
        if self.step == "provider" and "://" in event.text and not is_key:
            self.filter.value = make_visible_line(event.text.strip())
        elif self.step == "address":
            self.say("The address comes first, then the key.", error=True)
        elif self.step == "model" or (self._waiting and is_key):
            self._has_pasted = True
            self._answer_with(WentToStep("key"))
            await asyncio.sleep(0)
            self.key.value = ""
            self.key.post_message(events.Paste(event.text))
        else:
            self.say("Choose the provider first, then paste its key.", error=True)
