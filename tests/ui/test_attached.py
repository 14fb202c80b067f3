"""Files, pictures and links of the conversation: shown, folded, opened."""

import asyncio
from pathlib import Path

import pytest
from textual.widgets import OptionList

from tests.attached import NOTES, PNG, picture, showing
from tests.ui.screen import (
    answer,
    answered,
    close,
    conversation,
    have_answered,
    key_line,
    lines,
    notices,
    press,
    question,
    send,
    terminal_rows,
)
from tests.visible_text import results_text, visible_text
from tests.waiting import until
from tests.widgets.transcript.conftest import asked
from tui.commands import viewers
from tui.domain.journal.message import FileBlock
from tui.engine.sessions.open_session import take_session

TYPED = "Read @notes.txt"
ZEBRA = FileBlock("src/a.py", "def zebra():\n    return 42\n", 28)


async def test_title_recall_keys_and_versions_of_a_question_with_files(running):
    talk = (showing(TYPED, NOTES, picture()), "done")
    async with running(["second"], talk=talk, size=(140, 40)) as (w, app, pilot):
        await until(lambda: "[file: notes.txt, 9 bytes]" in conversation(app))
        assert w.workspace.current.label() == TYPED
        await until(lambda: any(TYPED in row[:30] for row in terminal_rows(app)), "the sidebar")
        await pilot.press("up")
        await until(lambda: app.chat.prompt.text == TYPED)
        await pilot.press("down", "f6", "k")
        await until(lambda: "Enter Fold" in key_line(app))
        assert "o Open" in key_line(app)
        assert "Copy code" not in key_line(app)
        await pilot.press("enter")
        await until(lambda: "c Copy code" in key_line(app))
        await pilot.press("j", "e", "enter")
        await until(lambda: app.chat.prompt.text == TYPED)
        app.chat.prompt.set_text("Read nothing")
        await pilot.press("enter")
        await answered(w, app, "version 2/2")
        assert "notes.txt" not in conversation(app)
        await press(pilot, "f6", "k", "left_square_bracket", shows="[file: notes.txt, 9 bytes]")


def _read(path):
    return path, path.read_bytes()


@pytest.fixture
def opened(monkeypatch):
    """The files that were given to the desktop, with their bytes."""
    given = []

    async def open_outside(target):
        given.append(await asyncio.to_thread(_read, Path(target)))
        return ""

    monkeypatch.setattr("tui.commands.viewers.open_outside", open_outside)
    return given


async def test_o_opens_what_is_chosen_from_a_list_after_asking_and_its_file_is_gone_at_the_end(
    world, opened
):
    w = world()
    there = await w.session(showing("As on https://example.com/a", NOTES, picture()), "nice")
    w.other_program().add_attachment(there, PNG)
    async with w.running(there) as (app, pilot):
        await until(lambda: "[image: photo.png, 70 bytes]" in conversation(app))
        await pilot.press("f6", "k", "k")
        for answer in "ny":
            await pilot.press("o")
            await until(lambda: bool(app.screen.query("OptionList")))
            offered = [str(each.prompt) for each in app.screen.query_one(OptionList).options]
            assert offered == ["https://example.com/a", "[image: photo.png, 70 bytes]"]
            await pilot.press("down", "enter")
            assert (await question(app)).startswith("Open photo.png ? (y/n)")
            assert not opened
            await pilot.press(answer)
            await until(lambda: app.screen is app.chat)
        await until(lambda: "Opened photo.png" in notices(app))
        ((path, data),) = opened
        assert data == PNG
        assert path.exists()
    assert not path.parent.exists()


async def test_a_click_on_a_picture_asks_and_one_that_is_gone_says_so(running, opened):
    async with running(talk=(showing("Look", picture()), "nice")) as (_, app, pilot):
        await until(lambda: "[image: photo.png" in conversation(app))
        row = next(y for y, text in enumerate(lines(app)) if "[image:" in text)
        await pilot.click(app.chat.transcript, offset=(8, row))
        await question(app)
        await press(pilot, "y", says="Not opened: photo.png is missing or damaged.")
        assert not opened


async def test_a_search_leads_into_a_folded_file_and_unfolds_it(running):
    async with running(talk=(showing("Read @src/a.py", ZEBRA), "done")) as (_, app, pilot):
        await until(lambda: "[file: src/a.py, 28 bytes]" in conversation(app))
        assert "zebra" not in conversation(app)
        await press(pilot, "ctrl+g", *"zebra", shows="1 found")
        await press(pilot, "enter", shows="def zebra():")


async def test_a_message_of_another_program_has_its_files_folded(world):
    w = world()
    there = await w.session("hello", "hi")
    holder = take_session(w.other_program(), there, w.clock, resumed=True)
    async with w.running(there) as (app, _):
        await until(lambda: "hi" in conversation(app))
        holder.add_message("user", showing("Read @notes.txt", NOTES))
        await holder.save()
        await until(lambda: "[file: notes.txt, 9 bytes]" in conversation(app), "the file")
        assert "Buy milk." not in conversation(app)
        holder.abandon()


async def test_a_hit_of_the_search_in_a_file_is_gone_to_and_shown(world):
    w = world()
    await w.session(showing("Read @src/a.py", ZEBRA), "done")
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+f", *"zebra")
        await until(lambda: results_text(app.screen) == "zebra", "the answer")
        preview = app.screen.preview
        await until(lambda: "def zebra():" in "\n".join(visible_text(preview)), "the preview")
        await pilot.press("enter")
        await until(lambda: app.screen is app.chat, "the session")
        await until(lambda: "def zebra():" in conversation(app), "the file")


@pytest.fixture
def links_opened(monkeypatch):
    """The targets that were given to the desktop."""
    targets = []

    async def open_outside(target):
        targets.append(target)
        return ""

    monkeypatch.setattr(viewers, "open_outside", open_outside)
    return targets


async def ask_where(world, pilot, app, text):
    await have_answered(world, pilot, "Where?", text)
    await pilot.press("f6", "o")


async def test_o_opens_a_link_after_asking(running, links_opened):
    async with running(["Read [the notes](https://example.com/notes)."]) as (w, app, pilot):
        await ask_where(w, pilot, app, "the notes (https://example.com/notes)")
        asked = await question(app)
        assert asked.startswith("Open https://example.com/notes ? (y/n)")
        assert "The link says: the notes" in asked
        await pilot.press("enter")
        await until(lambda: app.screen is app.chat, "the answer, which is no")
        assert not links_opened
        await pilot.press("o")
        await answer(app, pilot, "y")
        await until(lambda: links_opened == ["https://example.com/notes"])


async def test_of_several_links_none_is_chosen_by_escape_and_one_by_enter_or_two_clicks(
    running, links_opened
):
    async with running(["Read https://a.example or https://b.example."]) as (w, app, pilot):

        async def links():
            await until(lambda: bool(app.screen.query("OptionList")))
            found = app.screen.query_one(OptionList)
            await until(lambda: found.highlighted == 0)
            return found

        await ask_where(w, pilot, app, "https://b.example")
        await links()
        await close(app, pilot)
        assert app.chat.transcript.has_focus
        await pilot.press("o")
        await links()
        await pilot.press("down", "enter")
        assert "Open https://b.example ?" in await question(app)
        assert not links_opened
        await pilot.press("y")
        await until(lambda: links_opened == ["https://b.example"])
        await pilot.press("o")
        listed = await links()
        listed.action_select()
        listed.action_select()
        assert "Open https://a.example ?" in await question(app)
        assert len(app.screen_stack) == 2
        await pilot.press("y")
        await until(lambda: links_opened[1:] == ["https://a.example"])
        assert app.screen is app.chat


async def test_where_there_is_nothing_to_open_it_says_so(running, links_opened):
    async with running(["Nowhere."]) as (w, app, pilot):
        await ask_where(w, pilot, app, "Nowhere.")
        await until(lambda: "No link or picture in this message." in notices(app))
        await pilot.press("f6")
        await send(pilot, "/private")
        await until(lambda: w.workspace.current.private, "a private session")
        app.chat.transcript.show([asked(showing("Look", picture()))], earlier=False)
        await press(pilot, "f6", "o", says="No viewer for a picture of a private session")
        assert app.screen is app.chat
        assert not links_opened
