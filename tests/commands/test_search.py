"""``/search``."""

from tests.builders import at
from tui.domain.text.labels import local_minute


async def test_without_a_text_its_usage_is_told(commands):
    assert await commands("/search") == "Usage: /search TEXT"


async def test_what_nobody_said_is_not_found(commands):
    assert await commands("/search nowhere") == 'No session matches "nowhere".'


async def test_what_was_said_is_found_in_every_session_and_its_number_loads_it(commands, world):
    there = await world.session("The login is broken", "Let us see", scope="project:/other")
    await world.session("Groceries")
    lines = (await commands("/search login")).splitlines()
    assert lines[0] == "Found 1 match:"
    assert lines[1].startswith("  1. The login is broken (just now) - ")
    assert "login" in lines[1]
    assert (await commands("/load 1")).startswith("Opened ")
    assert commands.current.id == there


async def test_a_session_is_found_by_its_name(commands, world):
    there = await world.session("hello", name="Auth bug investigation")
    lines = (await commands("/search auth inv*")).splitlines()
    assert lines[0] == "Found 1 match:"
    assert lines[1].startswith("  1. Auth bug investigation (just now) - name: Auth bug inv")
    assert lines[1].endswith(f" · 1 message, created {local_minute(at())} · {there}")
    assert (await commands("/load 1")).startswith("Opened ")
    assert commands.current.id == there


async def test_a_date_that_is_none_is_told(commands, world):
    await world.session("apples")
    said = await commands("/search apples before:soon")
    assert said == "before:soon is no date. It needs a year, month or day: before:2026-05-01"


async def test_several_matches_are_counted(commands, world):
    await world.session("apples and pears")
    await world.session("apples alone")
    lines = (await commands("/search apples")).splitlines()
    assert lines[0] == "Found 2 matches:"
    assert len(lines) == 3


async def test_what_comes_nearest_is_told_where_nothing_fits(commands, world):
    await world.session("the authentication middleware")
    assert (await commands("/search authent")).splitlines() == [
        'No session matches "authent".',
        "Nearest: authent* (1 match)",
    ]


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
