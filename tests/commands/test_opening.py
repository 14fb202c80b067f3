"""Opening sessions by list, number, name and search, and beginning new ones."""

import asyncio
import threading

import pytest

from tests.builders import at
from tests.engine.workspaces import FULL, SHOP, said
from tests.failing import raiser
from tests.tables import each_row
from tests.waiting import until
from tui.config.settings_schema import RetentionSettings
from tui.domain.text import NAME_CHARACTERS, local_minute
from tui.errors import StorageError

# --- /sessions, /load and /new


async def opened(commands, text):
    """Type a command; gives the id of the session that it opened."""
    assert (await commands(text)).startswith("Opened ")
    return commands.current.id


@each_row(
    "typed, opened",
    [
        ("/sessions", ("sessions", "")),
        ("/sessions Auth bug", ("sessions", "Auth bug")),
        ("/load", ("sessions",)),
        ("/session list", ("sessions of this project", "")),
        ("/resume", ("closed sessions",)),
        ("/RESUME LIST", ("closed sessions",)),
        ("/help", ("help",)),
        ("/theme", ("themes", "")),
        ("/theme light", ("themes", "light")),
        ('/import "my files/a.zip"', ("import", "my files/a.zip")),
        ("/import 'my files/a.zip'", ("import", "my files/a.zip")),
        ("/import my files/a.zip", ("import", "my files/a.zip")),
    ],
)
async def test_a_list_or_a_screen_is_opened_for_what_was_typed(commands, typed, opened):
    await commands(typed)
    assert commands.calls == [("open", *opened)]


async def test_what_is_not_found_loads_no_other(commands, world):
    there, other = await world.session(name="Groceries"), await world.session()
    assert await commands("/load Grocories") == f"Session not found: Grocories Closest: {there}"
    commands.numbers[:] = [other, there]
    world.reader.delete(there)
    assert (await commands("/load 2")).startswith(f"Session not found: {there}")


async def test_load_says_nothing_if_another_session_was_wanted_meanwhile(commands, world):
    one, two = await world.session(), await world.session()
    await commands.program.send("hello", save=False)
    commands.program.store.gate = threading.Event()
    loading = asyncio.create_task(commands(f"/load {one}"))
    await until(commands.program.store.waiting.is_set)
    looking = asyncio.create_task(commands.workspace.switcher.look_at(two))
    await asyncio.sleep(0)
    commands.program.store.gate.set()
    assert await loading == ""
    assert await looking
    assert commands.calls == []


async def test_new_starts_a_session_unless_it_is_new_already_and_gives_it_a_name(commands, world):
    first = commands.current
    assert await commands("/new") == "Already in a new session"
    assert await commands("/new Auth bug") == "Started a new session"
    assert commands.current is first
    assert world.reader.entry(first.id).name == "Auth bug"
    await commands.program.send("hello")
    told = await commands("/new " + "x" * (NAME_CHARACTERS + 1))
    assert told == "Name is longer than 200 characters."
    assert commands.current is first
    assert await commands("/new") == "Started a new session"
    shown = ["show_session", "focus_prompt"]
    assert commands.kinds == [*shown, "in_background", "say", "in_background"]
    assert commands.current is not first
    await commands.program.send("hello")
    await commands("/new Plans")
    assert commands.told == "Started a new session"
    assert world.reader.entry(commands.current.id).name == "Plans"


async def test_new_archives_what_is_too_much_unless_the_session_is_new_already(commands, world):
    commands.retention = RetentionSettings(backlog_limit=3)
    made = [await world.session() for _ in range(4)]
    await commands("/new")
    assert {world.reader.entry(each).status for each in made} == {"closed"}
    await commands.program.send("hello")
    left = commands.current.id
    told = await commands("/new")
    assert told == "Started a new session (archived 3 older)"
    status = [world.reader.entry(each).status for each in (*made, left)]
    assert status == ["archived", "archived", "archived", "closed", "closed"]


async def test_new_may_move_what_is_too_much_to_the_trash(commands, world):
    commands.retention = RetentionSettings(backlog_limit=2, action="trash")
    there = await world.session()
    await commands.program.send("hello")
    told = await commands("/new")
    assert told == "Started a new session (moved 1 older to the trash)"
    assert world.reader.entry(there).status == "trashed"


async def test_what_was_begun_is_told_in_the_session_that_was_begun(commands, world):
    there = await world.session()
    await commands.program.send("hello")
    begun = []

    async def leave():
        begun.append(commands.current)
        commands.current.prompt.edit("typed, so that it stays")
        await commands.program.look_at(there)

    commands.meanwhile = leave
    assert await commands("/new") == ""
    assert said(begun[0]) == ["Started a new session"]


async def test_new_says_what_kept_the_old_ones_where_they_are(commands, world, monkeypatch):
    commands.retention = RetentionSettings(backlog_limit=1)
    await commands.program.send("hello")

    monkeypatch.setattr(commands.program.store, "list", raiser(StorageError("Cannot read.")))
    told = await commands("/new")
    assert told == "Started a new session\nCannot read."


async def test_a_failing_archive_hook_is_told_and_harmless(commands, world):
    commands.retention = RetentionSettings(backlog_limit=1)
    commands.hook = ("/nowhere/to/be/found",)
    there = await world.session()
    await commands.program.send("hello")
    lines = (await commands("/new")).splitlines()
    assert lines[0].endswith("(archived 1 older)")
    assert lines[1].startswith("The archive hook could not be started: ")
    assert world.reader.entry(there).status == "archived"


# --- /resume


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


async def test_where_the_project_is_no_directory_its_session_stays_closed(
    commands, world, tmp_path
):
    file = tmp_path / "file"
    file.touch()
    for path, words in [
        (file, "The project's path is not a directory."),
        (f"{file}/beneath", "The project's directory no longer exists."),
        ("/nul\0", "The project's directory no longer exists."),
        (tmp_path / "gone", "The project's directory no longer exists."),
    ]:
        there = await world.session(project=str(path))
        assert await commands("/resume 1") == f"{words} Read it with /load {there}."
        assert not world.holder(there)
    assert await commands(f"/load {there}") == 'Opened "hello"'
    await world.session("of no project", project="")
    assert await commands("/resume 1") == 'Opened "of no project"'


@pytest.mark.parametrize("here", [True, False])
async def test_an_open_project_is_told(commands, world, project, here):
    commands.exclusive = True
    first = await world.session("First", project=project)
    second = await world.session("Second", project=project)
    if here:
        await commands.program.open(first)
    else:
        world.started(first)
    refused = 'This project is already open in "First". Close that session first.'
    for command in ("/resume", "/load"):
        assert await commands(f"{command} {second}") == refused
        assert not world.holder(second)
    if here:
        assert await commands(f"/resume {first}") == 'Opened "First"'


# --- /session list and resume


async def test_a_number_counts_in_this_project_if_no_list_was_shown(commands, world):
    await world.session("Old one")
    await world.session("New one")
    await world.session("Elsewhere", scope="project:/other")
    assert await commands("/session resume 1") == 'Opened "New one"'


@each_row("index", ["", " one", " 1abc", " -1", " ١", " 1 2"])
async def test_what_is_no_number_is_answered_by_the_usage(commands, index):
    assert await commands(f"/session resume{index}") == "Usage: /session resume NUMBER"


# --- /search


async def test_what_was_said_and_names_are_found_in_every_session_and_their_numbers_load_it(
    commands, world
):
    there = await world.session("The login is broken", "Let us see", scope="project:/other")
    await world.session("Groceries")
    named = await world.session("hello", name="Auth bug investigation")
    lines = (await commands("/search login")).splitlines()
    assert lines[0] == "Found 1 match:"
    assert lines[1].startswith("  1. The login is broken (just now) - ")
    assert "login" in lines[1]
    assert await opened(commands, "/load 1") == there
    lines = (await commands("/search auth inv*")).splitlines()
    assert lines[0] == "Found 1 match:"
    assert lines[1].startswith("  1. Auth bug investigation (just now) - name: Auth bug inv")
    assert lines[1].endswith(f" · 1 message, created {local_minute(at())} · {named}")
    assert await opened(commands, "/load 1") == named


async def test_several_matches_are_counted_and_a_date_that_is_none_is_told(commands, world):
    await world.session("apples and pears")
    await world.session("apples alone")
    lines = (await commands("/search apples")).splitlines()
    assert lines[0] == "Found 2 matches:"
    assert len(lines) == 3
    said = await commands("/search apples before:soon")
    assert said == "before:soon is not a date. It needs a year, month or day: before:2026-05-01"


async def test_what_comes_nearest_is_told_where_nothing_fits(commands, world):
    await world.session("the authentication middleware")
    lines = (await commands("/search authent")).splitlines()
    assert lines[:2] == ['No session matches "authent".', "Nearest: authent* (1 match)"]
    assert lines[2].startswith("  1. the authentication middleware (just now) - ")
    assert (await commands("/load 1")).startswith("Opened ")


async def test_a_session_purged_since_it_was_found_is_called_by_its_id(commands, world):
    there = await world.session("apples")
    search = commands.program.store.search

    def find_and_purge(*arguments, **options):
        found = search(*arguments, **options)
        world.reader.delete(there)
        world.reader.purge(there)
        return found

    commands.program.store.search = find_and_purge
    assert (await commands("/search apples")).splitlines() == [
        "Found 1 match:",
        f"  1. {there} (just now) - apples",
    ]


# --- what /load, /resume and /session resume have in common

OPENING = pytest.mark.parametrize("command", ["/load", "/resume", "/session resume"])


@OPENING
async def test_a_number_opens_what_was_listed_under_it(commands, world, project, command):
    old = await world.session("Old one", project=project)
    new = await world.session("New one", project=project)
    commands.numbers[:] = [new, old]
    await world.session("Since then", project=project)
    assert await commands(f"{command} 2") == 'Opened "Old one"'
    assert commands.kinds == ["show_session", "say"]
    assert commands.current.id == old
    assert world.reader.active(SHOP) == old
    assert await commands(f"{command} 1") == 'Opened "New one"'
    assert (world.holder(old), world.holder(new) is None) == (None, False)


@OPENING
async def test_a_number_beyond_the_list_is_told(commands, world, command):
    assert await commands(f"{command} 1") == "There is no number 1 in the last list."
    await world.session()
    for number in ("0", "2", "00003", "123456789012345678901234567890"):
        told = f"There is no number {number} in the last list (1 to 1)."
        assert await commands(f"{command} {number}") == told
        assert commands.severity == "error"
        assert await commands(f"/archive {number}") == told


@OPENING
async def test_a_session_that_cannot_be_saved_is_not_left(commands, world, project, command):
    there = await world.session(project=project)
    await commands.program.send("Hello", save=False)
    commands.program.store.fail_next(FULL, times=9)
    mine = commands.current
    told = f'Stayed in "{mine.label()}": could not save (disk full)'
    assert await commands(f"{command} 1") == told
    assert commands.kinds == ["say"]
    assert commands.current is mine
    assert not world.holder(there)


@pytest.mark.parametrize("command", ["/load", "/resume"])
async def test_a_session_that_is_open_here_is_only_shown(commands, world, command):
    await commands.program.send("Working")
    mine = commands.current.id
    assert await commands(f"{command} {mine}") == 'Opened "Working"'
    assert commands.current.id == mine
    assert world.texts(mine) == ["Working"]


@OPENING
async def test_at_the_limit_nothing_is_opened(started, world, project, command):
    commands = started(limit=1)
    await commands.program.send("Working")
    commands.current.activity.begin_answer()
    there = await world.session(project=project)
    assert await commands(f"{command} 1") == "The limit is 1 open session. Close one first."
    assert commands.severity == "error"
    assert not world.holder(there)
