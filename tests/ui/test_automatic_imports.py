"""Other programs' sessions come in by themselves, once that is chosen."""

import pytest

from tests.importers.written import write_session
from tests.ui.screen import notices, send
from tests.visible_text import visible_text
from tests.waiting import until
from tui.app import session_imports
from tui.app.controllers import background
from tui.app.session_imports import _CODE, AutomaticImports
from tui.importers.readers import readers
from tui.screens.imports import ImportScreen
from tui.screens.page import ReportScreen
from tui.storage.protocol import SessionFilter

ARCHIVED = SessionFilter(statuses=frozenset({"archived"}))


@pytest.fixture
def place(world, monkeypatch):
    """A machine on which Claude Code is used, and a window that imports once nobody types."""
    place = world()
    monkeypatch.setenv("HOME", str(place.places.home))
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.05)
    # On a busy machine the lowest priority would wait for ever.
    monkeypatch.setattr(session_imports, "_CODE", _CODE.replace("os.nice(19)", "pass"))
    place.readers = [each for each in readers() if each.program in ("claude-code", "codex")]
    flags = ["--data-dir", str(place.root)]
    place.automatic_imports = AutomaticImports(
        place.root, str(place.root), flags, (), place.ui_state_file
    )
    return place


async def opened(app, pilot):
    await send(pilot, "/import")
    await until(lambda: isinstance(app.screen, ImportScreen), "the screen")
    await until(lambda: app.screen.step == "choosing", "the programs")
    return app.screen


def marks(screen):
    return [line[:1] for line in visible_text(screen.choices) if line.strip()]


async def test_one_gesture_in_the_dialog_and_each_start_brings_what_is_new(place, monkeypatch):
    home = place.places.home
    write_session(home, 1, "Hello", "Hi")
    monkeypatch.setattr(background, "IDLE_SECONDS", 1000)
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        assert marks(screen) == ["✓", " "]
        await pilot.press("up", "space")
        assert marks(screen) == ["✓", "✓"]
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, ReportScreen), "the report")
        words = "New sessions of Claude Code are imported on every start and every hour."
        assert app.screen._report.text.endswith(words)
    write_session(home, 2, "And then?")
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.05)
    async with place.running() as (app, pilot):
        await until(lambda: "1 new session from Claude Code" in notices(app), "the news")
        await until(lambda: app.chat.rows and app.chat.rows.archived == 2, "the list")
        assert marks(await opened(app, pilot)) == ["✓", "✓"]


async def test_taken_back_in_the_dialog_nothing_comes_in_any_more(place):
    place.automatic_imports.choose(["claude-code"])
    write_session(place.places.home, 1, "Hello")
    async with place.running() as (app, pilot):
        await until(lambda: "1 new session" in notices(app), "the news")
        await opened(app, pilot)
        await pilot.press("up", "space", "enter")
        await until(lambda: app.screen is app.chat, "the chat")
        await until(lambda: "Nothing is imported automatically any more." in notices(app))
    assert place.automatic_imports.programs() == ()


async def test_nothing_is_changed_by_esc_nor_by_an_import_of_what_is_new(place):
    place.automatic_imports.choose(["codex"])
    write_session(place.places.home, 1, "Hello")
    async with place.running() as (app, pilot):
        await opened(app, pilot)
        await pilot.press("up", "space", "escape")
        await until(lambda: app.screen is app.chat, "the chat")
    assert place.automatic_imports.programs() == ("codex",)


async def test_an_import_of_a_path_does_not_offer_it(place):
    path = write_session(place.places.home, 1, "Hello")
    async with place.running() as (app, pilot):
        await send(pilot, f"/import {path}")
        await until(lambda: isinstance(app.screen, ImportScreen), "the screen")
        await until(lambda: app.screen.step == "choosing", "the program")
        assert marks(app.screen) == ["✓"]


async def test_what_cannot_be_kept_is_told(place):
    write_session(place.places.home, 1, "Hello")
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        place.ui_state_file.parent.mkdir(exist_ok=True)
        place.ui_state_file.mkdir()
        await pilot.press("up", "space", "enter")
        await until(lambda: screen.step == "over", "the error")
        assert "Cannot write" in str(screen.words.render())


async def test_nothing_comes_in_while_a_private_session_is_on_screen(place, monkeypatch):
    rounds, run = [], AutomaticImports.run
    monkeypatch.setattr(AutomaticImports, "run", lambda it: rounds.append(it) or run(it))
    monkeypatch.setattr(background, "HOUR", 0)
    monkeypatch.setattr(background, "IDLE_SECONDS", 3600)
    async with place.running() as (app, pilot):
        await send(pilot, "/private")
        await until(lambda: app.workspace.current.private, "the private session")
        app.controllers.background._begin_once_idle()
        await pilot.pause(0.05)
        assert not rounds
        await send(pilot, "/new")
        await until(lambda: rounds, "the import")


async def test_the_next_one_comes_an_hour_later(place, monkeypatch):
    monkeypatch.setattr(background, "HOUR", 0.05)
    place.automatic_imports.choose(["claude-code"])
    async with place.running() as (app, _):
        for number in (1, 2):
            write_session(place.places.home, number, "Hello")
            await until(lambda number=number: place.store.count(ARCHIVED) == number, number)
        assert "1 new session from Claude Code" in notices(app)
