"""Failures of requests: the sentence for the user, and whether a retry may help.

Parts of a request that a model or its server refused are left out of later requests.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from tui.domain.journal.message import ImageBlock, with_calls_as_text
from tui.domain.models import ModelParameters
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
from tui.providers.codec import (
    BROKEN_OFF,
    SHORT_ID,
    Breakage,
    BrokenStream,
    JsonObject,
    kept_answers,
    with_ids,
)
from tui.providers.exchange import Refusal, Reply
from tui.providers.network import LOGIN_REQUIRED, NoReply, intercepted, login_hint, web_page
from tui.providers.protocol import ModelRequest, ToolDefinition
from tui.providers.server_words import is_page, message_in, quotable, quoted, value_at

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
    if isinstance(failure, Refusal):
        return _row(failure).passes
    return isinstance(failure, NoReply) and failure.passes


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


# --- refused parts

# fmt: off
RequestPart = Literal[
    "tools", "single tools", "system prompt", "pictures", "ids of calls", "earlier calls",
    "thinking", "all thinking", "field",
]
# fmt: on


class PartRefused(Exception):
    """A server refused a part of a request: these pictures or tools, a field, or all of it."""

    def __init__(
        self,
        part: RequestPart,
        single: Sequence[ImageBlock] | Sequence[ToolDefinition] = (),
        field: str = "",
        instead: str | int = "",
    ) -> None:
        super().__init__(part)
        self.part: RequestPart = part
        self.single = single
        """The pictures or the tools."""
        self.field = field
        """The name of a field of the body, with dots."""
        self.instead = instead
        """The other name of the field, or its highest value."""
        self.said = ""
        """The words of the server, as a sentence."""


_NOT_TAKEN = (
    r"(?:not|n't|un)[ -]?(?:be )?(?:support|allow|available|enabled|implement)"
    r"|requires? --|support tool"
)

# fmt: off
_PARTS: Sequence[tuple[RequestPart, str, str]] = (
    # Thinking after a summary of what was before it.
    ("thinking", r"bound to a different", ""),
    # Not so the effort of it: that is a field.
    ("all thinking", r"reasoning(?!_effort)|thinking|thought",
     r"(?:not |n't |un)(?:support|allow|permit|expected|known|recogni)|extra (?:inputs|fields)"),
    # A call without what its server gave with it: thinking, or its signature.
    ("earlier calls", (
        r"reasoning_content|reasoning[_ ]details|thought[_ ]?signature|thinking[_ ]?blocks?"
        r"|expected `?thinking|required .?reasoning.? item|reasoning.{0,40}passed back"
    ), ""),
    ("ids of calls", r"tool[_ ]?(?:call|use)[_ .]?ids?\b|tool_calls\[\d+\]\.id\b|call_id\b",
     r"length|pattern|alphanumeric|too long|a-z|invalid (?:format|characters)"),
    # Roles do alternate: a template that counts the system prompt is the one to say so.
    ("system prompt", r"roles must alternate", ""),
    ("single tools", "", ""),
    # Servers that know texts only say what they expect instead; others have too many, or too much.
    ("pictures", (
        r"images?\b|image_url|\bvision\b|multi-?modal|must be a string|be a valid string"
        r"|(?:request|payload|entity|body)\b.{0,30}(?:too.?large|exceed)"
    ), ""),
    ("tools", r"\btools?\b|\bfunction[ -]?call", _NOT_TAKEN),
    ("system prompt", r"\b(?:system|developer) (?:role|message|prompt|instruction)", _NOT_TAKEN),
)
"""A part, and what a message says that refuses it: about what, and why. The first that fits."""
# fmt: on

# Of Google first: in `tools[0].function_declarations[2]` only the second number is a tool's.
_NUMBERS = (
    r"function_?declarations?(?:\.|\[|['\"], ?)(\d+)",
    r"\btools(?:\.|\[|['\"], ?| ?-> ?|/)(\d+)",
)
_DEFINITION = r"schema|declaration|grammar|parameter|propert|pattern|\bname\b|invalid"
_SCHEMAS = r"\bschemas?\b|grammar|declarations?\b|\$ref"
# A model's call, which is another one the next time.
_CALL = r"tool.?calls?\b|failed.generation|tool.(?:use|result)\b|messages?[.\[]"

_REFUSES = (
    r"(?:not|n't|un)[ -]?(?:be )?(?:support|allow|available|enabled|permit|expected|known|recogni)"
    r"|extra (?:inputs|fields)|invalid|only the default|may only be|must be|deprecated|at most"
    r"|too (?:large|high|small|low)|greater than|less than|cannot|does not exist|out of range"
)
# Anthropic's words, where a request must have a limit.
_HIGHEST = r"max_tokens: \d+ > (\d+)"
_OTHER_NAMES = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
"""The two names of one field of chat completions."""


def part_refused(said: str, request: ModelRequest) -> PartRefused | None:
    """Find the part of a request that a server's message refuses."""
    for part, what, why in _PARTS:
        if not (_says(what, said) and _says(why, said)):
            continue
        found: Any
        match part:
            case "thinking" | "all thinking":
                found = any(request.memory.answers)
            case "earlier calls":
                found = _with_whole_calls(request) != request
            case "ids of calls":
                is_changed = with_ids(request, SHORT_ID) != request
                return PartRefused(part) if is_changed else None
            case "single tools":
                found = _refused_tools(said, request)
            case "pictures":
                found = _refused_pictures(said, request)
            case "tools":
                found = request.tools
            case _:
                found = request.system_prompt
        if found:
            return PartRefused(part, found if part in {"single tools", "pictures"} else ())
    return None


def _says(pattern: str, said: str) -> bool:
    return bool(re.search(pattern, said, re.IGNORECASE | re.DOTALL))


def _refused_tools(said: str, request: ModelRequest) -> Sequence[ToolDefinition]:
    """The tools whose definitions a message refuses; all if it is about one and does not say."""
    if _says(_CALL, said):
        return ()
    for numbers in _NUMBERS:
        places = {int(place) for place in re.findall(numbers, said, re.IGNORECASE)}
        if known := [tool for place, tool in enumerate(request.tools) if place in places]:
            return known
    names = [
        tool
        for tool in request.tools
        if re.search(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", said)
    ]
    if names and _says(_DEFINITION, said):
        return names
    return request.tools if _says(_SCHEMAS, said) else ()


def _refused_pictures(said: str, request: ModelRequest) -> Sequence[ImageBlock]:
    """The pictures to leave out: all if the model sees none, else the earlier ones first."""
    sent = [
        (each, message)
        for message in request.messages
        for each in message.attachments
        if isinstance(each, ImageBlock) and each.sha256 in request.images
    ]
    newest = {each.sha256 for each, message in sent if message is sent[-1][1]}
    earlier = [each for each, _ in sent if each.sha256 not in newest]
    return [each for each, _ in sent] if _says(_NOT_TAKEN, said) or not earlier else earlier


def field_refused(said: str, body: JsonObject, optional: Mapping[str, str]) -> PartRefused | None:
    """Find the field of a body that a server's message refuses by its name, or by our own."""
    if highest := re.search(_HIGHEST, said) if "max_tokens" in body else None:
        return PartRefused("field", field="max_tokens", instead=int(highest[1]))
    if not _says(_REFUSES, said):
        return None
    for path, parameter in optional.items():
        name = path.rpartition(".")[2]
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
        camel = re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name)
        names = "|".join(map(re.escape, {name, snake, camel, path, parameter or name}))
        is_sent = value_at(body, *path.split(".")) is not None
        if is_sent and re.search(rf"(?<!\w)(?:{names})(?!\w)", said, re.IGNORECASE):
            other = _OTHER_NAMES.get(name, "")
            return PartRefused("field", field=path, instead=other if other in said else "")
    return None


class RefusedParts(Struct, eq=False):
    """The refused parts of one model's requests, for as long as the program runs."""

    _model: str
    _parts: set[RequestPart] = set()
    _pictures: dict[str, str] = {}
    """The notice about each refused picture, by its SHA-256: the next one may be taken."""
    _tools: list[tuple[ToolDefinition, str]] = []
    """Each refused tool and the notice about it: once it has changed, it may be taken."""
    _fields: dict[str, str | int] = {}
    """Fields of a body, by their names with dots: their other names, or highest values."""

    def add(self, refused: PartRefused) -> None:
        """Remember a refusal."""
        self._parts.add(refused.part)
        if refused.field:
            self._fields[refused.field] = refused.instead
        notice = _notice(self._model, refused)
        for each in refused.single:
            if isinstance(each, ImageBlock):
                self._pictures[each.sha256] = notice
            else:
                self._tools.append((each, notice))

    def left_out(self, request: ModelRequest) -> ModelRequest:
        """The same request without them."""
        images = {each: data for each, data in request.images.items() if each not in self._pictures}
        refused = [tool for tool, _ in self._tools]
        tools = tuple(tool for tool in request.tools if tool not in refused)
        are_all_refused = request.tools and not tools
        request = replace(request, images=images, tools=tools)
        if are_all_refused or "tools" in self._parts:
            request = request.without_tools()
        if "all thinking" in self._parts:
            request.memory.forget()
        if "earlier calls" in self._parts:
            request = _with_whole_calls(request)
        if "ids of calls" in self._parts:
            request = with_ids(request, SHORT_ID)
        return request.without_system_prompt() if "system prompt" in self._parts else request

    def remove_fields(self, body: JsonObject) -> None:
        """Remove the refused fields of a body, rename them, or lower their values."""
        for path, instead in self._fields.items():
            *above, name = path.split(".")
            inner: Any = body
            for each in above:
                inner = inner.get(each, {})
            if name in inner:
                value = inner.pop(name)
                if isinstance(instead, int):
                    inner[name] = min(value, instead)
                elif instead:
                    inner[instead] = value
                elif above and not inner:
                    del body[above[0]]

    def notices(self, request: ModelRequest, optional: Mapping[str, str]) -> Iterator[str]:
        """Describe for the user what is left out of a request."""
        if request.tools and "tools" in self._parts:
            yield (
                f"{self._model} does not take tools: asked without them. To switch them off for"
                f' it, add tools = false to [models."{self._model}"] in config.toml.'
            )
        if request.system_prompt and "system prompt" in self._parts:
            yield f"{self._model} does not take a system prompt: sent it with the first message."
        told = [notice for tool, notice in self._tools if tool in request.tools]
        told += [self._pictures[each] for each in request.images if each in self._pictures]
        yield from dict.fromkeys(told)
        names = {optional.get(field) for field, other in self._fields.items() if not other}
        refused = {name: getattr(request.parameters, name) for name in names if name}
        if words := ModelParameters(**refused).words:
            yield f"{self._model} does not take {words}: left out."


def _with_whole_calls(request: ModelRequest) -> ModelRequest:
    """The same request, in which calls are text whose thinking was not kept."""
    messages = with_calls_as_text(request.messages, kept_answers(request))
    return replace(request, messages=messages)


def _notice(model: str, refused: PartRefused) -> str:
    names = list(dict.fromkeys(each.name for each in refused.single))
    if not names:
        return ""
    one, more = names[0], f" and {len(refused.single) - 1:,} more"
    match refused.part, len(names):
        case "pictures", 1:
            what, done = one, "only its name is sent"
        case "pictures", count:
            what, done = f"{count} pictures", "only their names are sent"
        case _ if len(refused.single) == 1:
            what, done = f"the tool {one}", "asked without it"
        case _:
            what, done = "one of the tools", f"asked without {one}{more}"
    return f"{model} did not take {what}: {done}.{refused.said}"
