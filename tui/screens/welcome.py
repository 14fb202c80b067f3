"""The words of an empty session: the program, how to begin, and how to leave."""

from collections.abc import Mapping, Sequence
from functools import cache

from textual.binding import Binding

from tui.domain.text import listed, plural
from tui.screens.key_help import key_lines
from tui.screens.keys import APP, CHAT
from tui.widgets.keys import TYPING
from tui.widgets.transcript.welcome_text import WelcomeText

_NAME = "sibyl-tui: chat with language models."
# An eye: a sibyl sees what is to come.
_MARK = (
    (("  ▄▀▀▀▄  ", "mark"),),
    (("▀▄  ◉  ▄▀", "mark"), ("   sibyl-tui", "user")),
    (("  ▀▄▄▄▀  ", "mark"), ("   chat with language models", "quiet")),
)
_NO_MODEL = (
    "No model is connected yet.",
    "{connect} connects one; until then the built-in guide answers questions about this program.",
)
_NAMED = 3
"""The number of programs that are named."""
_BEGIN = "enter"
_KEYS = (_BEGIN, "sessions", "help", "quit")
_KEYS_WITHOUT_MODEL = ("connect", _BEGIN, "help", "quit")


def welcome(
    chosen: Mapping[str, str], *, has_model: bool, programs: Sequence[str] = ()
) -> WelcomeText:
    """Make the text.

    ``chosen`` are the user's own keys by id of the binding, ``programs`` those whose sessions can
    be imported.
    """
    own, more = tuple(chosen.items()), () if has_model else _NO_MODEL
    if programs:
        named = [*programs[:_NAMED]]
        if len(programs) > _NAMED:
            named.append(plural(len(programs) - _NAMED, "other program"))
        more = (*more, f"Sessions of {listed(named)} were found. /import brings them here.")
    return _text(own, _KEYS if has_model else _KEYS_WITHOUT_MODEL, more)


@cache
def _text(
    chosen: tuple[tuple[str, str], ...], ids: tuple[str, ...], more: tuple[str, ...]
) -> WelcomeText:
    prompt = {binding.key: binding for binding in Binding.make_bindings(TYPING)}
    named = {binding.id: binding for binding in Binding.make_bindings([*APP, *CHAT])}
    own = dict(chosen)
    keys = [prompt[_BEGIN] if name == _BEGIN else named[name] for name in ids]
    lines = [(each.typed, each.does) for each in key_lines(keys, own)]
    connect = next((each.typed for each in key_lines([named["connect"]], own)), "/connect")
    sentences = (_NAME, *(each.format(connect=connect) for each in more))
    return WelcomeText(_MARK, sentences, tuple(lines))
