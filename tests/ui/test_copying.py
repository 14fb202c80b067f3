"""Copying on screen: by command, by key, by mouse."""

from tests.ui.screen import conversation, lines, notices, send, wait_for_answer
from tests.waiting import until

COPIED = "Copied 1 line"


async def test_a_command_copies_and_says_so_in_the_conversation(world):
    w = world(["Two words."])
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await wait_for_answer(w)
        await send(pilot, "/copy")
        await until(lambda: COPIED in notices(app))
        assert app.clipboard == "Two words."


async def test_a_key_copies_what_is_selected_in_the_prompt(world):
    async with world().running() as (app, pilot):
        await pilot.press(*"abc", "shift+left", "shift+left", "ctrl+c")
        await until(lambda: COPIED in notices(app))
        assert app.clipboard == "bc"
        assert COPIED not in conversation(app)


async def test_a_key_copies_what_was_selected_with_the_mouse(world):
    w = world(["Two words."])
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await wait_for_answer(w)
        row = next(y for y, text in enumerate(lines(app)) if "Two" in text)
        await pilot.double_click(app.chat.transcript, offset=(6, row))
        await pilot.press("ctrl+c")
        await until(lambda: COPIED in notices(app))
        assert app.clipboard.strip() == "Two words."


async def test_what_was_copied_can_be_put_into_the_prompt_however_long_it_is(world):
    async with world().running() as (app, pilot):
        app.copy_to_clipboard("x" * 200_000)
        await until(lambda: "Could not copy" in notices(app))
        await pilot.press("ctrl+v")
        assert app.chat.prompt.text == "x" * 200_000


async def test_of_several_blocks_of_code_it_is_told_which_was_copied(world):
    w = world(["```\none\n```\n\n```\ntwo\n```"])
    async with w.running() as (app, pilot):
        await send(pilot, "hello")
        await wait_for_answer(w)
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await pilot.press("c")
        await until(lambda: f"Code 1 of 2: {COPIED}" in notices(app))
        row = next(y for y, text in enumerate(lines(app)) if "two" in text) - 1
        await pilot.click(app.chat.transcript, offset=(len(lines(app)[row]) - 1, row))
        await until(lambda: app.clipboard == "two")
