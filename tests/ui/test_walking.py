"""Going from session to session by Alt+Up and Alt+Down."""

import asyncio

import pytest

from tests.ui.screen import conversation, rows, send, wait_for_answer
from tests.waiting import until
from tui.domain.views.sidebar_rows import Group, SessionRow
from tui.screens import session_walk
from tui.screens.session_walk import SessionSteps


def rows_of(ids):
    """Rows of a list, from the top."""
    return [SessionRow(each, each, Group.TODAY, "", 1) for each in ids]


@pytest.fixture
def watch():
    """A clock, in seconds."""

    class Watch:
        now = 0.0

        def __call__(self):
            return self.now

    return Watch()


def test_the_way_back_is_the_way_there_though_the_session_that_was_left_moved_down(watch):
    steps = SessionSteps(watch)
    assert steps.step(rows_of("abcd"), "a", 1) == "b"
    assert steps.step(rows_of("bcad"), "b", -1) == "a"
    assert steps.step(rows_of("bcad"), "a", 1) == "b"
    assert steps.step(rows_of("bcad"), "b", 1) == "c"
    assert steps.step(rows_of("bcad"), "c", 1) == "d"


def test_a_later_step_goes_by_the_list_as_it_is(watch):
    steps = SessionSteps(watch)
    steps.step(rows_of("abcd"), "a", 1)
    watch.now = 10
    assert steps.step(rows_of("bcad"), "b", 1) == "c"
    assert steps.step(rows_of("bcad"), "c", 1) == "a"


def test_a_step_from_where_another_way_led_goes_by_the_list_as_it_is(watch):
    steps = SessionSteps(watch)
    steps.step(rows_of("abcd"), "a", 1)
    assert steps.step(rows_of("bcad"), "d", -1) == "a"


def test_what_is_read_meanwhile_is_walked_through_behind_and_what_is_gone_is_not(watch):
    steps = SessionSteps(watch)
    steps.step(rows_of("ab"), "a", 1)
    assert steps.step(rows_of("bcd"), "b", 1) == "c"
    assert steps.step(rows_of("bcd"), "c", -1) == "b"
    assert steps.step(rows_of("bcd"), "b", -1) == "b"


def test_steps_go_on_from_what_was_aimed_at_not_from_what_is_shown_still(watch):
    steps = SessionSteps(watch)
    steps.aim = steps.step(rows_of("abc"), "a", 1)
    assert steps.step(rows_of("abc"), "a", 1) == "c"


def test_the_end_is_near_twenty_rows_before_it(watch):
    names = [str(number) for number in range(50)]
    steps = SessionSteps(watch)
    steps.step(rows_of(names), "28", 1)
    assert not steps.nears_end()
    steps.step(rows_of(names), "29", 1)
    assert steps.nears_end()


async def test_alt_up_leads_back_to_a_session_that_alt_down_closed(world, monkeypatch):
    monkeypatch.setattr(session_walk, "_SECONDS", 1000.0)
    first, second = asyncio.Event(), asyncio.Event()
    w = world(["one", first], ["two", second])
    below, above = await w.session("below"), await w.session("above")
    async with w.running(above) as (app, pilot):
        await until(lambda: rows(app)[:2] == [above, below], "the list")
        await send(pilot, "go")
        await until(lambda: "one" in conversation(app))
        await pilot.press("alt+down")
        await until(lambda: app.chat.shown == below)
        await send(pilot, "go")
        await until(lambda: "two" in conversation(app))
        await pilot.press("alt+up")
        await until(lambda: app.chat.shown == above)
        first.set()
        await wait_for_answer(w)
        await pilot.press("alt+down")
        await until(lambda: app.chat.shown == below)
        await until(lambda: rows(app)[:2] == [below, above], "the session that was closed below")
        await pilot.press("alt+up")
        await until(lambda: app.chat.shown == above, "the way back")
        second.set()
