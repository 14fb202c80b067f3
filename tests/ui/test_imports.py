"""``/import``: other programs' sessions come in, on the screen."""

import json
import os
import threading

import msgspec
import pytest

from tests.engine.imports.notebook import NOTEBOOK, PROGRAM, said, told
from tests.ui.screen import notices, send, words
from tests.ui.world import World
from tests.visible_text import visible_text
from tests.waiting import until
from tui.app.session_imports import SessionImports
from tui.engine.imports.history import imported_session_id
from tui.importers.protocol import Deletion, Reader
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
def shelf(tmp_path):
    folder = tmp_path / "home" / "notes"
    folder.mkdir(parents=True)

    def put(count):
        for n in range(count):
            talk = told(
                said(f"question {n}"),
                {"kind": "thinking"},
                source_id=f"c{n}",
                name=f"Talk {n}",
                project_path="/shop",
            )
            (folder / f"{n}.json").write_text(json.dumps([talk]))
        return folder

    return put


async def opened(app, pilot, command="/import"):
    await send(pilot, command)
    await until(lambda: isinstance(app.screen, ImportScreen), "the screen")
    await until(lambda: app.screen.step != "finding", "the sources")
    return app.screen


def shown(screen):
    return "\n".join([str(screen.words.render()), *visible_text(screen.choices)])


async def reported(app):
    await until(lambda: isinstance(app.screen, ReportScreen), "the report")
    return app.screen._report.text


async def test_what_cannot_be_looked_at_is_told_before_and_after(world, shelf):
    folder = shelf(1)
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    place = world()
    place.readers = [reader(PROGRAM, "Notebook")]
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot, f"/import {folder}")
        assert "Not read: " in shown(screen)
        await pilot.press("enter")
        assert "broken.zip: The archive is damaged" in await reported(app)
        await pilot.press("escape")
        screen = await opened(app, pilot, f"/import {folder / 'broken.zip'}")
        assert screen.step == "over"
        assert "The archive is damaged" in shown(screen)


async def test_what_was_found_is_imported_by_enter_and_told(world, shelf):
    shelf(3)
    place = world()
    place.readers = [reader(PROGRAM, "Notebook")]
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


async def test_what_a_program_deletes_soon_is_told_before(world, shelf):
    folder = shelf(2)
    os.utime(folder / "0.json", (0, 0))
    place = world()
    deletion = Deletion(lambda _: 30, "*.json")
    place.readers = [
        msgspec.structs.replace(reader(PROGRAM, "Notebook"), deletion=deletion),
    ]
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        assert "Notebook deletes 1 of these sessions within a week" in shown(screen)


async def test_esc_stops_and_the_next_import_adds_the_rest_once(world, shelf, monkeypatch):
    monkeypatch.setattr("tui.engine.imports.report._REPORT_SECONDS", 0)
    shelf(4)
    go_on = threading.Event()
    place = world()
    place.readers = [reader(PROGRAM, "Notebook", go_on)]
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


async def test_esc_ends_the_search_for_sessions_at_once(world, shelf):
    ended = threading.Event()

    def recognises(path, head):
        try:
            while True:
                check()
        finally:
            ended.set()

    place = world()
    place.readers = [Reader("other", "Other", lambda _: iter(()), recognises, NOTEBOOK.read)]
    async with place.running() as (app, pilot):
        await send(pilot, f"/import {shelf(1)}")
        await until(lambda: isinstance(app.screen, ImportScreen), "the screen")
        await pilot.press("escape")
        await until(lambda: app.screen is app.chat, "the chat")
        await until(ended.is_set, "the end of the search")


async def test_keys_are_taken_and_the_program_ends_while_an_import_runs(world, shelf):
    shelf(2)
    go_on = threading.Event()
    place = world()
    place.readers = [reader(PROGRAM, "Notebook", go_on)]
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


async def test_an_import_that_ends_below_the_help_is_left_by_esc(world, shelf):
    shelf(2)
    go_on = threading.Event()
    place = world()
    place.readers = [reader(PROGRAM, "Notebook", go_on)]
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("enter", "f1")
        await until(lambda: app.screen is not screen, "the help")
        go_on.set()
        await reported(app)
        await pilot.press("escape", "escape", "escape")
        await until(lambda: app.screen is app.chat, "the chat")


async def test_esc_leaves_an_import_that_has_failed_unexpectedly(world, shelf, monkeypatch):
    def fail(*_):
        raise ValueError("odd")

    shelf(1)
    monkeypatch.setattr(SessionImports, "run", fail)
    place = world()
    place.readers, place.defect = [reader(PROGRAM, "Notebook")], ValueError
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot)
        await pilot.press("enter")
        await until(lambda: app.defects.first, "the defect")
        await pilot.press("escape")
        await until(lambda: app.screen is not screen, "the chat")


async def test_a_file_can_be_named(world, shelf):
    path = shelf(1) / "0.json"
    place = world()
    place.readers = [reader("other", "Other")]
    async with place.running() as (app, pilot):
        screen = await opened(app, pilot, f"/import {path}")
        assert "✓ Other" in shown(screen)


async def test_a_file_of_this_program_comes_back_at_once(world, tmp_path):
    elsewhere = world()
    session_id = await elsewhere.session("Sorting", "So.", name="Sorting")
    path = tmp_path / "rescue.jsonl"
    path.write_bytes(elsewhere.store.path(session_id).read_bytes())
    place = World(tmp_path / "other")
    async with place.running() as (app, pilot):
        await send(pilot, f"/import {path}")
        await until(lambda: 'Imported "Sorting" (2 messages)' in notices(app), "the notice")
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
            await pilot.press("escape")
            await until(lambda: app.screen is app.chat, "the chat")
        assert "No sessions of other programs" in shown(await opened(app, pilot))


async def test_the_first_screen_offers_what_it_found_until_something_is_imported(world, shelf):
    shelf(1)
    place = world()
    place.readers = [reader(PROGRAM, "Notebook"), reader("other", "Other")]
    async with place.running() as (app, pilot):
        await until(lambda: "Sessions of Notebook were found. /import" in words(app), "the offer")
        await opened(app, pilot)
        await pilot.press("enter")
        await reported(app)
        await pilot.press("escape")
        await until(lambda: app.screen is app.chat, "the chat")
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
