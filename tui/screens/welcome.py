"""The text of an empty session: the program, how to begin, and how to leave."""

from collections.abc import Mapping
from functools import cache

from textual.binding import Binding

from tui.screens.app_keys import APP_KEYS
from tui.screens.chat_keys import BINDINGS
from tui.screens.key_help import key_lines
from tui.widgets.prompt import Prompt
from tui.widgets.transcript.welcome import WelcomeText

_NAME = "sibyl-tui: chat with language models."
_NO_MODEL = (
    "No model is connected yet.",
    "The built-in guide answers questions about this program.",
)
_BEGIN = "enter"
_KEYS = ("sidebar-focus", "help", "quit")


def welcome(chosen: Mapping[str, str], *, has_model: bool) -> WelcomeText:
    """Make the text; ``chosen`` are the user's own keys by id of the binding."""
    return WelcomeText((_NAME,) if has_model else (_NAME, *_NO_MODEL), _keys(tuple(chosen.items())))


@cache
def _keys(chosen: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    prompt = {binding.key: binding for binding in Binding.make_bindings(Prompt.KEYS)}
    named = {binding.id: binding for binding in Binding.make_bindings([*APP_KEYS, *BINDINGS])}
    wanted = [prompt[_BEGIN], *(named[name] for name in _KEYS)]
    return tuple((line.typed, line.does) for line in key_lines(wanted, dict(chosen)))
