"""The screen begins before the store's server is asked, and asks when it is not there."""

import pytest
from textual.widgets import Static

from tests.ui.screen import notice, notices, send, status
from tests.ui.world import World
from tests.waiting import until
from tui.app.controllers.store_server import USE_FILES
from tui.errors import ServerUnreachable, StorageError
from tui.screens.dialog import ListDialog
from tui.widgets.key_line import LEAST_SECONDS


class Server:
    """A server that is away until it is started."""

    def __init__(self):
        self.away = True
        self.tries = 0

    def check(self):
        self.tries += 1
        if self.away:
            raise StorageError("The store's server cannot be reached: nobody listens")
        return ("Nobody checks who answers.",)


@pytest.fixture
def server():
    return Server()


@pytest.fixture
async def question(tmp_path, server):
    """The program with its question on screen."""
    async with World(tmp_path / "data").running() as (app, pilot):
        app.controllers.server.check = server.check
        app.controllers.server.begin()
        await until(lambda: isinstance(app.screen, ListDialog), "the question")
        yield app, pilot


async def test_it_says_why(question):
    app, _ = question
    text = "\n".join(str(each.render()) for each in app.screen.query(Static))
    assert "cannot be reached: nobody listens" in text


async def test_trying_again_goes_on_with_the_server(question, server):
    app, pilot = question
    server.away = False
    await pilot.press("enter")
    await until(lambda: server.tries == 2, "another try")
    await until(lambda: app.screen is app.chat, "the chat")
    assert "cannot be reached" not in notices(app)


async def test_the_line_that_the_server_is_away_goes_as_soon_as_it_is_back(
    question, server, monkeypatch
):
    app, pilot = question
    monkeypatch.setitem(LEAST_SECONDS, "warning", 3600)
    app.controllers.server.note_away(ServerUnreachable("nobody listens"))
    await until(lambda: "cannot be reached" in notice(app), "the line")
    server.away = False
    await pilot.press("enter")
    await until(lambda: notice(app) == "The store's server is back", "the good news")


async def test_the_question_comes_again_while_the_server_is_away(question, server):
    app, pilot = question
    first = app.screen
    await pilot.press("enter")
    await until(lambda: app.screen not in (first, app.chat), "the question once more")
    assert server.tries == 2


async def test_the_question_goes_once_the_server_is_back_by_itself(question, server):
    app, _ = question
    app.controllers.server.note_back()
    await until(lambda: app.screen is app.chat, "the chat")


async def test_local_files_are_another_start(question):
    app, pilot = question
    await pilot.press("down", "enter")
    await until(lambda: app.return_code == USE_FILES, "the end")


async def test_it_can_be_left(question):
    app, pilot = question
    await pilot.press("down", "down", "enter")
    await until(lambda: not app.is_running or app._exit, "the end")
    assert app.return_code == 0


async def test_the_mark_of_the_store_stays_in_the_status_line(tmp_path):
    w = World(tmp_path / "data", ["hi"])
    w.store_mark = "LOCAL FILES"
    async with w.running() as (app, pilot):
        await until(lambda: "LOCAL FILES" in status(app), "the mark")
        await send(pilot, "hello")
        await until(lambda: "saved" in status(app), "the answer's save")
        assert "LOCAL FILES" in status(app)
