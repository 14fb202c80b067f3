"""The links of a message, and the one under the pointer. Imported with the first click."""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

import msgspec
from markdown_it.token import Token

from tui.domain.journal.message import Message
from tui.widgets.transcript.rich_markdown import PARSER, URL, trimmed

_AROUND = "()[]{}<>\"'`.,;:!?"
_LEAST = 4
"""The shortest part of a link, in characters, that identifies it."""


class Link(msgspec.Struct, frozen=True):
    """The target of a link, ``http`` or ``https``, and its text."""

    target: str
    text: str


def links_of(message: Message) -> Sequence[Link]:
    """The links of a message in order, each target once."""
    tokens = PARSER.parse(message.typed_text)
    found: dict[str, Link] = {}
    for link in _links(tokens):
        try:
            address = urlsplit(link.target)
        except ValueError:
            continue
        is_web = address.scheme in ("http", "https") and address.hostname
        if is_web and not re.search(r"\s", link.target):
            found.setdefault(link.target, link)
    return tuple(found.values())


def link_at(links: Sequence[Link], row: str, place: int) -> Sequence[Link]:
    """The links that a character of a row may belong to; wrapping may have cut the link."""
    begin = row.rfind(" ", 0, place + 1) + 1
    end = row.find(" ", place)
    word = row[begin : end if end >= 0 else len(row)].strip(_AROUND)
    if len(word) < _LEAST:
        return ()
    exact = [link for link in links if word in (link.target, link.text)]
    return exact or [link for link in links if word in link.target or word in link.text]


def _links(tokens: Sequence[Token]) -> Iterator[Link]:
    for token in tokens:
        if token.children:
            yield from _inline(token.children)
        elif token.type in ("fence", "code_block"):
            yield from _bare(token.content)


def _inline(tokens: Sequence[Token]) -> Iterator[Link]:
    target, words = "", ""
    for token in tokens:
        if token.type == "link_open":
            target, words = str(token.attrs.get("href", "")), ""
        elif token.type == "link_close":
            yield Link(target, words)
            target = ""
        elif target:
            words += token.content
        elif token.type == "image":
            yield Link(str(token.attrs.get("src", "")), token.content)
        else:
            yield from _bare(token.content)


def _bare(text: str) -> Iterator[Link]:
    for found in URL.finditer(text):
        url = trimmed(found[0])
        yield Link(PARSER.normalizeLink(url), url)
