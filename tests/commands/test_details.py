"""/session, /usage and /todo."""

import asyncio

import pytest

from tests.builders import answer, user
from tests.engine.workspaces import FULL
from tui.domain.journal.message import TokenUsage
from tui.domain.journal.records import Summary
from tui.domain.providers import PROVIDERS, AssumedWindow
from tui.domain.text import local_minute

# --- /session


USAGE = "Usage: /session list | resume NUMBER | save [NAME or ID] | close [ID]"


@pytest.mark.parametrize("text", [" nowhere", " list all", " lists", " 1"])
async def test_what_it_does_not_know_is_answered_by_its_usage(commands, text):
    assert await commands(f"/session{text}") == USAGE


async def test_alone_it_shows_the_details_of_the_session_on_screen(commands, world):
    assert "#" not in await commands("/session")
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


# --- /usage


LUNA = "openai:gpt-6-luna"


@pytest.fixture
async def tell(commands):
    """Add records to the session on screen; gives what ``/usage`` then says."""

    async def told(*records, save=True):
        loaded = commands.workspace.current
        await commands.workspace.take(loaded)
        for record in records:
            loaded.opened.add(record)
        if save:
            await commands.workspace.pool.save(loaded)
        return await commands("/usage")

    return told


async def test_without_anything_counted_it_says_so(commands, tell):
    nothing = "No token counts for this session yet. Prompts: 0."
    assert await commands("/usage") == nothing
    assert await tell(answer("a1", model="offline:guide")) == nothing


async def test_context_tokens_and_price_are_told_by_the_list_of_a_day(commands, tell):
    commands.program.model.name = LUNA
    commands.program.model.context_window = 128_000
    commands.providers = PROVIDERS
    usages = TokenUsage(9_000, 100), TokenUsage(9_000, 104, 8_000)
    answers = (answer(f"a{at}", model=LUNA, usage=u) for at, u in enumerate(usages))
    context, model, note = (await tell(user("q1"), user("q2"), *answers)).split("\n\n")
    assert context == "Context: 9,104 tokens, 7 % of the window of 128,000."
    assert model.splitlines()[:2] == [
        f"{LUNA}: 2 requests",
        "  18,000 tokens sent (8,000 cached), 204 received",
    ]
    assert model.splitlines()[2].startswith("  $0.0")
    included = "Prompts: 2. Earlier versions, summaries and titles are included."
    assert note.startswith(f"{included} Prices are by the list of 20")


async def test_a_window_of_which_nobody_knows_is_told_as_assumed(commands, tell):
    commands.program.model.context_window = AssumedWindow(32_768)
    told = await tell(answer("a1", model="scripted:model", usage=TokenUsage(90, 10)))
    assert told.startswith("Context: 100 tokens, 0 % of an assumed window of 32,768.\n")


async def test_all_models_together_say_which_has_no_price(commands, tell):
    commands.providers = PROVIDERS
    records = [answer(m, model=m, usage=TokenUsage(10, 2)) for m in ("local:m", LUNA)]
    told = (await tell(*records)).split("\n\n")
    assert told[2].splitlines()[-1] == "  $0.0001 without local:m"


async def test_a_private_session_is_counted_too(commands, tell):
    await commands("/private")
    assert (await tell(answer("a1", model="m", usage=TokenUsage(10, 2)))).startswith("m: 1 request")


async def test_a_fork_counts_only_its_own_requests(commands, tell):
    usage = TokenUsage(10, 1)
    await tell(answer("a1", model="m", usage=usage), Summary("Short.", "a1", "m", usage))
    await commands("/fork")
    assert commands.workspace.current.session.header.forked_from
    assert (await tell(answer("a2", model="m", usage=usage))).splitlines()[:2] == [
        "m: 1 request",
        "  10 tokens sent, 1 received",
    ]


TODO_USAGE = "Usage: /todo [list | add TEXT | start NUMBER | done NUMBER | remove NUMBER]"


def kept(world, session_id):
    """What is on disk, as another program reads it."""
    return [(item.content, item.status) for item in world.reader.journal(session_id).load().todos]


async def test_an_item_is_added_started_done_and_removed_and_on_disk_when_that_is_said(
    commands, world
):
    assert await commands("/todo") == "No to-dos yet. /todo add TEXT adds one"
    assert await commands("/todo list") == "No to-dos yet. /todo add TEXT adds one"
    assert commands.current.empty
    assert await commands("/todo add Read the code") == "Added to-do 1: Read the code"
    assert await commands("/todo  ADD   会話を読む") == "Added to-do 2: 会話を読む"
    wanted = [("Read the code", "pending"), ("会話を読む", "pending")]
    assert kept(world, commands.current.id) == wanted
    assert commands.kinds == ["say"]
    await commands("/todo add three")
    assert await commands("/todo start 2") == "Started to-do 2: 会話を読む"
    assert await commands("/todo done 1") == "Completed to-do 1: Read the code"
    assert await commands("/todo remove 3") == "Removed to-do 3: three"
    wanted = [("Read the code", "completed"), ("会話を読む", "in_progress")]
    assert kept(world, commands.current.id) == wanted
    assert (await commands("/todo")).splitlines() == [
        "To-dos: 1 of 2 done, 1 in progress",
        "  1. [x] Read the code",
        "  2. [>] 会話を読む",
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        *["add", "add \u200b", "done", "done 1x", "done 1 2", "remove", "start -1", "start ٣"],
        *["list 1", "what", "done " + "9" * 5000],
    ],
)
async def test_what_cannot_be_meant_is_answered_with_how_it_is_used(commands, arguments):
    await commands("/todo add one")
    assert await commands(f"/todo {arguments}") == TODO_USAGE
    assert [item.status for item in commands.current.session.todos] == ["pending"]


async def test_a_session_that_is_looked_at_is_opened_by_a_change_that_can_be_made(started, world):
    there = await world.session("hello")
    commands = started()
    await commands.program.look_at(there)
    before = world.bytes(there)
    assert await commands("/todo done 1") == "No to-dos."
    assert commands.current.opened is None
    assert world.bytes(there) == before
    await commands("/todo add one")
    assert commands.current.opened is not None
    assert kept(world, there) == [("one", "pending")]


async def test_a_list_that_another_program_has_changed_since_is_not_written_over(started, world):
    there = await world.session("hello")
    commands = started()
    await commands.program.look_at(there)
    other = started(there)
    await other("/todo add theirs")
    await other.program.end()
    told = await commands("/todo add mine")
    assert told == "Another window changed the to-dos meanwhile. /todo shows them"
    assert kept(world, there) == [("theirs", "pending")]
    assert (await commands("/todo")).endswith("1. [ ] theirs")
    assert await commands("/todo add mine") == "Added to-do 2: mine"


async def test_a_change_in_a_session_that_was_left_meanwhile_is_kept_and_the_session_closed(
    started, world
):
    there = await world.session("hello")
    commands = started()
    await commands.program.look_at(there)
    asked = asyncio.create_task(commands("/todo add one"))
    await asyncio.sleep(0)  # it waits for the lease
    await commands.workspace.begin()
    await asked
    await commands.program.settle()
    assert kept(world, there) == [("one", "pending")]
    assert world.holder(there) is None


async def test_what_cannot_be_saved_is_told_and_comes_with_the_next_save(commands, world):
    await commands("/todo add one")
    commands.program.store.fail_next(FULL)
    assert await commands("/todo done 1") == str(FULL)
    assert kept(world, commands.current.id) == [("one", "pending")]
    assert commands.current.unsaved
    await commands("/save")
    assert kept(world, commands.current.id) == [("one", "completed")]


async def test_the_list_is_found_behind_many_messages_after_a_kill(commands, started, world):
    await commands("/todo add far back")
    for number in range(300):
        commands.current.opened.add_message("user", f"{number} " + "x" * 500)
    await commands("/save")
    there = commands.current.id
    commands.program.store.die()
    assert "far back" in await started(there)("/todo")
