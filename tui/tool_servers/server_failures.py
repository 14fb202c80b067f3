"""Reasons why a server cannot be used."""

import asyncio
from collections.abc import Iterator
from typing import cast

from tui.domain.text import make_visible_line

_LONGEST_REASON = 500


class ServerFailed(Exception):
    """A server that cannot be used; the message is the reason, a sentence."""


class SessionForgotten(ServerFailed):
    """A server that knows the session no more, and has not carried the request out."""


def reason_of(error: BaseException) -> str:
    """The reason of a failure, which the library may have wrapped into groups."""
    leaves = list(_leaves(error))
    own = next((each for each in leaves if isinstance(each, ServerFailed)), None)
    said = str(own or leaves[0]) or type(leaves[0]).__name__
    return sentence(said)


def sentence(text: str) -> str:
    """Foreign words as a sentence: one line, bounded."""
    shown = make_visible_line(text[: 2 * _LONGEST_REASON]).strip()[:_LONGEST_REASON]
    return shown if shown.endswith((".", "!", "?", "…")) else f"{shown}."


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    group = cast("BaseExceptionGroup[BaseException]", error)
    rest = group.split(asyncio.CancelledError)[1]
    for each in (rest or group).exceptions:
        yield from _leaves(each)
