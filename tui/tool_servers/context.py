"""What all parts of a session with one server know: its settings, its user, and why it fails."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncGenerator, Generator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import cast
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from tui.config.settings_schema import ToolServerSettings
from tui.domain.text import make_visible_line
from tui.domain.tool_servers import Answer, AskUser, ServerQuestion, SignIns

_LONGEST_REASON = 500
HIDDEN = "[hidden]"

_SHORTEST = 4
"""In characters: a shorter one would be cut out of words that it is by chance a part of."""


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


class ServerContext:
    """A configured server; its time limits stand still while its user is asked.

    Secrets are every value of ``env`` and ``headers``, and those of the address.
    """

    def __init__(
        self,
        server: str,
        settings: ToolServerSettings,
        ask: AskUser | None,
        sign_ins: SignIns | None,
        *,
        may_sign_in: bool,
    ) -> None:
        self.server, self.settings = server, settings
        self.ask, self.sign_ins = ask, sign_ins
        self.may_sign_in = may_sign_in
        """False while the user is busy with something else, and once a sign-in was given up."""
        values = set(_values(settings))
        forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
        short = (each for each in values if len(each) < _SHORTEST)
        self._secrets = _any_of(forms)
        self._short_secrets = _any_of(short, r"(?<!\w)", r"(?!\w)")
        self._limits: dict[asyncio.Timeout, float] = {}
        self._open = 0

    def cut(self, text: str) -> str:
        """Replace secrets in words of the program or for a model; short ones stay."""
        return self._secrets.sub(HIDDEN, text)

    def hide(self, text: str) -> str:
        """Replace them in words of the server that are shown, short ones where they stand alone."""
        return self._short_secrets.sub(HIDDEN, self.cut(text))

    async def put(self, question: ServerQuestion) -> Answer | None:
        """Ask, and wait for the answer; ``None`` if it is refused, or nobody is there."""
        if self.ask is None:
            return None
        with self.paused():
            return await self.ask(question)

    @asynccontextmanager
    async def limit(self, seconds: float) -> AsyncGenerator[None]:
        """Limit the time of something; raises ``TimeoutError``. It begins anew after a question."""
        async with asyncio.timeout(None if self._open else seconds) as limit:
            self._limits[limit] = seconds
            try:
                yield
            finally:
                del self._limits[limit]

    @contextmanager
    def paused(self) -> Generator[None]:
        """Let all limits stand still."""
        self._open += 1
        self._reschedule()
        try:
            yield
        finally:
            self._open -= 1
            self._reschedule()

    def _reschedule(self) -> None:
        now = asyncio.get_running_loop().time()
        for limit, seconds in self._limits.items():
            if not limit.expired():
                limit.reschedule(None if self._open else now + seconds)
