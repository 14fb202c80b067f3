"""``sibyl-tui sessions …``"""

import json
import os
import re
from datetime import UTC, datetime, timedelta

import pytest

from tests.builders import answer, appended, header, kept_texts, user
from tests.domain.views.test_session_rows import entry
from tui.cli.sessions import session_table
from tui.domain.journal.message import TokenUsage, ToolCall
from tui.domain.journal.records import Reset, Settings, Summary, Todos, encode
from tui.domain.journal.todo import TodoItem
from tui.domain.text import cell_width, local_minute

ENTRY_FIELDS = [
    *("id", "name", "label", "scope", "ordinal", "active", "project_path", "model"),
    *("created_at", "updated_at", "last_used_at", "closed_at", "message_count", "status"),
    "imported_from",
]


def ids(result):
    return [entry["id"] for entry in result.json]


# --- list


def test_without_sessions_the_list_says_so_and_makes_no_data_directory(sibyl, data):
    assert sibyl("sessions", "list").out == "No saved sessions.\n"
    assert sibyl("sessions", "list", "--json").json == []
    assert not data.exists()


def test_the_list_is_a_table_with_the_newest_use_first(sibyl, saved):
    first, second = saved("How do I sort?", "So."), saved("Was ist das?", name="質問")
    heading, columns, *rows = sibyl("sessions", "list").out.splitlines()
    assert heading == "Saved sessions:"
    assert len({cell_width(row) for row in rows}) == 1
    assert columns.split("  ")[0] == "#"
    assert re.split(r" {2,}", columns) == ["#", "ID", "Name", "Last used", "Messages"]
    assert re.split(r" {2,}", rows[0]) == ["1", second, "質問", "2026-01-11", "1"]
    assert re.split(r" {2,}", rows[1]) == ["2", first, "How do I sort?", "2026-01-11", "2"]


def test_the_list_as_json_has_exactly_these_fields(sibyl, saved):
    session_id = saved("How do I sort?", "So.", name="Sorting")
    unnamed = saved("How do I count?")
    other, entry = sibyl("sessions", "list", "--json").json
    assert (other["id"], other["name"], other["label"]) == (unnamed, "", "How do I count?")
    assert list(entry) == ENTRY_FIELDS
    assert entry["id"] == session_id
    assert (entry["name"], entry["label"]) == ("Sorting", "Sorting")
    assert (entry["scope"], entry["ordinal"], entry["active"]) == ("project:/shop", 1, False)
    assert (entry["message_count"], entry["status"]) == (2, "closed")
    assert entry["last_used_at"] == "2026-01-11T14:30:01.000Z"


def test_an_imported_session_says_which_program_it_is_from(sibyl, saved, store):
    saved("hello")
    imported = header("theirs", ordinal=0, imported_from="claude-code:1f")
    path = store.root / "archive" / "theirs.jsonl"
    path.write_bytes(encode(imported) + encode(user("m1")))
    (entry,) = sibyl("sessions", "list", "--json", "--archived").json
    assert (entry["imported_from"], entry["ordinal"]) == ("claude-code:1f", 0)
    shown = sibyl("sessions", "show", "theirs").out
    assert "- imported from: claude-code\n" in shown
    assert "- project: /shop\n" in shown


def test_a_session_of_which_nothing_can_be_read_says_so_in_both_lists(sibyl, saved, store):
    session_id = saved("How do I sort?")
    store.path(session_id).write_bytes(b"garbage\n")
    (entry,) = sibyl("sessions", "list", "--json").json
    assert (entry["name"], entry["label"]) == ("", "(unreadable)")
    assert (entry["scope"], entry["status"]) == ("project:/shop", "closed")
    (row,) = sibyl("sessions", "list").out.splitlines()[2:]
    assert re.split(r" {2,}", row)[1:3] == [session_id, "(unreadable)"]


def test_a_list_of_an_archive_that_cannot_be_used_says_so(sibyl, saved, data):
    saved("hello")
    (data / "archive").rmdir()
    (data / "archive").symlink_to("nowhere")
    listed = sibyl("sessions", "list", "--archived")
    assert listed.out == "No saved sessions.\n"
    assert listed.err.startswith("The archive cannot be used: ")
    assert sibyl("sessions", "list").err == ""


def test_archived_and_trashed_sessions_are_listed_only_when_asked_for(sibyl, saved, store):
    kept, archived, trashed = saved("a"), saved("b"), saved("c")
    store.archive(archived)
    store.delete(trashed)
    assert ids(sibyl("sessions", "list", "--json")) == [kept]
    assert ids(sibyl("sessions", "list", "--json", "--archived")) == [archived]
    assert ids(sibyl("sessions", "list", "--json", "--trashed")) == [trashed]
    everything = sibyl("sessions", "list", "--json", "--all")
    assert ids(everything) == [trashed, archived, kept]
    assert [entry["status"] for entry in everything.json] == ["trashed", "archived", "closed"]
    assert "(archived)" in sibyl("sessions", "list", "--all").out


# --- show


def test_a_session_is_shown_as_markdown_with_the_settings_of_its_own(sibyl, saved, store):
    session_id = saved("How do I sort?", "Use `sorted`.", name="Sorting")
    shown = sibyl("sessions", "show", session_id).out
    assert shown.startswith("# Sorting\n")
    assert shown.index("How do I sort?") < shown.index("Use `sorted`.")
    assert "## You · " in shown
    assert "\n- messages: 2\n" in shown
    assert f"\n- created: {local_minute(store.entry(session_id).created_at)}\n" in shown
    assert "temperature" not in shown
    own = {"system_prompt": "Be brief.\nBe kind.", "temperature": 0.2, "max_tokens": 1_000_000}
    appended(store, session_id, Settings(**own))
    shown = sibyl("sessions", "show", session_id).out
    assert "\n- temperature: 0.2\n- max_tokens: 1000000\n" in shown
    assert "\n## System prompt\n\nBe brief.\nBe kind.\n" in shown
    assert sibyl("sessions", "show", session_id, "--json").json["session"]["settings"] == own


def test_a_session_is_shown_as_json_with_its_message_records(sibyl, saved, store):
    session_id = saved("How do I sort?", "So.")
    appended(
        store,
        session_id,
        Todos((TodoItem("Sort", "pending", "Sorting"),)),
        Summary("They sorted.", "m0"),
    )
    shown = sibyl("sessions", "show", session_id, "--json").json
    session = shown["session"]
    more = ["todos", "settings", "summary", "prompt_count", "damaged", "imported", "usage"]
    assert list(session) == [*ENTRY_FIELDS, *more]
    assert session["settings"] == {}
    assert session["todos"] == [{"content": "Sort", "status": "pending", "active_form": "Sorting"}]
    assert (session["summary"], session["prompt_count"], session["damaged"]) == (
        "They sorted.",
        1,
        0,
    )
    lines = store.path(session_id).read_text().splitlines()
    written = [json.loads(line) for line in lines if '"type":"message"' in line]
    assert shown["messages"] == written


def test_a_session_is_shown_with_the_tokens_of_all_its_requests(sibyl, saved, store):
    session_id = saved("hello")
    usage = TokenUsage(10, 1, cached_tokens=8)
    appended(store, session_id, *(answer(f"a{at}", model="m", usage=usage) for at in range(2)))
    appended(store, session_id, answer("a2", model="m", replaces="a1"))
    shown = sibyl("sessions", "show", session_id, "--json").json
    counts = {"input_tokens": 20, "output_tokens": 2, "cached_tokens": 16, "cache_write_tokens": 0}
    assert {"model": "m", "requests": 3, **counts} in shown["session"]["usage"]
    kept = {"input_tokens": 10, "output_tokens": 1, "cached_tokens": 8}
    assert [each.get("usage") for each in shown["messages"]][-2:] == [kept, None]


def test_tool_calls_are_shown_with_nested_arguments_and_what_a_crash_cut_off_is_interrupted(
    sibyl, saved, store
):
    arguments = {"edits": [{"from": "a", "to": {"b": [1, None]}}]}
    session_id = saved("hello", tool_calls=(ToolCall("c1", "edit", arguments),))
    (message,) = sibyl("sessions", "show", session_id, "--json").json["messages"]
    assert (message["content"], message["tool_calls"][0]["arguments"]) == ("hello", arguments)
    shown = sibyl("sessions", "show", session_id).out
    assert shown.index("> edit `{") < shown.index("## Tool") < shown.index("interrupted")
    lease = store.lease(session_id)
    assert "interrupted" not in sibyl("sessions", "show", session_id).out
    lease.release()


def test_what_is_before_a_reset_and_versions_with_their_place_are_shown_only_when_asked_for(
    sibyl, saved, store
):
    session_id = saved("before")
    appended(store, session_id, Reset("2026-01-11T15:00:00.000Z"), user("q", "question"))
    appended(store, session_id, answer("a1", "first"), answer("a2", "second", after="q"))

    def texts(*flags):
        shown = sibyl("sessions", "show", session_id, "--json", *flags).json
        return [message["content"] for message in shown["messages"]]

    assert texts() == ["question", "second"]
    assert texts("--all-messages") == ["before", "question", "first", "second"]
    shown = sibyl("sessions", "show", session_id, "--all-messages", "--json").json
    assert shown["messages"][2]["versions"] == ["a1", "a2"]
    as_text = sibyl("sessions", "show", session_id, "--all-messages").out
    assert "version 1/2 · earlier version\n\nfirst" in as_text
    assert "version 2/2\n\nsecond" in as_text
    assert "version 2/2" in sibyl("sessions", "show", session_id).out


def test_damage_and_a_newer_version_are_said_on_standard_error_and_hide_nothing_else(
    sibyl, saved, store
):
    session_id = saved("one", "two")
    path = store.path(session_id)
    with path.open("ab") as file:
        file.write(b'{"type":"message","id":"x"\ngarbage\n')
    before = path.read_bytes()
    shown = sibyl("sessions", "show", session_id, "--json")
    assert [m["content"] for m in shown.json["messages"]] == ["one", "two"]
    assert shown.json["session"]["damaged"] == 2
    assert f"2 damaged records skipped in {session_id}; the file is unchanged" in shown.err
    assert path.read_bytes() == before
    path.write_bytes(before.replace(b'"version":1', b'"version":3'))
    shown = sibyl("sessions", "show", session_id)
    assert "two" in shown.out
    assert "newer sibyl-tui (format 3)." in shown.err


def test_an_unknown_target_names_the_closest(sibyl, saved):
    session_id = saved("hello")
    result = sibyl("sessions", "show", session_id[:-1] + "x")
    assert result.code == 2
    assert result.out == ""
    assert result.err == f"Session not found: {session_id[:-1]}x\nClosest: {session_id}\n"


def test_an_ambiguous_target_names_the_candidates_but_not_very_many(sibyl, saved):
    first, second = saved("a", name="same"), saved("b", name="same")
    result = sibyl("sessions", "show", "same")
    assert result.code == 2
    minute = local_minute("2026-01-11T14:30:00.000Z")
    assert result.err.splitlines() == [
        'Several sessions match "same":',
        *(f"  {each}  same · shop · {minute}" for each in sorted((first, second))),
    ]
    for number in range(23):
        saved(f"talk {number}", name="same")
    lines = sibyl("sessions", "show", "same").err.splitlines()
    assert (len(lines), lines[-1]) == (22, "  and 5 more")


def test_only_the_numbers_of_the_plain_list_mean_a_session(sibyl, saved, store):
    archived, kept = saved("a"), saved("b")
    store.archive(archived)
    assert sibyl("sessions", "list").out.splitlines()[2].startswith(f"1  {kept}")
    assert sibyl("sessions", "list", "--archived").out.splitlines()[2].startswith("-  ")
    assert sibyl("sessions", "restore", "1").code == 2


# --- name


def test_a_session_is_named_which_is_no_use_of_it_unless_another_program_holds_it(
    sibyl, saved, store
):
    session_id = saved("hello")
    before = store.entry(session_id).last_used_at
    lease = store.lease(session_id)
    result = sibyl("sessions", "name", session_id, "Greeting")
    lease.release()
    assert result.code == 1
    assert result.err.startswith(f"Session {session_id} is open in another window (pid ")
    assert sibyl("sessions", "name", session_id, "Greeting").out == 'Renamed to "Greeting"\n'
    entry = store.entry(session_id)
    assert (entry.name, entry.message_count, entry.last_used_at) == ("Greeting", 1, before)
    assert sibyl("sessions", "name", session_id, "名" * 200).code == 0
    assert store.entry(session_id).name == "名" * 200
    for name in ("", "  ", "x" * 201):
        result = sibyl("sessions", "name", session_id, name)
        assert result.code == 2
        assert ("longer than 200" in result.err) == (len(name) > 200)


# --- archive, restore, delete, purge


def test_a_session_goes_to_the_archive_and_comes_back(sibyl, saved, store):
    session_id = saved("hello", name="Greeting")
    assert sibyl("sessions", "archive", "Greeting").out == f'Archived "Greeting" ({session_id})\n'
    assert store.entry(session_id).status == "archived"
    assert sibyl("sessions", "restore", "Greeting").out == f'Restored "Greeting" ({session_id})\n'
    entry = store.entry(session_id)
    assert (entry.status, entry.name, entry.ordinal) == ("closed", "Greeting", 1)


def test_a_session_goes_to_the_trash_where_yes_is_said_and_comes_back(sibyl, saved, store):
    session_id = saved("hello")
    refused = sibyl("sessions", "delete", session_id)
    assert (refused.code, "--yes" in refused.err) == (2, True)
    assert store.entry(session_id).status == "closed"
    deleted = sibyl("sessions", "delete", session_id, "--yes")
    assert deleted.out == f'Moved "hello" ({session_id}) to the trash\n'
    assert store.entry(session_id).status == "trashed"
    named = sibyl("sessions", "name", session_id, "Greeting")
    assert named.err == f"Session not found: {session_id}\nIt is in the trash.\n"
    assert sibyl("sessions", "restore", session_id).code == 0
    assert kept_texts(store, session_id) == ["hello"]


@pytest.mark.parametrize("target", ["#1", "1", "Greeting"])
def test_only_a_whole_id_is_deleted(sibyl, saved, store, target):
    session_id = saved("hello", name="Greeting")
    result = sibyl("sessions", "delete", target, "--yes", "--scope", "project:/shop")
    assert (result.code, result.err) == (2, f"Deleting takes the complete id: {session_id}\n")
    assert sibyl("sessions", "delete", session_id[:-1], "--yes").code == 2
    assert store.entry(session_id).status == "closed"


def test_a_purge_destroys_only_what_is_in_the_trash_and_is_named_and_nothing_without_yes(
    sibyl, saved, store
):
    kept, first, second = saved("kept"), saved("first"), saved("second")
    store.delete(first)
    store.delete(second)
    listed = sibyl("sessions", "purge").out
    assert listed.splitlines()[-1] == "Would purge 2 sessions. Add --yes to destroy them."
    assert (first in listed, kept in listed) == (True, False)
    assert sibyl("sessions", "purge", kept, "--yes").code == 2
    assert store.entry(first).status == "trashed"
    assert sibyl("sessions", "purge", first, "--yes").out == "Purged 1 session.\n"
    assert sibyl("sessions", "show", first).code == 2
    assert store.entry(second).status == "trashed"
    assert sibyl("sessions", "purge", "--yes").out == "Purged 1 session.\n"
    assert kept_texts(store, kept) == ["kept"]


def test_the_archive_hook_is_told_what_the_user_archived_and_may_fail(
    sibyl, saved, store, tmp_path, config
):
    told = tmp_path / "told.json"
    config.write_text(f'[hooks]\non_archive = ["/bin/sh", "-c", "cat > {told}; exit 3"]\n')
    session_id = saved("hello")
    result = sibyl("sessions", "archive", session_id)
    assert json.loads(told.read_text()) == {
        "scope": "project:/shop",
        "sessions": [session_id],
        "reason": "user",
    }
    assert (result.code, "hook" in result.err) == (0, True)
    assert store.entry(session_id).status == "archived"


# --- import


def test_a_session_file_is_taken_back_as_it_was(sibyl, saved, store, data, tmp_path):
    session_id = saved("one", "two", name="Talk")
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(store.path(session_id).read_bytes())
    store.delete(session_id)
    store.purge(session_id)
    result = sibyl("sessions", "import", copy)
    assert result.out == f"Imported session: {session_id} (2 messages)\n"
    entry = store.entry(session_id)
    assert (entry.name, entry.message_count, entry.status) == ("Talk", 2, "closed")
    assert entry.ordinal == 1


HOSTILE = (
    b'{"type":"session","version":1,"id":"../../x","created_at":"","scope":"s",'
    b'"ordinal":1,"project_path":"/","model":"m"}\n'
)


@pytest.mark.parametrize("content", [b"", b"hello\n", b'{"type":"reset","at":"x"}\n', HOSTILE])
def test_what_is_no_session_file_is_not_imported(sibyl, tmp_path, content):
    file = tmp_path / "file"
    file.write_bytes(content)
    assert sibyl("sessions", "import", file).code == 2
    missing = sibyl("sessions", "import", tmp_path / "none.jsonl")
    assert (missing.code, "none.jsonl" in missing.err) == (1, True)


# --- output


def test_no_output_holds_a_control_that_a_terminal_obeys_even_where_it_is_piped(sibyl, saved):
    session_id = saved("\x1b]52;c;aGk=\x1b\\ 会話 \x9b31m \u202e \U000e0041 \ud800")
    out = sibyl("sessions", "list", "--json").out
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\U000e0041\ud800]", out)
    assert "会話" in out
    for verb in (("list",), ("show", session_id), ("search", "会話"), ("purge",)):
        assert not set("\x1b\x9b\u202e") & set(sibyl("sessions", *verb).out)
    sibyl("sessions", "delete", session_id, "--yes")
    assert not set("\x1b\x9b\u202e") & set(sibyl("sessions", "purge").out)


def test_looking_writes_nothing(sibyl, saved, data):
    session_id = saved("hello")
    before = snapshot(data)
    sibyl("sessions", "list")
    sibyl("sessions", "show", session_id)
    sibyl("sessions", "purge")
    sibyl("doctor")
    assert snapshot(data) == before


def snapshot(root):
    return {
        path: (os.stat(os.path.join(base, path)).st_mtime_ns)
        for base, _, files in os.walk(root)
        for path in files
    }


NOW = datetime(2026, 1, 2, tzinfo=UTC)
ENTRIES = [
    entry("session-20260101-000000-000001", NOW - timedelta(hours=3), label="a name " * 6),
    entry("session-20260101-000000-000002", NOW - timedelta(hours=4), label="検索" * 20),
    entry("session-20260101-000000-000003", NOW - timedelta(hours=5), label="short"),
]


def lines(columns):
    return session_table(ENTRIES, NOW, numbered=True, columns=columns).splitlines()


def test_only_names_are_cut_to_the_width_of_the_terminal():
    for columns in (80, 90):
        assert max(map(cell_width, lines(columns))) <= columns
        assert [line.endswith(" 3") for line in lines(columns)[1:]] == [True] * 3
        assert "…" in lines(columns)[1]
        assert "short" in lines(columns)[3]
    assert all(each.id in line for each, line in zip(ENTRIES, lines(20)[1:], strict=True))
    assert all(ENTRIES[1].label in lines(columns)[2] for columns in (None, 200))
