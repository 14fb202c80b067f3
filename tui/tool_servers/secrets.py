"""Secrets of a server's settings, wherever the server repeats them."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from tui.config.settings_schema import ToolServerSettings

HIDDEN = "[hidden]"

_SHORTEST = 4
"""In characters: a shorter one would be cut out of words that it is by chance a part of."""


class Secrets:
    """Every value of ``env`` and ``headers``, and those of the address."""

    def __init__(self, settings: ToolServerSettings) -> None:
        values = set(_values(settings))
        forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
        self._long = _any_of(forms)
        self._short = _any_of(
            (each for each in values if len(each) < _SHORTEST), r"(?<!\w)", r"(?!\w)"
        )

    def cut(self, text: str) -> str:
        """Replace them in words of the program or for a model; short ones stay."""
        return self._long.sub(HIDDEN, text)

    def hide(self, text: str) -> str:
        """Replace them in words of the server that are shown, short ones where they stand alone."""
        return self._short.sub(HIDDEN, self.cut(text))


def _any_of(texts: Iterable[str], before: str = "", after: str = "") -> re.Pattern[str]:
    longest_first = sorted(filter(str.strip, texts), key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first)) or r"(?!)"
    return re.compile(f"{before}(?:{alternatives}){after}")


def _values(settings: ToolServerSettings) -> Iterator[str]:
    for value in (settings.env or {}).values():
        # A server shows one line of a key that has several.
        lines = (line.strip() for line in value.splitlines())
        yield from (value, *(line for line in lines if len(line) >= _SHORTEST))
    for value in (settings.headers or {}).values():
        yield from (value, value.partition(" ")[2])
    yield settings.client_secret or ""
    parts = urlsplit(settings.url or "")
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    if user or password:
        yield from (user, password, base64.b64encode(f"{user}:{password}".encode()).decode())
    yield from (value for _, value in parse_qsl(parts.query))
    yield parts.query


def _forms(value: str) -> Iterator[str]:
    """A value as it is, and as it is in JSON and in an address."""
    yield from (value, quote(value), quote(value, safe=""), quote_plus(value))
    yield from (json.dumps(value, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False))
