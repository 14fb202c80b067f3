"""Sessions here that have what is left of others: prompts of deleted ones, and files cut off."""

import os
import shutil
import time

import msgspec
import pytest

from tests.builders import appended, texts, user
from tests.engine.imports.notebook import NOTEBOOK, PROGRAM, SEVERAL, said, told
from tests.importers.samples import SOURCES, laid_out
from tui.domain.imports import PROMPTS_ONLY
from tui.domain.timestamps import utc_now
from tui.engine.imports.history import imported_session_id
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.report import outcome_words, program_lines
from tui.engine.imports.running import run
from tui.importers.protocol import Deletion, Places
from tui.importers.readers import reader
from tui.storage.file_store import FileStore
from tui.storage.protocol import EVERYWHERE, SessionFilter

RESCUE = imported_session_id(PROGRAM, "c1")
WHOLE = imported_session_id(PROGRAM, "root")
NAME = f"{PROMPTS_ONLY}Fix it"
IN_WHOLE = {"prompt of a whole session": 2}


def at(minute, second=0):
    return f"2026-01-11T14:{minute:02}:{second:02}.000Z"


def prompts(*words, source_id="c1", start=0):
    """What a history has of a session: a prompt each minute."""
    items = [
        said(f"{source_id} {number}", content=text, timestamp=at(start + number))
        for number, text in enumerate(words)
    ]
    times = {"created_at": at(start), "updated_at": at(start + len(words) - 1)}
    return told(
        *items,
        source_id=source_id,
        name=NAME,
        project_path="/shop",
        prompts_only=True,
        **times,
    )


def whole(*words, source_id="c1", root="root", start=0, **heading):
    """The session as it is in its file, where a prompt comes a second later, with its answer."""
    items = []
    for number, text in enumerate(words):
        ask, answer = f"{root} q{number}", f"{root} a{number}"
        parent = f"{root} a{number - 1}" if number else ""
        items += [
            said(ask, content=text, parent=parent, timestamp=at(start + number, 1)),
            said(answer, "assistant", parent=ask, timestamp=at(start + number, 2)),
        ]
    given = {"project_path": "/shop", "created_at": at(start, 1), **heading}
    return told(*items, source_id=source_id, root=root, **given)


def entries(store):
    return {e.id: e for e in store.list(SessionFilter(statuses=EVERYWHERE), None, 99).entries}


def counts(outcome):
    (done,) = outcome.programs
    return done.added, done.prompts_only, done.grown, done.found_whole, done.messages


@pytest.fixture
def history(shelf, take):
    """Puts conversations into the history, and imports it; gives the outcome."""

    def outcome_of(*conversations):
        shelf.put("history.json", *conversations)
        return take()

    return outcome_of


def test_prompts_that_are_left_become_a_session_that_says_so_and_no_line_twice(store, history):
    outcome = history(prompts("Fix it"), prompts("Other", source_id="c2"))
    assert counts(outcome) == (2, 2, 0, 0, 2)
    told_so = "2 sessions with your prompts only: Notebook had deleted the rest"
    assert told_so in outcome_words(outcome)
    session = store.journal(RESCUE).load()
    assert texts(session.loaded_messages) == ["Fix it"]
    assert session.imported.prompts_only
    assert (session.name, session.header.scope) == (NAME, "project:/shop")
    assert [line.prompts_only for line in store.imports() if line.id == RESCUE] == [True]
    grown = prompts("Fix it", "More"), prompts("Other", source_id="c2")
    assert counts(history(*grown)) == (0, 0, 1, 0, 1)
    before = list(store.imports())
    assert counts(history(*grown, told(source_id="empty"))) == (0, 0, 0, 0, 0)
    # That the source was read to its end is all that is new.
    assert len(list(store.imports())) == len(before) + 1
    assert texts(store.journal(RESCUE).load().all_messages) == ["Fix it", "More"]


def test_a_prompt_stays_as_it_was_once_what_was_pasted_is_gone(store, history):
    history(prompts("Fix this: def f(): ...", "Thanks"))
    gone = prompts("Fix [Pasted text #1]", "Thanks")
    gone["items"][0]["id"] = "c1 0"
    assert counts(history(gone, told(source_id="empty")))[-1] == 0
    assert texts(store.journal(RESCUE).load().all_messages) == ["Fix this: def f(): ...", "Thanks"]


def test_nothing_comes_of_a_session_that_is_here_whole_or_was_and_is_deleted(
    store, shelf, take, history
):
    shelf.put("a.json", whole("Fix it", "Thanks"))
    take()
    outcome = history(prompts("Fix it", "Thanks"))
    assert counts(outcome)[0] == 0
    assert outcome.programs[0].ledger.skipped == IN_WHOLE
    assert outcome.programs[0].ledger.read == 0
    assert list(entries(store)) == [WHOLE]
    store.delete(WHOLE)
    assert counts(history(prompts("Fix it")))[0] == 0
    assert [each.status for each in entries(store).values()] == ["trashed"]


@pytest.mark.parametrize("name", ["", "The bug"])
def test_a_session_that_is_found_whole_takes_the_place_of_its_prompts(
    store, shelf, take, history, name
):
    history(prompts("Fix it", "Thanks"))
    shelf.put("backup.json", whole("Fix it", "Thanks", name=name))
    outcome = take()
    assert counts(outcome) == (0, 0, 1, 1, 4)
    assert "1 session found whole: the prompts kept before are an earlier version" in outcome_words(
        outcome
    )
    (entry,) = entries(store).values()
    assert (entry.id, entry.name, entry.label) == (RESCUE, name, name or "Fix it")
    session = store.journal(RESCUE).load()
    live = ["Fix it", "root a0", "Thanks", "root a1"]
    assert texts(session.loaded_messages) == live
    assert texts(session.all_messages) == ["Fix it", "Thanks", *live]
    assert not session.imported.prompts_only
    tail = store.journal(RESCUE).tail(9).session
    assert texts(tail.loaded_messages) == live
    # Nothing of it comes again, whichever file is read anew.
    shelf.put("history.json", prompts("Fix it", "Thanks"), told(source_id="empty"))
    shelf.put("copy.json", whole("Fix it", "Thanks", name=name))
    assert counts(take()) == (0, 0, 0, 0, 0)
    shelf.put("backup.json", whole("Fix it", "Thanks", "More", name=name))
    assert counts(take()) == (0, 0, 1, 0, 2)


def test_a_name_that_the_user_gave_to_prompts_stays(store, shelf, take, clock, history):
    history(prompts("Fix it"))
    lease = store.lease(RESCUE)
    state = store.journal(RESCUE).load().state(clock().isoformat())
    store.extend(lease, [msgspec.structs.replace(state, name="Mine")])
    lease.release()
    shelf.put("backup.json", whole("Fix it", name="Theirs"))
    take()
    assert store.entry(RESCUE).name == "Mine"


def test_prompts_that_were_deleted_here_give_no_place(store, shelf, take, history):
    history(prompts("Fix it"))
    store.delete(RESCUE)
    shelf.put("backup.json", whole("Fix it"))
    assert counts(take())[:2] == (1, 0)
    assert entries(store)[WHOLE].status == "archived"
    assert entries(store)[RESCUE].status == "trashed"
    store.delete(WHOLE)
    shelf.put("backup.json", whole("Fix it", "More"))
    assert counts(take())[0] == 0


def test_a_session_of_prompts_that_was_continued_here_is_forked(store, shelf, take, history):
    history(prompts("Fix it"))
    appended(store, RESCUE, user("own", "Mine"))
    shelf.put("backup.json", whole("Fix it"))
    (fork,) = take().programs[0].forks
    assert texts(store.journal(RESCUE).load().loaded_messages) == ["Fix it", "Mine"]
    assert "root a0" in texts(store.journal(fork.fork_id).load().loaded_messages)
    shelf.put("copy.json", whole("Fix it"))
    assert counts(take())[-1] == 0


def test_prompts_of_no_session_are_known_by_words_project_and_time(store, shelf, take):
    shelf.put("a.json", whole("Fix it", "Thanks"))
    take()
    shelf.put(
        "history.json",
        prompts("Fix it", "Of another session", "Thanks", source_id="made"),
        prompts("Fix it", source_id="later", start=40),
        {**prompts("Fix it", source_id="elsewhere")},
    )
    done = take().programs[0]
    assert done.ledger.skipped == {"prompt of a whole session": 3}
    left = {
        each: texts(store.journal(imported_session_id(PROGRAM, each)).load().loaded_messages)
        for each in ("made", "later")
    }
    assert left == {"made": ["Of another session"], "later": ["Fix it"]}


def test_prompts_that_are_left_are_no_whole_session_of_others(store, shelf, take):
    shelf.put("a.json", prompts("Fix it"))
    take()
    shelf.put("history.json", prompts("Fix it", source_id="made"))
    assert counts(take())[:2] == (1, 1)


def test_a_history_is_read_after_all_other_files(store, shelf, clock):
    late = msgspec.structs.replace(SEVERAL, is_last=lambda path: path.name == "history.json")
    os.utime(shelf.put("history.json", prompts("Fix it", source_id="made")), (1, 1))
    shelf.put("a.json", whole("Fix it"))
    outcome = run(store, make_plan(store, Wanted(shelf.places), readers=[late]), clock=clock)
    assert counts(outcome)[:2] == (1, 0)


def test_a_session_that_is_open_and_lacks_nothing_is_no_failure(history, tmp_path):
    history(prompts("Fix it"))
    lease = FileStore(tmp_path / "data").lease(RESCUE)
    assert not history(prompts("Fix it"), told(source_id="empty")).programs[0].failures
    (failure,) = history(prompts("Fix it", "More")).programs[0].failures
    assert "is open" in failure.reason
    lease.release()


# --- what is deleted soon


@pytest.mark.parametrize(
    ("days", "warning"),
    [
        (30, "Notebook deletes 2 of these sessions within a week"),
        (10, "Notebook deletes 3 of these sessions within a week"),
        (100, ""),
        (0, ""),
    ],
)
def test_sessions_that_are_deleted_within_a_week_are_counted(store, shelf, days, warning):
    for name, age in (("new", 2), ("week", 5), ("month", 24), ("old", 40)):
        path = shelf.put(f"{name}.json", told(said(name), source_id=name))
        then = time.time() - age * 24 * 60 * 60
        os.utime(path, (then, then))
    shutil.copy2(path, shelf.home / "notes" / "kept-by-hand.json")
    deleting = msgspec.structs.replace(
        NOTEBOOK, deletion=Deletion(lambda _: days, "notes/[nwmo]*.json")
    )
    for _ in range(2):
        plan = make_plan(store, Wanted(shelf.places), readers=[deleting])
        assert plan.programs[0].warning == warning
        run(store, plan)
    named = make_plan(store, Wanted(paths=(shelf.home,)), readers=[deleting])
    assert not named.programs[0].warning


# --- Claude Code


def test_a_session_of_claude_code_that_comes_back_takes_the_place_of_its_prompts(store, tmp_path):
    case = SOURCES / "claude-code" / "prompts-of-deleted-sessions-are-left-in-the-history.jsonl"
    home = tmp_path / "home"
    claude, _ = laid_out(case, home)
    (file,) = home.glob(".claude/projects/*/*.jsonl")
    away = tmp_path / file.name
    file.rename(away)

    def take(*paths):
        wanted = Wanted(None if paths else Places(home, {}), paths)
        return run(store, make_plan(store, wanted, readers=[claude]), clock=utc_now).programs[0]

    done = take()
    assert (done.added, done.prompts_only) == (3, 3)
    assert done.ledger.total == 14
    back = take(away)
    assert (back.added, back.grown, back.found_whole) == (0, 1, 1)
    found = [each for each in entries(store).values() if away.stem in each.imported_from]
    assert [each.label for each in found] == ["A session that is still there"]


def test_claude_code_and_gemini_cli_delete_what_they_keep_as_sessions(tmp_path):
    for program, kept, other in (
        ("claude-code", "projects/-shop/0.jsonl", "history.jsonl"),
        ("gemini-cli", "tmp/shop/chats/session-0.json", "tmp/shop/checkpoint-0.json"),
    ):
        pattern = reader(program).deletion.pattern
        assert (tmp_path / kept).match(pattern)
        assert not (tmp_path / other).match(pattern)


WORDS = ["Why is the sky blue?", "Because of Rayleigh.", "Who was that?"]


def talk(name, *texts):
    """A conversation of these texts; its ids are made of its name."""
    messages = [said(f"{name}-{place}", content=text) for place, text in enumerate(texts)]
    return told(*messages, source_id=name)


@pytest.fixture
def saved(store, shelf, clock):
    """Imports a file with one conversation; gives the result of its program."""

    def imported(conversation):
        shelf.put("a.json", conversation)
        plan = make_plan(store, Wanted(shelf.places), readers=[NOTEBOOK])
        return run(store, plan, clock=clock).programs[0]

    return imported


@pytest.fixture
def places(store):
    """Says where the sessions are."""
    return lambda: sorted(each.status for each in entries(store).values())


@pytest.mark.parametrize(
    "cut", [WORDS[:2], WORDS, [*WORDS[:2], "Who was"], ["blue?", *WORDS[1:]], WORDS[1:2]]
)
def test_a_mended_file_takes_the_place_of_the_cut_one(store, shelf, saved, places, cut):
    assert saved(talk("cut", *cut)).added == 1
    done = saved(talk("whole", *WORDS))
    assert (done.added, done.replaced) == (1, 1)
    assert "cut off before" in "\n".join(program_lines(done))
    assert places() == ["archived", "trashed"]
    grown = talk("whole", *WORDS, "A physicist.")
    shelf.put("a.json", grown)
    (program,) = make_plan(store, Wanted(shelf.places), readers=[NOTEBOOK]).programs
    assert program.gone == 0, "it is not told as deleted"
    assert saved(grown).grown == 1
    assert places() == ["archived", "trashed"]


@pytest.mark.parametrize("restored", [False, True])
def test_a_session_with_other_words_or_that_was_brought_back_stays(store, saved, places, restored):
    saved(talk("cut", WORDS[0], WORDS[1] if restored else "Because of Mie."))
    if restored:
        (entry,) = entries(store).values()
        store.restore(entry.id)
    assert saved(talk("whole", *WORDS)).replaced == 0
    assert places() == ["archived", "closed" if restored else "archived"]
