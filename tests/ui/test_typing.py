"""Keys that come all at once, as over a slow line, around every change of what is on screen."""

import asyncio

import pytest
from textual import events

from tests.ui.screen import (
    conversation,
    go_to,
    have_answered,
    press,
    rows,
    send,
    terminal_rows,
    type_at_once,
    wait_for_answer,
)
from tests.ui.world import messages
from tests.waiting import until
from tui.app.appearance import Appearance

OWN = {
    "session-next": "f11",
    "sidebar-choose": "l",
    "filter-done": "f9",
    "stop": "f12",
}


def kept(w, session_id):
    """What is on disk of what was typed in a session, be it open by then or only looked at."""
    own, asides = w.drafts().load(session_id), w.drafts().aside(session_id)
    return "".join(draft.text for draft in (own, *(each for _, each in asides)) if draft)


def typed(conversation):
    """The last that was typed in a session that is open by now."""
    return conversation.prompt.text[-3:] if conversation.opened else None


@pytest.mark.full
@pytest.mark.parametrize(
    ("keys", "newer", "older", "own"),
    [
        ("abc<ctrl+b><down><enter>add def", "abc", "add def", {}),
        ("abc<ctrl+b><down><enter>add<ctrl+b><up><enter>def", "abcdef", "add", {}),
        ("abc<ctrl+b>/First<enter><enter>add def", "abc", "add def", {}),
        ("abc<alt+down>add def", "abc", "add def", {}),
        ("abc<alt+down><alt+up><alt+down>add def", "abc", "add def", {}),
        ("abc<alt+2>add def", "abc", "add def", {}),
        ("abc<f11>add def", "abc", "add def", OWN),
        ("abc<ctrl+b><down>ladd def", "abc", "add def", OWN),
        ("abc<ctrl+b>/First<f9>ladd def", "abc", "add def", OWN),
        ("abc<ctrl+b><escape>add", "abcadd", "", {}),
        ("abc<ctrl+b><f12>add", "abcadd", "", OWN),
        ("abc<ctrl+b>/first<enter><f12>add", "abcadd", "", OWN),
    ],
)
async def test_what_is_typed_behind_a_key_that_leads_elsewhere_belongs_there(
    world, keys, newer, older, own
):
    w = world()
    w.appearance = Appearance(keys=own)
    first = await w.session("First", "Yes.")
    second = await w.session("Second", "Yes.")
    async with w.running(second) as (app, _):
        await until(lambda: rows(app) == [second, first], "the list")
        type_at_once(app, keys)
        await until(lambda: typed(w.workspace.current) == keys[-3:], "the last keys")
    assert [kept(w, each) for each in (second, first)] == [newer, older]
    # Nothing was sent, archived or deleted by keys that were meant for another place.
    assert [len(messages(w, each)) for each in (second, first)] == [2, 2]
    assert {w.other_program().entry(each).status for each in (second, first)} <= {"open", "closed"}


async def test_letters_that_came_in_one_read_behind_text_for_the_prompt_are_text(world):
    w = world()
    first = await w.session("First", "Yes.")
    second = await w.session("Second", "Yes.")
    async with w.running(second) as (app, _):
        await until(lambda: rows(app) == [second, first], "the list")
        type_at_once(app, "please<tab> add<ctrl+b>aud<f6>y/", in_one_read=True)
        await until(lambda: app.chat.prompt.text == "please addaudy/", "the text")
        await until(lambda: app.focused is app.chat.transcript, "the focus")
        # In another read they are keys again.
        type_at_once(app, "<ctrl+b>a", in_one_read=True)
        await until(lambda: w.other_program().entry(second).status == "archived", "the archive")
        assert w.other_program().entry(first).status == "closed"


async def test_what_is_typed_after_a_click_in_the_conversation_is_for_the_prompt(running):
    async with running(["Two words."]) as (w, app, pilot):
        await have_answered(w, pilot, "hello")
        for key in ("escape", "ctrl+b"):
            app.chat.prompt.set_text("")
            await pilot.press(key)
            await pilot.double_click(app.chat.transcript, offset=(6, 2))
            await pilot.press(*"oyc")
            await until(lambda: app.chat.prompt.text == "oyc", f"what was typed after {key}")


@pytest.mark.full
@pytest.mark.parametrize(("key", "place"), [("f6", "Transcript"), ("ctrl+g", "FindLine")])
async def test_a_click_leaves_who_reads_or_finds_where_he_is(running, key, place):
    async with running(["Two words."]) as (w, app, pilot):
        await have_answered(w, pilot, "hello")
        await pilot.press(key)
        await pilot.click(app.chat.transcript, offset=(6, 2))
        assert app.chat.query_one(place).has_focus_within


async def test_keys_that_are_held_back_are_seen_to_before_the_program_ends(running):
    async with running(["Yes."]) as (w, app, _):
        session_id = w.workspace.current.id
        let_keys_go = app.input_queue.hold()
        type_at_once(app, "first<enter>then")
        # Not held back yet: they are on their way.
        app.exit(return_code=143)
        await until(
            lambda: len(app.input_queue.waiting) >= len("first") + 1 + len("then"), "the keys"
        )
        assert app.chat.prompt.text == ""
        let_keys_go()
        await until(lambda: app._exit, "the end")
    assert messages(w, session_id)[0][1] == "first"
    assert kept(w, session_id) == "then"


@pytest.fixture
def seconds(monkeypatch):
    """A clock for the prompt, set by hand."""
    now = [0.0]
    monkeypatch.setattr("tui.widgets.prompt.prompt.monotonic", lambda: now[0])
    return now


async def test_escape_twice_at_once_clears_the_prompt_and_undo_brings_it_back(world, seconds):
    async with world().running() as (app, pilot):
        await pilot.press(*"one", "ctrl+j", *"two")
        await until(lambda: "Esc twice clears" in app.chat.key_line.render_line(0).text)
        await pilot.press("escape")
        assert app.chat.prompt.text == "one\ntwo"
        await pilot.press("escape")
        assert app.chat.prompt.text == ""
        await pilot.press("ctrl+z")
        assert app.chat.prompt.text == "one\ntwo"
        # Half a second apart, or with a key between, two clear nothing.
        await pilot.press("escape")
        seconds[0] += 0.6
        await pilot.press("escape", "s", "escape")
        assert app.chat.prompt.text == "one\ntwos"


async def test_an_escape_that_stops_or_closes_something_does_not_count(running, seconds):
    async with running(["one", asyncio.Event()]) as (w, app, pilot):
        await send(pilot, "first", shows="one")
        await pilot.press(*"/s", "escape", "escape")
        await wait_for_answer(w)
        await until(lambda: not app.chat.answering)
        await pilot.press("escape")
        assert app.chat.prompt.text == "/s"
        await pilot.press("escape")
        assert app.chat.prompt.text == ""


@pytest.mark.fast
async def test_a_paste_stays_folded_after_it_was_sent_and_at_the_next_start(running):
    async with running(["A log."], ["The same log."]) as (w, app, pilot):
        app.chat.prompt.editor.post_message(events.Paste("row\n" * 20))
        await until(lambda: "row" in app.chat.prompt.text, "the paste")
        await press(pilot, "enter", "x", shows="A log.")
        assert "[pasted 20 lines]" in conversation(app)
        assert "row" not in conversation(app)
        session_id = w.workspace.current.id
        await wait_for_answer(w)
    async with w.running() as (app, pilot):
        await go_to(app, pilot, session_id, "[pasted 20 lines]")
        await pilot.press("backspace")
        await send(pilot, "/edit")
        await until(lambda: "row" in app.chat.prompt.text, "the question")
        assert any("[pasted 20 lines]" in row for row in terminal_rows(app)[-6:])
        await press(pilot, "enter", shows="version 2/2")
        assert "[pasted 20 lines]" in conversation(app)
