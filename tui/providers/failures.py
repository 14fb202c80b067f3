"""Failures of a request: the sentence for the user, and the question whether a retry may help."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

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
from tui.providers.codec import BROKEN_OFF, BrokenStream
from tui.providers.disconnections import LOGIN_REQUIRED, intercepted, login_hint, web_page
from tui.providers.exchange import NoReply, Refusal, Reply
from tui.providers.secret import Secret
from tui.providers.server_words import is_page, message_in, quotable, quoted

Failure = Refusal | NoReply | BrokenStream

_UNACCEPTED = frozenset({400, 422})
_PASSING = frozenset({408, 409, 429})
_ADDRESSES: Mapping[DialectName, str] = {
    "openai": "it ends in /v1",
    "responses": "it ends in /v1",
    "anthropic": "it has no /v1",
    "google": "it has no /v1beta",
    "mistral": "it ends in /v1",
    "bedrock": "it has the name of a region",
}
# Of a length of time, or of something else, these say nothing.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context[ _-]?(?:window|length|size|limit)"
    r"|maximum context|context shift is disabled|context (?:overflow|is full)"
    r"|prompt is too long|input is too long|(?:too many|maximum (?:number of)?) ?(?:input )?tokens"
    r"|exceeds the (?:maximum|max) number of tokens|reduce the length of (?:the|your)"
    r"|input (?:length|token count)|string_above_max_length|tokens? \+ .{0,40}must be <=",
    re.IGNORECASE,
)
_NOT_TOO_LONG = re.compile(
    r"rate.?limit|per.minute|quota|temperature|max_(?:completion_)?tokens ?:"
)
_EMPTY = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|billing_error|credit balance"
    r"|(?:no|out of|not enough|insufficient) credits?|payment required|exceeded your current quota",
    re.IGNORECASE,
)


def passes(failure: Failure) -> bool:
    """True for a failure that may be over at the next attempt: see ``Provider.retries``."""
    match failure:
        case NoReply(disconnection=disconnection):
            return disconnection.passes
        case Refusal(status=status, body=body):
            if _is_too_long(failure) or _has_no_credit(status, body):
                return False
            return status in _PASSING or (status >= 500 and status != LOGIN_REQUIRED)
        case _:
            return False


def short_reason(failure: Failure) -> str:
    """Name the reason of a failure that is retried, for a place of a few words."""
    return f"status {failure.status}" if isinstance(failure, Refusal) else "no connection"


def explained(
    failure: Failure,
    reply: Reply,
    choice: ModelChoice,
    tries: int,
    parameters: ModelParameters,
) -> ModelError:
    """Make the error to raise; the server's message is quoted in part, with the key removed."""
    secrets = (*choice.secrets, *reply.route.secrets)
    match failure:
        case NoReply(disconnection=disconnection):
            return ModelUnavailable(disconnection.words)
        case BrokenStream():
            return _breakage(failure, reply, choice, secrets)
        case Refusal(status=status, body=body):
            if words := intercepted(status, reply.route, is_page=is_page(body)):
                return ModelUnavailable(words)
            if 300 <= status < 400:
                return _redirection(reply, choice)
            said = quoted(message_in(body), *secrets)
            through = reply.route.through if status >= 500 else ""
            return _refusal(failure, choice, tries, said + _sent_with(status, parameters) + through)


def _breakage(
    broken: BrokenStream, reply: Reply, choice: ModelChoice, secrets: Sequence[Secret]
) -> ModelError:
    """Make the error for a stream that is no whole answer."""
    place, words = choice.place, broken.words
    said = quoted(words, *secrets)
    match broken.breakage:
        case "cut":
            cut = f"{place} closed the connection in the middle of its answer."
            return AnswerCut(cut + reply.route.through)
        case "failed" if _TOO_LONG.search(words) and not _NOT_TOO_LONG.search(words):
            return AnswerCut(_too_long(choice, "") + said)
        case "failed":
            return AnswerCut(f"{place} broke off its answer.{said}")
        case "malformed":
            return AnswerCut(f"{place} sent an invalid answer. Try again, or choose another model.")
        case "no_stream":
            return _no_answer(choice, reply, quoted(message_in(reply.text), *secrets))
        case "silent":
            return ModelTimedOut(
                f"{place} sent nothing for {choice.timeout:g} seconds. If it needs longer, raise"
                f" timeout in [providers.{choice.provider}]."
            )
        case "declined":
            return ModelRefused(f"{choice.name} declined to answer.{said}")
        case "ended":
            done = BROKEN_OFF.get(words.lower())
            if done is None:
                return AnswerCut(f"A content filter of {place} stopped the answer ({words}).")
            return AnswerCut(
                f"{place} {done} in the middle of its answer ({words}). Try again later."
            )


def _redirection(reply: Reply, choice: ModelChoice) -> ModelError:
    hint = login_hint(reply.route, reply.location, reply.text)
    # Without what each request adds to an address, so that it can be pasted.
    added = reply.path.removeprefix(urlsplit(choice.base_url).path.rstrip("/"))
    address = re.split(r"[?#]", reply.location)[0]
    place = quotable(address.removesuffix(added) if added else address, *choice.secrets)
    return ModelUnavailable(
        f"{choice.place} redirects to {place}. If that is right, make it the base_url of"
        f" {choice.provider}.{hint}"
    )


def _no_answer(choice: ModelChoice, reply: Reply, said: str) -> ModelError:
    """Make the error for a reply that is not an answer."""
    if is_page(reply.text):
        return AnswerCut(web_page(reply.route, "an answer", _ADDRESSES[choice.dialect]))
    return AnswerCut(
        f"{choice.place} did not send a stream of an answer. Check the address"
        f" ({_ADDRESSES[choice.dialect]}).{said}"
    )


def _refusal(refusal: Refusal, choice: ModelChoice, tries: int, said: str) -> ModelError:
    """Make the error for a status of 4xx or 5xx."""
    place, status = choice.place, f"(status {refusal.status})"
    tried = f" after {tries} attempts" if tries > 1 else ""
    kind = ModelRefused
    if _is_too_long(refusal):
        what = _too_long(choice, f" {status}")
    elif _has_no_credit(refusal.status, refusal.body):
        what = f"The account at {place} has no credit left {status}."
    elif refusal.status == 401:
        kind = KeyRefused
        what = f"{place} {_about_key(choice)} {status}."
    elif refusal.status == 403:
        # Of a region, a firewall, a model that is not open to the account: the key may be right.
        what = f"{place} refused the request {status}."
    elif refusal.status == 404:
        kind = ModelUnavailable
        what = (
            f"{place} does not know {choice.model} {status}. Check the model's name and the"
            f" address ({_ADDRESSES[choice.dialect]})."
        )
    elif refusal.status == 429:
        what = f"{place} limits requests {status}{tried}. Try again later."
    elif refusal.status >= 500:
        kind = ModelUnavailable
        what = f"{place} failed with status {refusal.status}{tried}. Try again later."
    else:
        what = f"{place} did not accept the request {status}."
    return kind(what + said)


def _too_long(choice: ModelChoice, status: str) -> str:
    return (
        f"The conversation is too long for {choice.name}{status}. /compact summarises it; or"
        f' set a context_window below {choice.context_window} in [models."{choice.name}"].'
    )


def _is_too_long(refusal: Refusal) -> bool:
    """Recognise a full window, which each server says in words of its own, some with a 500."""
    if refusal.status in {401, 403, 404, 429}:
        return False
    return bool(_TOO_LONG.search(refusal.body)) and not _NOT_TOO_LONG.search(refusal.body)


def _has_no_credit(status: int, body: str) -> bool:
    return status == 402 or (status in {400, 403, 429} and bool(_EMPTY.search(body)))


def _sent_with(status: int, parameters: ModelParameters) -> str:
    """Name the parameters of a request that was not accepted as it is."""
    if status not in _UNACCEPTED or not parameters.words:
        return ""
    return f" It was sent with {parameters.words}; /set shows where each value comes from."


def _about_key(choice: ModelChoice) -> str:
    if choice.key:
        return f"refused the key from {choice.key.source}. Put a valid one there, or press F5"
    return (
        f"requires a key. Press F5, or name the variable that has it as api_key_env in"
        f" [providers.{choice.provider}]"
    )
