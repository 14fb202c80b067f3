"""The start: the first screen, and a store whose server is away."""

import gc

import pytest
from textual import events
from textual.widgets import Static

from tests.ui.screen import notice, notices, send, status
from tests.ui.world import World
from tests.visible_text import visible_text
from tests.waiting import until
from tui.app.app import SibylApp
from tui.app.controllers.store_server import USE_FILES
from tui.errors import ServerUnreachable, StorageError
from tui.screens.beginning import FirstPaint
from tui.screens.chat import ChatScreen
from tui.screens.dialog import ListDialog
from tui.widgets.key_line import LEAST_SECONDS


@pytest.fixture
def first_shown(monkeypatch):
    """What stands in the prompt each time that the chat is about to be painted as a whole."""
    seen = []

    def note(chat, event):
        seen.append(chat.prompt.text)
        resume(chat, event)

    resume = ChatScreen.on_screen_resume
    monkeypatch.setattr(ChatScreen, "on_screen_resume", note)
    return seen


@pytest.fixture
def typed_before(monkeypatch):
    """Keys that wait before the application has begun."""

    def wait(app):
        for key in "ab":
            app.post_message(events.Key(key, key))
        load(app)

    load = SibylApp.on_load
    monkeypatch.setattr(SibylApp, "on_load", wait)


@pytest.mark.usefixtures("typed_before")
async def test_what_was_typed_before_the_first_screen_stands_in_it(world, first_shown):
    async with world().running() as (app, _):
        await until(lambda: app.chat.prompt.text == "ab", "the keys")
        assert first_shown == ["ab"]


async def test_the_first_screen_comes_where_the_prompt_never_takes_its_turn(world, monkeypatch):
    monkeypatch.setattr("tui.widgets.prompt.editor.Editor.call_later", lambda *_: False)
    async with world().running() as (app, _):
        await until(lambda: app.chat.first_paint.has_come, "the first screen")
        assert app.chat.size


async def test_garbage_is_collected_again_once_the_first_screen_is_there(world):
    gc.disable()
    try:
        async with world().running():
            await until(gc.isenabled, "the collector")
    finally:
        gc.enable()


@pytest.fixture
def rows_painted(monkeypatch):
    """The conversation's rows each time that something was painted."""
    seen = []
    monkeypatch.setattr(
        SibylApp, "post_display_hook", lambda app: seen.append(visible_text(app.chat.transcript))
    )
    return seen


async def test_what_was_said_is_painted_right_behind_the_prompt(world, rows_painted, monkeypatch):
    monkeypatch.setattr("tui.screens.beginning.SECONDS_UNPAINTED", 60)
    begun = world()
    session_id = await begun.session("Hello there")
    async with begun.running(session_id):
        await until(lambda: len(rows_painted) > 1, "two paintings")
    first, second, *_ = ["Hello there" in "".join(rows) for rows in rows_painted]
    assert (first, second) == (False, True)


class _Pump:
    def __init__(self):
        self.later = []

    def call_later(self, call):
        self.later.append(call)

    call_next = call_later


@pytest.fixture
def pump():
    return _Pump()


@pytest.fixture
def first_paint(pump):
    return FirstPaint(pump)


def test_what_comes_after_the_first_painting_is_drawn_in_its_turn(pump, first_paint):
    first_paint.begin()
    first_paint.follow_with(print)
    assert pump.later[-1] is print


async def test_the_rest_is_drawn_when_the_terminal_has_the_first(pump, first_paint):
    looks = iter([False, False, True])
    drawn = []
    first_paint.follow_with(lambda: drawn.append(next(looks, "taken")))
    first_paint.may_come(lambda: next(looks))
    first_paint.begin()
    await pump.later[0]()
    assert drawn == ["taken"]


async def test_the_rest_does_not_wait_for_a_terminal_that_is_slow(pump, first_paint):
    drawn = []
    first_paint.follow_with(lambda: drawn.append("rest"))
    first_paint.may_come(lambda: False)
    first_paint.begin()
    await pump.later[0]()
    assert drawn == ["rest"]


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


async def test_it_says_why_comes_again_while_the_server_is_away_and_goes_on_with_it(
    question, server
):
    app, pilot = question
    first = app.screen
    text = "\n".join(str(each.render()) for each in first.query(Static))
    assert "cannot be reached: nobody listens" in text
    await pilot.press("enter")
    await until(lambda: app.screen not in (first, app.chat), "the question once more")
    assert server.tries == 2
    server.away = False
    await pilot.press("enter")
    await until(lambda: server.tries == 3, "another try")
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


async def test_the_question_goes_once_the_server_is_back_by_itself(question, server):
    app, _ = question
    app.controllers.server.note_back()
    await until(lambda: app.screen is app.chat, "the chat")


@pytest.mark.parametrize(("steps", "code"), [(1, USE_FILES), (2, 0)], ids=["files", "quit"])
async def test_local_files_are_another_start_and_it_can_be_left(question, steps, code):
    app, pilot = question
    await pilot.press(*["down"] * steps, "enter")
    await until(lambda: not app.is_running or app._exit, "the end")
    assert app.return_code == code


async def test_the_mark_of_the_store_stays_in_the_status_line(tmp_path):
    w = World(tmp_path / "data", ["hi"])
    w.store_mark = "LOCAL FILES"
    async with w.running() as (app, pilot):
        await until(lambda: "LOCAL FILES" in status(app), "the mark")
        await send(pilot, "hello")
        await until(lambda: "saved" in status(app), "the answer's save")
        assert "LOCAL FILES" in status(app)
