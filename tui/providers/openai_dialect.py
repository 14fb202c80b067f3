"""The dialect of chat completions: OpenAI and every compatible server."""

import httpx2
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIChatModelSettings
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider
from pydantic_ai.settings import ModelSettings

from tui.domain.model_settings import ModelParameters
from tui.providers.catalog import ModelChoice
from tui.providers.chat_events import ChatEvents, merged_chunks
from tui.providers.dialect import (
    AS_TYPED,
    library_messages,
    library_settings,
    sendable,
)
from tui.providers.long_requests import openai_client
from tui.providers.openai_models import REASONING_EFFORTS, is_vendor, supported_by_openai
from tui.providers.protocol import ModelRequest
from tui.providers.transport import Wire

# Tools are offered in the form that every server accepts. The library's own filter of thinking is
# off: ThinkingFilter also handles tags that are split over pieces or quoted in an answer. For a
# model known to reason the library would drop the temperature with a Python warning only.
_PROFILE = AS_TYPED | OpenAIModelProfile(thinking_tags=("", ""), openai_supports_reasoning=False)

_OF_THE_ACCOUNT = frozenset({"openai-organization", "openai-project"})


class OpenAIDialect:
    """Requests to an OpenAI-compatible server."""

    thinks_unasked = False

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        headers = _OF_THE_ACCOUNT if choice.provider == "openai" else frozenset[str]()
        # Elsewhere the limit of an answer is ``max_tokens``.
        newer_name = is_vendor(choice) or choice.max_tokens_name == "max_completion_tokens"
        self._profile = _PROFILE | OpenAIModelProfile(
            openai_chat_supports_max_completion_tokens=newer_name
        )
        self.wire = Wire(ChatEvents, merged_chunks, headers)

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        return supported_by_openai(parameters, self._choice)

    def settings(self, parameters: ModelParameters) -> ModelSettings | None:
        given = OpenAIChatModelSettings(**library_settings(parameters))
        if parameters.effort is not None:
            given["openai_reasoning_effort"] = REASONING_EFFORTS[parameters.effort]
        return given or None

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(request)

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        client = openai_client(self._choice.base_url, http)
        provider = OpenAICompatibleProvider(
            self._choice.provider, openai_client=client, profile=_no_profile
        )
        name = sendable(self._choice.model)
        return OpenAIChatModel(name, provider=provider, profile=self._profile)


def _no_profile(_: str) -> ModelProfile:
    """Make nothing of the model's name: any server may have a model of any name."""
    return ModelProfile()
