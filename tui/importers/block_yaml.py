"""A reader of YAML in blocks, as programs write it: mappings, sequences and scalars of every style.

Anchors, aliases and tags are refused, so nothing is constructed or multiplied. An item of a
sequence that cannot be read becomes an empty object, and the next one is read.
"""

import re
from typing import Any, NamedTuple

from tui.importers.json_lines import parse
from tui.importers.stopping import check

_DEPTH = 100
_DIGITS = 300
_KEY = re.compile(
    r""""(?P<double>(?:[^"\\]++|\\.)*+)"\s*:(?:\s+|$)"""
    r"""|'(?P<single>(?:[^']++|'')*+)'\s*:(?:\s+|$)"""
    r"""|(?P<plain>[^\s"'\[\]{}&*!|>%@`#,:](?:[^\s:]++|:(?!\s|$)|\s++(?!:))*+)\s*+:(?:\s+|$)"""
)
_CLOSED = {
    '"': re.compile(r'(?:[^"\\]++|\\.)*+"'),
    "'": re.compile(r"(?:[^']++|'')*+'(?!')"),
}
_HEADER = re.compile(r"([|>])([1-9]?)([+-]?)([1-9]?)\s*(?:#.*)?")
_COMMENT = re.compile(r"\s#.*")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?")
_CONSTANTS = {"": None, "~": None, "null": None, "true": True, "false": False}
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_BREAKS = "[\x85\u2028\u2029]"
"""Characters that end a line in YAML, too, and are kept; the next line is indented behind them."""
_BREAK = re.compile(f"[ \t]*({_BREAKS})[ \t]*")


class Unfit(ValueError):
    """A text that is no YAML of this kind."""


class YamlDocument(NamedTuple):
    """The value of a text."""

    value: Any
    skipped: int
    """The count of lines that could not be read and were passed over."""


def load(text: str) -> YamlDocument:
    """Read a document. Raises ``Unfit`` for one that cannot be read, but for items."""
    parser = _YamlParser(text)
    return YamlDocument(parser.document(), parser.skipped)


class _YamlParser:
    """A place in the lines of a document."""

    def __init__(self, text: str) -> None:
        self.skipped = 0
        self._lines = text.split("\n")
        self._at = 0

    def document(self) -> Any:
        if self._indent() == 0 and self._lines[self._at].rstrip() == "---":
            self._at += 1
        return self._block(0, 0)

    def _indent(self) -> int:
        """The indentation of the next line that has words; -1 at the end."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            words = line.strip(" \t\r")
            if words and not words.startswith("#"):
                return _width(line)
            self._at += 1
        return -1

    def _block(self, least: int, depth: int) -> Any:
        check()
        indent = self._indent()
        if indent < least:
            return None
        if depth > _DEPTH:
            raise Unfit("nested too deeply")
        text = self._lines[self._at][indent:].rstrip("\r")
        if _is_item(text):
            return self._sequence(indent, depth)
        if _KEY.match(text):
            return self._mapping(indent, depth)
        return self._scalar(text, least - 1, depth)

    def _sequence(self, indent: int, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._indent() == indent and _is_item(self._lines[self._at][indent:]):
            start = self._at
            # What follows the dash is read as a block that is indented by it.
            self._lines[start] = " " * (indent + 1) + self._lines[start][indent + 1 :]
            try:
                items.append(self._block(indent + 1, depth + 1))
            except Unfit:
                items.append({})
                self._at = start + 1
                while self._indent() > indent:
                    self._at += 1
        return items

    def _mapping(self, indent: int, depth: int) -> dict[str, Any]:
        values: dict[str, Any] = {}
        while self._indent() == indent:
            text = self._lines[self._at][indent:].rstrip("\r")
            key = _KEY.match(text)
            if key:
                values[_name(key)] = self._scalar(text[key.end() :], indent, depth)
            else:
                self._skip_line()
            while self._indent() > indent:
                self._skip_line()
        return values

    def _skip_line(self) -> None:
        self.skipped += 1
        self._at += 1

    def _scalar(self, text: str, indent: int, depth: int) -> Any:
        """The value behind a key or a dash, whose other lines are indented further."""
        self._at += 1
        text = text.strip()
        first = text[:1]
        if not text or text.startswith("#"):
            if self._indent() == indent and _is_item(self._lines[self._at][indent:]):
                return self._sequence(indent, depth + 1)
            return self._block(indent + 1, depth + 1)
        if first in "|>" and (header := _HEADER.fullmatch(text)):
            return self._literal(header, indent)
        if first in _CLOSED:
            return self._quoted(text)
        if first in "[{":
            value = parse(text.encode("utf-8", "surrogatepass"))
            if value is None:
                raise Unfit("a flow collection")
            return value
        if first in "&*!%@`|>":
            raise Unfit(f"unexpected {first}")
        return _typed(self._plain(text, indent))

    def _literal(self, header: re.Match[str], indent: int) -> str:
        lines: list[str] = []
        width = header[2] or header[4]
        margin = max(indent, 0) + int(width) if width else 0
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.strip(" \r"):
                margin = margin or _width(line)
                if _width(line) < margin or _width(line) <= indent:
                    break
            lines.append(line[margin:] if margin else "")
            self._at += 1
        text = "\n".join(lines)
        if header[1] == ">":
            text = _folded(text.rstrip("\n").split("\n"))
        text = re.sub(f"({_BREAKS}) {{0,{margin}}}", r"\1", text)
        if header[3] == "+":
            return text + "\n" if lines else text
        kept = text.rstrip("\n")
        return kept + "\n" if kept and not header[3] else kept

    def _quoted(self, text: str) -> str:
        mark, line = text[0], text[1:]
        lines: list[str] = []
        while not (closed := _CLOSED[mark].match(line)):
            lines.append(line)
            if self._at >= len(self._lines):
                raise Unfit("a quotation without an end")
            line = self._lines[self._at].strip(" \t\r")
            self._at += 1
        if line[closed.end() :].strip() and not _COMMENT.match(line, closed.end()):
            raise Unfit("text behind a quotation")
        lines.append(line[: closed.end() - 1])
        if mark == "'":
            return _BREAK.sub(r"\1", _folded(lines)).replace("''", "'")
        return _without_escapes(_folded(lines))

    def _plain(self, text: str, indent: int) -> str:
        lines = [_COMMENT.sub("", text)]
        while self._indent() > indent >= -1 and self._at < len(self._lines):
            lines.append(_COMMENT.sub("", self._lines[self._at]).strip(" \t\r"))
            self._at += 1
        return _folded(lines)


def _is_item(text: str) -> bool:
    return text.startswith("- ") or text.rstrip("\r") == "-"


def _width(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _name(key: re.Match[str]) -> str:
    if key["double"] is not None:
        return _without_escapes(key["double"])
    return key["plain"] if key["single"] is None else key["single"].replace("''", "'")


def _folded(lines: list[str]) -> str:
    """Join lines: a single break is a blank, or nothing behind a backslash; more are kept."""
    parts = [lines[0]]
    breaks = 0
    for line in lines[1:]:
        if not line:
            breaks += 1
            continue
        last = parts[-1]
        if not breaks and (len(last) - len(last.rstrip("\\"))) % 2:
            parts[-1] = last[:-1]
        else:
            parts[-1] = last.rstrip(" \t")
            parts.append("\n" * breaks or " ")
        parts.append(line)
        breaks = 0
    if breaks:
        parts[-1] = parts[-1].rstrip(" \t")
        parts.append("\n" * (breaks - 1) or " ")
    return "".join(parts)


def _without_escapes(text: str) -> str:
    # Surrogates are in pairs, as in JSON, or stay.
    units = _ESCAPE.sub(_unescaped, text).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "surrogatepass")


def _unescaped(escape: re.Match[str]) -> str:
    if code := escape[1] or escape[2] or escape[3]:
        return chr(int(code, 16)) if int(code, 16) <= 0x10FFFF else "\ufffd"
    return _ESCAPED.get(escape[4], escape[4])


def _typed(text: str) -> Any:
    if text.lower() in _CONSTANTS:
        return _CONSTANTS[text.lower()]
    if _INTEGER.fullmatch(text) and len(text) < _DIGITS:
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) and len(text) < _DIGITS else text
