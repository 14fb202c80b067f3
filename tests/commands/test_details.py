"""``/session`` and ``/usage``."""

import pytest

from tests.builders import answer, user
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


# --- /usage


LUNA = "openai:gpt-6-luna"


INCLUDED = "Prompts: 0. Earlier versions, summaries and titles are included."


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
    told = await tell(*(answer(f"a{at}", model=LUNA, usage=u) for at, u in enumerate(usages)))
    context, model, note = told.split("\n\n")
    assert context == "Context: 9,104 tokens, 7 % of the window of 128,000."
    assert model.splitlines()[:2] == [
        f"{LUNA}: 2 requests",
        "  18,000 tokens sent (8,000 cached), 204 received",
    ]
    assert model.splitlines()[2].startswith("  $0.0")
    assert note.startswith(f"{INCLUDED} Prices are by the list of 20")


async def test_a_window_of_which_nobody_knows_is_told_as_assumed(commands, tell):
    commands.program.model.context_window = AssumedWindow(32_768)
    told = await tell(answer("a1", model="scripted:model", usage=TokenUsage(90, 10)))
    assert told.startswith("Context: 100 tokens, 0 % of an assumed window of 32,768.\n")


async def test_all_models_together_say_which_has_no_price(commands, tell):
    commands.providers = PROVIDERS
    records = [answer(m, model=m, usage=TokenUsage(10, 2)) for m in ("local:m", LUNA)]
    told = (await tell(*records)).split("\n\n")
    assert told[2].splitlines()[-1] == "  $0.0001 without local:m"


async def test_the_prompts_are_counted(tell):
    told = await tell(user("q1"), answer("a1", model="m", usage=TokenUsage(10, 1)), user("q2"))
    assert "Prompts: 2. Earlier versions" in told


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
