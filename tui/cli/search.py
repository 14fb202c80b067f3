"""``sibyl-tui sessions search``: search in names and messages of all sessions."""

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tui.cli import output
from tui.cli.program import Program
from tui.domain.journal.session import SessionEntry
from tui.domain.search.query import Hit, SearchResult, found_words, hit_lines, parse
from tui.domain.text.safe_text import make_visible_line
from tui.engine.library.near_matches import nearest
from tui.errors import UsageError

_PATIENT_SECONDS = 10.0
_SESSION_FIELDS = (
    *("label", "scope", "project_path", "imported_from"),
    *("created_at", "message_count", "status"),
)
_JSON_FIELDS = ("session_id", "message_id", "role", "timestamp", "snippet", "score")


def run(chosen: Namespace) -> int:
    """Print the best hits."""
    program = Program.from_arguments(chosen)
    # The words of the command line form one query.
    query = " ".join(map(_quoted, chosen.words))
    if fault := parse(query).filters.fault:
        raise UsageError(fault)
    found = _found(program, query, _limit(chosen.limit))
    if chosen.json:
        entries = {entry.id: entry for entry in _entries(program, found)}
        output.put_json([_as_json(hit, entries) for hit in found.hits], 2)
    elif found.hits:
        output.put_line(found_words(found))
        for line in _lines(program, found):
            output.put_line(line)
    else:
        output.put_line(f'No session matches "{make_visible_line(query)}".')
        if not found.late:
            _tell_nearest(program, query)
    return 0


def _quoted(word: str) -> str:
    """Bring back the quotes around a project, which the shell has taken.

    A whole query in one word stays as it is; no other filter's value has a blank.
    """
    name, _, value = word.partition(":")
    if name.lower() != "in" or " " not in value or any(sign in value for sign in '":'):
        return word
    return f'{name}:"{value}"'


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0):
        raise UsageError(f"--limit: expected a whole number from 1, got {text}")
    return int(text[:9])


def _found(program: Program, query: str, limit: int) -> SearchResult:
    found = program.store.search(query, limit)
    if found.notice:
        output.tell(found.notice)
    if not found.late:
        return found
    # Nobody types on meanwhile: a complete answer is waited for.
    if found.pending:
        megabytes = max(1, round(found.pending / 1_000_000))
        output.tell(f"Searching {megabytes} MB of sessions that are not indexed yet…")
    found = program.store.search(query, limit, seconds=_PATIENT_SECONDS)
    if found.late:
        output.tell("The search ran out of time: older matches may be missing.")
    return found


def _tell_nearest(program: Program, query: str) -> None:
    near = nearest(lambda looser: program.store.search(looser, 1), query)
    if near.queries:
        output.tell(make_visible_line(f"Nearest: {near}"))


def _as_json(hit: Hit, entries: Mapping[str, SessionEntry]) -> dict[str, Any]:
    # None if the session was purged after the search.
    session = entries.get(hit.session_id)
    return {name: getattr(hit, name) for name in _JSON_FIELDS} | {
        name: getattr(session, name, None) for name in _SESSION_FIELDS
    }


def _entries(program: Program, found: SearchResult) -> Sequence[SessionEntry]:
    return program.store.entries({hit.session_id for hit in found.hits})


def _lines(program: Program, found: SearchResult) -> Iterator[str]:
    entries = _entries(program, found)
    for number, line in enumerate(hit_lines(found.hits, entries, program.clock()), 1):
        yield f"{number:3}. {line}"
