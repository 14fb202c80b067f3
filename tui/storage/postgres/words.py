"""Messages as rows of the server's full-text search, made of our own tokens.

A row's vector is written as a literal, without the server's parsers, which split words differently.
Beside the tokens it has lexemes for its slices of time and its session's origin, so that one index
answers for all of them. These begin with a slash, which no token contains. Everything is ASCII, as
the database's encoding may lack some characters.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import SessionHeader
from tui.domain.search.filters import Origin, origin_of
from tui.domain.search.query import Query, Term, spaced, time_of
from tui.domain.search.tokens import cut
from tui.domain.text import as_bytes, as_text
from tui.files import UnfitFile
from tui.storage.index.files import message_key
from tui.storage.journal_lines import Line, decoded, lines_forward
from tui.storage.postgres.rows import PieceReader, row_of

if TYPE_CHECKING:
    from psycopg import Connection

SLICES = (22, 26, 30, 34, 38, 63)
"""The lengths of slices of time, as powers of two of milliseconds: 70 minutes to everything."""

_LONG = "/l"
"""Marks a row whose vector lacks positions: a phrase is looked for in its text."""
_HUGE = "/h"
"""Marks a row whose tokens are too many for a vector."""
# The server's limits are 16,383 positions, 255 for a lexeme of 2,046 bytes, 1 MB in all.
_POSITIONS = 16_382
_SAME = 255
_LEXEME_CHARACTERS = 2000
_VECTOR_CHARACTERS = 200_000
_QUERY_TERMS = 30
_QUERY_TOKENS = 30
_BATCH_BYTES = 1024 * 1024

_INSERT = """
    insert into words as known (session, key, written, at, length, words)
    select {session}, new.key, new.written, new.at, new.length, new.words::tsvector from {source}
    on conflict (session, key) do update set written = excluded.written, at = excluded.at,
        length = excluded.length, words = excluded.words
    where known.at is not null
"""
# An array of one row would take a fifth of a commit.
_ROW = """(select %(row_key)s::bigint, %(row_written)s::bigint, %(row_at)s::bigint,
    %(row_length)s::integer, %(row_vector)s::text) new(key, written, at, length, words)"""
_ROWS = """unnest(%(keys)s::bigint[], %(times)s::bigint[], %(places)s::bigint[],
    %(lengths)s::integer[], %(vectors)s::text[]) new(key, written, at, length, words)"""
_NOTE_ORIGIN = "insert into origins values (%s, %s, %s, %s) on conflict do nothing"
_LOCK = "select name from sessions where id = %s for update"
_NAME = "update sessions set name_words = %s where id = %s"


class _ServerSpelling(dict[str, str]):
    """A cache of the ASCII spelling of each character."""

    def __missing__(self, character: str) -> str:
        spelt = character if character.isascii() else f"_{ord(character):x}."
        self[character] = spelt
        return spelt


_SPELLING = _ServerSpelling()


class WordRow(msgspec.Struct, frozen=True):
    """A message, by the offset of its line; one without an offset was replaced."""

    key: int
    written: int
    at: int | None
    length: int
    vector: str


def origin_lexemes(header: SessionHeader) -> str:
    """Make the lexemes of a session's project and program."""
    project, program = lexemes_of(origin_of(header))
    return f"'{project}' '{program}'"


def note_origin(connection: "Connection", header: SessionHeader) -> None:
    """Note the project and program of a session, for the filters of a query."""
    origin = origin_of(header)
    names = as_bytes(origin.project), as_bytes(origin.program)
    connection.execute(_NOTE_ORIGIN, (*lexemes_of(origin), *names))


def origins(connection: "Connection") -> list[Origin]:
    """List the projects and programs of all sessions, also of purged ones."""
    rows = connection.execute("select project_name, program_name from origins")
    return [Origin(as_text(project), as_text(program)) for project, program in rows]


def lexemes_of(origin: Origin) -> tuple[str, str]:
    """Make the lexemes of a project and of a program."""
    names = as_bytes(origin.project), as_bytes(origin.program)
    project, program = (blake2b(name, digest_size=6).hexdigest() for name in names)
    return f"/p{project}", f"/g{program}"


def slice_lexeme(bits: int, milliseconds: int) -> str:
    """Make the lexeme of the slice that a time is in."""
    return f"/{bits}x{milliseconds >> bits}"


def rows_of_lines(lines: Iterable[Line], origin: str) -> dict[int, WordRow]:
    """Make the rows of the messages in some lines, by key; a later one replaces an earlier one."""
    found: dict[int, WordRow] = {}
    for at, line in lines:
        record = decoded(line)
        if isinstance(record, Message):
            _add(found, record, at, len(line), origin)
    return found


def insertion(
    rows: Mapping[int, WordRow], session: str, source: str = ""
) -> tuple[str, dict[str, object]]:
    """Make the statement that writes rows, for a session from a source, and its values."""
    new, listed = _ROWS, list(rows.values())
    values: dict[str, object] = {
        "keys": [row.key for row in listed],
        "times": [row.written for row in listed],
        "places": [row.at for row in listed],
        "lengths": [row.length for row in listed],
        "vectors": [row.vector for row in listed],
    }
    if len(listed) == 1:
        new, row = _ROW, msgspec.structs.asdict(listed[0])
        values = {f"row_{name}": value for name, value in row.items()}
    return _INSERT.format(session=session, source=f"{source}, {new}" if source else new), values


def lines_of(data: bytes, at: int) -> list[Line]:
    """Cut whole lines that begin at an offset."""
    lines: list[Line] = []
    for line in data.split(b"\n"):
        lines.append((at, line))
        at += len(line) + 1
    return lines


def insert(
    connection: "Connection", session_id: str, lines: Iterable[Line], header: SessionHeader
) -> None:
    """Write the rows of some lines."""
    rows = rows_of_lines(lines, origin_lexemes(header))
    if rows:
        statement, values = insertion(rows, "%(id)s")
        connection.execute(statement.encode(), {"id": session_id, **values})


def name_words(name: bytes | None) -> bytes | None:
    """Make the column in which names are searched."""
    return None if name is None else as_bytes(spaced(as_text(name)))


def index_session(connection: "Connection", session_id: str) -> None:
    """Make the rows of a session anew, as after its journal was copied in.

    A journal of too many lines is not searched. Raises ``SessionDamaged``.
    """
    with suppress(UnfitFile), connection.transaction():
        found = connection.execute(_LOCK, (session_id,)).fetchone()
        row = row_of(connection, session_id)
        if found is None or row is None:
            return
        connection.execute("delete from words where session = %s", (session_id,))
        note_origin(connection, row.header())
        connection.execute(_NAME, (name_words(found[0]), session_id))
        reader = PieceReader(connection, session_id, row.size)
        for lines in _batches(lines_forward(reader.read, 0, row.size)):
            insert(connection, session_id, lines, row.header())


def _batches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    batch: list[Line] = []
    size = 0
    for line in lines:
        batch.append(line)
        size += len(line[1])
        if size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    yield batch


def as_tsquery(query: Query) -> str:
    """Write a query's terms for the server. It may match too much: texts are checked later."""
    joined = " | " if query.some else " & "
    terms = joined.join(_term(term) for term in query.terms[:_QUERY_TERMS])
    return f"({terms} | '{_HUGE}')" if terms else f"'{slice_lexeme(SLICES[-1], 0)}'"


def one_of(lexemes: Iterable[str]) -> str:
    """Write an alternative of lexemes."""
    return "(" + " | ".join(f"'{each}'" for each in lexemes) + ")"


def _term(term: Term) -> str:
    tokens = [f"'{_lexeme(token)}'" for token in term.tokens]
    if term.prefix:
        tokens[-1] += ":*"
    tokens = tokens[:_QUERY_TOKENS]
    if len(tokens) == 1:
        return tokens[0]
    return f"({' <-> '.join(tokens)} | '{_LONG}' & {' & '.join(tokens)})"


def _add(found: dict[int, WordRow], message: Message, at: int, length: int, origin: str) -> None:
    if message.replaces:
        replaced = message_key(message.replaces)
        found[replaced] = WordRow(replaced, 0, None, 0, "")
    key = message_key(message.id)
    if key in found and found[key].at is None:
        return
    written = time_of(message)
    found[key] = WordRow(key, written, at, length, _vector(cut(message.text), written, origin))


def _vector(tokens: Sequence[str], written: int, origin: str) -> str:
    """Write the vector of a text; it is empty without tokens."""
    if not tokens:
        return ""
    places: dict[str, list[int]] = {}
    for place, token in enumerate(tokens, 1):
        places.setdefault(_lexeme(token), []).append(place)
    count = len(tokens)
    if sum(map(len, places)) > _VECTOR_CHARACTERS:
        lexemes = f"'{_HUGE}'"
    elif count > _SAME and (count > _POSITIONS or max(map(len, places.values())) > _SAME):
        lexemes = " ".join([*(f"'{word}'" for word in places), f"'{_LONG}'"])
    else:
        lexemes = " ".join(f"'{word}':{','.join(map(str, at))}" for word, at in places.items())
    slices = " ".join(f"'{slice_lexeme(bits, written)}'" for bits in SLICES)
    return f"{lexemes} {slices} {origin}"


def _lexeme(token: str) -> str:
    """Spell a token in ASCII, so that a prefix of it is a prefix of its spelling."""
    spelt = token if token.isascii() else "".join(map(_SPELLING.__getitem__, token))
    return spelt[:_LEXEME_CHARACTERS]
