"""Failures of requests: the sentence for the user, and the question whether a retry may help."""

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple
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
from tui.providers.codec import BROKEN_OFF, Breakage, BrokenStream
from tui.providers.exchange import Refusal, Reply
from tui.providers.network import LOGIN_REQUIRED, NoReply, intercepted, login_hint, web_page
from tui.providers.server_words import is_page, message_in, quotable, quoted

Failure = Refusal | NoReply | BrokenStream

ADDRESSES: Mapping[DialectName, str] = {
    "openai": "it ends in /v1",
    "responses": "it ends in /v1",
    "anthropic": "it has no /v1",
    "google": "it has no /v1beta",
    "mistral": "it ends in /v1",
    "bedrock": "it has the name of a region",
}
"""The form of addresses, by dialect."""

_FULL = re.compile(
    r"context_length_exceeded|exceed_context_size|context[ _-]?(?:window|length|size|limit)"
    r"|maximum context|context shift is disabled|context (?:overflow|is full)"
    r"|prompt is too long|input is too long|(?:too many|maximum (?:number of)?) ?(?:input )?tokens"
    r"|exceeds the (?:maximum|max) number of tokens|reduce the length of (?:the|your)"
    r"|input (?:length|token count)|string_above_max_length|tokens? \+ .{0,40}must be <=",
    re.IGNORECASE,
)
# Of a length of time, or of something else, those say nothing.
_NOT_FULL = re.compile(r"rate.?limit|per.minute|quota|temperature|max_(?:completion_)?tokens ?:")
_EMPTY = re.compile(
    r"insufficient[ _](?:quota|balance|credits?|funds)|billing_error|credit balance"
    r"|(?:no|out of|not enough|insufficient) credits?|payment required|exceeded your current quota",
    re.IGNORECASE,
)


def _says_full(words: str) -> bool:
    """Recognise a full window, which each server says in words of its own, some with a 500."""
    return bool(_FULL.search(words)) and not _NOT_FULL.search(words)


class _Row(NamedTuple):
    """A refusal by its status and perhaps its body, the error that it is, and its sentence."""

    statuses: Collection[int]
    kind: type[ModelError]
    words: str
    mark: Callable[[str], object] | None = None
    passes: bool = False
    """True if it may be over at the next attempt: see ``Provider.retries``."""


_TOO_LONG = (
    "The conversation is too long for {choice.name}{status}. /compact summarises it; or set a"
    ' context_window below {choice.context_window} in [models."{choice.name}"].'
)
_NO_CREDIT = "The account at {choice.place} has no credit left{status}."
_NOT_ACCEPTED = "{choice.place} did not accept the request{status}."
_FAILED = "Server error {code} from {choice.provider.name}{tried}. Try again later."

# The first that fits.
# fmt: off
_REFUSALS = (
    _Row({*range(300, 1000)} - {401, 403, 404, 429}, ModelRefused, _TOO_LONG, _says_full),
    _Row({402}, ModelRefused, _NO_CREDIT),
    _Row({400, 403, 429}, ModelRefused, _NO_CREDIT, _EMPTY.search),
    _Row({401}, KeyRefused, "{choice.place} {about_key}{status}."),
    # Of a region, a firewall, a model that is not open to the account: the key may be right.
    _Row({403}, ModelRefused, "{choice.place} refused the request{status}."),
    _Row({404}, ModelUnavailable, "{choice.place} does not know {choice.model}{status}. Check the model's name and the address ({form})."),
    _Row({429}, ModelRefused, "{choice.place} limits requests{status}{tried}. Try again later.", passes=True),
    _Row({408, 409}, ModelRefused, _NOT_ACCEPTED, passes=True),
    _Row({LOGIN_REQUIRED}, ModelUnavailable, _FAILED),
    _Row(range(500, 1000), ModelUnavailable, _FAILED, passes=True),
    _Row(range(1000), ModelRefused, _NOT_ACCEPTED),
)
_BREAKAGES: Mapping[Breakage, tuple[type[ModelError], str]] = {
    "cut": (AnswerCut, "{choice.place} closed the connection in the middle of its answer.{through}"),
    "failed": (AnswerCut, "{choice.place} broke off its answer.{said}"),
    "malformed": (AnswerCut, "{choice.place} sent an invalid answer. Try again, or choose another model."),
    "no_stream": (AnswerCut, "{choice.place} did not send a stream of an answer. Check the address ({form}).{said}"),
    "silent": (ModelTimedOut, "{choice.place} sent nothing for {choice.provider.timeout:g} seconds. If it needs longer, raise timeout in [providers.{choice.provider.name}]."),
    "declined": (ModelRefused, "{choice.name} declined to answer.{said}"),
    "ended": (AnswerCut, "{choice.place} {done} in the middle of its answer ({reason}). Try again later.{said}"),
}
# fmt: on


def _row(refusal: Refusal) -> _Row:
    return next(
        row
        for row in _REFUSALS
        if refusal.status in row.statuses and (row.mark is None or row.mark(refusal.body))
    )


def passes(failure: Failure) -> bool:
    """True for a failure that may be over at the next attempt: see ``Provider.retries``."""
    match failure:
        case NoReply(passes=passes):
            return passes
        case Refusal():
            return _row(failure).passes
        case BrokenStream():
            return False


def explained(
    failure: Failure, reply: Reply, choice: ModelChoice, tries: int, parameters: ModelParameters
) -> ModelError:
    """Make the error to raise; the server's message is quoted in part, with the key removed."""
    route = reply.route
    secrets = (*choice.secrets, *route.secrets)
    facts: dict[str, Any] = {
        "choice": choice,
        "form": ADDRESSES[choice.provider.dialect],
        "status": "",
    }
    match failure:
        case NoReply(words=words):
            return ModelUnavailable(words)
        case Refusal(status=status, body=body):
            if said := intercepted(status, route, is_page=is_page(body)):
                return ModelUnavailable(said)
            if 300 <= status < 400:
                return _redirection(reply, choice)
            row = _row(failure)
            facts |= {"code": status, "status": f" (status {status})"}
            facts |= {"tried": f", tried {tries} times" if tries > 1 else ""}
            facts |= {"about_key": _about_key(choice)}
            said = row.words.format_map(facts) + quoted(message_in(body), *secrets)
            if status in {400, 422} and parameters.words:
                said += (
                    f" It was sent with {parameters.words}; /set shows where each value comes from."
                )
            return row.kind(said + (route.through if status >= 500 else ""))
        case BrokenStream(breakage=breakage, words=reason, more=more):
            kind, words = _BREAKAGES[breakage]
            said = quoted(more if breakage == "ended" else reason, *secrets)
            done = BROKEN_OFF.get(reason.lower())
            if breakage == "no_stream":
                if is_page(reply.text):
                    return kind(web_page(route, "an answer", facts["form"]))
                said = quoted(message_in(reply.text), *secrets)
            elif breakage == "failed" and _says_full(reason):
                words = _TOO_LONG + "{said}"
            elif breakage == "ended" and not done:
                words = "A content filter of {choice.place} stopped the answer ({reason}).{said}"
            facts |= {"said": said, "reason": reason, "done": done, "through": route.through}
            return kind(words.format_map(facts))


def _redirection(reply: Reply, choice: ModelChoice) -> ModelError:
    hint = login_hint(reply.route, reply.location, reply.text)
    # Without what each request adds to an address, so that it can be pasted.
    added = reply.path.removeprefix(urlsplit(choice.provider.base_url).path.rstrip("/"))
    address = re.split(r"[?#]", reply.location)[0]
    place = quotable(address.removesuffix(added) if added else address, *choice.secrets)
    return ModelUnavailable(
        f"{choice.place} redirects to {place}. If that is right, make it the base_url of"
        f" {choice.provider.name}.{hint}"
    )


def _about_key(choice: ModelChoice) -> str:
    if choice.key:
        return f"refused the key from {choice.key.source}. Put a valid one there, or press F5"
    return (
        f"requires a key. Press F5, or name the variable that has it as api_key_env in"
        f" [providers.{choice.provider.name}]"
    )
