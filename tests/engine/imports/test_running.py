"""Imports: whole sessions come into the archive, once, and grow."""

import json
import os
from random import Random
from zipfile import ZIP_DEFLATED, ZipFile

import msgspec
import pytest

from tests.builders import appended, at, texts, user
from tests.engine.imports.notebook import NOTEBOOK, SEVERAL, said, told
from tui.domain.journal.message import TEXT_BYTES
from tui.domain.journal.records import VERSION
from tui.engine.imports.history import imported_session_id
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.errors import StorageFull
from tui.importers.protocol import Places
from tui.storage.file_store import FileStore
from tui.storage.journal import Journal
from tui.storage.protocol import EVERYWHERE, SessionFilter

ALL = SessionFilter(statuses=EVERYWHERE)
FIRST = imported_session_id("notebook", "c1")


def counts(outcome):
    """Added and grown sessions, and messages."""
    (program,) = outcome.programs
    return program.added, program.grown, program.messages


def live(store, session_id=FIRST):
    return texts(store.journal(session_id).load().loaded_messages)


def everything(store, session_id=FIRST):
    return texts(store.journal(session_id).load().all_messages)


def ids(store):
    return {entry.id for entry in store.list(ALL, None, 99).entries}


# --- a session


def test_a_conversation_becomes_an_archived_session(store, shelf, take):
    shelf.put(
        "a.json",
        told(
            said("Hello"),
            said("Hi", "assistant", model="gpt", timestamp="2026-01-11T14:31:00.000Z"),
            {"kind": "todos", "items": []},
            name="Greeting",
            project_path="/shop",
            created_at="2026-01-11T14:00:00.000Z",
            model="gpt",
        ),
    )
    seen = []
    assert counts(take(lambda progress: not seen.append(progress))) == (1, 0, 2)
    assert seen[-1].done == seen[-1].total > 0
    assert seen[-1].sessions == 1
    entry = store.entry(FIRST)
    assert (entry.status, entry.name, entry.scope) == ("archived", "Greeting", "project:/shop")
    assert (entry.ordinal, entry.program, entry.model) == (0, "notebook", "notebook:gpt")
    assert entry.last_used_at == "2026-01-11T14:31:00.000Z"
    assert entry.created_at == "2026-01-11T14:00:00.000Z"
    assert entry.message_count == 2
    assert live(store) == ["Hello", "Hi"]
    assert store.journal(FIRST).load().loaded_messages[1].model == "notebook:gpt"


def test_a_conversation_of_no_project_is_listed_under_its_program_and_one_without_words_not_at_all(
    store, shelf, take
):
    shelf.put("a.json", told(said("Hello")), told(source_id="c2"))
    outcome = take()
    assert counts(outcome) == (1, 0, 1)
    assert outcome.programs[0].ledger.skipped == {"conversation without messages": 1}
    assert ids(store) == {FIRST}
    assert store.entry(FIRST).scope == "notebook"


def test_the_settings_of_a_conversation_are_the_session_s_until_they_are_set_here(store, imported):
    def settings():
        return store.journal(FIRST).load().settings

    for number, value in enumerate((0.5, 0.7)):
        messages = [said(f"m{each}") for each in range(number + 1)]
        imported(*messages, {"kind": "settings", "temperature": value})
        assert settings().temperature == 0.5


def test_the_ledger_of_a_session_is_kept_and_added_up(store, shelf, take):
    thought = {"kind": "thinking"}
    shelf.put("a.json", told(said("a"), thought, thought, version="3"))
    shelf.put("b.json", told(said("b"), thought, source_id="c2"))
    ledger = take().programs[0].ledger
    assert (ledger.read, dict(ledger.skipped)) == (2, {"thinking": 3})
    imported = store.journal(FIRST).load().imported
    assert (imported.read, imported.skipped, imported.format_version) == (1, {"thinking": 2}, "3")
    assert imported.path == str(shelf.home / "notes" / "a.json")


def test_a_session_that_cannot_be_written_keeps_no_other_of_its_source_out(store, shelf, take):
    shelf.put("a.json", told(said("a")), told(said("x"), source_id="c2"))
    take()
    path = store.path(FIRST)
    newer = path.read_bytes().replace(b'"version":%d' % VERSION, b'"version":%d' % (VERSION + 1), 1)
    path.write_bytes(newer)
    conversations = told(said("a"), said("b")), told(said("x"), said("y"), source_id="c2")
    shelf.put("a.json", *conversations)
    for extended in (1, 0):
        (program,) = take().programs
        assert (program.grown, [each.path.name for each in program.failures]) == (
            extended,
            ["a.json"],
        )
    assert everything(store) == ["a"]
    assert everything(store, imported_session_id("notebook", "c2")) == ["x", "y"]


def test_a_missing_time_is_the_neighbours_and_marked(store, imported):
    imported(said("a"), said("b", timestamp=None))
    first, second = store.journal(FIRST).load().loaded_messages
    assert second.timestamp == first.timestamp
    assert (first.metadata, second.metadata) == (None, {"timestamp": "assumed"})
    # Of the first one it is that of the next one that has any.
    told_at = said("c")["timestamp"]
    imported(said("x", timestamp=None), said("y", timestamp=None), said("c"), source_id="c2")
    session = store.journal(imported_session_id("notebook", "c2")).load()
    assert {each.timestamp for each in session.loaded_messages} == {told_at}
    assert session.header.created_at == told_at


def test_the_last_message_without_a_time_was_said_when_the_conversation_changed(store, imported):
    names = []
    for day in (1, 2):
        names.append(f"m{day}")
        messages = [said(each, timestamp=None) for each in names]
        dates = {"created_at": at(0), "updated_at": at(day)}
        imported(*messages, **dates)
        assert store.entry(FIRST).last_used_at == at(day)
    assert everything(store) == names


def test_a_text_beyond_the_limit_is_cut_and_arguments_that_no_journal_may_have_are_left_out(
    store, imported
):
    deep = 1
    for _ in range(198):
        deep = [deep]
    call = {"id": "t", "name": "run", "arguments": deep}
    long = said("a", content="é" * TEXT_BYTES)
    assert imported(long, said("b", "assistant", tool_calls=[call])).programs[0].cut == 2
    text, calling = store.journal(FIRST).load().loaded_messages
    assert len(text.text.encode()) == TEXT_BYTES
    assert (text.status, calling.text) == ("truncated", "b")


def test_to_dos_and_summaries_come_along_also_with_what_grew(store, imported):
    item = {"content": "Write", "status": "pending", "active_form": "Writing"}
    first = [said("a"), said("b", "assistant")]
    first.append({"kind": "summary", "text": "They met.", "through": "b"})
    imported(*first, {"kind": "todos", "items": [item]}, said("c"))
    session = store.journal(FIRST).tail(1).session
    assert session.summary.text == "They met."
    assert [(each.content, each.status) for each in session.todos] == [("Write", "pending")]
    assert session.message_count == 3
    done = {**item, "status": "completed"}
    second = said("d"), {"kind": "summary", "text": "Two.", "through": "d"}
    imported(*first, said("c"), *second, {"kind": "todos", "items": [done]})
    session = store.journal(FIRST).tail(9).session
    assert session.summary.text == "Two."
    assert [each.status for each in session.todos] == ["completed"]
    assert store.journal(FIRST).load().imported.read == 7


def test_the_last_branch_is_live_and_a_summary_counts_only_on_its_own(store, shelf, take):
    shelf.put(
        "a.json",
        told(
            said("a"),
            said("b", "assistant"),
            {"kind": "summary", "text": "They met.", "through": "b"},
            said("c", "assistant", parent="a"),
            said("d", parent="c"),
        ),
    )
    take()
    assert live(store) == ["a", "c", "d"]
    assert everything(store) == ["a", "b", "c", "d"]
    session = store.journal(FIRST).tail(9).session
    assert session.summary is None
    assert session.message_count == 3
    assert store.journal(FIRST).load().damaged == 0


# --- again


def test_a_second_run_opens_nothing_and_adds_nothing_also_without_the_log(store, shelf, take, plan):
    path = shelf.put(
        "a.json", told(said("a"), said("d", parent="")), told(said("b"), source_id="c2")
    )
    take()
    before = {name: store.stamp(name) for name in ids(store)}
    path.chmod(0)
    (program,) = plan().programs
    assert (program.sources, program.unchanged) == ((), 1)
    assert program.counts.words == "2 sessions, nothing new"
    assert counts(take()) == (0, 0, 0)
    path.chmod(0o600)
    (store.root / "imports.jsonl").unlink()
    assert plan().sources == 1
    assert counts(take()) == (0, 0, 0)
    assert {name: store.stamp(name) for name in ids(store)} == before


def test_a_source_that_grew_lets_its_session_grow(store, shelf, take, plan, imported):
    imported(said("a"), name="Old")
    later = said("c", parent="a", timestamp="2026-01-12T00:00:00.000Z")
    shelf.put("a.json", told(said("a"), said("b", "assistant"), later, name="New"))
    assert plan().programs[0].changed_files == 1
    assert counts(take()) == (0, 1, 2)
    entry = store.entry(FIRST)
    assert (entry.status, entry.name, entry.ordinal) == ("archived", "Old", 0)
    assert entry.last_used_at == "2026-01-12T00:00:00.000Z"
    assert live(store) == ["a", "c"]
    assert everything(store) == ["a", "b", "c"]


def test_a_last_message_that_was_still_being_written_is_completed(store, imported):
    imported(said("a"), said("b", "assistant", content="It"))
    assert counts(imported(said("a"), said("b", "assistant", content="It is."), said("c"))) == (
        0,
        1,
        2,
    )
    assert live(store) == ["a", "It is.", "c"]
    assert store.journal(FIRST).tail(9).session.message_count == 3


def test_what_came_to_a_branch_that_is_not_shown_leaves_the_shown_one_live(store, take, imported):
    shown = said("c", parent="a"), said("f")
    imported(said("a"), said("b"), *shown)
    for beside in ("d", "e"):
        imported(said("a"), said("b"), said(beside, parent="b"), *shown)
        assert live(store) == ["a", "c", "f"]
        assert take().programs[0].messages == 0
    assert sorted({*everything(store)}) == ["a", "b", "c", "d", "e", "f"]


def test_a_long_session_grows_in_blocks(store, monkeypatch, imported):
    monkeypatch.setattr("tui.engine.imports.writing._BATCH_BYTES", 300)
    imported(said("0"))
    numbers = [str(number) for number in range(20)]
    imported(*map(said, numbers))
    assert live(store) == numbers
    assert store.journal(FIRST).tail(1).session.message_count == 20


# --- one message once


def test_conversations_of_one_root_become_one_session_and_a_fork_a_version(store, shelf, take):
    session_id = imported_session_id("notebook", "r")
    talk = [said("a"), said("b", "assistant"), said("c")]
    shelf.put("a.json", told(*talk[:2], root="r"))
    shelf.put("b.json", told(*talk, source_id="c2", root="r"))
    assert counts(take()) == (1, 1, 3)
    assert live(store, session_id) == ["a", "b", "c"]
    shelf.put("c.json", told(said("a"), said("d", "assistant"), source_id="c3", root="r"))
    take()
    assert live(store, session_id) == ["a", "d"]
    assert everything(store, session_id) == ["a", "b", "c", "d"]


# --- sessions that were changed here


def gone_on_with(store):
    appended(store, FIRST, user("20260111T143023456-a1b2c3d4", "Mine"))


def test_a_session_continued_here_is_never_changed_and_its_fork_takes_what_is_new(store, imported):
    imported(said("a"), name="Talk")
    gone_on_with(store)
    before = store.stamp(FIRST)
    # Without anything new there is none.
    assert not imported(said("a"), {"kind": "thinking"}, name="Talk").programs[0].forks
    assert ids(store) == {FIRST}
    (fork,) = imported(said("a"), said("b", "assistant"), name="Talk").programs[0].forks
    assert (fork.session_id, fork.title) == (FIRST, "Talk")
    assert store.stamp(FIRST) == before
    assert live(store, fork.fork_id) == ["a", "b"]
    assert store.journal(fork.fork_id).load().header.forked_from == FIRST
    assert store.entry(fork.fork_id).status == "archived"
    # It is the same one each time; once it is deleted, news for it are told.
    talk = said("a"), said("b", "assistant"), said("c")
    (again,) = imported(*talk).programs[0].forks
    assert (again.fork_id, again.title) == (fork.fork_id, "Talk"), "the name that it has here"
    assert len(ids(store)) == 2
    assert live(store, fork.fork_id) == ["a", "b", "c"]
    store.delete(fork.fork_id)
    assert imported(*talk, said("d")).programs[0].gone == 1
    assert imported(said("a"), {"kind": "thinking"}).programs[0].gone == 0


def test_it_ends_at_once_also_while_a_session_is_read_here(
    store, shelf, take, monkeypatch, imported
):
    monkeypatch.setattr("tui.engine.imports.report._REPORT_SECONDS", 0)
    imported(said("a"))
    shelf.put("a.json", told(said("a"), said("b")))
    real, passed = Journal.records, []

    def records(journal):
        for record in real(journal):
            passed.append(record)
            yield record

    monkeypatch.setattr(Journal, "records", records)
    assert take(lambda _: not passed).stopped
    assert len(passed) == 1


def test_a_session_that_is_open_waits_for_the_next_run(store, imported, clock):
    imported(said("a"))
    # One that was only looked at here grows.
    store.restore(FIRST)
    assert counts(imported(said("a"), said("b"))) == (0, 1, 1)
    assert store.entry(FIRST).status == "closed"
    lease = FileStore(store.root, clock).lease(FIRST)
    (program,) = imported(said("a"), said("b"), said("c")).programs
    assert not program.forks
    assert program.failures[0].reason == (
        '"a" is open. Close it and import again to add what is new.'
    )
    assert live(store) == ["a", "b"]
    lease.release()
    imported(said("a"), said("b"), said("c"))
    assert live(store) == ["a", "b", "c"]


@pytest.mark.parametrize("purged", [False, True])
def test_a_session_that_was_deleted_here_is_not_imported_again(
    store, shelf, take, plan, purged, imported
):
    imported(said("a"))
    store.delete(FIRST)
    if purged:
        store.purge(FIRST)
    shelf.put("a.json", told(said("a"), said("b")))
    (program,) = plan().programs
    assert (program.new_sessions, program.gone) == (0, 1)
    assert take().programs[0].gone == 1
    assert plan().programs[0].gone == 1
    (program,) = plan(again=True).programs
    assert (program.new_sessions, program.gone) == (1, 0)
    assert take(again=True).programs[0].added == 1
    assert store.entry(FIRST).status == "archived"
    assert live(store) == ["a", "b"]


# --- sources that fail, and the end of an import


def test_a_source_that_fails_stops_no_other_and_is_read_again(store, shelf, take):
    shelf.put("a.json", told(said("a")), told(said("b"), {"kind": "crash"}, source_id="c2"))
    shelf.put("b.json", told(said("c"), source_id="c3"))
    (failure,) = take().programs[0].failures
    assert (failure.path.name, failure.reason) == ("a.json", "Input/output error")
    assert len(ids(store)) == 2
    shelf.put("a.json", told(said("a")), told(said("b"), source_id="c2"))
    assert counts(take()) == (1, 0, 1)


def full_after(store, verb, count):
    """Let the disk be full after so many calls of a verb of the store."""
    write, left = getattr(store, verb), iter(range(count))

    def full(*arguments, **options):
        if next(left, None) is None:
            raise StorageFull("No space left on device")
        write(*arguments, **options)

    return full


def test_messages_that_were_added_before_the_disk_was_full_are_counted(
    store, shelf, plan, imported, monkeypatch
):
    monkeypatch.setattr("tui.engine.imports.writing._BATCH_BYTES", 1)
    imported(said("m0"))
    shelf.put("a.json", told(*(said(f"m{number}") for number in range(9))))
    monkeypatch.setattr(store, "extend", full_after(store, "extend", 4))
    outcome = run(store, plan())
    assert outcome.error
    assert outcome.programs[0].messages == len(everything(store)) - 1 > 0


def test_a_full_disk_ends_the_import_and_the_next_one_goes_on(
    store, shelf, plan, take, monkeypatch
):
    for number in range(3):
        shelf.put(f"{number}.json", told(said(f"m{number}"), source_id=f"c{number}"))
    with monkeypatch.context() as patch:
        patch.setattr(store, "add_imported", full_after(store, "add_imported", 1))
        outcome = run(store, plan())
    assert (outcome.error, outcome.sessions) == ("No space left on device", 1)
    assert take().sessions == 2


def test_a_stopped_import_goes_on_where_it_was(store, shelf, take, monkeypatch):
    monkeypatch.setattr("tui.engine.imports.report._REPORT_SECONDS", 0)
    for number in range(9):
        shelf.put(f"{number}.json", told(*map(said, f"{number}ab"), source_id=f"c{number}"))
    for patience in (1, 5, 9, 14):
        calls = iter(range(patience))
        assert take(lambda _, calls=calls: next(calls, None) is not None).stopped
    assert not take().stopped
    assert len(ids(store)) == 9
    assert not list(store.root.rglob("*.tmp"))


def test_only_what_is_newer_is_imported_and_the_rest_later(store, shelf, take):
    from datetime import UTC, datetime

    old = told(said("a"), updated_at="2020-01-01T00:00:00.000Z")
    shelf.put("a.json", old, told(said("b"), source_id="c2"))
    assert counts(take(since=datetime(2025, 1, 1, tzinfo=UTC))) == (1, 0, 1)
    assert counts(take()) == (1, 0, 1)


# --- two imports at once


def test_a_session_that_another_import_adds_meanwhile_is_no_failure(store, shelf, take, clock):
    shelf.put("a.json", told(said("a"), said("b")), told(said("c"), source_id="c2"))

    def read(source, ledger):
        for conversation in SEVERAL.read(source, ledger):
            yield msgspec.structs.replace(conversation, items=lambda of=conversation: items(of))

    def items(conversation):
        if planned and not ids(store):
            take()
        yield from conversation.items()

    slower = msgspec.structs.replace(SEVERAL, read=read)
    planned = None
    planned = make_plan(store, Wanted(shelf.places), readers=[slower])
    outcome = run(store, planned, clock=clock)
    assert not outcome.programs[0].failures
    assert live(store) == ["a", "b"]
    assert len(ids(store)) == 2
    assert counts(take()) == (0, 0, 0)


def test_a_file_that_became_shorter_on_the_way_is_read_again(shelf, store, clock):
    path = shelf.put("a.json", told(said("a")), told(said("b"), source_id="c2"))

    def read(source, ledger):
        for number, conversation in enumerate(NOTEBOOK.read(source, ledger)):
            yield conversation
            if number == 0:
                os.truncate(source.path, 3)

    torn = msgspec.structs.replace(NOTEBOOK, read=read)
    plan = make_plan(store, Wanted(shelf.places), readers=[torn])
    outcome = run(store, plan, clock=clock)
    assert [failure.path for failure in outcome.programs[0].failures] == [path]
    assert not outcome.is_whole
    shelf.put("a.json", told(said("a")), told(said("b"), source_id="c2"))
    os.utime(path, ns=(plan.programs[0].sources[0].found.mtime,) * 2)
    again = make_plan(store, Wanted(shelf.places), readers=[NOTEBOOK])
    assert again.sources == 1


def test_a_reader_that_fails_as_soon_as_it_is_called_stops_no_other(shelf, store, clock):
    for name in "ab":
        shelf.put(f"{name}.json", told(said(name), source_id=name))

    def refuse():
        raise PermissionError(13, "Permission denied")

    def read(source, ledger):
        for each in NOTEBOOK.read(source, ledger):
            yield msgspec.structs.replace(each, items=refuse) if "a.json" in str(source) else each

    reader = msgspec.structs.replace(NOTEBOOK, read=read)
    plan = make_plan(store, Wanted(shelf.places), readers=[reader])
    (program,) = run(store, plan, clock=clock).programs
    assert program.added == 1
    assert [(each.path.name, each.reason) for each in program.failures] == [
        ("a.json", "Permission denied")
    ]


# --- damaged


TALK = '{"messages": [{"role": "user", "content": "Why?"}]}'


@pytest.mark.parametrize(
    ("text", "added", "reason"),
    [
        (TALK[:-5], 0, "Nothing in it could be read: 1 unfinished line."),
        (
            '{"role": 1, "content": 2, "messages": 3}',
            0,
            "Nothing in it could be read: 1 unknown role.",
        ),
        (f"[{TALK}, {TALK[:-2]}]", 1, ""),
        (TALK, 1, ""),
        ('{"messages": [], "about": {"role": 1, "content": 2}}', 0, ""),
    ],
)
def test_a_file_of_which_nothing_can_be_read_is_told(store, clock, tmp_path, text, added, reason):
    (tmp_path / "a.json").write_text(text)
    for _ in range(2 if reason else 1):
        outcome = run(store, make_plan(store, Wanted(paths=(tmp_path / "a.json",))), clock=clock)
        assert outcome.programs[0].added == added
        assert [each.reason for each in outcome.programs[0].failures] == [reason] * bool(reason)
        assert outcome.is_whole is not bool(reason)


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"assistant","uuid":"a","message":{"content":[],"usage":{"input_tokens":3}}}',
        '{"sessionId":"s","message":{"model":"m","usage":{"input_tokens":3}},"costUSD":0.1}',
    ],
)
def test_a_file_of_claude_code_with_token_counts_alone_is_read_once(store, clock, tmp_path, line):
    file = tmp_path / ".claude" / "projects" / "-shop" / "a.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text(f"{line}\n")
    wanted = Wanted(Places(tmp_path, {}))
    outcome = run(store, make_plan(store, wanted), clock=clock)
    assert (outcome.is_whole, outcome.programs[0].ledger.skipped) == (True, {"usage": 1})
    assert make_plan(store, wanted).sources == 0


def test_a_member_that_is_damaged_in_the_middle_is_told(store, clock, tmp_path):
    with ZipFile(tmp_path / "a.zip", "w", ZIP_DEFLATED) as archive:
        archive.writestr("a.json", TALK)
        archive.writestr(
            "b.json", json.dumps([json.loads(TALK)] * 9 + [Random(1).randbytes(200_000).hex()])
        )
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[-100_000:-90_000] = bytes(10_000)
    (tmp_path / "a.zip").write_bytes(data)
    outcome = run(store, make_plan(store, Wanted(paths=(tmp_path / "a.zip",))), clock=clock)
    assert [(each.path.name, each.reason) for each in outcome.unread] == [
        ("b.json", "It is damaged.")
    ]
    assert outcome.programs[0].added == 1


# --- a reader that was wrong, and reads better now


def read_by(store, shelf, clock, *, hidden=(), revision=0):
    """Import with a reader that does not see some messages."""

    def read(source, ledger):
        for each in NOTEBOOK.read(source, ledger):
            items = lambda each=each: (item for item in each.items() if item.id not in hidden)  # noqa: E731
            yield msgspec.structs.replace(each, items=items)

    reader = msgspec.structs.replace(NOTEBOOK, read=read, revision=revision)
    plan = make_plan(store, Wanted(shelf.places), readers=[reader])
    outcome = run(store, plan, clock=clock)
    assert outcome.is_whole
    return outcome.programs[0] if outcome.programs else None


def test_a_better_reader_reads_again_what_was_read_before_and_brings_nothing_back(
    store, shelf, clock
):
    shelf.put("a.json", told(said("a"), said("b", "assistant"), said("c")))
    read_by(store, shelf, clock, hidden={"b"})
    better = read_by(store, shelf, clock, revision=1)
    assert (better.added, better.grown) == (0, 1)
    assert live(store) == ["a", "b", "c"]
    again = read_by(store, shelf, clock, revision=1)
    assert (again.added, again.grown, again.messages) == (0, 0, 0)
    assert sorted(everything(store)) == ["a", "b", "c", "c"]
    store.delete(FIRST)
    store.purge(FIRST)
    better = read_by(store, shelf, clock, revision=2)
    assert (better.added, better.gone) == (0, 1)
    assert not ids(store)


def test_a_name_that_is_found_later_is_the_session_s(store, imported):
    imported(said("a"))
    imported(said("a"), name="Talk")
    assert (store.entry(FIRST).name, everything(store)) == ("Talk", ["a"])
    size = store.path(FIRST).stat().st_size
    imported(said("a"), name="Talk again")
    assert (store.entry(FIRST).name, store.path(FIRST).stat().st_size) == ("Talk", size)


def test_what_a_better_reader_finds_of_a_session_continued_here_goes_to_its_fork(
    store, shelf, clock
):
    shelf.put("a.json", told(said("a"), said("b", "assistant")))
    read_by(store, shelf, clock, hidden={"b"})
    gone_on_with(store)
    (fork,) = read_by(store, shelf, clock, revision=1).forks
    assert live(store) == ["a", "Mine"]
    assert live(store, fork.fork_id) == ["a", "b"]


def test_a_source_of_which_nothing_is_understood_is_told(store, shelf):
    def read(source, ledger):
        ledger.skipped["unknown record"] += 2
        ledger.skipped["empty message"] += 1
        return iter(())

    shelf.put("a.json")
    reader = msgspec.structs.replace(NOTEBOOK, read=read)
    plan = make_plan(store, Wanted(shelf.places), readers=[reader])
    assert [each.reason for each in run(store, plan).programs[0].failures] == [
        "Nothing in it could be read: 2 unknown records, 1 empty message."
    ]


@pytest.mark.parametrize(
    ("created", "shown"),
    [("2026-01-11T14:00:00.000Z", "14:00"), ("2027-01-01T00:00:00.000Z", "14:30"), (None, "14:30")],
)
def test_no_session_was_created_after_its_last_message(store, created, shown, imported):
    imported(said("a"), created_at=created)
    entry = store.entry(FIRST)
    assert entry.created_at[11:16] == shown
    assert entry.created_at <= entry.last_used_at
