"""The dialect of chat completions: OpenAI and every compatible server."""

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI
from openai.types.chat import ChatCompletionChunk
from openai.types.chat.chat_completion_chunk import Choice
from pydantic_ai.messages import ModelMessage, ModelResponseStreamEvent
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIStreamedResponse
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.connection import Wire
from tui.providers.dialect import (
    AS_TYPED,
    counted,
    library_messages,
    library_settings,
    sendable,
)
from tui.providers.protocol import ModelRequest

# Tools are offered in the form that every server accepts. The library's own filter of thinking is
# off: ThinkingFilter also handles tags that are split over pieces or quoted in an answer. For a
# model known to reason the library would drop the temperature with a Python warning only.
_PROFILE = AS_TYPED | OpenAIModelProfile(thinking_tags=("", ""), openai_supports_reasoning=False)

# Only there the limit of an answer is ``max_completion_tokens``; elsewhere ``max_tokens``.
_VENDOR = "api.openai.com"

_DONE = re.compile(rb"[\r\n]data: ?\[DONE\]")
_FIELDS = re.compile(rb"(?:^|(?<=[\r\n]))(?:event|id|retry)(?::[^\r\n]*)?(?:\r\n|\r|\n|$)")
_OF_THE_ACCOUNT = frozenset({"openai-organization", "openai-project"})


class OpenAIDialect:
    """Requests to an OpenAI-compatible server."""

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        headers = _OF_THE_ACCOUNT if choice.provider == "openai" else frozenset[str]()
        is_vendor = urlsplit(choice.base_url).hostname == _VENDOR
        self._profile = _PROFILE | OpenAIModelProfile(
            openai_chat_supports_max_completion_tokens=is_vendor
        )
        self.wire = Wire(end=_DONE, headers=headers, cleaned=_without_fields)

    def settings(self, parameters: ModelParameters) -> ModelSettings | None:
        return library_settings(parameters) or None

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(request)

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        client = AsyncOpenAI(
            # The connection sends the key. Without one here, the library would send
            # OPENAI_API_KEY to any server.
            api_key="none",
            admin_api_key="",
            base_url=self._choice.base_url,
            timeout=http.timeout,
            max_retries=0,
            http_client=http,
        )
        provider = OpenAIProvider(openai_client=client)
        return _ChatModel(sendable(self._choice.model), provider=provider, profile=self._profile)


def _without_fields(lines: bytes) -> bytes:
    """Remove the ``event``, ``id`` and ``retry`` fields from lines of an event stream.

    The client library emits an event for each of them, and after an ``id`` for each keep-alive
    comment; it fails on one without data.
    """
    return _FIELDS.sub(b"", lines)


_THINKING_FIELDS = ("reasoning", "reasoning_content")


class _Response(OpenAIStreamedResponse):
    """The library's stream, without its warnings and its price look-up."""

    def _map_thinking_delta(self, choice: Choice) -> Iterable[ModelResponseStreamEvent]:
        thinking = (getattr(choice.delta, field, None) for field in _THINKING_FIELDS)
        if all(isinstance(text, str | None) for text in thinking):
            return super()._map_thinking_delta(choice)
        # The library would print a warning, onto the screen.
        return ()

    def _map_usage(self, response: ChatCompletionChunk) -> RequestUsage:
        usage = response.usage
        return counted(
            getattr(usage, "prompt_tokens", 0),
            getattr(usage, "completion_tokens", 0),
        )


class _ChatModel(OpenAIChatModel):
    @property
    def _streamed_response_cls(self) -> type[OpenAIStreamedResponse]:
        return _Response
