"""Failures of a request: the sentence for the user, and the pause before a retry."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelTimeoutError,
)

from tui.domain.model_settings import ModelParameters
from tui.domain.providers import DialectName
from tui.errors import (
    AnswerCut,
    KeyRefused,
    ModelError,
    ModelRefused,
    ModelTimedOut,
    ModelUnavailable,
)
from tui.providers.catalog import ModelChoice
from tui.providers.cleaning import BrokenStream
from tui.providers.disconnections import LOGIN_REQUIRED, intercepted, login_hint, web_page
from tui.providers.secret import Secret
from tui.providers.server_words import is_page, message_in, quotable, quoted, text_in
from tui.providers.transport import Reply

_UNACCEPTED = frozenset({400, 422})
_PASSING = frozenset({408, 409, 429})
_UNTAKEN = frozenset({400, 404, 413, 415, 422, 500, 501})
_FILTERED = frozenset(
    {
        "blocklist",
        "content-filter",
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "prohibited_content",
        "recitation",
        "safety",
        "sensitive",
        "spii",
    }
)
_BROKEN_OFF = {
    "abort": "broke off",
    "error": "reports an error",
    "insufficient_system_resource": "ran out of resources",
    "malformed_model_output": "received an invalid answer",
    "malformed_tool_use": "received an invalid tool call",
    "language": "does not support the language",
    "malformed_function_call": "received an invalid tool call",
    "network_error": "lost its connection to the model",
    "other": "broke off",
    "too_many_tool_calls": "received too many tool calls",
    "unexpected_tool_call": "received an unexpected tool call",
}
"""By the server's word for the reason of the end."""
_ADDRESSES: Mapping[DialectName, str] = {
    "openai": "it ends in /v1",
    "responses": "it ends in /v1",
    "anthropic": "it has no /v1",
    "google": "it has no /v1beta",
    "mistral": "it ends in /v1",
    "bedrock": "it has the name of a region",
}


def passes(error: AgentRunError, reply: Reply) -> bool:
    """True for a failure that may be over at the next attempt: see ``Provider.retries``."""
    if reply.disconnection:
        return reply.disconnection.passes
    if isinstance(error, ModelQuotaExceededError):
        return False
    if not isinstance(error, ModelHTTPError) or error.in_stream:
        return False
    status = error.status_code
    return status in _PASSING or (status >= 500 and status != LOGIN_REQUIRED)


def refusal_words(error: AgentRunError, reply: Reply) -> str:
    """The server's message, if it may refuse a part of the request; else empty."""
    refused = isinstance(error, ModelHTTPError) and error.status_code in _UNTAKEN
    return _message(error, reply) if refused else ""


def asked_pause(error: AgentRunError) -> float | None:
    """The seconds for which the server asks its clients to wait."""
    return error.retry_after if isinstance(error, ModelAPIError) else None


def short_reason(error: AgentRunError) -> str:
    """Name the reason of a failure that is retried, for a place of a few words."""
    return f"status {error.status_code}" if isinstance(error, ModelHTTPError) else "no connection"


def explained(
    error: AgentRunError | None,
    reply: Reply,
    choice: ModelChoice,
    tries: int,
    parameters: ModelParameters | None = None,
) -> ModelError:
    """Make the error to raise; ``error`` is ``None`` for an answer that is no whole one.

    The server's message is quoted in part, with the key removed.
    """
    if reply.disconnection:
        return ModelUnavailable(reply.disconnection.words)
    if reply.broken:
        return _breakage(reply.broken, reply, choice)
    if words := intercepted(reply.status or 0, reply.route, is_page=is_page(_head(reply))):
        return ModelUnavailable(words)
    if 300 <= (reply.status or 0) < 400:
        return _redirection(reply, choice)
    return _failure(error, reply, choice, tries, parameters)


def _failure(
    error: AgentRunError | None,
    reply: Reply,
    choice: ModelChoice,
    tries: int,
    parameters: ModelParameters | None,
) -> ModelError:
    """Make the error for an exception of the library."""
    said = quoted(_message(error, reply), *_secrets(choice, reply))
    match error:
        case ModelHTTPError(in_stream=False):
            through = reply.route.through if error.status_code >= 500 else ""
            said += _sent_with(error, parameters) + through
            return _refusal(error, choice, tries, said)
        case ModelTimeoutError():
            return _silence(choice)
        case ModelConnectionError():
            return unfinished(choice, reply)
        case ModelAPIError(in_stream=True):
            return AnswerCut(f"{choice.place} broke off its answer.{said}")
        case _:
            return _no_answer(choice, reply, said)


def unfinished(choice: ModelChoice, reply: Reply) -> AnswerCut:
    """Make the error for a stream that ended without its end mark."""
    words = f"{choice.place} closed the connection in the middle of its answer."
    return AnswerCut(words + reply.route.through)


def ended_badly(reason: str, refusal: Any, choice: ModelChoice) -> ModelError | None:
    """Make the error for an answer whose server ended it for another reason than its end.

    ``reason`` is the server's word, ``refusal`` are the model's words if it declined to answer.
    """
    place = choice.place
    if refusal is not None or reason == "refusal":
        said = quoted(str(refusal or ""), *choice.secrets)
        return ModelRefused(f"{choice.name} declined to answer.{said}")
    if reason.lower() in _FILTERED:
        return AnswerCut(f"A content filter of {place} stopped the answer ({reason}).")
    if said := _BROKEN_OFF.get(reason.lower()):
        return AnswerCut(f"{place} {said} in the middle of its answer ({reason}). Try again later.")
    return None


def _breakage(broken: BrokenStream, reply: Reply, choice: ModelChoice) -> ModelError:
    """Make the error for a stream that is no whole answer."""
    match broken.breakage:
        case "cut":
            return unfinished(choice, reply)
        case "failed":
            said = quoted(broken.words, *_secrets(choice, reply))
            return AnswerCut(f"{choice.place} broke off its answer.{said}")
        case "malformed":
            words = f"{choice.place} sent an invalid answer. Try again, or choose another model."
            return AnswerCut(words)
        case "no_stream":
            said = quoted(_message(None, reply), *_secrets(choice, reply))
            return _no_answer(choice, reply, said)


def _redirection(reply: Reply, choice: ModelChoice) -> ModelError:
    hint = login_hint(reply.route, reply.location, _head(reply))
    return ModelUnavailable(
        f"{choice.place} redirects to {quotable(reply.location, *choice.secrets)}. If that is"
        f" right, make it the base_url of {choice.provider}.{hint}"
    )


def _no_answer(choice: ModelChoice, reply: Reply, said: str) -> ModelError:
    """Make the error for a reply that is not an answer."""
    if is_page(_head(reply)):
        return AnswerCut(web_page(reply.route, "an answer", _ADDRESSES[choice.dialect]))
    return AnswerCut(
        f"{choice.place} did not send a stream of an answer. Check the address"
        f" ({_ADDRESSES[choice.dialect]}).{said}"
    )


def _refusal(error: ModelHTTPError, choice: ModelChoice, tries: int, said: str) -> ModelError:
    """Make the error for a status of 4xx or 5xx."""
    place, status = choice.place, f"(status {error.status_code})"
    tried = f" after {tries} attempts" if tries > 1 else ""
    kind = ModelRefused
    if error.status_code == 401:
        kind = KeyRefused
        what = f"{place} {_about_key(choice)} {status}."
    elif error.status_code == 403:
        # Of a region, a firewall, a model that is not open to the account: the key may be right.
        what = f"{place} refused the request {status}."
    elif error.status_code == 404:
        kind = ModelUnavailable
        what = (
            f"{place} does not know {choice.model} {status}. Check the model's name and the"
            f" address ({_ADDRESSES[choice.dialect]})."
        )
    elif isinstance(error, ModelContextWindowExceededError):
        what = (
            f"The conversation is too long for {choice.name} {status}. /compact summarises it; or"
            f' set a context_window below {choice.context_window} in [models."{choice.name}"].'
        )
    elif isinstance(error, ModelQuotaExceededError):
        what = f"The account at {place} has no credit left {status}."
    elif error.status_code == 429:
        what = f"{place} limits requests {status}{tried}. Try again later."
    elif error.status_code >= 500:
        kind = ModelUnavailable
        what = f"{place} failed with status {error.status_code}{tried}. Try again later."
    else:
        what = f"{place} did not accept the request {status}."
    return kind(what + said)


def _sent_with(error: ModelHTTPError, parameters: ModelParameters | None) -> str:
    """Name the parameters of a request that was not accepted as it is."""
    if error.status_code not in _UNACCEPTED or not parameters or not parameters.words:
        return ""
    return f" It was sent with {parameters.words}; /set shows where each value comes from."


def _about_key(choice: ModelChoice) -> str:
    if choice.key:
        return f"refused the key from {choice.key.source}. Put a valid one there, or press F5"
    return (
        f"requires a key. Press F5, or name the variable that has it as api_key_env in"
        f" [providers.{choice.provider}]"
    )


def _silence(choice: ModelChoice) -> ModelError:
    return ModelTimedOut(
        f"{choice.place} sent nothing for {choice.timeout:g} seconds. If it needs longer, raise"
        f" timeout in [providers.{choice.provider}]."
    )


def _message(error: AgentRunError | None, reply: Reply) -> str:
    """The server's error message, else the beginning of its reply."""
    body = error.body if isinstance(error, ModelAPIError) else None
    if body is not None:
        return message_in(body) if isinstance(body, str) else text_in(body)
    return message_in(_head(reply))


def _secrets(choice: ModelChoice, reply: Reply) -> Sequence[Secret]:
    """The texts that are removed from what is quoted."""
    return (*choice.secrets, *reply.route.secrets)


def _head(reply: Reply) -> str:
    """The beginning of a reply."""
    return reply.head.decode("utf-8", "replace")
