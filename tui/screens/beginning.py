"""How the chat screen begins: its first frame, and the words of an empty session."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache

import msgspec
from textual.binding import Binding
from textual.message_pump import MessagePump

from tui.domain.text import listed, plural
from tui.screens.keys import APP, CHAT, key_lines
from tui.widgets.keys import TYPING
from tui.widgets.transcript.welcome_text import WelcomeText

_log = logging.getLogger(__name__)

SECONDS_UNPAINTED = 0.1
"""Limit of the wait for keys that were typed during the start."""

_SECONDS_PER_LOOK, _LOOKS = 0.001, 30


class FirstPaint(msgspec.Struct, eq=False):
    """Paints the first frame with the early keys in the prompt, and the conversation afterwards.

    Drawing a conversation takes longer than everything else of the first frame.
    """

    _screen: MessagePump
    _keys_are_there: asyncio.Event = msgspec.field(default_factory=asyncio.Event)
    _is_taken: Callable[[], bool] = lambda: True
    _rest: Callable[[], object] | None = None
    has_come: bool = False

    def may_come(self, is_taken: Callable[[], bool]) -> None:
        """Release the frame; ``is_taken`` is true once the terminal has received it."""
        self._is_taken = is_taken
        self._keys_are_there.set()

    async def wait(self) -> None:
        """Wait for the keys, at most ``SECONDS_UNPAINTED``."""
        # Painting is slower than handling keys, which would else be shown a frame later.
        with suppress(TimeoutError):
            await asyncio.wait_for(self._keys_are_there.wait(), SECONDS_UNPAINTED)

    def follow_with(self, rest: Callable[[], object]) -> None:
        """Draw the rest directly after the first frame."""
        if self.has_come:
            self._screen.call_later(rest)
        else:
            self._rest = rest

    def begin(self) -> None:
        """Note that the frame is painted with the current message."""
        self.has_come = True
        _log.info("first frame painted")
        self._screen.call_next(self._go_on)

    async def _go_on(self) -> None:
        # The output thread runs only while this one does not draw.
        for _ in range(_LOOKS):
            await asyncio.sleep(_SECONDS_PER_LOOK)
            if self._is_taken():
                break
        if self._rest is not None:
            self._rest()


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
