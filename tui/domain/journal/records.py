"""The records of a journal, their ids, and the requests that they count."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Optional, cast, get_args

import msgspec

from tui.domain.journal.message import Message, MessageId, Role, TokenUsage
from tui.domain.journal.todo import TodoItem
from tui.domain.json_text import MOST, BeyondLimits, Count, check_limits, converted, journal_json
from tui.domain.providers import is_guide
from tui.errors import SessionNotFound

SESSION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
SESSION_NUMBERS = 1_000_000
MESSAGE_TOKEN_BYTES = 4
PRIVATE = "private-"
"""Begins the ids of private sessions."""


def is_session_id(text: str) -> bool:
    """True if a text is safe as the file name of a session."""
    return SESSION_ID.fullmatch(text) is not None


def checked_id(text: str) -> str:
    """Return an id unchanged. Raises ``SessionNotFound`` for any other text."""
    if not is_session_id(text):
        raise SessionNotFound(text)
    return text


def new_session_id(now: datetime, number: int, prefix: str = "session-") -> str:
    """Make an id of the local time and a random number below a million."""
    return f"{prefix}{now.astimezone():%Y%m%d-%H%M%S}-{number:06d}"


def is_private(session_id: str) -> bool:
    """Tell whether a session is private: in memory only."""
    return session_id.startswith(PRIVATE)


def new_message_id(now: datetime, token: str) -> str:
    """Make an id of the UTC time to the millisecond and eight random hexadecimal digits."""
    utc = now.astimezone(UTC)
    return f"{utc:%Y%m%dT%H%M%S}{utc.microsecond // 1000:03d}-{token}"


VERSION = 1
Version = Annotated[int, msgspec.Meta(ge=1, le=MOST)]
Ordinal = Annotated[int, msgspec.Meta(ge=0, le=10**9)]
"""The number of a session in its scope; 0 if it has none yet."""
Temperature = Annotated[float, msgspec.Meta(ge=0, le=1000)]


class _Record(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """The base of all records but ``message``."""


class SessionHeader(_Record, frozen=True, tag="session"):
    """The first line of a journal."""

    version: Version
    id: str
    created_at: str
    scope: str
    ordinal: Ordinal
    project_path: str
    model: str
    forked_from: str | None = None
    imported_from: str | None = None
    metadata: dict[str, Any] | None = None


class Partial(_Record, frozen=True, tag="partial"):
    """A piece of an arriving answer.

    The first piece of an answer also has the fields from ``role`` on. The ``message`` with the same
    id takes the place of all pieces.
    """

    message_id: MessageId
    at: Count
    """The length of the answer before this piece, in code points."""
    text: str
    role: Role | None = None
    timestamp: str | None = None
    model: str | None = None
    replaces: str | None = None
    after: str | None = None
    after_at: Count | None = None


class Summary(_Record, frozen=True, tag="summary"):
    """A summary, sent to the model instead of the messages up to ``through`` (a message id)."""

    text: str
    through: str
    model: str | None = None
    """``PROVIDER:MODEL`` that wrote it."""
    usage: TokenUsage | None = None
    """The tokens that it took; ``None`` where the server did not count them."""


NO_SUMMARY = Summary(text="", through="")
"""Written where no summary counts any more."""


class Titled(_Record, frozen=True, tag="title"):
    """A title that a model made, be it kept as the name or not."""

    text: str
    at: str
    model: str | None = None
    """``PROVIDER:MODEL`` that made it."""
    usage: TokenUsage | None = None
    """The tokens that it took; ``None`` where the server did not count them."""


class Todos(_Record, frozen=True, tag="todos"):
    """The whole to-do list."""

    items: tuple[TodoItem, ...]


class Settings(_Record, frozen=True, tag="settings"):
    """The settings of a session, all of them; for an absent one the configuration's applies."""

    system_prompt: str | None = None
    temperature: Temperature | None = None
    max_tokens: Count | None = None
    effort: str | None = None
    tools_off: tuple[str, ...] = ()
    """Names of tools that are not offered to the model."""
    pinned: bool = False


class Offsets(msgspec.Struct, frozen=True):
    """The positions of the last record of each kind, in bytes; a hint, verified on use."""

    summary: Count | None = None
    todos: Count | None = None
    reset: Count | None = None
    settings: Count | msgspec.UnsetType | None = msgspec.UNSET
    """Unset in a ``state`` of a program that knew no settings: there may be some all the same."""

    def following(self, record: "Record", place: int | None) -> "Offsets":
        """The offsets after ``record`` was written at ``place``."""
        match record:
            case Summary():
                return Offsets(place, self.todos, self.reset, self.settings)
            case Todos():
                return Offsets(self.summary, place, self.reset, self.settings)
            case Reset():
                return Offsets(None, self.todos, place, self.settings)
            case Settings():
                return Offsets(self.summary, self.todos, self.reset, place)
            case _:
                return self


NO_OFFSETS = Offsets(settings=None)
"""The offsets of a session that has none of these records."""


class State(_Record, frozen=True, tag="state", kw_only=True):
    """A checkpoint for readers of the end of the file; the last one counts."""

    name: str
    model: str = ""
    """That of the header if it is empty."""
    prompt_count: Count
    message_count: Count
    total_count: Count
    updated_at: str
    # No default: it is written even if empty, so that all ``state`` records have the same fields.
    offsets: Offsets


class Opened(_Record, frozen=True, tag="opened"):
    """The lease was acquired; ``resumed`` if the user opened this session explicitly."""

    at: str
    resumed: bool = False


class Closed(_Record, frozen=True, tag="closed"):
    """The lease was released."""

    at: str


class Restored(_Record, frozen=True, tag="restored"):
    """The session came back from the archive or the trash."""

    at: str


class Reset(_Record, frozen=True, tag="reset"):
    """A ``/reset``: the records below form the current conversation."""

    at: str


class Import(_Record, frozen=True, tag="import", kw_only=True):
    """The records above were imported from another program; the last one is the whole count.

    ``read`` and the numbers of ``skipped`` are together the records of the source; only blocks of
    unknown types, which are parts of records, are counted beside these.
    """

    at: str
    program: str
    source_id: str
    """The program's own id of the conversation."""
    path: str
    format_version: str | None = None
    size: Count = 0
    """Of the source, in bytes."""
    read: Count
    skipped: dict[str, Count] = {}
    """The records that are not here, by reason."""
    prompts_only: bool = False
    """True if its program had deleted all of the conversation but the prompts."""


Record = (
    SessionHeader
    | Message
    | Partial
    | Summary
    | Titled
    | Todos
    | Settings
    | State
    | Opened
    | Closed
    | Restored
    | Reset
    | Import
)

Encoded = tuple[Record, bytes]
"""A record and its line, which is empty if it was not encoded yet."""

_KINDS: dict[str, type[Record]] = {each.__struct_config__.tag: each for each in get_args(Record)}


class _Typed(msgspec.Struct):
    """The one field of every record, of known type or not."""

    type: str


# Fields whose values have known fields; values of all others may use any name.
_STRUCTURED = frozenset({"items", "offsets", "tool_calls", "usage"})
_INCIDENTAL: dict[str, Any] = {
    "usage": TokenUsage | None,
    "effort": str | None,
    "after_at": Optional[Count],  # noqa: UP045 - an annotated type has no operator
    "folded": tuple[tuple[Count, Count], ...] | None,
}
"""Fields of which an odd value, as of another program, counts as none: the rest still counts."""
_DECODER = msgspec.json.Decoder(Record)
_ENCODER = msgspec.json.Encoder()


class DamagedRecord(ValueError):
    """A line that is not a record: torn, overwritten, too long or nested too deeply."""


def encode(record: Record) -> bytes:
    """Encode a record as its line, with the newline.

    Raises ``DamagedRecord`` for a line that no reader would accept: longer than 64 MiB or nested
    deeper than 200.
    """
    try:
        line = _encoded(record) or journal_json(msgspec.to_builtins(record))
    except (RecursionError, ValueError, TypeError) as error:
        raise DamagedRecord(f"cannot be written: {error}") from error
    _check(line)
    return line + b"\n"


def _encoded(record: Record) -> bytes:
    """Encode as ``journal_json`` does, 25 times as fast; nothing where only that may do it."""
    try:
        line = _ENCODER.encode(record)
    except (RecursionError, ValueError, TypeError):
        return b""
    # An infinite number has become null. The others begin what has to be escaped.
    is_plain = b"null" not in line and (
        line.isascii() or (b"\xc2" not in line and b"\xe2\x80" not in line)
    )
    return line if is_plain else b""


def decode(line: bytes) -> Record | None:
    """Decode a line without its newline; ``None`` for an unknown type. Raises ``DamagedRecord``."""
    if not line:
        raise DamagedRecord("empty")
    _check(line)
    try:
        return _DECODER.decode(line)
    except (ValueError, RecursionError):
        # msgspec also refuses lone surrogates and unknown types: the slow decoder decides.
        return _decode_carefully(line)


def _decode_carefully(line: bytes) -> Record | None:
    try:
        # An editor may have added a byte order mark to the first line.
        value = _without_odd(_known_fields(json.loads(line.decode("utf-8-sig"))))
        kind = _KINDS.get(converted(value, _Typed).type)
        return converted(value, kind) if kind else None
    except (ValueError, RecursionError) as error:
        raise DamagedRecord(str(error)) from error


def _known_fields(value: Any) -> Any:
    """Drop fields whose names are not ASCII: msgspec fails on lone surrogates in a name."""
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


def _without_odd(record: Any) -> Any:
    """Drop incidental fields that do not have their type."""
    if not isinstance(record, dict):
        return record
    fields = dict(cast("dict[str, Any]", record))
    for name, kind in _INCIDENTAL.items():
        try:
            converted(fields.get(name), kind)
        except ValueError:
            del fields[name]
    return fields


def _check(line: bytes) -> None:
    try:
        check_limits(line)
    except BeyondLimits as error:
        raise DamagedRecord(str(error)) from error


class CountedRequest(msgspec.Struct, frozen=True, gc=False):
    """A request that was answered; without ``usage`` its tokens were not counted."""

    id: str
    """Of the answer; a later record with the same id takes the place of an earlier one."""
    model: str
    timestamp: str
    """Of the answer; empty if unknown."""
    usage: TokenUsage | None


def counted_requests(records: Iterable[Record | None]) -> tuple[CountedRequest, ...]:
    """List the requests that some records answered, also for answers that are not live.

    The built-in guide is sent none. The answers that a fork begins with were another session's.
    """
    found: dict[str, CountedRequest] = {}
    forked_at = ""
    for record in records:
        if isinstance(record, SessionHeader):
            forked_at = record.created_at if record.forked_from else ""
        elif (each := _request(record)) and (each.usage or each.timestamp >= forked_at):
            found[each.id] = each
    return tuple(each for each in found.values() if not is_guide(each.model))


def by_model(requests: Iterable[CountedRequest]) -> Mapping[str, Sequence[CountedRequest]]:
    """Group requests by the name of their model."""
    groups: defaultdict[str, list[CountedRequest]] = defaultdict(list)
    for request in requests:
        groups[request.model].append(request)
    return groups


def may_answer(line: bytes) -> bool:
    """Tell cheaply whether a line may answer a request, or begin a fork."""
    return any(word in line for word in (b'"assistant"', b'"usage"', b'"forked_from"'))


def _request(record: Record | None) -> CountedRequest | None:
    match record:
        case Message(role="assistant"):
            return CountedRequest(record.id, record.model or "", record.timestamp, record.usage)
        case Summary(usage=TokenUsage()):
            # A version repeats the summary that counts in it.
            known = f"summary {record.through}"
            return CountedRequest(known, record.model or "", "", record.usage)
        case Titled(usage=TokenUsage()):
            known = f"title {record.at}"
            return CountedRequest(known, record.model or "", record.at, record.usage)
        case _:
            return None
