"""``/session list | resume | save | close``."""

import pytest

from tests.engine.workspaces import FULL, SHOP
from tui.domain.text.labels import local_minute

USAGE = "Usage: /session list | resume NUMBER | save [NAME or ID] | close [ID]"


@pytest.mark.parametrize("text", [" nowhere", " list all", " lists", " 1"])
async def test_what_it_does_not_know_is_answered_by_its_usage(commands, text):
    assert await commands(f"/session{text}") == USAGE


async def test_alone_it_shows_the_details_of_the_session_on_screen(commands, world):
    there = await world.session("Hello there", "Hi", name="Left")
    await commands(f"/load {there}")
    label, *facts = (await commands("/session")).splitlines()
    assert label == "Left"
    known = dict(fact.split(": ", 1) for fact in facts)
    assert known["id"] == there
    assert known["created"] == local_minute(world.reader.entry(there).created_at)
    assert (known["messages"], known["prompts"]) == ("2", "1")
    await commands("/reset")
    facts = (await commands("/session")).splitlines()
    assert {"messages: 0", "prompts: 1"} <= set(facts)


async def test_a_new_session_has_details_without_a_number(commands):
    assert "#" not in await commands("/session")


# --- /session list


async def test_sessions_of_this_project_are_shown_in_the_picker(commands):
    await commands("/session list")
    assert commands.calls == [("open_sessions", "all", False, "")]


# --- /session resume


async def test_a_number_opens_the_session_that_was_listed_under_it(commands, world):
    old, new = await world.session("Old one"), await world.session("New one")
    commands.numbers.show([new, old])
    await world.session("Since then")
    assert await commands("/session resume 2") == 'Opened "Old one"'
    assert commands.current.id == old
    assert commands.kinds[0] == "show_session"
    assert world.holder(old)
    assert world.reader.active(SHOP) == old


async def test_a_number_counts_in_this_project_if_no_list_was_shown(commands, world):
    await world.session("Old one")
    await world.session("New one")
    await world.session("Elsewhere", scope="project:/other")
    assert await commands("/session resume 1") == 'Opened "New one"'


@pytest.mark.parametrize("number", ["0", "2", "99999999999999999999"])
async def test_a_number_beyond_the_list_is_told(commands, world, number):
    await world.session()
    told = f"There is no number {number} in the last list (1 to 1)."
    assert await commands(f"/session resume {number}") == told
    assert commands.severity == "error"


@pytest.mark.parametrize("index", ["", " one", " 1abc", " -1", " ١", " 1 2"])
async def test_what_is_no_number_is_answered_by_the_usage(commands, world, index):
    await world.session()
    assert await commands(f"/session resume{index}") == "Usage: /session resume NUMBER"


async def test_to_resume_the_session_on_screen_is_harmless(commands, world):
    await commands.program.send("Hello")
    mine = commands.current.id
    assert await commands("/session resume 1") == 'Opened "Hello"'
    assert commands.current.id == mine
    assert world.texts(mine) == ["Hello"]


async def test_a_session_that_cannot_be_saved_is_not_left(commands, world):
    other = await world.session()
    await commands.program.send("Hello", save=False)
    commands.program.store.fail_next(FULL, times=9)
    mine = commands.current.id
    told = await commands("/session resume 1")
    assert told == 'Stayed in "Hello": could not save (disk full)'
    assert commands.current.id == mine
    assert not world.holder(other)


# --- /session save


async def test_a_new_session_has_nothing_to_save(commands):
    assert await commands("/session save") == "Nothing to save yet."


async def test_the_session_on_screen_is_saved_and_its_place_told(commands, world):
    await commands.program.send("Hello there", save=False)
    mine = commands.current.id
    told = await commands("/session save")
    assert told == f'Saved "Hello there" to {world.reader.path(mine)}'
    assert world.texts(mine) == ["Hello there"]


@pytest.mark.parametrize("target", ["Auth bug", f"{SHOP}#1", "#1"])
async def test_any_session_can_be_named(commands, world, target):
    there = await world.session(name="Auth bug")
    told = await commands(f"/session save {target}")
    assert told == f'Saved "Auth bug" to {world.reader.path(there)}'
    assert commands.current.id != there


async def test_another_open_session_is_saved_too(commands, world):
    there = await world.session("Hello")
    await commands.program.open(there)
    conversation = commands.current
    conversation.activity.begin_answer()
    await commands("/new")
    conversation.opened.add_message("user", "More")
    await commands(f"/session save {there}")
    assert world.texts(there) == ["Hello", "More"]


async def test_what_cannot_be_saved_is_told(commands):
    await commands.program.send("Hello", save=False)
    commands.program.store.fail_next(FULL)
    told = await commands("/session save")
    assert told == f'Could not save "{commands.current.label()}": disk full'


async def test_what_another_program_holds_only_that_one_can_save(commands, world):
    there = await world.session("Hello")
    await world.started(there).open(there)
    told = await commands(f"/session save {there}")
    assert told.startswith(f"Session {there} is open in another window (pid ")


async def test_an_unknown_target_is_told(commands):
    assert await commands("/session save nowhere") == "Session not found: nowhere"


# --- /session close


async def test_closing_saves_gives_up_and_shows_the_most_recent_other(commands, world):
    await world.session("Old")
    recent = await world.session("Recent")
    await world.session("Elsewhere", scope="project:/other")
    await commands.program.send("Hello", save=False)
    mine = commands.current.id
    assert await commands("/session close") == 'Closed "Hello"'
    assert commands.kinds == ["show_session", "say"]
    assert commands.current.id == recent
    assert commands.current.opened is None
    assert world.texts(mine) == ["Hello"]
    assert world.reader.entry(mine).status == "closed"
    assert world.reader.journal(mine).load().closed_at


async def test_closing_the_only_session_begins_a_new_one(commands, world):
    await commands.program.send("Hello")
    mine = commands.current.id
    assert await commands("/session close") == 'Closed "Hello"'
    assert commands.current.untouched
    assert commands.current.id != mine


async def test_closing_stops_the_answer_and_keeps_what_was_not_sent(commands, world):
    await commands.program.send("Hello")
    mine = commands.current
    mine.opened.begin_answer("m").receive("Half an an")
    commands.running = True
    mine.activity.begin_answer()
    mine.prompt.enqueue("Next")
    mine.prompt.edit("Typed")
    await commands("/session close")
    assert commands.running
    assert world.holder(mine.id)
    await commands.answer()
    assert not commands.running
    assert not world.holder(mine.id)
    assert world.texts(mine.id) == ["Hello", "Half an an"]
    draft = world.drafts.load(mine.id)
    assert (draft.text, draft.queued) == ("Typed", ("Next",))


async def test_a_session_that_is_only_looked_at_is_left(commands, world):
    other = await world.session("Other")
    viewed = await world.session("Viewed")
    before = world.bytes(viewed)
    await commands.program.look_at(viewed)
    assert await commands("/session close") == 'Closed "Viewed"'
    assert commands.current.id == other
    assert world.bytes(viewed) == before


async def test_closing_does_not_change_which_session_is_active(commands, world):
    await world.session("Other")
    await commands.program.send("Hello")
    mine = commands.current.id
    await commands("/session close")
    assert world.reader.active(SHOP) == mine


async def unsaved(commands):
    """A session whose closing cannot be saved, and the question that comes of it."""
    await commands.program.send("Hello", save=False)
    commands.program.store.fail_next(FULL, times=9)
    await commands("/session close")
    return commands.current


async def test_a_session_that_cannot_be_saved_is_closed_only_after_asking(commands):
    mine = await unsaved(commands)
    assert commands.question == f'Could not save "{mine.label()}": disk full. Close it anyway?'
    assert commands.detail == "Unsaved messages go to a rescue file."
    stayed = f'Stayed in "{mine.label()}": could not save (disk full)'
    assert await commands.answer(yes=False) == stayed
    assert mine.unsaved
    assert mine in commands.workspace.open


async def test_a_yes_closes_it_and_says_where_the_rest_is(commands, world):
    other = await world.session("Other")
    mine = await unsaved(commands)
    assert (await commands.answer()).splitlines() == [
        'Closed "Hello"',
        f"What could not be saved is in {mine.id}.jsonl.",
    ]
    assert commands.kinds == ["show_session", "say", "say"]
    assert commands.rescued == [mine.id]
    assert commands.current.id == other
    assert not world.holder(mine.id)


async def test_where_there_is_no_room_for_a_rescue_file_it_stays_open(commands, world):
    await world.session("Other")
    mine = await unsaved(commands)
    commands.no_room = True
    assert "No rescue file could be written" in await commands.answer()
    assert commands.current is mine
    assert mine.unsaved
    assert mine in commands.workspace.open


async def test_only_an_open_session_is_closed(commands, world):
    there = await world.session("There")
    for word in ("it", there):
        assert await commands(f"/session close {word}") == f"No open session has the id {word}."


async def test_a_session_that_is_not_on_screen_is_stopped_saved_and_closed(commands, world):
    other = await world.session("Other")
    await commands.program.send("Hello")
    mine = commands.current
    commands.running = True
    mine.activity.begin_answer()
    await commands.program.look_at(other)
    mine.prompt.edit("Typed")
    await commands(f"/session close {mine.id}")
    assert await commands.answer() == f'Closed "{mine.label()}"'
    assert not commands.running
    assert commands.current.id == other
    assert commands.kinds == ["show_moved", "say"]
    assert not world.holder(mine.id)
    assert world.reader.entry(mine.id).status == "closed"
    assert world.drafts.load(mine.id).text == "Typed"
