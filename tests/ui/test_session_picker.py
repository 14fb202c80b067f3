"""The session picker, and closed sessions that are gone on with."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from tests.ui.screen import (
    close,
    notice,
    rows,
    send,
    status,
    type_at_once,
)
from tests.visible_text import visible_text
from tests.waiting import until
from tui.engine.library.session_pages import PickerPages
from tui.screens.session_picker import SessionPicker

pytestmark = pytest.mark.full

OTHER = "project:/elsewhere/blog"


async def picker(app, count=None):
    """Until the picker is on top, and shows so many sessions."""
    await until(lambda: isinstance(app.screen, SessionPicker), "the picker")
    screen = app.screen
    await until(lambda: screen.views.content, "its sessions")
    if count is not None:
        await until(lambda: len(screen.shown) == count, f"{count} sessions")
    return screen


@asynccontextmanager
async def picking(w, count, size=(120, 40)):
    """A run of the program that shows so many sessions after F2."""
    async with w.running(size=size) as (app, pilot):
        await pilot.press("f2")
        yield app, pilot, await picker(app, count)


async def test_a_start_may_begin_with_it(world):
    w = world()
    there = await w.session("Hello", "Yes.")
    w.first_command = "sessions"
    async with w.running() as (app, pilot):
        await picker(app, 1)
        await pilot.press("enter")
        await until(lambda: app.chat.shown == there, "the session")


def titles(screen):
    return [row.label for row in screen.shown]


def about(screen):
    return str(screen.about.content)


def views(screen):
    return str(screen.views.content)


async def some(w):
    """Sessions of every state and of two projects; gives their ids by title."""
    made = {
        title: await w.session(title, "Yes.")
        for title in ("Kept", "Archived one", "Deleted one", "Newest")
    }
    made["Far"] = await w.session("Far", "Yes.", scope=OTHER, project="/elsewhere/blog")
    w.store.archive(made["Archived one"])
    w.store.delete(made["Deleted one"])
    return made


@pytest.mark.fast
async def test_each_command_opens_it_with_its_own_view_and_a_text_behind_it_is_its_filter(world):
    w = world()
    await some(w)
    here, archive = ["Newest", "Kept"], ["Archived one", "Deleted one"]
    async with w.running() as (app, pilot):
        for typed, expected, shown in (
            ("/sessions", ["Far", *here, *archive], "[All]"),
            ("/sessions far", ["Far"], "[All]"),
            ("/load", ["Far", *here, *archive], "[All]"),
            ("/session list", [*here, *archive], "[All]"),
            ("/resume", ["Far", *here], "[Closed]"),
        ):
            await send(pilot, typed)
            screen = await picker(app, len(expected))
            assert titles(screen) == expected
            assert shown in views(screen)
            assert ("shop" in views(screen)) == (typed == "/session list")
            assert screen.line.value == ("far" if "far" in typed else "")
            await close(app, pilot)


@pytest.mark.fast
async def test_f2_lists_the_states_and_projects_and_escape_leads_back(world):
    w = world()
    made = await some(w)
    lease = w.other_program().lease(made["Far"])
    async with w.running(made["Kept"]) as (app, pilot):
        await pilot.press("f2")
        screen = await picker(app, 5)
        states = {row.label: (row.state, row.scope) for row in screen.shown}
        assert states == {
            "Far": ("open elsewhere", "blog"),
            "Newest": ("closed", "shop"),
            "Kept": ("open here", "shop"),
            "Archived one": ("archived", "shop"),
            "Deleted one": ("in the trash", "shop"),
        }
        await close(app, pilot)
        assert app.chat.prompt.has_focus_within
    lease.release()


@pytest.mark.fast
async def test_what_is_typed_filters_by_title_project_and_id_and_ctrl_a_by_this_project(world):
    w = world()
    made = await some(w)
    async with picking(w, 5) as (app, pilot, screen):
        await pilot.press("ctrl+a")
        await picker(app, 4)
        assert "Far" not in titles(screen)
        await pilot.press("ctrl+a")
        await picker(app, 5)
        await pilot.press(*"blog")
        await until(lambda: titles(screen) == ["Far"], "the project's")
        await pilot.press("ctrl+u", *"newe")
        await until(lambda: titles(screen) == ["Newest"], "the title's")
        await pilot.press("ctrl+u", *made["Kept"][-6:])
        await until(lambda: titles(screen) == ["Kept"], "the id's")
        await pilot.press("ctrl+u", *"zzz")
        await until(lambda: about(screen) == 'No session matches "zzz".', "that there is none")
        # Letters are text until the list has the keys.
        await pilot.press("ctrl+u", "p", "b", "down")
        assert screen.line.value == "pb"
        await until(lambda: screen.sessions.has_focus, "the list")
        await pilot.press("slash", "x")
        await until(lambda: screen.line.value == "pbx", "the filter")


@pytest.mark.fast
async def test_enter_opens_and_what_is_typed_next_is_meant_for_that_session(world):
    w = world()
    made = await some(w)
    async with picking(w, 5) as (app, pilot, _):
        await pilot.press(*"far", "enter", *"hello")
        await until(lambda: made["Far"] in status(app), "the session")
        await until(lambda: app.chat.prompt.draft == "hello", "the text")
        assert app.screen is app.chat
        await until(lambda: 'Opened "Far"' in notice(app))
        assert w.other_program().holder(made["Far"])


@pytest.fixture
def may_read(monkeypatch):
    """Reads of the picker's pages wait for this."""
    gate, read_more = asyncio.Event(), PickerPages.read_more

    async def read_later(pages, count=0):
        await gate.wait()
        await read_more(pages, count)

    monkeypatch.setattr(PickerPages, "read_more", read_later)
    return gate


def waits(app):
    """True while the picker waits for the session to choose."""
    return isinstance(app.screen, SessionPicker) and app.screen._let_keys_go is not None


@pytest.mark.fast
async def test_enter_before_the_sessions_are_read_opens_the_one_it_was_meant_for(world, may_read):
    w = world()
    first, second = await w.session("First", "Yes."), await w.session("Second", "Yes.")
    async with w.running(second) as (app, _):
        await until(lambda: rows(app) == [second, first], "the list")
        type_at_once(app, "abc<f2>First<enter>add def")
        await until(lambda: waits(app), "the choice")
        assert app.screen.line.value == "First"
        may_read.set()
        await until(lambda: first in status(app), "the session")
        await until(lambda: app.chat.prompt.text == "add def", "the text")
    assert w.drafts().load(second).text == "abc"


@pytest.mark.fast
async def test_enter_behind_letters_in_one_read_waits_for_what_they_filter(world):
    w = world()
    first, second = await w.session("First", "Yes."), await w.session("Second", "Yes.")
    async with w.running(second) as (app, pilot):
        await pilot.press("f2")
        await picker(app, 2)
        type_at_once(app, "First<enter>add", in_one_read=True)
        await until(lambda: first in status(app), "the session")
        await until(lambda: app.chat.prompt.text == "add", "the text")


async def test_enter_behind_tab_waits_for_the_sessions_of_that_view(world, may_read):
    w = world()
    made = await some(w)
    may_read.set()
    async with picking(w, 5) as (app, _, _):
        may_read.clear()
        type_at_once(app, "<tab><tab><enter>add")
        await until(lambda: waits(app), "the choice")
        may_read.set()
        await until(lambda: made["Archived one"] in status(app), "the session")
        await until(lambda: app.chat.prompt.text == "add", "the text")


async def test_escape_cancels_an_enter_that_waits_for_the_sessions(world, may_read):
    w = world()
    first, second = await w.session("First", "Yes."), await w.session("Second", "Yes.")
    async with w.running(second) as (app, _):
        await until(lambda: rows(app) == [second, first], "the list")
        type_at_once(app, "<f2>First<enter>add")
        await until(lambda: waits(app), "the choice")
        type_at_once(app, "<escape>")
        await until(lambda: app.screen is app.chat, "the chat")
        may_read.set()
        type_at_once(app, "def")
        await until(lambda: app.chat.prompt.text == "def", "the text")
        assert w.workspace.current.id == second


async def test_numbers_are_those_of_the_list_shown_last(world, tmp_path):
    w = world()
    old = await w.session("Old", "Yes.", project=str(tmp_path))
    new = await w.session("New", "Yes.", project=str(tmp_path))
    async with picking(w, 2) as (app, pilot, _):
        await pilot.press(*"old")
        await picker(app, 1)
        await pilot.press("escape")
        await send(pilot, "/resume 1")
        await until(lambda: old in status(app), "the only one in the list")
        await pilot.press("f2")
        await picker(app, 2)
        await pilot.press("escape")
        await send(pilot, "/load 3")
        await until(lambda: "There is no number 3 in the last list (1 to 2)." in notice(app))
        await send(pilot, "/load 1")
        await until(lambda: w.workspace.current.id in (old, new), "the first")


async def test_an_archived_session_is_looked_at_where_it_is_and_one_in_the_trash_brought_back(
    world,
):
    w = world()
    made = await some(w)

    def status_of(title):
        return w.other_program().entry(made[title]).status

    async with picking(w, 5) as (app, pilot, screen):
        await pilot.press("tab", "tab")
        await picker(app, 1)
        assert "[Archive]" in views(screen)
        assert about(screen).startswith("shop · archived just now")
        await pilot.press("enter")
        await until(lambda: made["Archived one"] in status(app), "the session")
        assert status_of("Archived one") == "archived"
        assert not w.other_program().holder(made["Archived one"])
        await pilot.press("f2")
        sessions = (await picker(app, 5)).sessions
        await pilot.press("shift+tab")
        await picker(app, 1)
        await pilot.press("enter")
        await until(lambda: sessions.can_be_answered, "the question")
        assert 'Bring back "Deleted one"? Enter' in visible_text(sessions)[0]
        assert status_of("Deleted one") == "trashed"
        await pilot.press("enter")
        await until(lambda: made["Deleted one"] in status(app), "the session")
        assert status_of("Deleted one") == "open"
        await pilot.press("f2")
        await picker(app, 5)
        await pilot.press(*"archived", "down", "b")
        await until(lambda: made["Archived one"] in status(app), "the session")
        await until(lambda: status_of("Archived one") == "open")
        await until(lambda: 'Brought back "Archived one"' in notice(app))


@pytest.mark.fast
async def test_letters_rename_archive_delete_and_undo_in_any_project(world):
    w = world()
    made = await some(w)
    other = w.other_program()
    async with picking(w, 5) as (app, pilot, screen):
        await pilot.press(*"blog", "down", "r")
        await until(lambda: screen.rename.region.right == app.size.width, "a line to the edge")
        await pilot.press(*"Roses", "enter")
        await until(lambda: titles(screen) == ["Roses"], "another title")
        await pilot.press("slash", "ctrl+u", "down", "a")
        await until(lambda: about(screen).startswith("shop · "), "the next session")
        assert other.entry(made["Far"]).status == "archived"
        await until(lambda: notice(app) == 'Archived "Roses". u brings it back', "the key")
        await pilot.press("d")
        await until(lambda: screen.sessions.can_be_answered, "the question")
        assert 'Delete "Newest"? Enter' in visible_text(screen.sessions)[0]
        await pilot.press("x")
        assert other.entry(made["Newest"]).status == "closed"
        await pilot.press("d")
        await until(lambda: screen.sessions.can_be_answered, "the question")
        await pilot.press("enter")
        await until(lambda: other.entry(made["Newest"]).status == "trashed", "the trash")
        await pilot.press("u", "u")
        await until(lambda: other.entry(made["Far"]).status == "closed", "both back")
        await until(lambda: titles(screen)[:2] == ["Roses", "Newest"], "their rows")


@pytest.mark.fast
async def test_the_preview_shows_the_highlighted_session_and_leaves_it_alone(world):
    w = world()
    made = await some(w)
    before = {path: path.read_bytes() for path in w.root.rglob("*.jsonl")}
    async with picking(w, 5) as (_, pilot, screen):
        await until(lambda: "  Far" in visible_text(screen.preview), "its question")
        await pilot.press("down", "down")
        await until(lambda: "  Newest" in visible_text(screen.preview), "the next one")
        assert not w.other_program().holder(made["Newest"])
    assert before == {path: path.read_bytes() for path in before}


async def test_a_pin_leads_to_the_top_and_stays_after_a_restart(world):
    w = world()
    made = await some(w)
    async with picking(w, 5) as (_, pilot, screen):
        await pilot.press("down", "down", "down", "p")
        await until(lambda: titles(screen)[0] == "Kept", "the pinned one")
        assert screen.sessions.highlighted.label == "Kept"
    async with picking(w, 5) as (_, pilot, screen):
        assert titles(screen)[0] == "Kept"
        await pilot.press("down", "p")
        await until(lambda: titles(screen)[:3] != ["Kept", "Far", "Newest"], "its old place")
    assert not w.other_program().entry(made["Kept"]).pinned


async def test_older_sessions_come_as_one_scrolls_or_filters(world):
    w = world()
    for number in range(120):
        await w.session(f"Number{number:03}")
    async with w.running(size=(40, 10)) as (app, pilot):
        await pilot.press("f2")
        screen = await picker(app)
        await until(lambda: len(screen.shown) == 50, "the first page")
        await pilot.press("down", "end")
        await until(lambda: len(screen.shown) >= 100, "the second page")
        await pilot.press("slash", *"number007")
        await until(lambda: titles(screen) == ["Number007"], "one of the last")


async def test_at_40_by_10_all_of_it_can_be_used(world):
    w = world()
    made = await some(w)
    async with picking(w, 5, size=(40, 10)) as (_, pilot, screen):
        assert screen.sessions.height >= 4
        assert screen.about.region.bottom <= 9
        await pilot.press("down", "down", "enter")
        await until(lambda: w.workspace.current.id == made["Newest"], "the session")


async def test_what_cannot_be_read_is_said_in_the_picker(world, monkeypatch):
    w = world()
    await some(w)
    async with w.running() as (app, pilot):
        sessions = w.root / "sessions"
        await until(lambda: app.chat.rows is not None, "the sidebar")
        sessions.rename(w.root / "away")
        sessions.write_text("in the way")
        await pilot.press("f2")
        screen = await picker(app)
        assert "move it away" in about(screen)
        sessions.unlink()
        (w.root / "away").rename(sessions)


async def test_the_palette_and_completion_know_the_sessions_of_other_projects(world):
    w = world()
    made = await some(w)
    async with w.running() as (app, pilot):
        await until(lambda: app.chat.rows and app.chat.rows.others, "the others")
        await pilot.press(*"/load", "space", *"blog")
        await until(lambda: app.chat.prompt.completing, "the completion")
        await pilot.press("tab", "enter")
        await until(lambda: made["Far"] in status(app), "the session")
