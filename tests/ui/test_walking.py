"""Going from session to session by Alt+Up and Alt+Down."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.ui.screen import conversation, rows, send, wait_for_answer
from tests.waiting import until
from tui.domain.views.session_rows import Group, SessionRow
from tui.screens import session_walk
from tui.screens.session_walk import SessionWalk
from tui.widgets.intents import MoreWanted


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


@pytest.fixture
def step(watch):
    """Steps through a list from the session on screen; gives the one that is selected."""
    said = []
    listed = SimpleNamespace(loaded=SimpleNamespace(more=True))
    sidebar = SimpleNamespace(rows=listed, post_message=said.append)
    prompt = SimpleNamespace(editor=SimpleNamespace(call_later=lambda _: None))
    walk = SessionWalk(sidebar, prompt, watch)

    def step(ids, shown, way, aim=None):
        said.clear()
        listed.shown, walk.shown, walk.aim = rows_of(ids), shown, aim
        walk.step(way)
        return walk.aim

    step.said = said
    return step


def test_the_way_back_is_the_way_there_though_the_session_that_was_left_moved_down(step):
    assert step("abcd", "a", 1) == "b"
    assert step("bcad", "b", -1) == "a"
    assert step("bcad", "a", 1) == "b"
    assert step("bcad", "b", 1) == "c"
    assert step("bcad", "c", 1) == "d"


def test_a_later_step_goes_by_the_list_as_it_is(step, watch):
    step("abcd", "a", 1)
    watch.now = 10
    assert step("bcad", "b", 1) == "c"
    assert step("bcad", "c", 1) == "a"


def test_a_step_from_where_another_way_led_goes_by_the_list_as_it_is(step):
    step("abcd", "a", 1)
    assert step("bcad", "d", -1) == "a"


def test_what_is_read_meanwhile_is_walked_through_behind_and_what_is_gone_is_not(step):
    step("ab", "a", 1)
    assert step("bcd", "b", 1) == "c"
    assert step("bcd", "c", -1) == "b"
    assert step("bcd", "b", -1) == "b"


def test_steps_go_on_from_what_was_aimed_at_not_from_what_is_shown_still(step):
    assert step("abc", "a", 1, aim=step("abc", "a", 1)) == "c"


def test_more_is_wanted_twenty_rows_before_the_end(step):
    names = [str(number) for number in range(50)]
    step(names, "28", 1)
    assert step.said == []
    step(names, "29", 1)
    assert [type(each) for each in step.said] == [MoreWanted]


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
