"""``sibyl-tui sessions search``"""

import pytest

from tests.builders import appended, header, user
from tui.cli import console
from tui.domain.journal.records import Reset, encode
from tui.domain.search.query import SearchResult
from tui.domain.text import local_minute
from tui.storage.file_store import FileStore

FIELDS = [
    *("session_id", "message_id", "role", "timestamp", "snippet", "score", "match"),
    *("label", "scope", "project_path", "imported_from"),
    *("created_at", "message_count", "status"),
]


def test_the_hits_stand_below_title_date_id_and_project_of_their_session(sibyl, saved):
    there = saved("Where is the login?", "In auth.py, below login.", name="Auth")
    used = local_minute("2026-01-11T14:30:01.000Z")
    done = sibyl("sessions", "search", "login")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        "Found 2 matches:",
        f"Auth · {used} · {there} · shop",
        "  Where is the login?",
        "  In auth.py, below login.",
    ]


def test_on_a_terminal_hits_are_bold_and_no_line_is_longer(sibyl, saved, monkeypatch):
    there = saved("words " * 6 + "before the needle " + "words " * 20, name="A long title " * 9)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "columns", lambda: 70)
    _, title, hit = sibyl("sessions", "search", "needle").out.splitlines()
    assert len(title) == 70
    assert "… · 2026-01-11 " in title
    assert title.endswith(there + " · shop")
    assert "\x1b[1mneedle\x1b[22m" in hit
    assert len(hit) <= 70 + len("\x1b[1m\x1b[22m")


def test_filters_narrow_it_and_the_shell_may_have_taken_their_quotes(sibyl, saved):
    here, there = saved("needle", scope="project:/my shop"), saved("needle", scope="farm")
    for filters in (["in:my shop"], ['in:"my shop"'], ["in:MY", "before:2027", "from:sibyl"]):
        (hit,) = sibyl("sessions", "search", "needle", *filters, "--json").json
        assert (hit["session_id"], hit["scope"]) == (here, "project:/my shop")
    for query in ("needle in:farm from:sibyl", "in:farm from:sibyl needle"):
        (hit,) = sibyl("sessions", "search", query, "--json").json
        assert hit["session_id"] == there
    (hit,) = sibyl("sessions", "search", "in:farm", "--json").json
    assert (hit["session_id"], hit["imported_from"], hit["status"]) == (there, None, "closed")


def test_an_imported_session_is_named_with_its_program(sibyl, saved, store):
    saved("hello")
    imported = header("theirs", ordinal=0, imported_from="claude-code:1f")
    path = store.root / "archive" / "theirs.jsonl"
    path.write_bytes(encode(imported) + encode(user("m1", "needle")))
    found = sibyl("sessions", "search", "needle", "from:claude").out
    assert found.endswith(" · theirs · shop · from claude-code\n  needle\n")


@pytest.mark.parametrize("query", ["nowhere", "", "*", '"'])
def test_nothing_found_is_said_and_no_failure(sibyl, saved, query):
    saved("hello")
    done = sibyl("sessions", "search", query)
    assert (done.code, done.out) == (0, f'No session matches "{query}".\n')
    assert sibyl("sessions", "search", query, "--json").json == []


def test_what_comes_nearest_stands_below_what_has_all_words_and_each_hit_says_which(sibyl, saved):
    saved("the authentication middleware", "login token staging cluster", "the staging cluster")
    lines = sibyl("sessions", "search", "authent").out.splitlines()
    assert lines[:2] == ['No session matches "authent".', "Nearest: authent* (1 match)"]
    assert lines[3:] == ["  the authentication middleware"]
    words = ("login", "token", "staging", "cluster")
    found = sibyl("sessions", "search", *words, "--json").json
    assert [(hit["message_id"], hit["match"]) for hit in found] == [("m1", "all"), ("m2", "some")]
    lines = sibyl("sessions", "search", *words).out.splitlines()
    assert lines[0] == "Found 1 match:"
    assert lines[3] == "Nearest: login* OR token* OR stag* OR clust* (1 match)"


def test_a_search_needs_a_text_and_dates_that_are_some_and_makes_no_data_directory(sibyl, data):
    assert sibyl("sessions", "search", "hello").code == 0
    assert sibyl("sessions", "search").code == 2
    done = sibyl("sessions", "search", "needle", "before:soon")
    assert (done.code, done.out) == (2, "")
    assert "before:soon is not a date. It needs a year, month or day" in done.err
    assert not data.exists()


def test_the_json_has_exactly_these_fields_best_first_and_of_a_name_no_message(sibyl, saved):
    session_id = saved("the login", "login login", name="Auth bug investigation")
    first, second = sibyl("sessions", "search", "login", "--json").json
    assert list(first) == FIELDS
    assert (first["session_id"], first["message_id"], first["role"]) == (session_id, "m0", "user")
    assert (first["timestamp"], first["snippet"]) == ("2026-01-11T14:30:00.000Z", "the login")
    assert first["score"] > second["score"]
    shown = sibyl("sessions", "show", session_id, "--json").json["session"]
    assert (first["created_at"], first["message_count"]) == (shown["created_at"], 2)
    (hit,) = sibyl("sessions", "search", "auth", "--json").json
    assert list(hit) == FIELDS
    assert (hit["session_id"], hit["message_id"], hit["role"]) == (session_id, None, None)
    assert hit["snippet"] == "Auth bug investigation"


def test_every_scope_the_archive_and_what_is_before_a_reset_are_searched(sibyl, saved, store):
    here, archived, trashed = saved("needle", scope="a"), saved("needle"), saved("needle")
    appended(store, here, Reset(at="2026-01-11T16:00:00.000Z"))
    store.archive(archived)
    store.delete(trashed)
    found = sibyl("sessions", "search", "needle", "--json", "--scope", "other").json
    assert {hit["session_id"] for hit in found} == {here, archived}


def test_a_limit_says_how_many_are_printed_and_not_how_many_there_are(sibyl, saved):
    saved("needle", "needle", "needle")
    done = sibyl("sessions", "search", "needle", "--limit", "1")
    assert done.out.splitlines()[0] == "Found 3 matches:"
    assert done.out.count("  needle") == 1
    for limit in ("0", "-1", "x", "", "１", "1.5"):
        refused = sibyl("sessions", "search", "needle", f"--limit={limit}")
        assert (limit, refused.code, "--limit" in refused.err) == (limit, 2, True)


@pytest.mark.parametrize(
    ("pending", "told"),
    [(5_000_000, "Searching 5 MB of sessions that are not indexed yet…\n"), (0, "")],
)
def test_what_is_not_found_at_once_is_waited_for(sibyl, saved, monkeypatch, pending, told):
    saved("needle")
    search, asked = FileStore.search, []

    def slow(self, query, limit, *, seconds=0.2):
        asked.append(seconds)
        if seconds < 1:
            return SearchResult(late=True, pending=pending)
        return search(self, query, limit, seconds=seconds)

    monkeypatch.setattr(FileStore, "search", slow)
    done = sibyl("sessions", "search", "needle")
    assert done.err == told
    assert done.out.startswith("Found 1 match:")
    assert asked == [0.2, 10.0]
    monkeypatch.setattr(FileStore, "search", lambda *_, **__: SearchResult(late=True))
    told = "The search ran out of time: older matches may be missing.\n"
    assert sibyl("sessions", "search", "needle").err == told
