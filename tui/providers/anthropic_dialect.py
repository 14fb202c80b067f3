"""The dialect of Anthropic's Messages API."""

import itertools
import re
from typing import Any, cast
from urllib.parse import urlsplit

import httpx2
import msgspec
from anthropic import AsyncAnthropic
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.profiles import DEFAULT_PROFILE, ModelProfile
from pydantic_ai.profiles.anthropic import (
    ANTHROPIC_THINKING_BUDGET_MAP,
    AnthropicModelProfile,
    anthropic_model_profile,
)
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.settings import ModelSettings

from tui.domain.journal.blocks import Content, content_of_parts, parts_of
from tui.domain.journal.message import Message, ToolCall
from tui.domain.model_settings import ModelParameters
from tui.providers.capabilities import supported
from tui.providers.catalog import ModelChoice
from tui.providers.dialect import (
    AS_TYPED,
    library_messages,
    library_settings,
    sendable,
    thinking_level,
)
from tui.providers.message_events import MessageEvents, merged_events
from tui.providers.protocol import ModelRequest
from tui.providers.transport import Wire

_WIRE = Wire(
    MessageEvents,
    merged_events,
    headers=frozenset({"anthropic-version", "anthropic-beta"}),
    key_header="X-Api-Key",
    key_form="{}",
)
_KEPT = frozenset(
    {
        "supports_thinking",
        "thinking_always_enabled",
        "thinking_enabled_by_default",
        "anthropic_supports_adaptive_thinking",
        "anthropic_supports_effort",
        "anthropic_disables_thinking_with_between_tools",
        # A turn may have lost its beginning to a summary: the vendor then refuses the thinking
        # after it, and the library asks again without.
        "anthropic_binds_thinking_blocks",
        "anthropic_max_output_tokens",
    }
)
"""What the library knows about a model and may use."""
_VENDOR = "api.anthropic.com"
_ANSWER_SHARE = 4
"""The fraction of the context window that is kept free for the answer: a quarter."""
_LEAST_BUDGET = 1024
"""The fewest tokens for thinking that Anthropic accepts."""
_ENDS = AnthropicModelSettings(
    anthropic_cache_instructions=True, anthropic_cache_tool_definitions=True
)
_LONGEST_NAME = 128
_ODD = re.compile(r"[^a-zA-Z0-9_-]")


class AnthropicDialect:
    """Requests to Anthropic or a compatible server."""

    wire = _WIRE

    def __init__(self, choice: ModelChoice) -> None:
        self._choice = choice
        most = max(choice.context_window // _ANSWER_SHARE, 1)
        self._answer_tokens = min(choice.answer_tokens, most)
        self._known = AnthropicModelProfile(**(anthropic_model_profile(choice.model) or {}))
        self._caching = _caching(choice)
        self._has_budget = not self._known.get("anthropic_supports_adaptive_thinking", False)

    @property
    def thinks_unasked(self) -> bool:
        return self._known.get("thinking_enabled_by_default", False)

    def supported(self, parameters: ModelParameters) -> ModelParameters:
        found = supported(parameters, self._known)
        if found.effort in {None, "off"}:
            return found
        if self._has_budget and self._budget(found) < _LEAST_BUDGET:
            return msgspec.structs.replace(found, effort=None)
        # Beside thinking no temperature is accepted.
        return msgspec.structs.replace(found, temperature=None)

    def settings(self, parameters: ModelParameters) -> ModelSettings:
        # The library lowers it further, to the limit that it knows of the model.
        given = AnthropicModelSettings(max_tokens=self._answer_tokens)
        given |= self._caching | AnthropicModelSettings(**library_settings(parameters))
        if self._has_budget and parameters.effort not in {None, "off"}:
            budget = self._budget(parameters)
            given["anthropic_thinking"] = {"type": "enabled", "budget_tokens": budget}
        return given

    def _budget(self, parameters: ModelParameters) -> int:
        """The tokens for thinking; they are part of the answer's limit."""
        most = parameters.max_tokens or self._answer_tokens
        level = thinking_level(parameters.effort or "off")
        return min(ANTHROPIC_THINKING_BUDGET_MAP.get(level, 0), most // 2)

    def messages(self, request: ModelRequest) -> list[ModelMessage]:
        return library_messages(accepted(request), no_result=[])

    def model(self, http: httpx2.AsyncClient) -> LibraryModel:
        client = AsyncAnthropic(
            # The connection sends the key. Without one here, the library would look for keys in
            # the environment and in files.
            api_key="none",
            webhook_key="",
            base_url=self._choice.base_url,
            timeout=http.timeout,
            max_retries=0,
            open_telemetry=False,
            http_client=http,
        )
        provider = AnthropicProvider(anthropic_client=client)
        return AnthropicModel(sendable(self._choice.model), provider=provider, profile=_profile)


def _caching(choice: ModelChoice) -> AnthropicModelSettings:
    """Mark the ends of tools, system prompt and conversation for the vendor's cache.

    The vendor finds the end of the conversation by itself, and then no message carries a mark. A
    gateway to the vendor may know only marks; other servers are sent nothing.
    """
    if urlsplit(choice.base_url).hostname == _VENDOR:
        return _ENDS | AnthropicModelSettings(anthropic_cache=True)
    if choice.provider == "anthropic":
        return _ENDS | AnthropicModelSettings(anthropic_cache_messages=True)
    return AnthropicModelSettings()


def accepted(request: ModelRequest) -> ModelRequest:
    """Adapt a request: Anthropic refuses blank texts, and odd or repeated ids of tool calls.

    Sessions from other servers or programs have them.
    """
    ids = _CallIds()
    messages = [_accepted(message, ids) for message in request.messages]
    # The last message is kept even if blank: refusing it is the server's part.
    kept = [each for each in messages[:-1] if each.role != "user" or each.content]
    system_prompt = _unless_blank(request.system_prompt)
    return msgspec.structs.replace(
        request, system_prompt=system_prompt, messages=(*kept, *messages[-1:])
    )


def _accepted(message: Message, ids: "_CallIds") -> Message:
    calls = tuple(
        ToolCall(ids.given(call.id), _plain(call.name)[:_LONGEST_NAME], call.arguments)
        for call in message.tool_calls
    )
    answered = message.tool_call_id
    return msgspec.structs.replace(
        message,
        content=_said(message.content),
        tool_calls=calls,
        tool_call_id=None if answered is None else ids.of_result(answered),
    )


def _said(content: Content) -> str | list[Any]:
    said = (p for p in parts_of(content) if not isinstance(p, str) or p.strip())
    return content_of_parts(list(said))


def _unless_blank(text: str) -> str:
    return text if text.strip() else ""


def _plain(name: str) -> str:
    return _ODD.sub("_", name) or "_"


class _CallIds:
    """Maps ids of tool calls to unique ids of permitted characters, within one request."""

    def __init__(self) -> None:
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def given(self, call_id: str) -> str:
        """Assign an id to a call; ``of_result`` finds it for the results that follow."""
        plain = given = _plain(call_id)
        for number in itertools.count(1):
            if given not in self._taken:
                break
            given = f"{plain}_{number}"
        self._taken.add(given)
        self._given[call_id] = given
        return given

    def of_result(self, call_id: str) -> str:
        """The id of the call that a result answers."""
        return self._given.get(call_id, call_id)


def _profile(known: ModelProfile) -> ModelProfile:
    """Use only the limits and the thinking from what the library knows about a model."""
    kept = {name: value for name, value in known.items() if name in _KEPT}
    own = AnthropicModelProfile(supports_auto_cache=True)
    return DEFAULT_PROFILE | AS_TYPED | own | cast("ModelProfile", kept)
