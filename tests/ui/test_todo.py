"""To-dos on the screen of the whole program."""

import pytest

from tests.ui.screen import go_to, rows, send
from tests.visible_text import visible_text
from tests.waiting import until

pytestmark = pytest.mark.full


def panel(app):
    """The lines of the panel; none if it is not there."""
    return [line.strip() for line in visible_text(app.chat.todos)] if app.chat.todos.display else []


async def test_the_panel_appears_with_the_first_item_becomes_a_line_on_a_key_and_goes_with_the_last(
    world,
):
    async with world().running(size=(100, 40)) as (app, pilot):
        assert not app.chat.todos.display
        await send(pilot, "/todo add mine")
        await until(lambda: panel(app) == ["To-dos: 0 of 1 done", "[ ] 1. mine"])
        await until(lambda: "^T To-dos" in app.chat.key_line.render_line(0).text)
        await pilot.press("ctrl+t")
        await until(lambda: panel(app) == ["To-dos 0/1  [ ] next: mine"])
        await pilot.press("ctrl+t")
        await until(lambda: len(panel(app)) == 2)
        await send(pilot, "/todo remove 1")
        await until(lambda: not panel(app))
        # Text from outside is neither obeyed nor markup.
        app.chat.prompt.set_text("/todo add [@click=app.quit]x[/] \x1b]0;t\x1b\\ 会話")
        await pilot.press("enter")
        await until(lambda: panel(app))
        assert panel(app)[1] == "[ ] 1. [@click=app.quit]x[/] ␛]0;t␛\\ 会話"


@pytest.mark.full
@pytest.mark.fast
async def test_at_80_by_24_it_takes_one_line_and_all_of_it_on_a_key(world):
    async with world().running(size=(80, 24)) as (app, pilot):
        rows_before = app.chat.transcript.size.height
        for number in range(5):
            await send(pilot, f"/todo add thing {number}")
        await send(pilot, "/todo start 3")
        await until(lambda: panel(app) == ["To-dos 0/5  [>] thing 2  + 4 more"])
        assert app.chat.transcript.size.height == rows_before - 1
        await pilot.press("ctrl+t")
        await until(lambda: len(panel(app)) == 6)
        assert panel(app)[3].split("  ")[0] == "[>] 3. thing 2"
        await pilot.press("ctrl+t")
        await until(lambda: len(panel(app)) == 1)


@pytest.mark.fast
async def test_it_is_that_of_the_session_on_screen_and_comes_back_after_a_kill(world):
    w = world()
    other = await w.session("hello", "hi")
    async with w.running() as (app, pilot):
        await send(pilot, "/todo add mine")
        await until(lambda: panel(app))
        mine = w.workspace.current.id
        await until(lambda: other in rows(app))
        await go_to(app, pilot, other, "hello")
        assert not panel(app)
        await go_to(app, pilot, mine)
        await until(lambda: panel(app)[1:] == ["[ ] 1. mine"])
    async with w.running(mine) as (app, _):
        await until(lambda: panel(app)[1:] == ["[ ] 1. mine"])
