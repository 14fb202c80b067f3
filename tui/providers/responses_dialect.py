"""The dialect of OpenAI's Responses, which its own address speaks.

There, chat completions refuse tools to models that reason.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, cast

import httpx2
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import ModelRequestParameters, StreamedResponse
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings

from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.dialect import AS_TYPED, library_messages, library_settings, sendable
from tui.providers.long_requests import openai_client
from tui.providers.openai_models import REASONING_EFFORTS, is_vendor, supported_by_openai
from tui.providers.protocol import ModelRequest
from tui.providers.response_events import ResponseEvents, merged_pieces
from tui.providers.transport import Wire

# The library takes them from the environment, for whatever server it asks.
_OF_THE_ACCOUNT = frozenset({"openai-organization", "openai-project"})

# Nothing is stored at the vendor's: reasoning goes back encrypted, within a turn.
_SETTINGS = OpenAIResponsesModelSettings(openai_store=False, openai_prompt_cache_diagnostics=False)


class ResponsesDialect:
    """Requests to OpenAI, or to a server that speaks its Responses."""

    thinks_unasked = False

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        self._name = sendable(choice.model)
        headers = _OF_THE_ACCOUNT if is_vendor(choice) else frozenset[str]()
        self.wire = Wire(ResponseEvents, merged_pieces, headers)
        known = OpenAIModelProfile(**(OpenAIProvider.model_profile(self._name) or {}))
        # Models that do not reason refuse to summarise it.
        self._has_summaries = bool(known.get("openai_supports_reasoning"))

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        return supported_by_openai(parameters, self._choice)

    def settings(self, parameters: ModelParameters) -> ModelSettings:
        settings = _SETTINGS | OpenAIResponsesModelSettings(**library_settings(parameters))
        if parameters.effort is not None:
            settings["openai_reasoning_effort"] = REASONING_EFFORTS[parameters.effort]
        return settings | _SUMMARIES if self._has_summaries else settings

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(request)

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        client = openai_client(self._choice.base_url, http)
        provider = OpenAIProvider(openai_client=client)
        model = OpenAIResponsesModel(self._name, provider=provider, profile=_profile)
        return _SummariesIfAllowed(model, self._leave_out_summaries)

    def _leave_out_summaries(self) -> None:
        self._has_summaries = False


_SUMMARIES = OpenAIResponsesModelSettings(openai_reasoning_summary="auto")


class _SummariesIfAllowed(WrapperModel):
    """Asks again without summaries: OpenAI refuses them to accounts that it has not verified."""

    def __init__(self, wrapped: LibraryModel, on_refusal: Callable[[], None]) -> None:
        super().__init__(wrapped)
        self._on_refusal = on_refusal

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: Any = None,
    ) -> AsyncGenerator[StreamedResponse]:
        ask = self.wrapped.request_stream
        async with AsyncExitStack() as stack:
            try:
                opening = ask(messages, model_settings, model_request_parameters, run_context)
                response = await stack.enter_async_context(opening)
            except ModelHTTPError as error:
                if not _refuses_summaries(error):
                    raise
                self._on_refusal()
                fewer = _without_summaries(model_settings)
                opening = ask(messages, fewer, model_request_parameters, run_context)
                response = await stack.enter_async_context(opening)
            yield response


def _refuses_summaries(error: ModelHTTPError) -> bool:
    body: Any = error.body
    return (
        isinstance(body, dict) and cast("dict[str, Any]", body).get("param") == "reasoning.summary"
    )


def _without_summaries(settings: ModelSettings | None) -> ModelSettings:
    rest = {name: value for name, value in (settings or {}).items() if name not in _SUMMARIES}
    return cast("ModelSettings", rest)


def _profile(known: ModelProfile) -> ModelProfile:
    """Use what the library knows about a model, except what would change a request silently.

    For a model known to reason it would drop the temperature with a Python warning only.
    """
    return (
        known
        | AS_TYPED
        | OpenAIModelProfile(
            openai_supports_reasoning=False, openai_responses_supports_reasoning_context=False
        )
    )
