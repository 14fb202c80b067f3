"""A reader of s-expressions, of Common Lisp and Emacs Lisp, that evaluates nothing.

It is no Lisp reader: ``#.`` would run code, and a symbol be interned. It does not recurse, and a
form that is cut off or nested too deeply is given as far as it was read.
"""

import math
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple, cast

import msgspec

from tui.domain.json_text import DIGITS, NESTING
from tui.importers.json_elements import DAMAGED
from tui.importers.json_lines import items_in
from tui.importers.protocol import Ledger
from tui.importers.stopping import check


class Dialect(Enum):
    """The Lisp that wrote a text; they differ in strings and in what follows a ``#``."""

    COMMON = "Common Lisp"
    EMACS = "Emacs Lisp"


class Symbol(msgspec.Struct, frozen=True):
    """A symbol, in lower case unless it is quoted; a keyword with its colon."""

    name: str


class Opaque(msgspec.Struct, frozen=True):
    """The text of an object that has none of its own: ``#<HASH-TABLE …>`` or ``#.(…)``."""

    text: str


class Dotted(msgspec.Struct, frozen=True):
    """A pair, or a list that ends in something else than nil."""

    items: tuple[Any, ...]
    tail: Any


class Form(NamedTuple):
    """A form as it was read: lists as lists, strings as text, nil as ``None``, t as ``True``."""

    value: Any
    end: int
    """The place behind it."""
    whole: bool
    opaque: int
    """The count of values in it that are ``Opaque``."""


_TOKEN = re.compile(
    r"""
      (?P<blank>(?:[\s\x00]|;[^\n]*+)++)
    | (?P<string>"(?:[^"\\]++|\\.)*+")
    | (?P<unreadable>\#<(?:[^<>]++|<(?:[^<>]++|<[^<>]*+>)*+>)*+>)
    | (?P<comment>\#\|.*?\|\#)
    | (?P<endless>"|\#\|)
    | (?P<character>\#\\(?:[A-Za-z][\w-]*+|.))
    | (?P<open>(?:\#[0-9A-Za-z]*+)?[(\[])
    | (?P<close>[)\]])
    | (?P<evaluated>\#[.+-])
    | (?P<prefix>['`]|,@?|\#['pP:]|\#[0-9]++=)
    | (?P<atom>(?:[^\s()\[\]"';`,|\\\x00]++|\\.|\|(?:[^|\\]++|\\.)*+\|)++)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_INTEGER = re.compile(r"[+-]?[0-9]+\.?")
_FLOAT = re.compile(r"([+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+))(?:[esfdlESFDL]([+-]?[0-9]+))?")
_QUOTED = re.compile(r"\|((?:[^|\\]++|\\.)*+)\||([^|]++)|\|", re.DOTALL)
_BACKSLASHED = re.compile(r"\\(.)", re.DOTALL)
_CHARACTERS = {"space": " ", "newline": "\n", "tab": "\t", "return": "\r", "nul": "\x00"}
_EVALUATED = "evaluated"
_HASH_TABLE = Symbol("hash-table")

UNREADABLE = "unreadable message"
UNFINISHED = "unfinished message"
OPAQUE = "opaque value"

# A quotation mark inside of a string is escaped: there is no such beginning in one.
_BEGINNING = re.compile(
    r'\((?::id\s+"[^"\\]*+"\s+)?:role\s+:?[a-z]++\s+:content\s+(?="|\#\("|nil\b)', re.IGNORECASE
)
_NOTHING_MORE = re.compile(r"(?:\s|;[^\n]*+)*+")


def read_form(text: str, dialect: Dialect) -> Form:
    """Read the form that a text begins with, behind blanks and comments."""
    forms = _Forms(text, dialect)
    place = 0
    while not forms.outermost and (token := _TOKEN.match(text, place)) and forms.take(token):
        place = token.end()
    whole = bool(forms.outermost)
    return Form(forms.value(), place, whole, forms.opaque)


class _Frame(msgspec.Struct):
    """A list that is open."""

    kind: str
    start: int
    items: list[Any] = []
    dot: int | None = None
    """The count of items before the dot."""


class _Forms:
    """The open lists around a place of a text."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.opaque = 0
        self._text = text
        self._dialect = dialect
        self._frames = [_Frame("", 0)]
        self.outermost = self._frames[0].items
        """Has the form, once it is complete."""

    def take(self, token: re.Match[str]) -> bool:
        """Take a token; false for one behind which nothing can be read."""
        match token.lastgroup:
            case "string" if self._dialect is Dialect.EMACS:
                self._add(_EMACS_ESCAPE.sub(_emacs_escape, token[0][1:-1]), token.end())
            case "string":
                # A backslash stands for what follows it; this is much faster than a pattern.
                parts = token[0][1:-1].split("\\\\")
                self._add("\\".join(part.replace("\\", "") for part in parts), token.end())
            case "unreadable":
                self.opaque += 1
                self._add(Opaque(token[0]), token.end())
            case "character":
                name = token[0][2:]
                is_named = len(name) > 1
                self._add(_CHARACTERS.get(name.lower(), name) if is_named else name, token.end())
            case "open":
                check()
                self._frames.append(_Frame(token[0][:-1].lower(), token.start()))
            case "evaluated":
                self._frames.append(_Frame(_EVALUATED, token.start()))
            case "close":
                while len(self._frames) > 1 and self._frames[-1].kind == _EVALUATED:
                    self._frames.pop()
                if len(self._frames) > 1:
                    self._pop(token.end())
            case "atom":
                frame = self._frames[-1]
                if token[0] == "." and frame.kind != _EVALUATED and len(self._frames) > 1:
                    frame.dot = len(frame.items)
                else:
                    self._add(_atom(token[0]), token.end())
            case _:
                pass
        return token.lastgroup != "endless" and len(self._frames) <= NESTING

    def value(self) -> Any:
        """The form, or what was read of it."""
        while len(self._frames) > 1:
            self._pop(len(self._text))
        return self.outermost[0] if self.outermost else None

    def _add(self, value: Any, end: int) -> None:
        while self._frames[-1].kind == _EVALUATED:
            value = Opaque(self._text[self._frames.pop().start : end])
            self.opaque += 1
        self._frames[-1].items.append(value)

    def _pop(self, end: int) -> None:
        self._add(_closed(self._frames.pop(), self._dialect), end)


def _closed(frame: _Frame, dialect: Dialect) -> Any:
    items = frame.items
    if dialect is Dialect.EMACS and items:
        if frame.kind == "#" and isinstance(items[0], str):
            return items[0]
        if frame.kind == "#s" and items[0] == _HASH_TABLE:
            pairs = items_in(plist(items[1:]).get("data"))
            return {_key(key): value for key, value in zip(pairs[::2], pairs[1::2], strict=False)}
    if frame.dot is None:
        return items
    head, tail = items[: frame.dot], items[frame.dot :]
    if len(tail) != 1 or not head:
        return [*head, *tail]
    if tail[0] is None or isinstance(tail[0], list):
        return [*head, *cast("list[Any]", tail[0] or [])]
    return Dotted(tuple(head), tail[0])


def _atom(text: str) -> Any:
    if "|" in text or "\\" in text:
        return Symbol(_QUOTED.sub(_unquoted, text))
    if len(text) <= DIGITS and (number := _number(text)) is not None:
        return number
    name = text.lower()
    return {"nil": None, "t": True}.get(name, Symbol(name))


def _unquoted(part: re.Match[str]) -> str:
    if part[1] is not None:
        return _BACKSLASHED.sub(r"\1", part[1])
    return _BACKSLASHED.sub(r"\1", (part[2] or "").lower())


def _number(text: str) -> int | float | None:
    if _INTEGER.fullmatch(text):
        return int(text.rstrip("."))
    if not (match := _FLOAT.fullmatch(text)):
        return None
    number = float(f"{match[1]}e{match[2] or 0}")
    return number if math.isfinite(number) else None


_EMACS_ESCAPE = re.compile(
    r"""\\(?:
      x(?P<hex>[0-9A-Fa-f]+)(?:\\[ ])?
    | u(?P<short>[0-9A-Fa-f]{4})
    | U(?P<long>[0-9A-Fa-f]{8})
    | N\{U\+(?P<code>[0-9A-Fa-f]{1,8})\}
    | (?P<bytes>[2-3][0-7]{2}(?:\\[2-3][0-7]{2})*+)
    | (?P<octal>[0-7]{1,3})(?:\\[ ])?
    | \^(?P<control>[?-_a-z])
    | (?P<one>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
_EMACS_ONE = {
    "a": "\a",
    "b": "\b",
    "d": "\x7f",
    "e": "\x1b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "s": " ",
    "t": "\t",
    "v": "\v",
    "\n": "",
    " ": "",
}


def _emacs_escape(escape: re.Match[str]) -> str:
    if code := escape["hex"] or escape["short"] or escape["long"] or escape["code"]:
        number = int(code[-8:], 16)
        return chr(number) if number <= 0x10FFFF else "\ufffd"
    if escape["bytes"]:
        values = bytes(int(each, 8) for each in escape["bytes"].split("\\"))
        return values.decode("utf-8", "replace")
    if escape["octal"]:
        return chr(int(escape["octal"], 8))
    if escape["control"]:
        return "\x7f" if escape["control"] == "?" else chr(ord(escape["control"]) & 0x1F)
    return _EMACS_ONE.get(escape["one"], escape["one"])


def plist(value: Any) -> dict[str, Any]:
    """The properties of a list, by the names of their keys; the first of a name counts.

    Items that are no symbol where a key is due are passed over.
    """
    items = items_in(value)
    found: dict[str, Any] = {}
    place = 0
    while place < len(items):
        key = items[place]
        if not isinstance(key, Symbol):
            place += 1
            continue
        found.setdefault(key.name, items[place + 1] if place + 1 < len(items) else None)
        place += 2
    return found


def as_json(value: Any) -> Any:
    """Convert a value to JSON: association and property lists to objects, the rest to text."""
    match value:
        case Symbol(name=name):
            return {":null": None, ":true": True, ":false": False}.get(name, name)
        case Opaque(text=text):
            return text
        case Dotted(items=head, tail=tail):
            return [*map(as_json, head), as_json(tail)]
        case dict():
            return {key: as_json(each) for key, each in cast("dict[str, Any]", value).items()}
        case list():
            items = cast("list[Any]", value)
        case _:
            return value
    keys = items[::2]
    is_plist = all(isinstance(key, Symbol) and key.name.startswith(":") for key in keys)
    if items and len(items) % 2 == 0 and is_plist:
        return {_key(key): as_json(each) for key, each in zip(keys, items[1::2], strict=True)}
    # Lists of lists are too often just that.
    if any(isinstance(item, Dotted) for item in items) and (pairs := _pairs(items)) is not None:
        return {_key(key): as_json(each) for key, each in pairs}
    return [as_json(item) for item in items]


def as_object(value: Any) -> Any:
    """Convert the arguments of a call: nil is an object without fields."""
    if value is None or value == []:
        return {}
    if isinstance(value, list) and (pairs := _pairs(cast("list[Any]", value))) is not None:
        return {_key(key): as_json(each) for key, each in pairs}
    return as_json(value)


def _pairs(items: list[Any]) -> list[tuple[Any, Any]] | None:
    """The pairs of an association list; ``None`` of any other list."""
    pairs: list[tuple[Any, Any]] = []
    for item in items:
        match item:
            case Dotted(items=(str() | Symbol() as key,), tail=tail):
                pairs.append((key, tail))
            case [str() | Symbol() as key, *rest]:
                pairs.append((key, rest or None))
            case _:
                return None
    return pairs


def _key(value: Any) -> str:
    return value.name.removeprefix(":") if isinstance(value, Symbol) else str(value)


class LispSession(NamedTuple):
    """The properties of a session, and its messages, as properties each."""

    properties: dict[str, Any]
    messages: list[dict[str, Any]]


def read_session(text: str, dialect: Dialect, ledger: Ledger) -> LispSession:
    """Read the form of a session; of a damaged one the messages that can be found."""
    form = read_form(text, dialect)
    properties = plist(form.value)
    if form.whole and _NOTHING_MORE.fullmatch(text, form.end):
        _count_opaque(form, ledger)
        messages = properties.get(":messages")
        values = items_in(messages) or ([messages] if messages else [])
    else:
        ledger.skipped[DAMAGED] += 1
        values = list(_found(text, dialect, ledger))
    messages = [message for value in values if ":role" in (message := plist(value))]
    if others := len(values) - len(messages):
        ledger.skipped[UNREADABLE] += others
    return LispSession(properties, messages)


def _found(text: str, dialect: Dialect, ledger: Ledger) -> Iterator[Any]:
    """The messages of a damaged file, each read by itself."""
    starts = [match.start() for match in _BEGINNING.finditer(text)]
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        form = read_form(text[start:end], dialect)
        if form.whole:
            _count_opaque(form, ledger)
            yield form.value
        else:
            ledger.skipped[UNFINISHED if end == len(text) else UNREADABLE] += 1


def _count_opaque(form: Form, ledger: Ledger) -> None:
    if form.opaque:
        ledger.skipped[OPAQUE] += form.opaque
