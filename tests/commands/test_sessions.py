"""``/sessions /save /load /new /reset /name``."""

import asyncio
import threading

import pytest

from tests.engine.workspaces import FULL, SHOP, said
from tests.waiting import until
from tui.config.schema import RetentionSettings
from tui.domain.text.labels import NAME_CHARACTERS
from tui.errors import StorageError


async def opened(commands, text):
    """Type a command; gives the id of the session that it opened."""
    assert (await commands(text)).startswith("Opened ")
    return commands.current.id


# --- /sessions


async def test_sessions_are_shown_in_the_picker_filtered_by_a_text(commands):
    await commands("/sessions")
    assert commands.calls == [("open_sessions", "all", True, "")]
    await commands("/sessions Auth bug")
    assert commands.calls == [("open_sessions", "all", True, "Auth bug")]


# --- /save


async def test_there_is_nothing_to_save_in_a_new_session(commands):
    assert await commands("/save") == "Nothing to save yet."


async def test_save_writes_what_is_pending_in_every_open_session(commands, world):
    there = await world.session("one")
    first = commands.current
    first.activity.begin_answer()
    await commands.program.open(there)
    first.opened.add_message("user", "goes on")
    await commands.program.send("two", save=False)
    assert await commands("/save") == f"Session saved: {there}"
    assert commands.kinds == ["say"]
    assert world.texts(there) == ["one", "two"]
    assert world.texts(first.id) == ["goes on"]


async def test_a_session_that_cannot_be_saved_says_why(commands):
    await commands.program.send("hello", save=False)
    commands.program.store.fail_next(FULL)
    told = await commands("/save")
    assert told == f'Could not save "{commands.current.label()}": disk full'
    assert commands.severity == "error"
    assert await commands("/save") == f"Session saved: {commands.current.id}"


async def test_what_a_save_has_to_tell_is_shown_with_it(commands, world):
    await commands.program.send("hello")
    world.reader.path(commands.current.id).unlink()
    await commands.program.send("more", save=False)
    told = await commands("/save")
    assert told == f"Session saved: {commands.current.id}"
    assert len(commands.current.notices) == 1


async def test_a_session_that_is_looked_at_is_saved_as_it_is(commands, world):
    there = await world.session()
    await commands.program.look_at(there)
    before = world.bytes(there)
    assert await commands("/save") == f"Session saved: {there}"
    assert world.bytes(there) == before


# --- /load


async def test_load_without_a_target_shows_the_picker(commands):
    await commands("/load")
    assert commands.calls == [("open_sessions", "all", True, "")]


async def test_load_opens_a_session_and_names_it(commands, world):
    one, two = await world.session("one"), await world.session("one", "two", name="Second")
    assert await commands(f"/load {two}") == 'Opened "Second"'
    assert commands.kinds == ["show_session", "say"]
    assert world.holder(two) is not None
    assert await commands(f"/load {one}") == 'Opened "one"'
    assert world.holder(two) is None


async def test_load_takes_an_id_a_prefix_a_name_and_a_number_of_a_scope(commands, world):
    first = await world.session(name="Auth bug")
    second = await world.session(scope="project:/other")
    for target, expected in (
        (first, first),
        ("Auth bug", first),
        ("#1", first),
        ("project:/other#1", second),
        (f"{SHOP}#1", first),
        (second.removeprefix("session-"), second),
    ):
        assert await opened(commands, f"/load {target}") == expected
        await commands.workspace.begin()


async def test_a_number_alone_counts_in_the_scope_on_screen(commands, world):
    mine, theirs = await world.session(), await world.session(scope="project:/other")
    await commands(f"/load {theirs}")
    assert await opened(commands, "/load #1") == theirs
    await commands(f"/load {mine}")
    assert await opened(commands, "/load #1") == mine


async def test_numbers_mean_what_was_printed_whatever_came_since(commands, world):
    first, second = await world.session(), await world.session()
    commands.numbers.show([second, first])
    await world.session()
    assert await opened(commands, "/load 2") == first
    assert await opened(commands, "/load 1") == second


async def test_numbers_that_were_never_printed_mean_the_list_as_it_is(commands, world):
    first, second = await world.session(), await world.session()
    assert await opened(commands, "/load 2") == first
    assert await opened(commands, "/load 1") == first
    assert await opened(commands, "/load 2") == second


async def test_a_session_that_is_not_there_is_not_loaded(commands):
    first = commands.current
    assert await commands("/load nothing") == "Session not found: nothing"
    assert commands.severity == "error"
    assert commands.current is first


async def test_a_number_whose_session_is_gone_loads_no_other(commands, world):
    there, other = await world.session(), await world.session()
    commands.numbers.show([other, there])
    world.reader.delete(there)
    told = await commands("/load 2")
    assert told.startswith(f"Session not found: {there}")


@pytest.mark.parametrize("number", ["0", "3", "77", "123456789012345678901234567890"])
async def test_a_number_beyond_the_list_is_told_with_the_numbers_there_are(commands, world, number):
    commands.numbers.show([await world.session(), await world.session()])
    told = f"There is no number {number} in the last list (1 to 2)."
    assert await commands(f"/load {number}") == told
    assert await commands(f"/archive {number}") == told
    assert commands.severity == "error"


async def test_a_number_is_told_where_there_is_nothing(commands):
    assert await commands("/load 1") == "There is no number 1 in the last list."


async def test_a_session_like_what_was_asked_for_is_named(commands, world):
    there = await world.session(name="Groceries")
    assert await commands("/load Grocerie") == f"Session not found: Grocerie Closest: {there}"


async def test_what_means_several_sessions_names_them(commands, world):
    made = sorted([await world.session(name="Auth bug") for _ in range(2)])
    told = await commands("/load Auth bug")
    assert told == "\n".join(["Several sessions match Auth bug:", *(f"  {each}" for each in made)])


async def test_a_session_that_cannot_be_saved_is_stayed_in(commands, world):
    there = await world.session()
    await commands.program.send("hello", save=False)
    first = commands.current
    commands.program.store.fail_next(FULL)
    told = await commands(f"/load {there}")
    assert told == f'Stayed in "{first.label()}": could not save (disk full)'
    assert commands.kinds == ["say"]
    assert commands.current is first


async def test_load_at_the_limit_says_what_to_do(started, world):
    commands = started(limit=1)
    commands.current.activity.begin_answer()
    told = await commands(f"/load {await world.session()}")
    assert told == "The limit is 1 open session. Close one first."


async def test_load_of_a_session_held_elsewhere_reads_it(commands, world):
    there = await world.session()
    world.started(there)
    assert await commands(f"/load {there}") == 'Opened "hello"'
    assert "is open in another window" in commands.current.read_only


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


# --- /new


async def test_new_starts_a_session_and_leaves_the_other(commands):
    await commands.program.send("hello")
    first = commands.current
    told = await commands("/new")
    assert told == "Started a new session"
    shown = ["show_session", "focus_prompt"]
    assert commands.kinds == [*shown, "in_background", "say", "in_background"]
    assert commands.current is not first


async def test_new_in_a_new_session_stays(commands):
    first = commands.current
    assert await commands("/new") == "Already in a new session"
    assert commands.current is first


async def test_new_gives_the_session_a_name(commands, world):
    await commands.program.send("hello")
    await commands("/new Auth bug")
    assert commands.told == "Started a new session"
    assert world.reader.entry(commands.current.id).name == "Auth bug"


async def test_new_names_a_session_that_is_new_already(commands, world):
    first = commands.current
    assert await commands("/new Auth bug") == "Started a new session"
    assert world.reader.entry(first.id).name == "Auth bug"


async def test_new_with_a_name_too_long_starts_nothing(commands):
    await commands.program.send("hello")
    first = commands.current
    told = await commands("/new " + "x" * (NAME_CHARACTERS + 1))
    assert told == "Name is longer than 200 characters."
    assert commands.current is first


async def test_new_stays_if_this_session_cannot_be_saved(commands):
    await commands.program.send("hello", save=False)
    first = commands.current
    commands.program.store.fail_next(FULL)
    assert await commands("/new") == f'Stayed in "{first.label()}": could not save (disk full)'
    assert commands.current is first
    assert commands.workspace.open == (first,)


async def test_new_at_the_limit_says_what_to_do(started):
    commands = started(limit=1)
    await commands.program.send("hello")
    commands.current.activity.begin_answer()
    assert await commands("/new") == "The limit is 1 open session. Close one first."


async def test_new_says_nothing_if_another_session_was_wanted_meanwhile(commands, world):
    there = await world.session()
    await commands.program.send("hello", save=False)
    commands.program.store.gate = threading.Event()
    starting = asyncio.create_task(commands("/new"))
    await until(commands.program.store.waiting.is_set)
    looking = asyncio.create_task(commands.workspace.switcher.look_at(there))
    await asyncio.sleep(0)
    commands.program.store.gate.set()
    assert await starting == ""
    assert await looking


async def test_new_archives_what_is_too_much_and_says_how_much(commands, world):
    commands.retention = RetentionSettings(backlog_limit=3)
    made = [await world.session() for _ in range(3)]
    await commands.program.send("hello")
    left = commands.current.id
    told = await commands("/new")
    assert told == "Started a new session (archived 2 older)"
    status = [world.reader.entry(each).status for each in (*made, left)]
    assert status == ["archived", "archived", "closed", "closed"]


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


async def test_new_in_a_new_session_archives_nothing(commands, world):
    commands.retention = RetentionSettings(backlog_limit=1)
    made = [await world.session() for _ in range(3)]
    await commands("/new")
    assert {world.reader.entry(each).status for each in made} == {"closed"}


async def test_new_says_what_kept_the_old_ones_where_they_are(commands, world, monkeypatch):
    commands.retention = RetentionSettings(backlog_limit=1)
    await commands.program.send("hello")

    def fail(*_):
        raise StorageError("Cannot read.")

    monkeypatch.setattr(commands.program.store, "list", fail)
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


# --- /reset


async def test_reset_saves_and_begins_anew_under_the_same_id(commands, world):
    await commands.program.send("hello", save=False)
    current = commands.current
    assert await commands("/reset") == "Started over. The earlier messages are kept"
    assert commands.kinds == ["show_session", "say"]
    assert commands.current is current
    assert world.texts(current.id) == ["hello"]
    assert world.reader.journal(current.id).load().loaded_messages == ()


async def test_there_is_nothing_to_reset_in_a_new_session(commands):
    assert await commands("/reset") == "Nothing to reset yet."
    assert commands.current.empty


async def test_reset_keeps_the_name_and_the_count_of_prompts(commands):
    await commands.program.send("hello")
    await commands("/name Auth bug")
    await commands("/reset")
    assert commands.current.session.name == "Auth bug"
    assert commands.current.session.prompt_count == 1


async def test_reset_is_not_done_if_saving_fails(commands):
    await commands.program.send("hello", save=False)
    commands.program.store.fail_next(FULL, 2)
    assert await commands("/reset") == "Not reset: could not save (disk full)"
    assert commands.severity == "error"
    assert [m.text for m in commands.current.session.loaded_messages] == ["hello"]


async def test_reset_stops_the_answer_first(commands):
    await commands.program.send("hello")
    commands.running = True
    await commands("/reset")
    assert not commands.running


async def test_reset_opens_a_session_that_is_looked_at(commands, world):
    there = await world.session()
    await commands.program.look_at(there)
    assert await commands("/reset") == "Started over. The earlier messages are kept"
    assert world.reader.journal(there).load().loaded_messages == ()


async def test_a_session_held_elsewhere_is_not_reset(commands, world):
    there = await world.session()
    world.started(there)
    await commands.program.look_at(there)
    assert await commands("/reset") == f"Session {there} is read-only here."
    assert len(world.reader.journal(there).load().loaded_messages) == 1


# --- /name


async def test_name_names_the_session(commands, world):
    await commands.program.send("hello")
    assert await commands("/name  Auth bug ") == 'Renamed to "Auth bug"'
    assert world.reader.entry(commands.current.id).name == "Auth bug"


async def test_name_makes_a_session_of_a_new_one(commands, world):
    assert await commands("/name Plans") == 'Renamed to "Plans"'
    assert world.reader.entry(commands.current.id).name == "Plans"


@pytest.mark.parametrize("text", ["/name", "/name   "])
async def test_a_name_must_say_something(commands, text):
    assert await commands(text) == "Usage: /name TEXT"
    assert commands.current.empty


async def test_a_name_has_a_longest_length(commands, world):
    await commands("/name " + "x" * NAME_CHARACTERS)
    assert world.reader.entry(commands.current.id).name == "x" * NAME_CHARACTERS
    told = await commands("/name " + "y" * (NAME_CHARACTERS + 1))
    assert told == "Name is longer than 200 characters."
    assert commands.severity == "error"
    assert world.reader.entry(commands.current.id).name == "x" * NAME_CHARACTERS


async def test_a_name_that_cannot_be_saved_says_so(commands):
    await commands.program.send("hello")
    commands.program.store.fail_next(StorageError("Cannot save it: no."))
    assert await commands("/name Plans") == "Cannot save it: no."
    assert commands.current.label() == "Plans"


async def test_naming_an_archived_session_restores_it_and_shows_that(commands, world):
    there = await world.session()
    world.reader.archive(there)
    await commands.program.look_at(there)
    assert await commands("/name Found") == 'Renamed to "Found"'
    assert world.reader.entry(there).status == "open"
    assert [notice.text for notice in commands.current.notices] == [
        "Restored this session from the archive"
    ]


async def test_a_session_held_elsewhere_is_not_named(commands, world):
    there = await world.session(name="Theirs")
    world.started(there)
    await commands.program.look_at(there)
    assert await commands("/name Mine") == f"Session {there} is read-only here."
    assert world.reader.entry(there).name == "Theirs"


async def test_a_session_taken_by_another_program_since_it_was_looked_at_is_not_named(
    commands, world
):
    there = await world.session()
    await commands.program.look_at(there)
    world.started(there)
    told = await commands("/name Mine")
    assert told.startswith(f"Session {there} is open in another window (pid ")
    assert world.reader.entry(there).name == ""
