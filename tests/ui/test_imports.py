"""Sessions of other programs are found, chosen and read, at once or automatically."""

import json
import os
import threading

import msgspec
import pytest

from tests.engine.imports.notebook import NOTEBOOK, PROGRAM, said, told
from tests.importers.written import write_session
from tests.ui.screen import close, notices, send, words
from tests.ui.world import World
from tests.visible_text import visible_text
from tests.waiting import until
from tui.app import session_imports
from tui.app.controllers import background
from tui.app.session_imports import _CODE, AutomaticImports, SessionImports
from tui.engine.imports.history import imported_session_id
from tui.importers.protocol import Deletion, Reader
from tui.importers.readers import readers
from tui.importers.stopping import check
from tui.screens.beginning import welcome
from tui.screens.imports import ImportScreen
from tui.screens.page import ReportScreen
from tui.storage.protocol import SessionFilter

ARCHIVED = SessionFilter(statuses=frozenset({"archived"}))


def reader(program, title, opened=None):
    """A reader of the files in a folder; it waits for ``opened`` before each file but the first."""

    def find(places):
        return NOTEBOOK.find(places) if program == PROGRAM else iter(())

    def read(source, ledger):
        if opened is not None and source.path.name != "0.json":
            assert opened.wait(30)
        yield from NOTEBOOK.read(source, ledger)

    return Reader(program, title, find, NOTEBOOK.recognises, read)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "home" / "notes"


@pytest.fixture
def shelf(world, folder):
    """Makes a world in which a program has so many sessions, in files that are told apart."""
    folder.mkdir(parents=True)

    def shelf(count, opened=None):
        for n in range(count):
            talk = told(
                said(f"question {n}"),
                {"kind": "thinking"},
                source_id=f"c{n}",
                name=f"Talk {n}",
                project_path="/shop",
            )
            (folder / f"{n}.json").write_text(json.dumps([talk]))
        place = world()
        place.readers = [reader(PROGRAM, "Notebook", opened)]
        return place

    return shelf


async def opened(app, pilot, command="/import"):
    await send(pilot, command)
    await until(lambda: isinstance(app.screen, ImportScreen), "the screen")
    await until(lambda: app.screen.step != "finding", "the sources")
    return app.screen


def shown(screen):
    return "\n".join([str(screen.words.render()), *visible_text(screen.choices)])


async def reported(app):
    await until(lambda: isinstance(app.screen, ReportScreen), "the report")
    return app.screen.text


async def test_what_cannot_be_looked_at_is_told_before_and_after(shelf, folder):
    place = shelf(1)
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot, f"/import {folder}")
        assert "Not read: " in shown(screen)
        await pilot.press("enter")
        assert "broken.zip: The archive is damaged" in await reported(app)
        await pilot.press("escape")
        screen = await opened(app, pilot, f"/import {folder / 'broken.zip'}")
        assert screen.step == "over"
        assert "The archive is damaged" in shown(screen)


async def test_what_was_found_is_imported_by_enter_and_told(shelf):
    place = shelf(3)
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        assert "✓ Notebook" in shown(screen)
        assert "3 files, 3 new, " in shown(screen)
        await pilot.press("space", "enter")
        assert screen.step == "choosing"
        assert place.store.count(ARCHIVED) == 0
        await pilot.press("space", "enter")
        told = await reported(app)
        assert "Notebook: 3 sessions added, 3 messages" in told
        assert "3 records read, 3 skipped (3 thinking)" in told
        assert f"/search from:{PROGRAM}" in told
        names = {entry.name for entry in place.store.list(ARCHIVED, None, 9).entries}
        assert names == {"Talk 0", "Talk 1", "Talk 2"}
        await pilot.press("escape")
        await until(lambda: app.chat.rows.archived == 3, "the group of the list")
        screen = await opened(app, pilot)
        assert "Nothing new" in shown(screen)
        await pilot.press("enter")
        await until(lambda: app.screen is app.chat, "the chat")


async def test_what_a_program_deletes_soon_is_told_before(shelf, folder):
    place = shelf(2)
    os.utime(folder / "0.json", (0, 0))
    deletion = Deletion(lambda _: 30, "*.json")
    place.readers = [msgspec.structs.replace(each, deletion=deletion) for each in place.readers]
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        assert "Notebook deletes 1 of these sessions within a week" in shown(screen)


async def test_esc_stops_and_the_next_import_adds_the_rest_once(shelf, monkeypatch):
    monkeypatch.setattr("tui.engine.imports.report._REPORT_SECONDS", 0)
    go_on = threading.Event()
    place = shelf(4, go_on)
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("enter")
        await until(lambda: place.store.count(ARCHIVED) >= 1, "the first session")
        await until(lambda: screen.bar.display and "Notebook: " in shown(screen), "the progress")
        await pilot.press("escape")
        await until(lambda: "Stopping" in shown(screen), "the answer")
        go_on.set()
        assert (await reported(app)).startswith("Stopped.")
        assert place.store.count(ARCHIVED) < 4
        await pilot.press("escape")
        await opened(app, pilot)
        await pilot.press("enter")
        await reported(app)
        assert place.store.count(ARCHIVED) == 4


async def test_esc_ends_the_search_for_sessions_at_once(shelf, folder):
    ended = threading.Event()

    def recognises(path, head):
        try:
            while True:
                check()
        finally:
            ended.set()

    place = shelf(1)
    place.readers = [Reader("other", "Other", lambda _: iter(()), recognises, NOTEBOOK.read)]
    async with place.running() as (app, pilot):
        await send(pilot, f"/import {folder}")
        await until(lambda: isinstance(app.screen, ImportScreen), "the screen")
        await close(app, pilot)
        await until(ended.is_set, "the end of the search")


async def test_keys_are_taken_and_the_program_ends_while_an_import_runs(shelf):
    go_on = threading.Event()
    place = shelf(2, go_on)
    async with place.running() as (app, pilot):
        await opened(app, pilot)
        await pilot.press("enter")
        await until(lambda: place.store.count(ARCHIVED) >= 1, "the first session")
        await pilot.press("ctrl+q")
        await until(lambda: not app.is_running, "the end")
        go_on.set()
    assert imported_session_id(PROGRAM, "c0") in {
        entry.id for entry in place.other_program().list(ARCHIVED, None, 9).entries
    }


async def test_an_import_that_ends_below_the_help_is_left_by_esc(shelf):
    go_on = threading.Event()
    place = shelf(2, go_on)
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("enter", "f1")
        await until(lambda: app.screen is not screen, "the help")
        go_on.set()
        await reported(app)
        await pilot.press("escape", "escape", "escape")
        await until(lambda: app.screen is app.chat, "the chat")


async def test_esc_leaves_an_import_that_has_failed_unexpectedly(shelf, monkeypatch):
    def fail(*_):
        raise ValueError("odd")

    monkeypatch.setattr(SessionImports, "run", fail)
    place = shelf(1)
    place.defect = ValueError
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("enter")
        await until(lambda: app.defects.first, "the defect")
        await pilot.press("escape")
        await until(lambda: app.screen is not screen, "the chat")


async def test_a_file_of_this_program_comes_back_at_once(world, tmp_path):
    elsewhere = world()
    session_id = await elsewhere.session("Sorting", "So.", name="Sorting")
    path = tmp_path / "rescue.jsonl"
    path.write_bytes(elsewhere.store.path(session_id).read_bytes())
    place = World(tmp_path / "other")
    async with place.running() as (app, pilot):
        await send(pilot, f"/import {path}", says='Imported "Sorting" (2 messages)')
        await until(lambda: app.screen is app.chat, "the chat")
    assert place.other_program().entry(session_id).name == "Sorting"


async def test_where_nothing_is_it_says_so_and_nothing_is_offered(world):
    place = world()
    place.readers = []
    async with place.running() as (app, pilot):
        assert place.imports.offer() == ()
        assert "/import" not in words(app)
        for path in ("/nowhere/at-all.json", "~nobody-of-that-name/x"):
            screen = await opened(app, pilot, f"/import {path}")
            assert screen.step == "over"
            assert shown(screen).strip()
            await close(app, pilot)
        assert "No sessions of other programs" in shown(await opened(app, pilot))


async def test_the_first_screen_offers_what_it_found_until_something_is_imported(shelf):
    place = shelf(1)
    place.readers = [*place.readers, reader("other", "Other")]
    async with place.running() as (app, pilot):
        await until(lambda: "Sessions of Notebook were found. /import" in words(app), "the offer")
        await opened(app, pilot)
        await pilot.press("enter")
        await reported(app)
        await close(app, pilot)
        assert "/import" not in words(app)
    assert place.imports.offer() == ()


@pytest.mark.parametrize(
    ("programs", "sentence"),
    [
        (["A"], "Sessions of A were found. /import brings them here."),
        (["A", "B"], "Sessions of A and B were found. /import brings them here."),
        (list("ABCDE"), "Sessions of A, B, C and 2 other programs were found. /import brings"),
    ],
)
def test_the_offer_names_three_programs(programs, sentence):
    assert sentence in " ".join(welcome({}, has_model=True, programs=programs).sentences)


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
        assert app.screen.text.endswith(words)
    write_session(home, 2, "And then?")
    monkeypatch.setattr(background, "IDLE_SECONDS", 0.05)
    async with place.running() as (app, pilot):
        await until(lambda: "1 new session from Claude Code" in notices(app), "the news")
        await until(lambda: app.chat.rows and app.chat.rows.archived == 2, "the list")
        assert marks(await opened(app, pilot)) == ["✓", "✓"]


async def test_esc_changes_nothing_and_taken_back_in_the_dialog_nothing_comes_in_any_more(place):
    place.automatic_imports.choose(["claude-code"])
    write_session(place.places.home, 1, "Hello")
    async with place.running() as (app, pilot):
        await until(lambda: "1 new session" in notices(app), "the news")
        for key, left in (("escape", ("claude-code",)), ("enter", ())):
            await opened(app, pilot)
            await pilot.press("up", "space", key)
            await until(lambda: app.screen is app.chat, "the chat")
            await until(lambda left=left: place.automatic_imports.programs() == left, "the choice")
        await until(lambda: "Nothing is imported automatically any more." in notices(app))


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
