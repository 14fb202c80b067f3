"""Messages of the protocol as servers really write them, in the form that the library takes."""

import json
import re
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, cast

from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from tui.domain.text import make_visible_line, without_surrogates

RequestId = int | str
Form = dict[str, Any]
"""A message in the standard's form."""

LONGEST_MESSAGE = 8 * 1024 * 1024
"""In bytes."""
FAILED = -32000
"""The code of an error that has none."""

UNREADABLE = "Its reply cannot be read"

_DECODER = json.JSONDecoder(strict=False)
_BEGINNING = re.compile(r'\{\s*"jsonrpc"')
IS_REPLY = re.compile(r"""^\s*[\[{].*["'](?:result|error)["']\s*:|["']jsonrpc["']\s*:""", re.DOTALL)
"""Of a text that was meant to be a reply, whether or not it can be read."""
_ID = re.compile(r"""["']id["']\s*:\s*["']?([^"',}\s]+)""")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+("?)', re.DOTALL)


def messages_in(data: bytes) -> list[Form]:
    """Read messages that follow each other, or are a batch, perhaps after other words.

    A byte order mark, control characters within strings and bytes that are no UTF-8 are allowed.
    Raises ``ValueError`` for what is no JSON.
    """
    text = data.decode("utf-8", "replace").strip("\ufeff\0 \t\r\n")
    begin = _BEGINNING.search(text)
    text = text[begin.start() :] if begin and text[:1] not in {"{", "["} else text
    forms: list[Form] = []
    while True:
        try:
            value, end = _DECODER.raw_decode(text)
        except RecursionError:
            raise ValueError("nested too deeply") from None
        batch = cast("list[object]", value) if isinstance(value, list) else [value]
        forms += [form for each in batch if (form := _standard(each)) is not None]
        text = text[end:].lstrip("\0 \t\r\n")
        if not text:
            return forms


def _standard(value: object) -> Form | None:
    """A message in the standard's form; ``None`` for a value that is none."""
    if not isinstance(value, dict):
        return None
    said = cast("dict[str, Any]", value)
    form: Form = {"jsonrpc": "2.0"}
    match said.get("id"):
        case bool():
            pass
        case int(number):
            form["id"] = number
        case float(number) if number.is_integer():
            form["id"] = int(number)
        case str(name):
            form["id"] = without_surrogates(name)
        case _:
            pass
    is_marked = "jsonrpc" in said
    match said:
        case {"method": str(method)} if is_marked or "/" in method:
            params = said.get("params")
            form |= {"method": without_surrogates(method)}
            return {**form, "params": params} if isinstance(params, dict) else form
        case {"error": error} if error is not None and (is_marked or "id" in form):
            return {"id": None, **form, "error": _error(error)}
        case {"result": result} if is_marked or "id" in form:
            # A result may be its content alone.
            whole = {"content": result} if result is not None else {}
            return {"id": None, **form, "result": result if isinstance(result, dict) else whole}
        case _:
            # A reply without an outcome.
            return failure(form["id"], UNREADABLE) if is_marked and "id" in form else None


def _error(error: object) -> Form:
    said = cast("dict[str, Any]", error) if isinstance(error, dict) else {"message": error}
    words, code = said.get("message"), said.get("code")
    if not isinstance(words, str):
        words = json.dumps(error if words is None else words, ensure_ascii=False)
    words = without_surrogates(words).strip() or "It failed and gave no reason"
    data = {"data": said["data"]} if "data" in said else {}
    return {"code": code if type(code) is int else FAILED, "message": words, **data}


def failure(number: RequestId | None, words: str, code: int = FAILED) -> Form:
    """The reply to a request that has failed."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": words}}


def message_of(form: Form) -> JSONRPCMessage:
    """The library's message; unchecked, as its parser refuses half characters."""
    if "error" in form:
        error = ErrorData.model_construct(**{"data": None, **form["error"]})
        return JSONRPCError.model_construct(jsonrpc="2.0", id=form["id"], error=error)
    if "result" in form:
        return JSONRPCResponse.model_construct(**form)
    kind = JSONRPCRequest if "id" in form else JSONRPCNotification
    return kind.model_construct(**{"params": None, **form})


@dataclass(eq=False, repr=False)
class MessageReader:
    """Finds messages in lines; one may be spread over several lines, or share a line."""

    running: set[RequestId] = field(default_factory=set[RequestId])
    """Requests that have no reply yet."""
    foreign_lines: int = 0
    """Lines since the last message that belong to none."""
    begun: list[bytes] = field(default_factory=list[bytes])
    """The lines of a message that has not ended."""
    _size: int = 0
    _depth: int = 0
    _is_in_string: bool = False

    def feed(self, line: bytes) -> list[Form]:
        """Read a line, and take the messages that it completes."""
        if not self.begun and not line.strip():
            return []
        if not self.begun or b'"jsonrpc"' in line:
            try:
                forms = messages_in(line)
            except ValueError:
                forms = []
            if forms:
                # One before it was cut off.
                return [*self.end(), *self._replied(forms)]
        self.begun.append(line)
        self._size += len(line)
        self._scan(line)
        goes_on = (self._depth > 0 or self._is_in_string) and self._size <= LONGEST_MESSAGE
        return [] if goes_on else self.end()

    def end(self) -> list[Form]:
        """Take what has been begun, as no more of it comes."""
        data, count = b"\n".join(self.begun), len(self.begun)
        self.begun, self._size, self._depth, self._is_in_string = [], 0, 0, False
        if not data.strip():
            return []
        try:
            forms = messages_in(data)
        except ValueError:
            forms = self._unreadable(data.decode("utf-8", "replace"))
        if not forms:
            self.foreign_lines += count
        return self._replied(forms)

    def _replied(self, forms: list[Form]) -> list[Form]:
        for form in forms:
            if "method" in form:
                continue
            if form["id"] is None and len(self.running) == 1:
                form["id"] = next(iter(self.running))
            number: RequestId | None = form["id"]
            if isinstance(number, str) and number.isdecimal():
                self.running.discard(int(number))
            self.running -= {number}
        if forms:
            self.foreign_lines = 0
        return forms

    def _unreadable(self, text: str) -> list[Form]:
        """The failure of the request that a broken reply answers, if that can be told."""
        if not IS_REPLY.search(text):
            return []
        named = set(_ID.findall(text))
        answered = [each for each in self.running if str(each) in named]
        if not answered and len(self.running) == 1:
            answered = list(self.running)
        return [failure(each, UNREADABLE) for each in answered[:1]]

    def _scan(self, line: bytes) -> None:
        """Count the brackets outside strings, which may have line breaks."""
        text = line.decode("utf-8", "replace")
        if len(self.begun) == 1 and text.lstrip("\ufeff\0 \t")[:1] not in {"{", "["}:
            return
        text = f'"{text}' if self._is_in_string else text
        ends = [match[1] for match in _STRING.finditer(text)]
        self._is_in_string = bool(ends) and not ends[-1]
        bare = _STRING.sub("", text)
        opened, closed = bare.count("{") + bare.count("["), bare.count("}") + bare.count("]")
        self._depth += opened - closed


_TAIL_BYTES = 4096
_LONGEST_SHOWN = 300


class LineTooLong(ValueError):
    """A line that is longer than allowed."""


class LineBuffer:
    """Splits bytes into lines; a byte is looked at once, however long its line is."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self.size = 0
        """The bytes of the line that has not ended."""

    def feed(self, data: bytes) -> list[bytes]:
        """Add bytes, and take the lines that they complete. Raises ``LineTooLong``."""
        first, *others = data.split(b"\n")
        self._add(first)
        if not others:
            return []
        lines = [b"".join(self._parts), *others[:-1]]
        self._parts, self.size = [], 0
        self._add(others[-1])
        return lines

    @property
    def rest(self) -> bytes:
        """The line that has not ended; a line break ends it."""
        return b"".join(self._parts)

    def _add(self, part: bytes) -> None:
        self.size += len(part)
        if self.size > self._longest:
            self._parts.clear()
            raise LineTooLong
        self._parts.append(part)


class ErrorTail:
    """The end of a program's error output."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> None:
        """Add bytes; only the last ones are kept."""
        self._data = (self._data + data[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    @property
    def last_words(self) -> str:
        """The last line with a visible character, then some before it; sanitised, or nothing."""
        lines = self._data.decode("utf-8", "replace").splitlines()
        shown = (make_visible_line(line).strip() for line in reversed(lines))
        last, *before = [line[:_LONGEST_SHOWN] for line in islice(filter(None, shown), 4)] or [""]
        return f"{last}. Before that: {' / '.join(reversed(before))}" if before else last
