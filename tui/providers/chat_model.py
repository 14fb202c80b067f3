"""A model behind a server: one answer by its codec, asked for again as the settings allow.

The engine runs the tool loop, so that every call and result is saved, as far as the disk allows,
before the next request: this module asks for one answer, never for an agent's run.
"""

import asyncio
import logging
import random
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from functools import partial

import httpx2
from msgspec import Struct
from msgspec.structs import replace

from tui.domain.journal.message import ToolCall
from tui.errors import ModelUnavailable
from tui.providers.anthropic import Converse, Messages
from tui.providers.catalog import ModelChoice, require_extra
from tui.providers.codec import BrokenStream, Codec, JsonObject, lacks_thinking
from tui.providers.exchange import Refusal, Reply, answer_by_http, logged
from tui.providers.failures import (
    Failure,
    PartRefused,
    RefusedParts,
    explained,
    field_refused,
    part_refused,
    passes,
)
from tui.providers.gemini import Gemini
from tui.providers.model_table import adaptation
from tui.providers.network import NoReply, route_to
from tui.providers.openai import ChatCompletions, Responses
from tui.providers.protocol import (
    AnswerEnded,
    AttemptFailed,
    ModelEvent,
    ModelRequest,
    RequestAdapted,
)
from tui.providers.reception import Reception, ThinkingFilter
from tui.providers.server_words import message_in, parameter_in, quoted

_UNTAKEN = frozenset({400, 404, 413, 415, 422, 500, 501})
"""Statuses of replies that may refuse a part of the request."""
_UNACCEPTED = frozenset({400, 422})

_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 8.0
_LONGEST_ASKED = 60.0
_PAUSES_TOGETHER = 120.0
# All in seconds.


# By the dialect; all others are chat completions.
_CODECS: Mapping[str, Callable[[ModelChoice], Codec]] = {
    "responses": Responses,
    "anthropic": Messages,
    "google": Gemini,
    "bedrock": Converse,
}
_MARKS = re.compile(r"<\|.*|^(?:functions?|tools?)[.:]", re.DOTALL)
"""Marks such as ``functions.`` and ``<|channel|>`` in the name of a tool."""

Ask = Callable[[JsonObject, Reception, Reply], AsyncGenerator[ModelEvent]]
"""Send a body, and give the events of its answer."""


def codec_of(choice: ModelChoice) -> Codec:
    """Make the codec of a server. Raises ``ModelUnavailable`` if its extra is missing."""
    require_extra(choice.provider.dialect, choice.provider.name)
    return _CODECS.get(choice.provider.dialect, ChatCompletions)(choice)


class ChatModel:
    """A model behind a server; it keeps no connection between requests."""

    def __init__(self, choice: ModelChoice, chance: Callable[[], float] = random.random) -> None:
        try:
            httpx2.URL(choice.provider.base_url)
        except httpx2.InvalidURL:
            raise ModelUnavailable(
                f"{choice.provider.base_url} is not the address of a server."
            ) from None
        self._choice = choice
        # Read once, and not in ``stream``, which runs on the event loop: it reads files.
        self._route = route_to(choice.provider)
        self._codec = codec_of(choice)
        self._ask: Ask = partial(answer_by_http, choice, self._codec)
        if choice.provider.dialect == "bedrock":
            from tui.providers.bedrock import BedrockClient

            self._ask = BedrockClient(choice).answer
        # Of models whose template has the start tag, so that their answers lack it.
        self._thinks_first = False
        self._chance = chance
        self._refused = RefusedParts(choice.name)
        # Warnings of libraries are for their developers: none is printed over the screen.
        logging.captureWarnings(capture=True)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Request one answer, without the parts and parameters that the model does not take."""
        codec, wanted = self._codec, request.parameters
        if (codec.thinks_unasked or wanted.effort is not None) and lacks_thinking(request):
            # Vendors want the thinking of a turn back with the results of tools.
            wanted = replace(wanted, effort="off")
        parameters = codec.supported(wanted)
        if self._choice.key and self._choice.key.was_quoted:
            source = self._choice.key.source
            yield RequestAdapted(f"The key from {source} is in quotes: sent without them.")
        if told := adaptation(self._choice.name, wanted, parameters, codec.supported):
            yield RequestAdapted(told)
        whole = replace(request, parameters=parameters)
        while True:
            for notice in self._refused.notices(whole, codec.optional):
                yield RequestAdapted(notice)
            try:
                async with aclosing(self._attempts(self._refused.left_out(whole))) as events:
                    async for event in events:
                        yield event
            except PartRefused as refused:
                if refused.part == "thinking":
                    request.memory.forget()
                self._refused.add(refused)
            else:
                return

    async def _attempts(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Request one answer; retry as ``Provider.retries`` says if it fails before it began."""
        # A long conversation takes a tenth of a second.
        body = await asyncio.to_thread(self._codec.body, request)
        self._refused.remove_fields(body)
        offered = {tool.name for tool in request.tools}
        backoff = Backoff(self._choice.provider.retries, self._chance)
        while True:
            reply = Reply(self._route)
            reception = Reception(self._codec.answer(), ThinkingFilter(self._thinks_first))
            try:
                with logged(self._choice, backoff.tries, reply):
                    async with aclosing(self._ask(body, reception, reply)) as events:
                        async for event in events:
                            given = event
                            if isinstance(event, AnswerEnded):
                                self._thinks_first = reception.filter.lacked_start
                                if reception.answer.calls:
                                    request.memory.answers.append(reception.answer.kept)
                            elif isinstance(event, ToolCall) and event.name not in offered:
                                plain = _MARKS.sub("", event.name).strip()
                                given = replace(event, name=plain) if plain in offered else event
                            yield given
            except (Refusal, NoReply, BrokenStream) as failure:
                tries, reason, asked = backoff.tries, "no connection", None
                if isinstance(failure, Refusal):
                    reason, asked = f"status {failure.status}", failure.retry_after
                pause = backoff.next_pause(asked) if passes(failure) else None
                error = self._refused_part(failure, request, body)
                if error:
                    pause = None
                else:
                    error = explained(failure, reply, self._choice, tries, request.parameters)
            else:
                return
            # Outside the handler, so that nothing below hangs on the error: it may quote the key.
            if pause is None:
                raise error
            yield AttemptFailed(tries, reason, pause)
            await asyncio.sleep(pause)

    def _refused_part(
        self, failure: Failure, request: ModelRequest, body: JsonObject
    ) -> PartRefused | None:
        if not isinstance(failure, Refusal) or failure.status not in _UNTAKEN:
            return None
        said = message_in(failure.body)
        # A model's name may have the word vision.
        nameless = re.sub(rf"(?<!\w){re.escape(self._choice.model)}(?!\w)", "", said)
        refused = part_refused(nameless, request)
        if refused is None and failure.status in _UNACCEPTED:
            named = f"{nameless} {parameter_in(failure.body)}"
            refused = field_refused(named, body, self._codec.optional)
        if refused:
            refused.said = quoted(said, *self._choice.secrets, *self._route.secrets)
        return refused


class Backoff(Struct, eq=False):
    """Counts the attempts, and doubles the limit of the pauses between them.

    A pause is any part of its limit, by ``chance`` (from 0 to 1): many programs that a server
    refused at once do not come back at once. The server may ask for another pause.
    """

    _retries: int
    _chance: Callable[[], float] = random.random
    _waited: float = 0.0
    tries: int = 1
    """The number of the attempt that is made, from 1."""

    def next_pause(self, asked: float | None) -> float | None:
        """The seconds before the next attempt; ``None`` if there is none.

        ``asked`` are those of the server. Pauses are bounded, each and together.
        """
        doubled = min(_FIRST_PAUSE * 2 ** (self.tries - 1), _LONGEST_PAUSE)
        pause = doubled * self._chance() if asked is None else max(asked, 0.0)
        self._waited += pause
        is_over = self._waited > _PAUSES_TOGETHER
        if self.tries > self._retries or pause > _LONGEST_ASKED or is_over:
            return None
        self.tries += 1
        return pause
