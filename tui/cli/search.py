"""``sibyl-tui sessions search`` in names and messages of all sessions."""

import sys
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from tui.cli import console
from tui.cli.program import Program
from tui.domain.journal.session import SessionEntry
from tui.domain.search.query import Hit, SearchResult, parse
from tui.domain.search.search_results import by_session, in_sight
from tui.domain.text import cell_width, cut_to_cells, local_minute, make_visible_line, scope_name
from tui.engine.library.loose_search import nearest
from tui.errors import UsageError

_PATIENT_SECONDS = 10.0
_SHORTEST_TITLE = 10
_INDENT = "  "
_SESSION_FIELDS = (
    *("label", "scope", "project_path", "imported_from"),
    *("created_at", "message_count", "status"),
)
_JSON_FIELDS = ("session_id", "message_id", "role", "timestamp", "snippet", "score")


def run(chosen: Namespace) -> int:
    """Print the best hits, then complete the index if much is missing in it."""
    program = Program.from_arguments(chosen)
    # The words of the command line form one query.
    query = " ".join(map(_quoted, chosen.words))
    if fault := parse(query).filters.fault:
        raise UsageError(fault)
    if not (chosen.limit.isascii() and chosen.limit.isdigit() and int(chosen.limit[:9]) > 0):
        raise UsageError(f"--limit: expected a whole number from 1, got {chosen.limit}")
    limit = int(chosen.limit[:9])
    found = _found(program, query, limit)
    _print(program, query, found, limit, as_json=chosen.json)
    if not found.is_behind:
        return 0
    from tui.cli.indexing import complete

    # Whoever reads the hits needs not wait for the index.
    console.end_output()
    return complete(program.store, "a search in a shell", waits=False)


def _print(program: Program, query: str, found: SearchResult, limit: int, *, as_json: bool) -> None:
    near = nearest(program.store.search, query, found, limit)
    some = near.hits[: limit - len(found.hits)]
    hits = (*found.hits, *some)
    entries = program.store.entries({hit.session_id for hit in hits}) if hits else ()
    by_id = {entry.id: entry for entry in entries}
    if as_json:
        matched = {"all": found.hits, "some": some}.items()
        listed = [
            _as_json(hit, by_id.get(hit.session_id), match)
            for match, each in matched
            for hit in each
        ]
        console.put_json(listed, 2)
        return
    if found.hits:
        console.put_line(f"Found {found.words}:")
        _put_hits(found.hits, entries)
    else:
        console.put_line(f'No session matches "{make_visible_line(query)}".')
    if some:
        console.put_line(make_visible_line(f"Nearest: {near.looser} ({near.words})"))
        _put_hits(some, entries)


def _quoted(word: str) -> str:
    """Bring back the quotes around a project, which the shell has taken.

    A whole query in one word stays as it is; no other filter's value has a blank.
    """
    name, _, value = word.partition(":")
    if name.lower() != "in" or " " not in value or any(sign in value for sign in '":'):
        return word
    return f'{name}:"{value}"'


def _found(program: Program, query: str, limit: int) -> SearchResult:
    found = program.store.search(query, limit)
    if found.notice:
        console.tell(found.notice)
    if not found.late:
        return found
    # Nobody types on meanwhile: a complete answer is waited for.
    if found.pending:
        megabytes = max(1, round(found.pending / 1_000_000))
        console.tell(f"Searching {megabytes} MB of sessions that are not indexed yet…")
    found = program.store.search(query, limit, seconds=_PATIENT_SECONDS)
    if found.late:
        console.tell("The search ran out of time: older matches may be missing.")
    return found


def _put_hits(hits: Iterable[Hit], entries: Iterable[SessionEntry]) -> None:
    """Print the hits below the title of their session and as many facts as there is room for."""
    width = console.columns() or sys.maxsize
    for found in by_session(hits, entries):
        entry = found.entry
        facts = _facts(entry) if entry else []
        while facts and cell_width("".join(facts)) > width - _SHORTEST_TITLE:
            facts.pop()
        aside = "".join(facts)
        title = cut_to_cells(entry.label if entry else found.session_id, width - cell_width(aside))
        console.put_line(title + aside)
        for hit in found.hits:
            room = width - len(_INDENT)
            text, marks = in_sight(hit.snippet, hit.marks, room)
            line = cut_to_cells(text, room)
            shown = [(begin, end) for begin, end in marks if line[begin:end] == text[begin:end]]
            moved = [(begin + len(_INDENT), end + len(_INDENT)) for begin, end in shown]
            console.put_marked(_INDENT + line, moved)


def _facts(entry: SessionEntry) -> list[str]:
    """What is said of a session beside its title, the most useful first."""
    program = [f"from {entry.program}"] if entry.program else []
    facts = [local_minute(entry.last_used_at), entry.id, scope_name(entry.scope), *program]
    return [f" · {make_visible_line(fact)}" for fact in facts]


def _as_json(hit: Hit, session: SessionEntry | None, match: str) -> dict[str, Any]:
    # None if the session was purged after the search.
    return {name: getattr(hit, name) for name in _JSON_FIELDS} | {
        "match": match,
        **{name: getattr(session, name, None) for name in _SESSION_FIELDS},
    }
