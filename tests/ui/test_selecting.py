"""What is selected with the mouse, and what is copied."""

from tests.ui.screen import (
    conversation,
    have_answered,
    lines,
    newest_notice,
    notices,
    press,
    send,
)
from tests.waiting import until
from tui.widgets.intents import SessionSelected


def said(count):
    return [f"message {number}" for number in range(count)]


async def pressed(app, pilot, row):
    """A selection begun at the beginning of a row, and moved by one."""
    await pilot.mouse_down(app.chat.transcript, offset=(3, row))
    await pilot.hover(app.chat.transcript, offset=(8, row))


async def test_a_selection_scrolls_at_the_edge_goes_on_to_the_pointer_and_stays_in_it(running):
    async with running(talk=said(100)) as (_, app, pilot):
        await until(lambda: "message 99" in conversation(app), "the end")
        transcript = app.chat.transcript
        row = next(y for y, line in enumerate(lines(app)) if "message 90" in line)
        await pressed(app, pilot, row)
        await pilot.hover(transcript, offset=(3, 1))
        for _ in range(10):
            # As Textual does while the pointer rests near the edge.
            transcript.scroll_y -= 1
            app.screen._update_select()
        first = next(line for line in lines(app)[1:] if "message" in line).split()[-1]
        selected = [line for line in app.screen.get_selected_text().split("\n") if "mess" in line]
        await pilot.mouse_up(transcript, offset=(3, 1))
        assert selected[0] == f"message {first}"
        assert int(first) < 85
        row = next(y for y, line in enumerate(lines(app)) if "message" in line)
        await pressed(app, pilot, row)
        region = transcript.content_region

        def scrolls(y):
            # What Textual does with a move of the mouse by a row.
            app.chat._check_auto_scroll(app.chat.prompt, (region.x + 5, y), 1)
            return app.chat._auto_select_scroll_timer is not None

        assert scrolls(region.y)
        assert not scrolls(region.y + 1)
        assert not scrolls(region.bottom - 1)
        assert scrolls(region.bottom)
        assert scrolls(region.bottom + 3)
        await pilot.mouse_up(transcript, offset=(8, row))
        app.chat.prompt.set_text("a draft")
        await pilot.press("ctrl+end")
        await until(lambda: app.chat.conversation.following, "the end")
        row = next(y for y, line in enumerate(lines(app)) if "message 97" in line)
        await pressed(app, pilot, row)
        await pilot.hover(app.chat.prompt, offset=(12, 1))
        await pilot.mouse_up(app.chat.prompt, offset=(12, 1))
        selected = app.screen.get_selected_text()
        assert selected.startswith("message 97\n")
        assert selected.endswith("message 99")
        assert list(app.screen.selections) == [transcript]
        # Up again, to the left and above all there is.
        await pressed(app, pilot, row)
        await pilot.hover(app.chat.sidebar, offset=(3, 1))
        assert list(app.screen.selections) == [transcript]
        assert "a draft" not in app.screen.get_selected_text()
        await pilot.mouse_up(app.chat.sidebar, offset=(3, 1))


async def test_the_line_of_keys_says_how_what_is_selected_is_copied(world):
    w = world()
    session_id = await w.session(*said(10))

    def keys():
        return app.chat.key_line.render_line(0).text

    async with w.running(session_id, size=(80, 24)) as (app, pilot):
        await until(lambda: "message 9" in conversation(app), "the end")
        row = next(y for y, line in enumerate(lines(app)) if "message 9" in line)
        assert "selected" not in keys()
        await pressed(app, pilot, row)
        await pilot.mouse_up(app.chat.transcript, offset=(8, row))
        await until(lambda: "^C Copy selected" in keys(), "the key")
        await pilot.press("ctrl+c")
        await until(lambda: app.clipboard == "messag", "the copy")
        await pilot.click(app.chat.transcript, offset=(30, row))
        await until(lambda: "selected" not in keys(), "the end of the selection")


async def test_what_was_selected_is_not_selected_in_another_session(world):
    w = world()
    other = await w.session(*said(20), name="Other")
    session_id = await w.session(*said(10))
    async with w.running(session_id) as (app, pilot):
        await until(lambda: "message 9" in conversation(app), "the end")
        row = next(y for y, line in enumerate(lines(app)) if "message 9" in line)
        await pressed(app, pilot, row)
        await pilot.mouse_up(app.chat.transcript, offset=(8, row))
        assert app.screen.get_selected_text()
        app.chat.post_message(SessionSelected(other))
        await until(lambda: app.chat.shown == other, "the other session")
        assert not app.screen.get_selected_text()


COPIED = "Copied 1 line"


async def test_a_command_and_a_key_copy_and_say_so(running):
    async with running(["Two words."]) as (w, app, pilot):
        await have_answered(w, pilot, "hello")
        await send(pilot, "/copy", says=COPIED)
        assert app.clipboard == "Two words."
        told = newest_notice(app)
        await pilot.press(*"abc", "shift+left", "shift+left", "ctrl+c")
        await until(lambda: app.clipboard == "bc", "what is selected in the prompt")
        await until(lambda: newest_notice(app) is not told, "what is said of it")
        app.chat.prompt.set_text("")
        row = next(y for y, text in enumerate(lines(app)) if "Two" in text)
        await pilot.double_click(app.chat.transcript, offset=(6, row))
        await pilot.press("ctrl+c")
        await until(lambda: app.clipboard.strip() == "Two words.", "what is selected by the mouse")
        assert COPIED not in conversation(app)


async def test_what_was_copied_can_be_put_into_the_prompt_however_long_it_is(world):
    async with world().running() as (app, pilot):
        app.copy_to_clipboard("x" * 200_000)
        await until(lambda: "Could not copy" in notices(app))
        await pilot.press("ctrl+v")
        assert app.chat.prompt.text == "x" * 200_000


async def test_of_several_blocks_of_code_it_is_told_which_was_copied(running):
    async with running(["```\none\n```\n\n```\ntwo\n```"]) as (w, app, pilot):
        await have_answered(w, pilot, "hello")
        await pilot.press("f6")
        await until(lambda: app.chat.transcript.has_focus)
        await press(pilot, "c", says=f"Code 1 of 2: {COPIED}")
        row = next(y for y, text in enumerate(lines(app)) if "two" in text) - 1
        await pilot.click(app.chat.transcript, offset=(len(lines(app)[row]) - 1, row))
        await until(lambda: app.clipboard == "two")
