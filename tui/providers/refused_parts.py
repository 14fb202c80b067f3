"""Parts of a request that a model or its server refused; later requests go without them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec.structs import replace

from tui.domain.journal.blocks import ImageBlock
from tui.domain.journal.message import Message
from tui.domain.model_settings import ModelParameters
from tui.domain.plain_messages import with_calls_as_text
from tui.providers.codec import JsonObject
from tui.providers.protocol import ModelRequest, ToolDefinition
from tui.providers.sending import SHORT_ID, kept_ids, with_ids
from tui.providers.server_words import value_at

Part = Literal[
    "tools",
    "single tools",
    "system prompt",
    "pictures",
    "ids of calls",
    "earlier calls",
    "thinking",
    "all thinking",
    "field",
]

_NOT_TAKEN = re.compile(
    r"(?:not|n't|un)[ -]?(?:be )?(?:support|allow|available|enabled|implement)"
    r"|requires? --|support tool",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|\bfunction[ -]?call", re.IGNORECASE)
# Of Google first: in `tools[0].function_declarations[2]` only the second number is a tool's.
_NUMBERS = (
    re.compile(r"function_?declarations?(?:\.|\[|['\"], ?)(\d+)", re.IGNORECASE),
    re.compile(r"\btools(?:\.|\[|['\"], ?| ?-> ?|/)(\d+)"),
)
_DEFINITION = re.compile(
    r"schema|declaration|grammar|parameter|propert|pattern|\bname\b|invalid", re.IGNORECASE
)
_SCHEMAS = re.compile(r"\bschemas?\b|grammar|declarations?\b|\$ref", re.IGNORECASE)
# A model's call, which is another one the next time.
_CALL = re.compile(
    r"tool.?calls?\b|failed.generation|tool.(?:use|result)\b|messages?[.\[]", re.IGNORECASE
)
_SYSTEM = re.compile(r"\b(?:system|developer) (?:role|message|prompt|instruction)", re.IGNORECASE)
# Roles do alternate: a template that counts the system prompt is the one to say so.
_ODD_ROLES = re.compile(r"roles must alternate", re.IGNORECASE)


# Servers that know texts only say what they expect instead; others have too many, or too much.
_PICTURES = re.compile(
    r"images?\b|image_url|\bvision\b|multi-?modal|must be a string|be a valid string"
    r"|(?:request|payload|entity|body)\b.{0,30}(?:too.?large|exceed)",
    re.IGNORECASE | re.DOTALL,
)
# A call without what its server gave with it: thinking, or its signature.
_LACKS_THOUGHT = re.compile(
    r"reasoning_content|reasoning[_ ]details|thought[_ ]?signature|thinking[_ ]?blocks?"
    r"|expected `?thinking|required .?reasoning.? item|reasoning.{0,40}passed back",
    re.IGNORECASE,
)
# Thinking after a summary of what was before it.
_STALE = re.compile(r"bound to a different", re.IGNORECASE)
# Not so the effort of it: that is a field.
_THOUGHT = re.compile(r"reasoning(?!_effort)|thinking|thought", re.IGNORECASE)
_UNWANTED = re.compile(
    r"(?i)(?:not |n't |un)(?:support|allow|permit|expected|known|recogni)|extra (?:inputs|fields)"
)
_ID_OF_CALL = re.compile(
    r"tool[_ ]?(?:call|use)[_ .]?ids?\b|tool_calls\[\d+\]\.id\b|call_id\b", re.IGNORECASE
)
_WRONG_FORM = re.compile(
    r"length|pattern|alphanumeric|too long|a-z|invalid (?:format|characters)", re.IGNORECASE
)
_REFUSES = re.compile(
    r"(?:not|n't|un)[ -]?(?:be )?(?:support|allow|available|enabled|permit|expected|known|recogni)"
    r"|extra (?:inputs|fields)|invalid|only the default|may only be|must be|deprecated|at most"
    r"|too (?:large|high|small|low)|greater than|less than|cannot|does not exist|out of range",
    re.IGNORECASE,
)
# Anthropic's words, where a request must have a limit.
_HIGHEST = re.compile(r"max_tokens: \d+ > (\d+)")
_OTHER_NAMES = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": "max_tokens",
}
"""The two names of one field of chat completions."""


class PartRefused(Exception):
    """A server refused a part of a request: these pictures or tools, a field, or all of it."""

    def __init__(
        self,
        part: Part,
        pictures: Sequence[ImageBlock] = (),
        tools: Sequence[ToolDefinition] = (),
        field: str = "",
        instead: str | int = "",
    ) -> None:
        super().__init__(part)
        self.part: Part = part
        self.pictures = pictures
        self.tools = tools
        self.field = field
        """The name of a field of the body, with dots."""
        self.instead = instead
        """The other name of the field, or its highest value."""
        self.said = ""
        """The words of the server, as a sentence."""


class RefusedParts:
    """The refused parts of one model's requests, for as long as the program runs."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._parts: set[Part] = set()
        self._pictures: dict[str, str] = {}
        """The notice about each refused picture, by its SHA-256: the next one may be taken."""
        self._tools: list[tuple[ToolDefinition, str]] = []
        """Each refused tool and the notice about it: once it has changed, it may be taken."""
        self._fields: dict[str, str | int] = {}
        """Fields of a body, by their names with dots: their other names, or highest values."""

    def add(self, refused: PartRefused) -> None:
        """Note a refusal."""
        self._parts.add(refused.part)
        notice = _picture_notice(self._model, refused)
        self._pictures |= {picture.sha256: notice for picture in refused.pictures}
        if refused.tools:
            notice = _tool_notice(self._model, refused)
            self._tools += [(tool, notice) for tool in refused.tools]
        if refused.field:
            self._fields[refused.field] = refused.instead

    def left_out(self, request: ModelRequest) -> ModelRequest:
        """The same request without them."""
        taken = {each: data for each, data in request.images.items() if each not in self._pictures}
        refused = [tool for tool, _ in self._tools]
        tools = tuple(tool for tool in request.tools if tool not in refused)
        without = request.tools and not tools
        request = replace(request, images=taken, tools=tools)
        if without or "tools" in self._parts:
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

    def notices(
        self, request: ModelRequest, optional: Mapping[str, str] | None = None
    ) -> Iterator[str]:
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
        names = {(optional or {}).get(field) for field, other in self._fields.items() if not other}
        refused = {name: getattr(request.parameters, name) for name in names if name}
        if words := ModelParameters(**refused).words:
            yield f"{self._model} does not take {words}: left out."


def part_refused(said: str, request: ModelRequest) -> PartRefused | None:
    """Find the part of a request that a server's message refuses."""
    if _STALE.search(said) and any(request.memory.answers):
        return PartRefused("thinking")
    if _THOUGHT.search(said) and _UNWANTED.search(said) and any(request.memory.answers):
        return PartRefused("all thinking")
    if _LACKS_THOUGHT.search(said) and _with_whole_calls(request) != request:
        return PartRefused("earlier calls")
    if _ID_OF_CALL.search(said) and _WRONG_FORM.search(said):
        is_changed = with_ids(request, SHORT_ID) != request
        return PartRefused("ids of calls") if is_changed else None
    if request.system_prompt and _ODD_ROLES.search(said):
        return PartRefused("system prompt")
    if tools := _refused_tools(said, request):
        return PartRefused("single tools", tools=tools)
    if request.images and _PICTURES.search(said):
        return PartRefused("pictures", _refused_pictures(said, request))
    if not _NOT_TAKEN.search(said):
        return None
    if request.tools and _TOOLS.search(said):
        return PartRefused("tools")
    has_prompt = request.system_prompt and _SYSTEM.search(said)
    return PartRefused("system prompt") if has_prompt else None


def _refused_tools(said: str, request: ModelRequest) -> Sequence[ToolDefinition]:
    """The tools whose definitions a message refuses; all if it is about one and does not say."""
    if not request.tools or _CALL.search(said):
        return ()
    for numbers in _NUMBERS:
        places = [int(place) for place in numbers.findall(said)]
        if known := [place for place in places if place < len(request.tools)]:
            return [request.tools[place] for place in sorted(set(known))]
    named = [
        tool
        for tool in request.tools
        if re.search(rf"(?<![\w-]){re.escape(tool.name)}(?![\w-])", said)
    ]
    if named and _DEFINITION.search(said):
        return named
    return request.tools if _SCHEMAS.search(said) else ()


def field_refused(said: str, body: JsonObject, optional: Mapping[str, str]) -> PartRefused | None:
    """Find the field of a body that a server's message refuses by its name, or by our own."""
    if highest := _HIGHEST.search(said) if "max_tokens" in body else None:
        return PartRefused("field", field="max_tokens", instead=int(highest[1]))
    if not _REFUSES.search(said):
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


def _with_whole_calls(request: ModelRequest) -> ModelRequest:
    """The same request, in which calls are text whose thinking was not kept."""
    messages = with_calls_as_text(request.messages, kept_ids(request))
    return replace(request, messages=messages)


def _refused_pictures(said: str, request: ModelRequest) -> Sequence[ImageBlock]:
    """The pictures to leave out: all if the model sees none, else the earlier ones first."""
    sent = [pictures for each in request.messages if (pictures := _pictures(each, request))]
    newest = {picture.sha256 for picture in sent[-1]}
    every = [picture for pictures in sent for picture in pictures]
    earlier = [picture for picture in every if picture.sha256 not in newest]
    return every if _NOT_TAKEN.search(said) or not earlier else earlier


def _pictures(message: Message, request: ModelRequest) -> list[ImageBlock]:
    images = (each for each in message.attachments if isinstance(each, ImageBlock))
    return [each for each in images if each.sha256 in request.images]


def _tool_notice(model: str, refused: PartRefused) -> str:
    first, *others = (tool.name for tool in refused.tools)
    if not others:
        return f"{model} did not take the tool {first}: asked without it.{refused.said}"
    more = f" and {len(others):,} more"
    return f"{model} did not take one of the tools: asked without {first}{more}.{refused.said}"


def _picture_notice(model: str, refused: PartRefused) -> str:
    names = dict.fromkeys(picture.name for picture in refused.pictures)
    if len(names) == 1:
        return f"{model} did not take {next(iter(names))}: only its name is sent.{refused.said}"
    return f"{model} did not take {len(names)} pictures: only their names are sent.{refused.said}"
