"""Questions on screen: who answers them, and what does not."""

import asyncio

import pytest
from textual import events

from tests.ui.screen import (
    conversation,
    newest_notice,
    notices,
    press,
    question,
    send,
    terminal_rows,
    type_at_once,
)
from tests.waiting import until
from tui.commands import registry
from tui.errors import StorageError
from tui.widgets.intents import CommandInvoked

pytestmark = pytest.mark.full

ID = "session-20260111-153022-847291"


@pytest.fixture
def asked(monkeypatch):
    """``/save`` asks; what was answered yes to stands in the list."""
    confirmed = []

    async def ask(shell, arguments):
        if await shell.confirm(f"Save {arguments or ID}? (y/n)", "It can be undone."):
            confirmed.append(arguments)
            shell.say(f"Done {arguments}.")
        else:
            shell.say("Nothing done.")

    monkeypatch.setitem(registry.FUNCTIONS, "save", ask)
    return confirmed


async def ask(app, pilot, arguments="it"):
    await send(pilot, f"/save {arguments}")
    return await question(app)


@pytest.mark.fast
async def test_a_question_says_what_it_is_about_y_does_it_and_no_other_key_answers(world, asked):
    async with world().running() as (app, pilot):
        assert await ask(app, pilot) == "Save it? (y/n)\nIt can be undone."
        await pilot.press("a", "space", "ctrl+n", "f1", "j")
        assert not asked
        assert app.screen.can_be_answered
        assert app.chat.prompt.text == ""
        await press(pilot, "y", says="Done it.")
        assert asked == ["it"]
        assert app.screen is app.chat


async def test_whatever_else_closes_it_says_no_and_yes_can_be_reached_without_a_mouse(world, asked):
    async with world().running() as (app, pilot):
        for key in ("n", "escape", "enter"):
            await answer(app, pilot, key)
            await until(lambda: newest_notice(app).notice.text == "Nothing done.", key)
        assert not asked
        for key in ("left", "right", "up", "down"):
            await answer(app, pilot, key, "enter")
            await until(lambda: newest_notice(app).notice.text == "Done it.", key)
        assert asked == ["it"] * 4


async def answer(app, pilot, *keys):
    """Ask, and wait until these keys have closed the question and something is said of it."""
    log = app.controllers.notices.log
    before = log.newest_first[:1]
    await ask(app, pilot)
    await pilot.press(*keys)
    await until(lambda: app.screen is app.chat, "the chat")
    await until(lambda: log.newest_first[:1] != before, "what came of it")


@pytest.mark.fast
@pytest.mark.parametrize(("keys", "answer"), [("yy", "Done it."), ("nn", "Nothing done.")])
async def test_two_answers_at_once_are_one(world, asked, keys, answer):
    async with world().running() as (app, pilot):
        await ask(app, pilot)
        type_at_once(app, keys)
        await until(lambda: answer in notices(app))
        assert len(asked) == (keys == "yy")
        assert app.screen is app.chat
        await pilot.press("x")
        assert app.chat.prompt.text == "x"


async def test_a_question_is_whole_in_a_small_terminal_and_a_long_one_read_to_its_end_and_back(
    world, asked
):
    async with world().running(size=(60, 15)) as (app, pilot):
        for name in (ID, "s" * 128, "日本語の長い名前" * 10):
            app.chat.prompt.set_text(f"/save {name}")
            await pilot.press("enter")
            await question(app)
            shown = terminal_rows(app)
            inside = "".join(line.split("│")[1].strip() for line in shown if line.count("│") == 2)
            assert f"Save {name}? (y/n)".replace(" ", "") in inside.replace(" ", "")
            assert "Yes (y)" in inside
            assert "No (n)" in inside
            await pilot.press("n")
            await until(lambda: app.screen is app.chat, "the chat")
        app.chat.post_message(CommandInvoked("save", "x" * 900))
        assert "x" * 900 in await question(app)
        text = app.screen.query_one("VerticalScroll")
        await until(lambda: text.max_scroll_y > 0, "a question longer than its room")
        while text.scroll_y < text.max_scroll_y:
            before = text.scroll_y
            await pilot.press("pagedown")
            await until(lambda before=before: text.scroll_y > before, "a page down")
        assert app.screen.query_one("#no").region.bottom <= 15
        end = text.scroll_y
        await pilot.press("pageup")
        await until(lambda: text.scroll_y < end, "a page up")
        told = newest_notice(app)
        await pilot.press("escape")
        await until(lambda: newest_notice(app) is not told, "what came of it")
        assert newest_notice(app).notice.text == "Nothing done."


@pytest.mark.fast
async def test_keys_from_before_the_question_are_typed_on(world, asked):
    async with world().running() as (app, pilot):
        await pilot.press(*"/save", "space", "x")
        # All at once, as they come from somebody who types on.
        for key in ("enter", "y", "e", "s"):
            app.post_message(events.Key(key, None if key == "enter" else key))
        await question(app)
        await until(lambda: app.chat.prompt.text == "yes", "what was typed")
        assert not asked
        assert app.screen.can_be_answered


@pytest.mark.fast
async def test_a_question_that_the_terminal_has_not_taken_is_not_answered(world, asked):
    async with world().running() as (app, pilot):
        app.flow_control.note_given()
        await send(pilot, "/save it")
        await until(lambda: app.screen is not app.chat and app.screen.is_mounted, "the question")
        await pilot.press("y")
        await until(lambda: app.chat.prompt.text == "y", "the key in the prompt")
        assert not app.screen.can_be_answered
        app.flow_control.note_taken(1)
        await question(app)
        assert not asked


async def test_what_goes_on_from_before_the_question_without_a_pause_is_typed_on(world, asked):
    async with world().running() as (app, pilot):
        await ask(app, pilot)
        shown_at = app.screen._answers_from
        for character, seconds in (("a", -0.1), ("y", 0.3), ("y", 0.7)):
            key = events.Key(character, character)
            key.time = shown_at + seconds
            app.post_message(key)
        await until(lambda: app.chat.prompt.text == "ayy", "what was typed")
        assert not asked
        later = events.Key("y", "y")
        later.time = shown_at + 1.3
        app.post_message(later)
        await until(lambda: asked, "the answer")


async def test_what_comes_from_before_the_question_reaches_the_prompt_and_a_later_paste_nothing(
    world, asked
):
    async with world().running() as (app, pilot):
        pasted = events.Paste("y\n")
        early, behind = events.Key("y", "y"), events.Key("x", "x")
        # However long the question takes to come, they were typed without a pause.
        behind.time = early.time + 0.1
        await ask(app, pilot)
        # Meant for the list of sessions.
        app.chat.sidebar.focus()
        app.post_message(early)
        app.post_message(behind)
        await until(lambda: app.chat.prompt.text == "yx", "what was typed")
        app.post_message(pasted)
        await until(lambda: app.chat.prompt.text == "yxy\n", "what was pasted")
        late = events.Paste("y")
        late.time += 1.0
        app.post_message(late)
        await pilot.pause()
        assert app.screen.can_be_answered
        assert not asked


async def test_a_second_question_waits_for_the_first(world, asked):
    async with world().running() as (app, pilot):
        await ask(app, pilot, "one")
        app.post_message(CommandInvoked("save", "two"))
        await pilot.pause()
        assert "one" in await question(app)
        await pilot.press("y")
        await until(lambda: asked == ["one"])
        assert "two" in await question(app)
        await press(pilot, "n", says="Nothing done.")
        assert asked == ["one"]


async def test_a_question_of_work_in_the_background_holds_nothing_up(running, asked, monkeypatch):
    ask = registry.FUNCTIONS["save"]

    async def ask_later(shell, arguments):
        shell.in_background(lambda shell: ask(shell, arguments))

    monkeypatch.setitem(registry.FUNCTIONS, "save", ask_later)
    async with running(["An answer."]) as (_, app, pilot):
        for name in ("one", "two"):
            await send(pilot, f"/save {name}")
            await question(app)
            await pilot.press("y")
            await until(lambda name=name: name in asked, name)
        await send(pilot, "hello", shows="An answer.")


async def test_what_goes_wrong_after_a_yes_is_said(world, monkeypatch):
    async def ask_to_fail(shell, arguments):
        await shell.confirm("Break it? (y/n)")
        raise StorageError("It broke.")

    monkeypatch.setitem(registry.FUNCTIONS, "save", ask_to_fail)
    async with world().running() as (app, pilot):
        await ask(app, pilot)
        await press(pilot, "y", says="It broke.")
        await ask(app, pilot)


@pytest.mark.fast
async def test_the_program_can_be_left_with_a_question_open(running, asked):
    async with running() as (w, app, pilot):
        await pilot.press("x")
        app.chat.prompt.set_text("")
        await ask(app, pilot)
        await pilot.press("ctrl+q")
        await until(lambda: not app.is_running, "the end")
    assert not asked
    assert not w.final_save.failed


async def test_an_answer_goes_on_behind_a_question(running, asked):
    gate = asyncio.Event()
    async with running(["one", gate, " two"]) as (_, app, pilot):
        await send(pilot, "hello", shows="one")
        await ask(app, pilot)
        gate.set()
        await until(lambda: "one two" in conversation(app), "the answer")
        await pilot.press("n")
        await until(lambda: app.screen is app.chat)
