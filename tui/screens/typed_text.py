"""Text that is typed or pasted where no field takes it, and letters that ask before they act."""

from collections.abc import Callable
from typing import Any

import msgspec
from textual.events import Key, Paste
from textual.screen import Screen

from tui.widgets.intents import hint
from tui.widgets.key_line import KeyLine
from tui.widgets.prompt import Prompt
from tui.widgets.transcript import Transcript

PassOn = Callable[[Key | Paste], None]
"""Gives the prompt what was typed before something came over it."""

_ASKED_FIRST = frozenset({"ask_again", "edit_question", "fork"})
"""The actions of the conversation that cost or change something."""
_ANSWERS = "Enter yes · Esc no · text goes to the prompt"


def is_text(event: Key | Paste) -> bool:
    """Tell text from other keys; with Alt a key comes with a character, too."""
    if isinstance(event, Paste):
        return True
    return event.is_printable and not event.key.startswith("alt+")


def is_free_text(event: Key | Paste, screen: Screen[Any]) -> bool:
    """Tell if a text is a command of nothing that has the focus."""
    if isinstance(event, Paste):
        return True
    bound = screen.active_bindings.get(event.key)
    return is_text(event) and (bound is None or not bound.enabled)


class TypedText(msgspec.Struct, eq=False):
    """Gives the prompt the text that no field takes.

    A letter of the conversation that costs or changes something asks in the line of keys first: if
    it was the beginning of a text, the prompt has that whole.
    """

    _screen: Screen[Any]
    _transcript: Transcript
    _prompt: Prompt
    _key_line: KeyLine
    _go_to_prompt: Callable[[], None]
    _asked: tuple[Key | None, Callable[[], object]] | None = None

    def takes_key(self, event: Key | Paste) -> bool:
        """Take a key that answers the question, begins one, or is free text."""
        if self._asked is None:
            if self._asks_first(event):
                return True
            is_below = not self._screen.is_active
            if not is_below and not is_free_text(event, self._screen):
                return False
            self.give(event)
            if is_below:
                hint(self._screen, "The text is in the prompt. Esc leads there")
            return True
        key, do = self._asked
        if isinstance(event, Key) and event.key == "enter":
            # One read brings what nobody could have answered yet.
            if key is None or event.time != key.time:
                self.withdraw_question()
                # In its own task: a message that the screen posts does not reach the application.
                self._transcript.call_later(do)
            return True
        self.withdraw_question()
        if not is_text(event):
            return isinstance(event, Key) and event.key == "escape"
        if key is not None and is_text(key):
            self.give(key)
        self.give(event)
        return True

    def ask(self, words: str, do: Callable[[], object], key: Key | None = None) -> None:
        """Ask in the line of keys before ``do``; ``key`` is the letter that wants it.

        The conversation must have the keys.
        """
        self._asked = key, do
        self._key_line.ask(f"{words}? {_ANSWERS}")

    def withdraw_question(self) -> None:
        """Take the question back."""
        if self._asked is not None:
            self._asked = None
            self._key_line.ask("")

    def give(self, text: Key | Paste) -> None:
        """Give the prompt a text, and with it the keys that come next."""
        self._go_to_prompt()
        self._prompt.editor.post_message(text)

    def _asks_first(self, event: Key | Paste) -> bool:
        if not isinstance(event, Key):
            return False
        bound = self._screen.active_bindings.get(event.key)
        if bound is None or bound.node is not self._transcript:
            return False
        if bound.binding.action not in _ASKED_FIRST:
            return False
        self.ask(bound.tooltip, getattr(self._transcript, f"action_{bound.binding.action}"), event)
        return True
