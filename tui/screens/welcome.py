"""The welcome text of an empty session: the few keys from which the rest is found."""

from collections.abc import Mapping

from textual.binding import Binding

from tui.screens.app_keys import APP_KEYS
from tui.screens.chat_keys import BINDINGS
from tui.screens.key_help import key_lines
from tui.widgets.prompt import Prompt

_TYPED = ("enter", "ctrl+j")
_WANTED = ("session-next", "session-previous", "search", "palette", "help")


def welcome(chosen: Mapping[str, str]) -> list[tuple[str, str]]:
    """Make lines of key and effect; ``chosen`` are the user's own keys by id of the binding."""
    prompt = {binding.key: binding for binding in Binding.make_bindings(Prompt.KEYS)}
    named = {binding.id: binding for binding in Binding.make_bindings([*APP_KEYS, *BINDINGS])}
    wanted = [*(prompt[key] for key in _TYPED), *(named[name] for name in _WANTED)]
    return [(line.typed, line.does) for line in key_lines(wanted, chosen)]
