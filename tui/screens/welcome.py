"""The words of an empty session: the program, how to begin, and how to leave."""

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
    "{connect} connects one; until then the built-in guide answers questions about this program.",
)
_BEGIN = "enter"
_KEYS = (_BEGIN, "sessions", "help", "quit")
_KEYS_WITHOUT_MODEL = ("connect", _BEGIN, "help", "quit")


def welcome(chosen: Mapping[str, str], *, has_model: bool) -> WelcomeText:
    """Make the text; ``chosen`` are the user's own keys by id of the binding."""
    own = tuple(chosen.items())
    return _text(own, _KEYS, ()) if has_model else _text(own, _KEYS_WITHOUT_MODEL, _NO_MODEL)


@cache
def _text(
    chosen: tuple[tuple[str, str], ...], ids: tuple[str, ...], more: tuple[str, ...]
) -> WelcomeText:
    prompt = {binding.key: binding for binding in Binding.make_bindings(Prompt.KEYS)}
    named = {binding.id: binding for binding in Binding.make_bindings([*APP_KEYS, *BINDINGS])}
    own = dict(chosen)
    keys = [prompt[_BEGIN] if name == _BEGIN else named[name] for name in ids]
    lines = [(each.typed, each.does) for each in key_lines(keys, own)]
    connect = next((each.typed for each in key_lines([named["connect"]], own)), "/connect")
    sentences = (_NAME, *(each.format(connect=connect) for each in more))
    return WelcomeText(sentences, tuple(lines))
