"""Quotes servers and the operating system in messages, shortened and without the key."""

import json
import os
import re
import ssl
from collections.abc import Iterator
from typing import Any, cast

from tui.providers.secret import Secret

_LONGEST_QUOTE = 300
"""Limit of a quotation of the server's message, in characters."""

_MOST_ERRORS = 5
_SPACE = re.compile(r"\s+")
_EVENT = re.compile(r"\s*(?:event:.*\s+)?data:(?P<data>.*)")


def quoted(text: str, *secrets: Secret | None) -> str:
    """Quote a server as a sentence that follows another; empty if it says nothing."""
    if is_page(text):
        return " It sent a web page."
    said = quotable(text, *secrets)
    return f" It says: {said}" if said else ""


def is_page(text: str) -> bool:
    """True for a web page, by its beginning: its header need not say so."""
    return text.lstrip("\ufeff \t\r\n").startswith("<")


def quotable(text: str, *secrets: Secret | None) -> str:
    """Shorten a text to one line of at most ``_LONGEST_QUOTE``, with the secrets removed."""
    for secret in filter(None, secrets):
        text = secret.hide_in(text)
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= _LONGEST_QUOTE else f"{line[:_LONGEST_QUOTE]}…"


def message_in(text: str) -> str:
    """The error message in a reply, else the whole of it; gateways send some as events."""
    event = _EVENT.match(text)
    try:
        return text_in(json.loads(event["data"] if event else text))
    except (ValueError, RecursionError):
        return text


def text_in(body: Any) -> str:
    """Extract the message of an error object, which each server wraps differently."""
    if isinstance(body, list):
        # Google's errors come in a list of one, as do others.
        items = cast("list[Any]", body)
        return text_in(items[0]) if len(items) == 1 else json.dumps(items)
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        for name in ("error", "errors", "message", "detail", "msg", "base_resp", "status_msg"):
            if fields.get(name):
                said = text_in(fields[name])
                # The words of the server behind a gateway, such as OpenRouter's.
                raw = value_at(fields, "metadata", "raw")
                cause = message_in(raw) if isinstance(raw, str) else text_in(raw) if raw else ""
                return f"{said}: {cause}" if cause and cause not in said else said
    if isinstance(body, str):
        return message_in(body) if _EVENT.match(body) else body
    return json.dumps(body)


def value_at(value: Any, *names: str) -> Any:
    """A value within objects; ``None`` if one of them is none."""
    for name in names:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def parameter_in(text: str) -> str:
    """The name of the parameter that an error is about, in the fields that servers have for it."""
    try:
        return " ".join(_parameters(json.loads(text)))
    except (ValueError, RecursionError):
        return ""


def _parameters(body: Any) -> Iterator[str]:
    if isinstance(body, list):
        for each in cast("list[Any]", body)[:_MOST_ERRORS]:
            yield from _parameters(each)
    if isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        for name in ("param", "loc", "field"):
            value = fields.get(name)
            places = cast("list[Any]", value) if isinstance(value, list) else [value]
            yield ".".join(str(place) for place in places if place)
        for name in ("error", "detail", "details", "fieldViolations"):
            yield from _parameters(fields.get(name))


def reason_of(error: BaseException) -> str:
    """Find the operating system's message below the libraries' exceptions."""
    said = str(error)
    for below in causes(error):
        if isinstance(below, ssl.SSLError):
            said = str(below)
        elif isinstance(below, OSError) and below.errno:
            # Numbers of name resolution are negative, and have their own messages.
            said = os.strerror(below.errno) if below.errno > 0 else below.strerror or said
    return said


def causes(error: BaseException) -> list[BaseException]:
    """An exception and those below it, the innermost last."""
    found: list[BaseException] = []
    below: BaseException | None = error
    while below is not None:
        if isinstance(below, BaseExceptionGroup):
            # One exception for each address of a host name.
            below = cast("BaseExceptionGroup[BaseException]", below).exceptions[0]
        found.append(below)
        below = below.__cause__ or below.__context__
    return found
