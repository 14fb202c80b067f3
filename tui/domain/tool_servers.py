"""The servers of tools, as the engine and the screen see them: their tools, and what they ask."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, cast

import msgspec

from tui.domain.journal.message import ToolCall
from tui.domain.text import make_visible, make_visible_line, make_visible_name, without_surrogates


class ToolApproval(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool as it was when the user allowed it."""

    server: str
    """Empty for a tool of the program's own."""
    tool: str
    """Its own name at the server."""
    fingerprint: str
    """That of ``OfferedTool``: after a change the user is asked again."""
    project: str = ""
    """The folder for whose sessions alone it is allowed; empty for all."""

    def is_of(self, other: "ToolApproval") -> bool:
        """Tell whether both are about the same tool, changed or not."""
        mine, theirs = (self.server, self.tool), (other.server, other.tool)
        return (*mine, self.project) == (*theirs, other.project)

    @property
    def title(self) -> str:
        """The tool as the user is told it, in one line: ``files: read_file``; sanitised."""
        tool = make_visible_name(self.tool)
        return f"{self.server}: {tool}" if self.server else tool


def tool_title(called: str) -> str:
    """A tool by the name that a model calls it by, as ``ToolApproval.title`` has it."""
    name = make_visible_line(called)
    server, _, tool = name.removeprefix("mcp__").partition("__")
    return f"{server}: {tool}" if server and tool else name


Choice = Literal["once", "until-quit", "always", "deny"]
"""``until-quit`` allows the tool until the program ends, ``always`` for good."""


class Decision(msgspec.Struct, frozen=True):
    """What the user answers to a question; the model is told the reason of a denial."""

    choice: Choice
    reason: str = ""


class Question(msgspec.Struct, frozen=True, eq=False):
    """A call that waits for approval; compared by identity."""

    session_id: str
    call: ToolCall
    about: str
    """Lines about the tool beside its name; foreign text."""
    tool: ToolApproval


ServerState = Literal["not started", "starting", "ready", "failed", "stopped"]


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool of a server, whose words are foreign text: bounded, but not sanitised."""

    server: str
    """The name of its table, ``[mcp.NAME]``."""
    name: str
    """Its own name at the server."""
    called: str
    """The name that a model is offered, ``server__tool``, unique among all servers.

    At most 64 ASCII letters, digits, ``_`` and ``-``.
    """
    description: str
    parameters: dict[str, Any]
    """A JSON schema of an object."""
    fingerprint: str
    """Differs after each change of its name, words or schema, or of the server's command or
    address: what was allowed for the one is not allowed for the other."""


class ServerStatus(msgspec.Struct, frozen=True):
    """A server at one moment."""

    name: str
    state: ServerState
    reason: str = ""
    """Of a failure, in a sentence without foreign control characters."""
    tools: tuple[OfferedTool, ...] = ()
    notice: str = ""
    """Sentences about tools that are left out, likewise sanitised."""


class ToolResult(msgspec.Struct, frozen=True):
    """The outcome of a call, as the model is told it; bounded, and cut where that is said."""

    text: str
    failed: bool = False


class SignIns(Protocol):
    """Sign-ins as they are kept, by the names of servers; all block, and raise ``StorageError``."""

    def read(self, server: str) -> dict[str, Any]:
        """Read one; empty if there is none."""
        ...

    def write(self, server: str, kept: dict[str, Any]) -> None:
        """Keep one, in the place of an earlier one."""
        ...

    def forget(self, server: str) -> bool:
        """Forget one, whatever its file is; false if there is none."""
        ...


class ServedResult(msgspec.Struct, frozen=True):
    """The outcome of a call of a tool that is served: text, and the same as a value for JSON."""

    text: str
    structured: dict[str, Any] | None = None
    """``None`` for a failure, whose text is the reason."""


class ServedTool(msgspec.Struct, frozen=True):
    """A tool that this program serves to others; ``call`` blocks, from any thread."""

    name: str
    title: str
    description: str
    parameters: dict[str, Any]
    """A JSON schema of an object."""
    call: Callable[[dict[str, Any]], ServedResult]


LONGEST_MESSAGE = 4096
MOST_FIELDS = 20
MOST_OPTIONS = 100
_LONGEST_WORDS = 300
_LONGEST_ADDRESS = 8192
_NUMBERS = frozenset({"integer", "number"})

FieldKind = Literal["string", "integer", "number", "boolean", "choice", "choices"]


class Option(msgspec.Struct, frozen=True):
    """A value that a field may have, and its title."""

    value: str = msgspec.field(name="const")
    title: str = ""


class Field(msgspec.Struct, frozen=True):
    """A field of a form; all its words are sanitised but ``name`` and the values of options.

    Its server checks the limits of a value: it may have a pattern that takes minutes.
    """

    name: str
    title: str
    kind: FieldKind
    about: str = ""
    default: Any = None
    required: bool = False
    options: tuple[Option, ...] = ()

    @property
    def shown(self) -> str:
        """The default as a text."""
        if self.kind == "boolean":
            return "yes" if self.default else "no"
        if self.kind == "choices":
            return ",".join(self.default or ())
        return "" if self.default is None else str(self.default)

    def entry(self, text: str) -> str | bool | tuple[str, ...]:
        """Read what was typed for it; choices stand between commas."""
        if self.kind == "boolean":
            return text.strip().lower() in {"y", "yes", "true"}
        if self.kind == "choices":
            return tuple(filter(None, map(str.strip, text.split(","))))
        return text

    def value(self, entered: str | bool | tuple[str, ...]) -> Any:  # noqa: FBT001 - a value
        """Read an entry; ``None`` leaves the field out. Raises ``ValueError`` with a reason."""
        if self.kind == "boolean":
            return entered
        if not entered and not (self.kind == "choices" and self.default is not None):
            if self.required:
                raise ValueError(f"{self.title}: please fill it in")
            return None
        if self.kind in _NUMBERS:
            return self._number(str(entered))
        if self.kind == "choice" and entered not in [each.value for each in self.options]:
            raise ValueError(f"{self.title}: please choose one of those listed")
        return list(entered) if isinstance(entered, tuple) else entered

    def _number(self, entered: str) -> int | float:
        try:
            number = int(entered) if self.kind == "integer" else float(entered)
        except ValueError:
            number = math.nan
        if not _is_finite(number):
            kind = "a whole number" if self.kind == "integer" else "a number"
            raise ValueError(f"{self.title}: please enter {kind}")
        return number


class ServerQuestion(msgspec.Struct, frozen=True, eq=False):
    """A question that waits for an answer; compared by identity."""

    server: str
    kind: Literal["form", "address", "sign-in"]
    message: str
    """Sanitised."""
    fields: tuple[Field, ...] = ()
    address: str = ""
    """http or https, in ASCII: shown as it is opened."""


Answer = dict[str, Any]
AskUser = Callable[[ServerQuestion], Awaitable[Answer | None]]
"""Puts a question to the user and waits for the answer; ``None`` refuses. It may be cancelled."""


def read_question(
    server: str, params: Mapping[str, Any], shown: Callable[[str], str] = str
) -> ServerQuestion:
    """Read what a server asks; ``shown`` hides secrets. Raises ``ValueError`` with a reason."""
    said = params.get("message")
    message = make_visible(shown(said[:LONGEST_MESSAGE])) if isinstance(said, str) else ""
    match params:
        case {"mode": "url", "url": str(address)}:
            if not is_shown_whole(address):
                raise ValueError("the address is none of http or https, or too long")
            return ServerQuestion(server, "address", message, address=address)
        case {"requestedSchema": {**form}}:
            needed = form.get("required")
            required = cast("list[object]", needed) if isinstance(needed, list) else []
            fields = msgspec.convert(form.get("properties"), dict[str, Any])
            if len(fields) > MOST_FIELDS:
                raise ValueError(f"a form has more than {MOST_FIELDS} fields")
            asked = tuple(
                _field(name, each, required=name in required) for name, each in fields.items()
            )
            return ServerQuestion(server, "form", message, asked)
        case _:
            raise ValueError("neither a form nor an address")


def is_shown_whole(address: str) -> bool:
    """True for an http(s) address that can be shown as it is: in printable ASCII, bounded."""
    scheme = address.partition("://")[0].lower()
    plain = address.isascii() and address.isprintable() and " " not in address
    return scheme in {"http", "https"} and plain and len(address) <= _LONGEST_ADDRESS


class _Schema(msgspec.Struct, frozen=True, rename="camel"):
    """The part of JSON Schema that forms are written in, also in the words of earlier versions."""

    type: Literal["string", "integer", "number", "boolean", "array"] = "string"
    title: str = ""
    description: str = ""
    default: Any = None
    enum: tuple[str, ...] = ()
    enum_names: tuple[str, ...] = ()
    one_of: tuple[Option, ...] = ()
    any_of: tuple[Option, ...] = ()
    items: "_Schema | None" = None

    @property
    def options(self) -> tuple[Option, ...]:
        titled = self.one_of or self.any_of or map(Option, self.enum, self.enum_names or self.enum)
        return tuple(Option(each.value, _words(each.title or each.value)) for each in titled)


def _field(name: str, said: object, *, required: bool) -> Field:
    """Read a field. Raises ``ValueError``."""
    schema = msgspec.convert(said, _Schema)
    options = schema.options
    kind: FieldKind = "choice"
    if schema.type == "array":
        kind, options = "choices", schema.items.options if schema.items else ()
    elif not options:
        kind = schema.type
    if len(options) > MOST_OPTIONS or (kind == "choices" and not options):
        raise ValueError(f"a field has no choices, or more than {MOST_OPTIONS}")
    default = _fitting(kind, schema.default, [each.value for each in options])
    title, about = _words(schema.title or name), _words(schema.description)
    return Field(name, title, kind, about, default, required, options)


def _fitting(kind: FieldKind, default: Any, values: Sequence[str]) -> Any:
    """A default that can be shown; none for one that does not fit its field."""
    match kind, default:
        case ("boolean", bool()):
            return default
        case "string", str() if len(default) <= LONGEST_MESSAGE:
            return without_surrogates(default)
        case (("integer" | "number"), int() | float()) if not isinstance(default, bool):
            return default if _is_finite(default) else None
        case "choice", str() if default in values:
            return default
        case "choices", list():
            return tuple(each for each in cast("list[Any]", default) if each in values)
        case _:
            return None


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _words(said: str) -> str:
    return make_visible_line(said[:_LONGEST_WORDS]).strip()
