"""Finding in this conversation."""

import asyncio

import pytest
from textual import events
from textual.widgets import Static

from tests.builders import answer, at
from tests.ui.screen import conversation, go_to, press, send, wait_for_answer
from tests.visible_text import visible_text
from tests.waiting import until
from tui.domain.journal.message import Message, ToolCall

pytestmark = pytest.mark.full

_NAMES = {" ": "space", "*": "asterisk", "/": "slash"}


def said(app):
    """What the find line says."""
    return str(app.chat.find_line.query_one(".find-line--count", Static).content)


def marked(app):
    """What is marked on screen, row by row, the current match in brackets."""
    pane = app.chat.transcript
    match, current = (pane.get_component_rich_style(f"transcript--{n}") for n in _MARKS)
    rows = []
    for y in range(pane.scrollable_content_region.height):
        row = []
        for text, style, _ in pane.render_line(y):
            if style and style.bgcolor == match.bgcolor and style.underline:
                row.append(text)
            elif style and style.bgcolor == current.bgcolor and style.bold:
                row.append(f"[{text}]")
        if row:
            rows.append(row)
    return rows


_MARKS = ("match", "match-current")


def result(text):
    """What a tool has answered to the call ``c``."""
    return Message("result", "tool", text, at(), tool_call_id="c")


def top(app):
    """The first row on screen."""
    return visible_text(app.chat.transcript)[0]


def looked_for(app):
    """What the count is of."""
    search = app.controllers.find._search
    return search.needle.text if search and search.matches.whole else None


async def find(app, pilot, text):
    """Look for a text, until all of the session was looked through."""
    await pilot.press("ctrl+g")
    await type_text(pilot, text)
    await until(lambda: looked_for(app) == text, "the search for it")
    await until(lambda: "/" in said(app) or said(app) == "no match", "the end of the search")


async def type_text(pilot, text):
    await pilot.press(*[_NAMES.get(character, character) for character in text])


@pytest.mark.fast
async def test_what_is_typed_is_marked_and_counted(running):
    talk = ("A Login bug", "Try **log**in and 検索", "café, no login")
    async with running(talk=talk) as (_, app, pilot):
        await until(lambda: "no login" in conversation(app))
        await find(app, pilot, "LOGIN")
        await until(lambda: said(app) == "1 / 3")
        found = [["[Login]"], ["log", "in"], ["login"]]
        await until(lambda: marked(app) == found, "the marks")


@pytest.mark.fast
async def test_steps_go_through_the_matches_and_round_the_ends_also_once_it_is_closed(running):
    async with running(talk=("one x", "two x and x")) as (_, app, pilot):
        await find(app, pilot, "x")
        seen = [said(app)]
        for key in ("enter", "down", "f3", "up", "shift+enter", "shift+f3"):
            await pilot.press(key)
            await until(lambda: said(app) != seen[-1])
            seen.append(said(app))
        assert seen == [
            *("1 / 3", "2 / 3", "3 / 3", "from the top: 1 / 3"),
            *("from the end: 3 / 3", "2 / 3", "1 / 3"),
        ]
        assert marked(app) == [["[x]"], ["x", "x"]]
        await pilot.press("escape", "f6")
        await until(lambda: app.focused is app.chat.transcript)
        for key, told in (("n", "2 / 3"), ("N", "1 / 3"), ("N", "from the end: 3 / 3")):
            await pilot.press(key)
            await until(lambda told=told: said(app) == told, told)
            assert app.focused is app.chat.transcript
        await pilot.press("escape")
        await until(lambda: not app.chat.find_line.display, "the end of the line")
        assert app.focused is app.chat.transcript
        await pilot.press("n")
        await until(lambda: app.chat.find_line.display, "the line again")
        await pilot.press("tab", *"Hi")
        await until(lambda: app.chat.prompt.text == "Hi")
        assert app.chat.find_line.text == "x"
        await pilot.press("ctrl+g", "y")
        await until(lambda: app.chat.find_line.text == "y")
        await pilot.press("escape")
        await until(lambda: not app.chat.find_line.display)
        # In the prompt a slash is one.
        await pilot.press("slash", "h")
        await until(lambda: app.chat.prompt.text == "Hi/h")
        assert not app.chat.find_line.display


@pytest.mark.fast
async def test_a_match_that_is_not_loaded_is_counted_and_gone_to(running):
    talk = ("the needle here", *[f"text {n}" for n in range(400)], "needle")
    async with running(talk=talk) as (_, app, pilot):
        await find(app, pilot, "needle")
        await until(lambda: said(app) == "2 / 2")
        await press(pilot, "up", shows="the needle here")
        assert said(app) == "1 / 2"
        assert marked(app) == [["[needle]"]]
        # What stands between is not read.
        current = app.workspace.current
        assert len(current.entries) + len(current.pages.excerpt.entries) < 250
        await pilot.press("down")
        await until(lambda: current.pages.excerpt is None, "the end of the session")
        await until(lambda: said(app) == "2 / 2")
        assert marked(app) == [["[needle]"]]


async def test_what_is_folded_is_counted_on_its_line_and_unfolded_by_a_step(world):
    w = world()
    call = ToolCall("c", "read_file", {"path": "deep.py"})
    talk = await w.session("please", "words")
    w.add(talk, answer("call", "", tool_calls=(call,)), result("one\ndeep\ndeep sea"))
    async with w.running(talk) as (app, pilot):
        await find(app, pilot, "deep")
        await until(lambda: said(app) == "1 / 3")
        assert [row[-1] for row in marked(app)] == ["[ 1 found ]", " 2 found "]
        await pilot.press("enter")
        await until(lambda: said(app) == "2 / 3")
        assert "deep sea" in conversation(app)
        assert [row for row in marked(app) if "found" not in row[-1]] == [["[deep]"], ["deep"]]


async def test_typing_more_begins_where_it_began(running):
    talk = ("apple pie", *[f"text {n}" for n in range(60)], "apple tart")
    async with running(talk=talk) as (_, app, pilot):
        await find(app, pilot, "apple p")
        await until(lambda: said(app) == "1 / 1")
        await until(lambda: "apple pie" in conversation(app))
        await pilot.press("backspace")
        await until(lambda: said(app) == "2 / 2")
        assert "apple tart" in conversation(app)


async def test_nothing_found_moves_nothing_and_a_step_begins_where_the_reader_has_gone(running):
    async with running(talk=[f"text {n}" for n in range(60)]) as (_, app, pilot):
        await until(lambda: "text 59" in conversation(app))
        await pilot.press("pageup")
        await until(lambda: "text 59" not in conversation(app))
        before = top(app)
        await find(app, pilot, "zebra")
        assert said(app) == "no match"
        await pilot.press("enter")
        assert top(app) == before
        assert marked(app) == []
        await pilot.press("escape")
        await find(app, pilot, "text")
        app.chat.transcript.action_to_top()
        await until(lambda: "text 0" in conversation(app), "the top")
        await pilot.press("enter")
        await until(lambda: said(app) == "1 / 60")


@pytest.mark.fast
async def test_escape_closes_and_the_reader_stays_where_he_is(running):
    async with running(talk=("the needle", *[f"text {n}" for n in range(60)])) as (_, app, pilot):
        await type_text(pilot, "draft")
        await find(app, pilot, "needle")
        await until(lambda: "the needle" in conversation(app))
        await pilot.press("escape")
        await until(lambda: not app.chat.find_line.display)
        assert "the needle" in conversation(app)
        await until(lambda: not marked(app))
        await type_text(pilot, " goes on")
        await until(lambda: app.chat.prompt.text == "draft goes on")


@pytest.mark.fast
async def test_keys_typed_after_the_one_that_opens_it_are_what_is_looked_for(running):
    async with running(talk=("ab/c",)) as (_, app, _):
        app.chat.transcript.focus()
        await until(lambda: app.focused is app.chat.transcript)
        for key in (("slash", "/"), ("b", "b"), ("slash", "/"), ("c", "c")):
            app.post_message(events.Key(*key))
        await until(lambda: app.chat.find_line.text == "b/c")
        await until(lambda: said(app) == "1 / 1")


async def test_the_count_grows_with_an_answer(running):
    go_on = asyncio.Event()
    async with running(["word ", go_on, "word word"]) as (w, app, pilot):
        await send(pilot, "a word")
        await until(lambda: "word" in conversation(app).split("●")[-1])
        await find(app, pilot, "word")
        await until(lambda: said(app) == "1 / 2")
        go_on.set()
        await until(lambda: said(app) == "1 / 4")
        await wait_for_answer(w)


async def test_another_session_is_shown_without_it_and_looked_through_also_if_it_is_held(world):
    w = world()
    first, second = await w.session("needle"), await w.session("needle too")
    lease = w.other_program().lease(second)
    async with w.running(first) as (app, pilot):
        await send(pilot, "/reset")
        await find(app, pilot, "needle")
        await until(lambda: said(app) == "1 / 1", "what was said before the reset")
        await go_to(app, pilot, second, "needle too")
        assert not app.chat.find_line.display
        await until(lambda: marked(app) == [], "the end of the marks")
        await find(app, pilot, "too")
        await until(lambda: said(app) == "1 / 1")
    lease.release()


async def test_the_message_cursor_goes_to_what_was_found(world):
    w = world()
    texts = [f"message {number}" for number in range(60)]
    texts[20] += " with the needle"
    talk = await w.session(*texts)
    async with w.running(talk) as (app, pilot):
        await until(lambda: "message 59" in conversation(app), "the end")
        await pilot.press("f6")
        await until(lambda: app.chat.conversation.cursor.message is not None)
        await find(app, pilot, "needle")
        await press(pilot, "enter", shows="with the needle")
        await pilot.press("escape")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("y")
        await until(lambda: app.clipboard == "message 20 with the needle", "the copy")
