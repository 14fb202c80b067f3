"""The messages of files that hold a conversation as one s-expression."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tui.importers.json_file import DAMAGED
from tui.importers.lisp import Dialect, Form, listed, plist, read_form
from tui.importers.protocol import Ledger

UNREADABLE = "unreadable message"
UNFINISHED = "unfinished message"
OPAQUE = "opaque value"

# A quotation mark inside of a string is escaped: there is no such beginning in one.
_BEGINNING = re.compile(
    r'\((?::id\s+"[^"\\]*+"\s+)?:role\s+:?[a-z]++\s+:content\s+(?="|\#\("|nil\b)', re.IGNORECASE
)
_NOTHING_MORE = re.compile(r"(?:\s|;[^\n]*+)*+")


class Session(NamedTuple):
    """The properties of a session, and its messages, as properties each."""

    properties: dict[str, Any]
    messages: list[dict[str, Any]]


def read_session(text: str, dialect: Dialect, ledger: Ledger) -> Session:
    """Read the form of a session; of a damaged one the messages that can be found."""
    form = read_form(text, 0, dialect)
    properties = plist(form.value)
    if form.whole and _NOTHING_MORE.fullmatch(text, form.end):
        _count_opaque(form, ledger)
        messages = properties.get(":messages")
        is_list = isinstance(messages, list)
        values = [messages] if messages and not is_list else listed(messages)
    else:
        ledger.skipped[DAMAGED] += 1
        values = list(_found(text, dialect, ledger))
    return Session(properties, list(_messages(values, ledger)))


def _found(text: str, dialect: Dialect, ledger: Ledger) -> Iterator[Any]:
    """The messages of a damaged file, each read by itself."""
    starts = [match.start() for match in _BEGINNING.finditer(text)]
    for start, end in zip(starts, [*starts, len(text)][1:], strict=True):
        form = read_form(text[start:end], 0, dialect)
        if form.whole:
            _count_opaque(form, ledger)
            yield form.value
        else:
            ledger.skipped[UNFINISHED if end == len(text) else UNREADABLE] += 1


def _messages(values: list[Any], ledger: Ledger) -> Iterator[dict[str, Any]]:
    for value in values:
        message = plist(value)
        if ":role" in message:
            yield message
        else:
            ledger.skipped[UNREADABLE] += 1


def _count_opaque(form: Form, ledger: Ledger) -> None:
    if form.opaque:
        ledger.skipped[OPAQUE] += form.opaque
