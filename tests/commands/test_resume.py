"""``/resume``."""

import pytest

from tests.engine.workspaces import FULL, SHOP
from tui.errors import StorageError


@pytest.fixture
def project(tmp_path):
    """A directory that is there."""
    path = tmp_path / "shop"
    path.mkdir()
    return str(path)


# --- the list


@pytest.mark.parametrize("text", ["/resume", "/resume list", "/RESUME LIST"])
async def test_closed_sessions_are_shown_in_the_picker(commands, text):
    await commands(text)
    assert commands.calls == [("open_sessions", "closed", True, "")]


async def test_without_a_list_numbers_count_from_the_latest_closed_one(commands, world, project):
    early, late = (
        await world.session("Early", project=project),
        await world.session("Late", project=project),
    )
    await commands.program.look_at(early)
    await commands("/name Renamed")
    await commands("/new")
    assert await commands("/resume 1") == 'Opened "Renamed"'
    assert await commands("/resume 1") == 'Opened "Late"'
    assert commands.current.id == late


async def test_an_error_of_the_disk_is_shown(commands, world, monkeypatch):
    await world.session()
    monkeypatch.setattr(commands.program.store, "list", _raise)
    assert await commands("/resume 1") == "Cannot read the data directory."
    assert commands.severity == "error"


def _raise(*_):
    raise StorageError("Cannot read the data directory.")


# --- resuming


async def test_a_number_resumes_what_was_listed_under_it(commands, world, project):
    old = await world.session("Old one", project=project)
    new = await world.session("New one", project=project)
    commands.numbers.show([new, old])
    await world.session("Since then", project=project)
    assert await commands("/resume 2") == 'Opened "Old one"'
    assert commands.kinds[0] == "show_session"
    assert commands.current.id == old
    assert world.holder(old)
    assert world.reader.active(SHOP) == old


async def test_a_number_counts_in_what_would_be_listed_now_if_nothing_was(commands, world, project):
    await world.session("Old one", project=project)
    await world.session("New one", project=project)
    assert await commands("/resume 1") == 'Opened "New one"'


@pytest.mark.parametrize("index", ["0", "3", "99", "00003", "123456789012345678901234567890"])
async def test_a_number_beyond_the_list_is_told(commands, world, index):
    await world.session()
    await world.session()
    assert (
        await commands(f"/resume {index}")
        == f"There is no number {index} in the last list (1 to 2)."
    )
    assert commands.severity == "error"


async def test_a_number_is_told_where_there_is_nothing(commands):
    assert await commands("/resume 1") == "There is no number 1 in the last list."


@pytest.mark.parametrize("target", ["5abc", "-1", "1.0", "nowhere", "deleted", "list all", "１"])
async def test_what_is_no_number_is_a_target(commands, world, target):
    for _ in range(5):
        await world.session()
    assert await commands(f"/resume {target}") == f"Session not found: {target}"


@pytest.mark.parametrize("target", ["Auth bug", "#1", f"{SHOP}#1"])
async def test_a_session_is_resumed_by_its_name_and_by_its_number_in_a_scope(
    commands, world, project, target
):
    there = await world.session(name="Auth bug", project=project)
    assert await commands(f"/resume {target}") == 'Opened "Auth bug"'
    assert commands.current.id == there


async def test_a_session_is_resumed_by_its_id_and_by_the_beginning_of_it(commands, world, project):
    there = await world.session("Hello", project=project)
    assert await commands(f"/resume {there.removeprefix('session-')[:-1]}") == ('Opened "Hello"')
    await commands("/new")
    assert await commands(f"/resume {there}") == 'Opened "Hello"'


async def test_a_name_of_digits_is_a_target_beyond_the_numbers(commands, world, project):
    there = await world.session(name="42", project=project)
    assert await commands("/resume 42") == 'Opened "42"'
    assert commands.current.id == there


async def test_the_day_of_the_only_session_is_the_beginning_of_its_id(commands, world, project):
    there = await world.session("Hello", project=project)
    day = there.removeprefix("session-")[:8]
    assert await commands(f"/resume {day}") == 'Opened "Hello"'


async def test_an_ambiguous_target_names_the_candidates(commands, world):
    made = sorted([await world.session(name="Twice"), await world.session(name="Twice")])
    assert (await commands("/resume Twice")).splitlines() == [
        "Several sessions match Twice:",
        *(f"  {session_id}" for session_id in made),
    ]


async def test_an_ambiguous_name_of_digits_is_told(commands, world):
    await world.session(name="77")
    await world.session(name="77")
    assert (await commands("/resume 77")).startswith("Several sessions match 77:\n")


async def test_where_the_project_is_gone_its_session_stays_closed(commands, world, tmp_path):
    there = await world.session(project=str(tmp_path / "gone"))
    told = await commands("/resume 1")
    assert told == f"The project's directory no longer exists. Read it with /load {there}."
    assert not world.holder(there)
    assert await commands(f"/load {there}") == 'Opened "hello"'


@pytest.mark.parametrize(
    ("beneath", "words"),
    [
        ("", "The project's directory is not a directory."),
        ("/beneath", "The project's directory no longer exists."),
    ],
)
async def test_a_project_that_is_no_directory_is_refused(commands, world, tmp_path, beneath, words):
    file = tmp_path / "file"
    file.touch()
    there = await world.session(project=f"{file}{beneath}")
    assert await commands("/resume 1") == f"{words} Read it with /load {there}."


@pytest.mark.parametrize("path", ["", "/nul\0"])
async def test_a_session_without_a_project_is_only_that(commands, world, path):
    await world.session("Hello", project=path)
    told = await commands("/resume 1")
    assert told.startswith("The project's directory no longer" if path else 'Opened "Hello"')


async def test_at_the_limit_nothing_is_resumed(started, world, project):
    commands = started(limit=1)
    await commands.program.send("Working")
    commands.current.activity.begin_answer()
    there = await world.session(project=project)
    told = await commands("/resume 1")
    assert told == "The limit is 1 open session. Close one first."
    assert commands.severity == "error"
    assert not world.holder(there)


async def test_a_session_that_cannot_be_saved_is_not_left(commands, world, project):
    there = await world.session(project=project)
    await commands.program.send("Hello", save=False)
    commands.program.store.fail_next(FULL, times=9)
    told = await commands("/resume 1")
    assert told == f'Stayed in "{commands.current.label()}": could not save (disk full)'
    assert world.texts(there) == ["hello"]
    assert not world.holder(there)


async def test_a_session_that_is_open_here_is_only_shown(commands, world):
    await commands.program.send("Working")
    mine = commands.current.id
    assert await commands(f"/resume {mine}") == 'Opened "Working"'
    assert world.texts(mine) == ["Working"]


async def test_a_session_open_elsewhere_is_shown_read_only(commands, world, project):
    there = await world.session("Hello", project=project)
    world.started(there)
    assert await commands(f"/resume {there}") == 'Opened "Hello"'
    assert commands.current.read_only.endswith("; opened read-only.")


# --- projects that are open in one session only


async def test_an_open_project_is_told(started, world, project):
    commands = started()
    commands.exclusive = True
    first = await world.session("First", project=project)
    second = await world.session("Second", project=project)
    await commands.program.open(first)
    refused = 'This project is already open in "First". Close that session first.'
    for command in ("/resume", "/load"):
        assert await commands(f"{command} {second}") == refused
        assert not world.holder(second)
    assert await commands(f"/resume {first}") == 'Opened "First"'


async def test_a_project_that_another_program_has_open_is_told(commands, world, project):
    first = await world.session("First", project=project)
    second = await world.session("Second", project=project)
    world.started(first)
    commands.exclusive = True
    refused = 'This project is already open in "First". Close that session first.'
    assert await commands(f"/resume {second}") == refused
    assert await commands(f"/load {second}") == refused


# --- deleting


DELETE_USAGE = "Usage: /resume delete NUMBER or ID"


async def test_deleting_nothing_says_how_and_restores_nothing(commands, world):
    there = await world.session()
    mine = commands.current.id
    assert await commands("/resume delete") == DELETE_USAGE
    assert commands.current.id == mine
    assert world.reader.entry(there).status == "closed"


async def test_a_listed_number_is_deleted_and_the_others_keep_theirs(commands, world, project):
    old = await world.session("Old", project=project)
    middle = await world.session("Middle")
    new = await world.session("New")
    commands.numbers.show([new, middle, old])
    told = await commands("/resume delete 2")
    assert told == 'Moved "Middle" to the trash. /undo brings it back'
    assert world.reader.entry(middle).status == "trashed"
    assert await commands("/resume 3") == 'Opened "Old"'
    assert commands.current.id == old


async def test_a_full_id_is_deleted(commands, world):
    there = await world.session()
    assert (await commands(f"/resume delete {there}")).startswith('Moved "hello" to the trash')
    assert world.reader.entry(there).status == "trashed"
    assert world.texts(there) == ["hello"]


@pytest.mark.parametrize("target", ["Auth bug", "#1", "session-", "../x", "5abc", "nowhere"])
async def test_nothing_else_is_deleted(commands, world, target):
    there = await world.session(name="Auth bug")
    assert await commands(f"/resume delete {target}") == f"Session not found: {target}"
    assert world.reader.entry(there).status == "closed"


@pytest.mark.parametrize("index", ["0", "2", "99999999999"])
async def test_a_number_beyond_the_list_is_not_deleted(commands, world, index):
    there = await world.session(name=index)
    told = await commands(f"/resume delete {index}")
    assert told == f"There is no number {index} in the last list (1 to 1)."
    assert world.reader.entry(there).status == "closed"


async def test_a_session_that_is_open_is_not_deleted(commands, world):
    await commands.program.send("Working")
    mine = commands.current.id
    told = await commands(f"/resume delete {mine}")
    assert told == f"Session {mine} is open here. Close it first."
    held = await world.session()
    world.started(held)
    told = await commands(f"/resume delete {held}")
    assert told.startswith(f"Session {held} is open in another window (pid ")
    assert [world.reader.entry(each).status for each in (mine, held)] == ["open", "open"]


async def test_the_session_on_screen_is_left_when_it_is_deleted(commands, world):
    other = await world.session("Other")
    viewed = await world.session("Viewed")
    await commands.program.look_at(viewed)
    assert (await commands(f"/resume delete {viewed}")).startswith('Moved "Viewed" to the trash')
    assert commands.kinds == ["in_background", "show_session", "show_moved", "say"]
    assert commands.current.id == other
    assert world.reader.entry(viewed).status == "trashed"


# --- clearing


async def test_there_may_be_nothing_to_clear(commands):
    assert await commands("/resume clear") == "There are no closed sessions."


async def test_all_that_is_closed_goes_to_the_trash_after_asking(commands, world):
    closed = [
        await world.session(),
        await world.session(),
        await world.session(scope="project:/other"),
    ]
    archived, held = await world.session(), await world.session()
    world.reader.archive(archived)
    world.started(held)
    await commands.program.send("Working")
    mine = commands.current.id
    await commands("/resume clear")
    assert commands.question == "Move all 3 closed sessions of 2 projects to the trash?"
    assert await commands.answer(yes=False) == "Nothing was moved."
    await commands("/resume clear")
    since = await world.session()
    assert await commands.answer() == "Moved 3 sessions to the trash. /undo brings them back"
    status = [world.reader.entry(each).status for each in (*closed, archived, held, mine, since)]
    assert status == ["trashed"] * 3 + ["archived", "open", "open", "closed"]


async def test_what_was_opened_since_the_question_stays(commands, world, project):
    there, other = await world.session(project=project), await world.session()
    await commands("/resume clear")
    await commands.program.open(there)
    assert await commands.answer() == "Moved 1 session to the trash. /undo brings it back"
    assert [world.reader.entry(each).status for each in (there, other)] == ["open", "trashed"]


async def test_what_others_opened_or_took_away_since_the_question_is_passed_over(commands, world):
    held, gone, left = [await world.session() for _ in range(3)]
    await commands("/resume clear")
    world.started(held)
    world.reader.delete(gone)
    world.reader.purge(gone)
    assert await commands.answer() == "Moved 1 session to the trash. /undo brings it back"
    assert [world.reader.entry(each).status for each in (held, left)] == ["open", "trashed"]


async def test_what_a_newer_version_wrote_is_cleared_too(commands, world):
    newer, other = await world.session(), await world.session()
    path = world.reader.path(newer)
    path.write_bytes(path.read_bytes().replace(b'"version":1', b'"version":2'))
    await commands("/resume clear")
    assert await commands.answer() == "Moved 2 sessions to the trash. /undo brings them back"
    assert [world.reader.entry(each).status for each in (newer, other)] == ["trashed"] * 2


async def test_the_session_on_screen_stays_there_if_it_cannot_be_cleared(
    commands, world, monkeypatch
):
    viewed, other = await world.session("Viewed"), await world.session()
    await commands.program.look_at(viewed)
    await commands("/resume clear")
    delete = commands.program.store.delete

    def refuse(session_id, batch):
        if session_id == viewed:
            raise StorageError("Cannot move it.")
        delete(session_id, batch)

    monkeypatch.setattr(commands.program.store, "delete", refuse)
    told = await commands.answer()
    assert told.splitlines() == [
        "Moved 1 session to the trash. /undo brings it back",
        "Cannot move it.",
    ]
    assert commands.current.id == viewed
    assert [world.reader.entry(each).status for each in (viewed, other)] == ["closed", "trashed"]


async def test_the_session_on_screen_is_not_cleared_once_it_was_typed_in(commands, world):
    viewed = await world.session("Viewed")
    await commands.program.look_at(viewed)
    await commands("/resume clear")
    await commands.program.type("a word")
    assert await commands.answer() == "No session was moved"
    assert (commands.current.id, commands.current.prompt.text) == (viewed, "a word")
    assert world.reader.entry(viewed).status == "open"


async def test_clearing_leaves_the_session_on_screen(commands, world):
    viewed = await world.session("Viewed")
    await commands.program.look_at(viewed)
    await commands("/resume clear")
    await commands.answer()
    assert commands.kinds == ["in_background", "show_session", "say"]
    assert commands.current.untouched
    assert world.reader.entry(viewed).status == "trashed"


async def test_one_undo_brings_back_all_that_was_cleared_in_their_order(commands, world):
    made = [await world.session(f"Number {number}") for number in range(3)]
    await commands.program.look_at(made[1])
    await commands("/resume clear")
    await commands.answer()
    assert await commands("/undo") == "Brought back 3 sessions"
    assert [world.reader.entry(each).status for each in made] == ["closed", "closed", "closed"]
    assert commands.current.id == made[1]
    assert await commands("/undo") == "Nothing to undo."


async def test_an_undo_of_a_clearing_that_failed_midway_goes_on_with_the_rest(
    commands, world, monkeypatch
):
    made = [await world.session(f"Number {number}") for number in range(3)]
    await commands("/resume clear")
    await commands.answer()
    restore = commands.program.store.restore

    def fail_once(session_id, batch):
        if session_id == made[1]:
            monkeypatch.setattr(commands.program.store, "restore", restore)
            raise StorageError("No room.")
        restore(session_id, batch)

    monkeypatch.setattr(commands.program.store, "restore", fail_once)
    assert await commands("/undo") == "No room."
    assert await commands("/undo") == "Brought back 2 sessions"
    assert {world.reader.entry(each).status for each in made} == {"closed"}


async def test_what_kept_it_from_clearing_is_told(commands, world, monkeypatch):
    await world.session()
    await commands("/resume clear")

    def fail(*_):
        raise StorageError("No room.")

    monkeypatch.setattr(commands.program.store, "delete", fail)
    assert await commands.answer() == "No session was moved\nNo room."


async def test_what_was_deleted_is_taken_back_by_undo(commands, world):
    there = await world.session("Hello")
    await commands(f"/resume delete {there}")
    assert await commands("/undo") == 'Brought back "Hello"'
    assert world.reader.entry(there).status == "closed"


async def test_one_that_cannot_be_cleared_keeps_no_other_in_the_list(commands, world):
    sessions = [await world.session(f"hello {number}") for number in range(3)]
    viewed = sessions[-1]
    await commands("/load " + viewed)
    await commands("/session close")
    await commands.program.look_at(viewed)
    damaged = world.reader.path(sessions[1])
    damaged.rename(world.root / "elsewhere")
    damaged.mkdir()
    await commands("/resume clear")
    assert (await commands.answer()).splitlines() == [
        "Moved 2 sessions to the trash. /undo brings them back",
        f"Session {sessions[1]} is damaged: it is not a regular file",
    ]
    assert {world.reader.entry(each).status for each in (sessions[0], viewed)} == {"trashed"}
