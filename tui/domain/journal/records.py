"""The lines of a journal, and the values they stand for.

One JSON object a line, told apart by ``type``: docs/journal-format.md describes them all.
"""

import json
from collections.abc import Callable
from typing import Annotated, Any, cast

import msgspec

from tui.domain.journal.json_text import journal_json
from tui.domain.journal.message import Message, Role
from tui.domain.journal.todo import TodoItem
from tui.domain.json_limits import BeyondLimits, check_limits

VERSION = 1
Version = Annotated[int, msgspec.Meta(ge=1)]


class _Record(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """What every record has in common."""


class SessionHeader(_Record, frozen=True, tag="session"):
    """The first line: what a session is, from its beginning on."""

    version: Version
    id: str
    created_at: str
    scope: str
    ordinal: int
    project_path: str
    model: str
    forked_from: str | None = None
    imported_from: str | None = None
    metadata: dict[str, Any] | None = None


class Partial(_Record, frozen=True, tag="partial"):
    """A piece of an answer that is still arriving.

    ``at`` counts the code points of the answer before it. The first piece of a chain also says
    whose answer it is; the ``message`` with the same id replaces the whole chain.
    """

    message_id: str
    at: Annotated[int, msgspec.Meta(ge=0)]
    text: str
    role: Role | None = None
    timestamp: str | None = None
    model: str | None = None
    replaces: str | None = None


class Summary(_Record, frozen=True, tag="summary"):
    """Stands for the live messages up to ``through``."""

    text: str
    through: str


class Todos(_Record, frozen=True, tag="todos"):
    """The whole to-do list."""

    items: tuple[TodoItem, ...]


class Offsets(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where in the file the last record of a kind begins, in bytes; a hint, checked on use."""

    summary: int | None = None
    todos: int | None = None
    reset: int | None = None

    def following(self, record: "Record", place: int | None) -> "Offsets":
        """What they are once ``record`` has been written at ``place``."""
        match record:
            case Summary():
                return Offsets(summary=place, todos=self.todos, reset=self.reset)
            case Todos():
                return Offsets(summary=self.summary, todos=place, reset=self.reset)
            case Reset():
                return Offsets(todos=self.todos, reset=place)
            case _:
                return self


class State(_Record, frozen=True, tag="state", kw_only=True):
    """What a reader of the file's end needs; the last one counts.

    Without a ``model`` it is the header's.
    """

    name: str
    model: str = ""
    prompt_count: int
    message_count: int
    total_count: int
    updated_at: str
    # Written even where it is empty: every record of a kind has the same fields.
    offsets: Offsets


class Opened(_Record, frozen=True, tag="opened"):
    """The lease was taken; ``resumed`` if the user asked for this very session."""

    at: str
    resumed: bool = False


class Closed(_Record, frozen=True, tag="closed"):
    """The lease was given up."""

    at: str


class Restored(_Record, frozen=True, tag="restored"):
    """The session came back from the archive or the trash."""

    at: str


class Reset(_Record, frozen=True, tag="reset"):
    """Live starts here."""

    at: str


Record = (
    SessionHeader | Message | Partial | Summary | Todos | State | Opened | Closed | Restored | Reset
)

_KINDS: dict[str, type[Record]] = {
    "session": SessionHeader,
    "message": Message,
    "partial": Partial,
    "summary": Summary,
    "todos": Todos,
    "state": State,
    "opened": Opened,
    "closed": Closed,
    "restored": Restored,
    "reset": Reset,
}


class _Typed(msgspec.Struct):
    """What every record has, known or not."""

    type: str


# Fields with fields of their own; in all others any name may stand.
_STRUCTURED = frozenset({"items", "offsets", "tool_calls"})
_DECODER = msgspec.json.Decoder(Record)


class DamagedRecord(ValueError):
    """A line that is no record: torn, overwritten, too large or too deep."""


Encoder = Callable[[Record], bytes]
"""Gives a record's line, as ``encode`` does; perhaps one that was encoded before."""


def encode(record: Record) -> bytes:
    """Write a record as its line, with the newline.

    Raises ``DamagedRecord`` for what no reader would take back: beyond 64 MiB or nested
    deeper than 200.
    """
    try:
        line = journal_json(msgspec.to_builtins(record))
    except (RecursionError, ValueError, TypeError) as error:
        raise DamagedRecord(f"cannot be written: {error}") from error
    _check(line)
    return line + b"\n"


def decode(line: bytes) -> Record | None:
    """Read one line, without its newline; ``None`` for a record of an unknown type.

    Raises ``DamagedRecord`` for anything that is no record.
    """
    if not line:
        raise DamagedRecord("empty")
    _check(line)
    try:
        return _DECODER.decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        # msgspec refuses lone surrogates and unknown types: the careful way decides.
        return _decode_carefully(line)


def _decode_carefully(line: bytes) -> Record | None:
    try:
        # An editor may have put a byte order mark before the first line.
        value = _known_fields(json.loads(line.decode("utf-8-sig")))
        kind = _KINDS.get(msgspec.convert(value, _Typed).type)
        return msgspec.convert(value, kind) if kind else None
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise DamagedRecord(str(error)) from error


def _known_fields(value: Any) -> Any:
    """Leave out fields that msgspec cannot look up: their names are no UTF-8, all ours ASCII."""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_known_fields(item) for item in items]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {
        name: _known_fields(field) if name in _STRUCTURED else field
        for name, field in fields.items()
        if name.isascii()
    }


def _check(line: bytes) -> None:
    try:
        check_limits(line)
    except BeyondLimits as error:
        raise DamagedRecord(str(error)) from error
