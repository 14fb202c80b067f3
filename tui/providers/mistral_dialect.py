"""The dialect of Mistral: chat completions with thinking, and ids of calls in a form of its own."""

import itertools
import re
from collections.abc import Iterator

import httpx2
from mistralai.client import Mistral
from msgspec.structs import replace
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.mistral import MistralModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.mistral import MistralProvider
from pydantic_ai.settings import ModelSettings

from tui.domain.journal.message import Message
from tui.domain.model_settings import ModelParameters
from tui.providers.capabilities import supported
from tui.providers.catalog import ModelChoice
from tui.providers.dialect import AS_TYPED, library_messages, library_settings, sendable
from tui.providers.mistral_events import MistralEvents, merged_texts
from tui.providers.protocol import ModelRequest
from tui.providers.transport import Wire

_SHORT = re.compile(r"[a-zA-Z0-9]{9}")


class MistralDialect:
    """Requests to Mistral."""

    wire = Wire(MistralEvents, merged_texts)

    thinks_unasked = False

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        # The library's client would make one, with certificates of its own, for each request.
        self._unused = httpx2.Client(transport=httpx2.HTTPTransport())
        self._known = MistralProvider.model_profile(choice.model)

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        return supported(parameters, self._known)

    def settings(self, parameters: ModelParameters) -> ModelSettings:
        # The library's client has no limit of its own, and ignores that of the connection.
        own = ModelSettings(max_retries=0, timeout=self._choice.timeout)
        return own | library_settings(parameters)

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(with_short_ids(request))

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        client = Mistral(
            # The connection sends the key. Without one here, the library would look for one in
            # the environment.
            api_key="none",
            # The library adds it to the paths.
            server_url=self._choice.base_url.rstrip("/").removesuffix("/v1"),
            client=self._unused,
            async_client=http,
        )
        provider = MistralProvider(mistral_client=client)
        return MistralModel(sendable(self._choice.model), provider=provider, profile=_profile)


def with_short_ids(request: ModelRequest) -> ModelRequest:
    """Number the calls whose ids Mistral refuses; sessions with other models have them."""
    numbers, ids = itertools.count(1), dict[str, str]()
    messages = tuple(_with_short_ids(message, ids, numbers) for message in request.messages)
    return replace(request, messages=messages)


def _with_short_ids(message: Message, ids: dict[str, str], numbers: Iterator[int]) -> Message:
    """Change the ids of one message; ``ids`` are those of the latest calls, for their results."""
    ids |= {call.id: _short(call.id, numbers) for call in message.tool_calls}
    calls = tuple(replace(call, id=ids[call.id]) for call in message.tool_calls)
    answered = message.tool_call_id
    result_of = None if answered is None else ids.get(answered, answered)
    return replace(message, tool_calls=calls, tool_call_id=result_of)


def _short(call_id: str, numbers: Iterator[int]) -> str:
    return call_id if _SHORT.fullmatch(call_id) else f"{next(numbers):09}"


def _profile(known: ModelProfile) -> ModelProfile:
    return known | AS_TYPED
