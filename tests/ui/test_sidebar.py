"""The list of sessions, and their names."""

import asyncio
import importlib

import pytest
from textual import events
from textual.command import CommandList

from tests.ui.screen import (
    have_answered,
    highlight,
    notices,
    press,
    rows,
    send,
    status,
    wait_for_answer,
)
from tests.waiting import until
from tui.errors import ModelUnavailable
from tui.storage import state_files
from tui.storage.state_files import UiState


def name_of(world, session_id):
    """What a session is called on disk."""
    return world.other_program().journal(session_id).load().name


def labels(app):
    return {row.id: row.label for row in app.chat.rows.rows}


async def rename(app, pilot):
    """Choose in the palette that the session on screen is to be renamed."""
    await pilot.press("ctrl+p")
    app.post_message(events.Paste("rename this"))
    await until(lambda: len(app.screen.query_one(CommandList).options) == 1, "the action")
    await pilot.press("enter")
    await until(lambda: app.chat.sidebar.renaming, "the line")


async def test_r_renames_a_session_that_is_neither_open_here_nor_elsewhere_nor_on_screen(world):
    w = world()
    held = await w.session("Hello", "Yes.")
    there = await w.session("What is two?", "It is 2.", name="old")
    lease = w.other_program().lease(held)
    async with w.running() as (app, pilot):
        first = w.workspace.current.id
        await until(lambda: there in rows(app), "the list")
        await highlight(app, there)
        await pilot.press("r", *" and new", "enter")
        await until(lambda: labels(app).get(there) == "old and new", "the new label")
        assert name_of(w, there) == "old and new"
        assert w.other_program().holder(there) is None
        assert w.workspace.current.id == first
        assert app.chat.sidebar.has_focus_within
        await pilot.press("r", "ctrl+u", "enter")
        await until(lambda: labels(app).get(there) == "What is two?", "its own words")
        assert name_of(w, there) == ""
        await highlight(app, held)
        await press(pilot, "r", *"mine", "enter", says="is open in another window")
        assert name_of(w, held) == ""
        # A new session takes the keys from the list.
        await pilot.press("n", *"hi")
        await until(lambda: app.chat.prompt.text == "hi", "the keys")
    lease.release()


async def test_renaming_an_old_session_leaves_it_where_it_is_in_the_list(world):
    w = world()
    made = [await w.session(f"Number {number}", "Yes.") for number in range(60)]
    async with w.running() as (app, pilot):
        await until(lambda: made[-1] in rows(app), "the list")
        await highlight(app, rows(app)[-1])
        await until(lambda: made[0] in rows(app), "the second page")
        before = rows(app)
        await highlight(app, made[0])
        await pilot.press("r", *"oldest", "enter")
        await until(lambda: labels(app).get(made[0]) == "oldest", "the new label")
        assert rows(app) == before


async def test_the_palette_renames_the_session_on_screen_and_leads_back_to_the_prompt(running):
    async with running(talk=("Hello", "Yes.")) as (w, app, pilot):
        there = w.workspace.current.id
        await until(lambda: there in rows(app), "the list")
        await pilot.press(*"draft")
        await rename(app, pilot)
        await pilot.press(*"named", "enter", *" goes on")
        await until(lambda: name_of(w, there) == "named", "the name")
        await until(lambda: app.chat.prompt.text == "draft goes on", "the prompt")
        await until(lambda: "named" in status(app), "the status bar")


@pytest.mark.full
async def test_renaming_shows_a_hidden_list_for_as_long(world):
    w = world()
    there = await w.session("Hello", "Yes.", name="one")
    for size, hide in (((120, 40), ["ctrl+b", "ctrl+b"]), ((50, 20), [])):
        async with w.running(there, size=size) as (app, pilot):
            await pilot.press(*hide)
            await until(lambda app=app: not app.chat.sidebar.display, "the list to be hidden")
            await rename(app, pilot)
            assert app.chat.sidebar.display
            await pilot.press("x", "escape")
            await until(lambda app=app: not app.chat.sidebar.display, "the list to go")
            await pilot.press("y")
            await until(lambda app=app: app.chat.prompt.text.endswith("y"), "the prompt")
            await pilot.press("backspace")
    assert name_of(w, there) == "one"


async def test_a_session_of_another_project_is_renamed_although_it_has_no_row(world):
    w = world()
    there = await w.session("Hello", "Yes.", scope="project:/garden")
    async with w.running() as (app, pilot):
        await until(lambda: rows(app), "the list")
        await w.workspace.switcher.look_at(there)
        app.controllers.presenter.show_session()
        await rename(app, pilot)
        await pilot.press(*"roses", "enter")
        await until(lambda: name_of(w, there) == "roses", "the name")


@pytest.mark.full
async def test_the_width_is_the_same_at_the_next_start(running):
    async with running() as (w, app, pilot):
        await until(lambda: rows(app), "the list")
        app.chat.sidebar.focus()
        await until(lambda: app.chat.sidebar.has_focus_within, "the focus")
        await pilot.press("ctrl+right", "ctrl+right")
        # Left at once: what was not written yet is then.
    assert state_files.read_ui_state(w.ui_state_file) == UiState(sidebar_width=34)
    async with w.running() as (app, _):
        await until(lambda: app.chat.sidebar.outer_size.width == 34, "the width")
        await until(lambda: rows(app), "the list")


async def test_a_width_that_cannot_be_kept_disturbs_nobody(world):
    w = world()
    w.ui_state_file.parent.write_bytes(b"a file in the place of the directory")
    async with w.running() as (app, pilot):
        await until(lambda: rows(app), "the list")
        app.chat.sidebar.focus()
        await until(lambda: app.chat.sidebar.has_focus_within, "the focus")
        await pilot.press("ctrl+right")
        await until(lambda: app.chat.sidebar.outer_size.width == 32, "the width")
    assert app.return_code in (None, 0)


async def test_alt_and_a_digit_show_one_of_the_first_rows(world):
    w = world()
    made = [await w.session(f"Number {number}", "Yes.") for number in range(12)]
    async with w.running() as (app, pilot):
        await until(lambda: made[0] in rows(app), "the list")
        for digit in (2, 9, 4, 1, 3, 5, 7, 6, 8):
            wanted = rows(app)[digit - 1]
            await pilot.press(f"alt+{digit}")
            await until(lambda wanted=wanted: wanted in status(app), "the session")
            assert app.chat.prompt.has_focus_within
            # As it was: looking at a session moves none.
            await until(lambda: made[0] in rows(app), "the list")
        await pilot.press(*"typed")
        await until(lambda: app.chat.prompt.text == "typed", "the prompt")


@pytest.mark.full
async def test_walking_through_fifty_sessions_writes_nothing_and_ends_at_the_last(
    world, monkeypatch
):
    w = world()
    made = [await w.session(f"Number {number}", "Yes.") for number in range(60)]
    async with w.running(made[-1]) as (app, pilot):
        await until(lambda: made[11] in rows(app), "the list")
        await w.workspace.switcher.settle()
        written = []
        watched = (
            *[("tui.storage.disk", name) for name in ("write_whole", "sync_file", "replace")],
            *[("tui.storage.disk.os", name) for name in ("rename", "link", "unlink")],
        )
        for module, name in watched:
            original = _attribute(module, name)

            def note(*arguments, name=name, original=original, **options):
                written.append(name)
                return original(*arguments, **options)

            monkeypatch.setattr(f"{module}.{name}", note)
        for _ in range(55):
            await pilot.press("alt+down")
        await until(lambda: made[4] in status(app), "the last one")
        for _ in range(50):
            await pilot.press("alt+up")
        await until(lambda: made[54] in status(app), "the way back")
        await w.workspace.switcher.settle()
        assert written == []


def _attribute(module, name):
    found = importlib.import_module("tui.storage.disk")
    return getattr(found.os if module.endswith(".os") else found, name)


@pytest.mark.full
async def test_walking_with_the_list_hidden_goes_on_beyond_the_first_page(world):
    w = world()
    made = [await w.session(f"Number {number}", "Yes.") for number in range(60)]
    async with w.running(made[-1], size=(70, 20)) as (app, pilot):
        await until(lambda: made[11] in rows(app), "the list")
        for _ in range(40):
            await pilot.press("alt+down")
        await until(lambda: made[0] in rows(app), "the second page")
        for _ in range(19):
            await pilot.press("alt+down")
        await until(lambda: made[0].removeprefix("session-") in status(app), "the last one")


async def asked_two(w, pilot):
    """A session with one question and its answer."""
    await send(pilot, "What is two?")
    await until(lambda: w.model.requests, "the request")
    await wait_for_answer(w)


async def test_name_alone_offers_a_title_of_the_model_to_be_edited(running):
    may_answer = asyncio.Event()
    async with running(["It is 2."], [may_answer, '"A number"']) as (w, app, pilot):
        await asked_two(w, pilot)
        await send(pilot, "/name")
        line = app.chat.sidebar.rename_line
        await until(lambda: line.placeholder == "Asking scripted:model for a title…", "the words")
        await pilot.press("enter")
        may_answer.set()
        await until(lambda: line.value == "A number", "the title")
        assert w.workspace.current.session.name == ""
        await pilot.press(*" two", "enter")
        await until(lambda: name_of(w, w.workspace.current.id) == "A number two", "the name")


async def test_escape_ends_the_request_and_leaves_the_title(running):
    async with running(["It is 2."], [asyncio.Event()]) as (w, app, pilot):
        await asked_two(w, pilot)
        await pilot.press("ctrl+b", "r", "tab")
        await until(lambda: len(w.model.requests) == 2, "the request")
        await pilot.press("escape")
        await until(lambda: w.model.closed == 2, "its end")
        assert app.chat.sidebar.rows.has_focus
        assert w.workspace.current.label() == "What is two?"


async def test_a_session_gets_its_title_by_itself_where_that_is_set(world):
    two, three = ["It is 2."], ["It is 3."]
    failing = [ModelUnavailable("It is gone.")]
    w = world(two, ["A number"], three, two, failing, three, two, three, two, three)
    w.titles_by_model = True

    async def asked_twice(first, count, name):
        await send(pilot, first)
        made = len(w.model.requests)
        await have_answered(w, pilot, "What is two?")
        await until(lambda: w.model.closed == made + count, "the title")
        await until(lambda: w.workspace.current.session.name == name, "the name")
        await send(pilot, "And three?")
        await until(lambda: len(w.model.requests) == made + count + 1, "the request")
        await wait_for_answer(w)
        assert w.model.requests[-1].messages[-1].text == "And three?"

    async with w.running() as (app, pilot):
        await asked_twice("/stop", 2, "A number")
        assert name_of(w, w.workspace.current.id) == "A number"
        # One that fails by itself is not told.
        await asked_twice("/new", 2, "")
        assert "gone" not in notices(app)
        assert w.workspace.current.label() == "What is two?"
        # One with a name and a private one are left alone.
        await asked_twice("/new Mine", 1, "Mine")
        await asked_twice("/private", 1, "")
        assert len(w.model.requests) == 10
