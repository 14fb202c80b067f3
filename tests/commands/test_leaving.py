"""``/session close`` and ``/quit``."""

from tests.engine.workspaces import FULL, SHOP


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
    assert world.reader.active(SHOP) == mine


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
    await commands("/session close")
    assert commands.reason()
    # It can be saved after all, and is closed like any other.
    commands.program.store.failures.clear()
    await commands.workspace.pool.try_save(mine)
    assert not commands.reason()
    assert await commands.answer() == 'Closed "Hello"'
    assert commands.rescued == []


async def test_a_yes_closes_it_and_says_where_the_rest_is_unless_there_is_no_room(commands, world):
    other = await world.session("Other")
    mine = await unsaved(commands)
    commands.no_room = True
    assert "No rescue file could be written" in await commands.answer()
    assert commands.current is mine
    assert mine.unsaved
    assert mine in commands.workspace.open
    commands.no_room = False
    await commands("/session close")
    assert (await commands.answer()).splitlines() == [
        'Closed "Hello"',
        f"What could not be saved is in {mine.id}.jsonl.",
    ]
    assert commands.kinds == ["show_session", "say", "say"]
    assert commands.rescued == [mine.id]
    assert commands.current.id == other
    assert not world.holder(mine.id)


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


# --- /quit


async def test_quit_leaves(commands):
    await commands("/quit")
    assert commands.calls == [("exit",)]
