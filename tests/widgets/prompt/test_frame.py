"""How the prompt looks: its size, its border, the caret; and the prompts that wait."""

import pytest

from tests.waiting import until
from tui.domain.views.shown_session import ActivityView, PromptQueue
from tui.widgets.prompt import Prompt, Waiting
from tui.widgets.prompt.top_border import TopBorder


def bottom(app):
    return app.screen_lines[app.prompt.region.bottom - 1]


def top(app):
    return app.screen_lines[app.prompt.region.y]


async def test_an_empty_prompt_is_one_line_and_says_what_can_be_typed_in_words_that_fit(running):
    async with running((36, 24)) as (app, pilot):
        await until(lambda: "│ / commands · @ files · ? help" in app.screen_lines[-2])
        assert app.prompt.region.height == 3
        await pilot.resize_terminal(60, 24)
        await until(lambda: "Message · / commands · @ files · ? help" in app.screen_lines[-2])
        assert app.prompt.region.height == 3


async def test_it_grows_with_its_text_to_a_third_of_the_screen_and_shrinks_again(running):
    async with running((60, 24)) as (app, pilot):
        await pilot.press("a", "ctrl+j", "b")
        await until(lambda: app.prompt.region.height == 4)
        app.prompt.set_text("会" * 40)
        await until(lambda: app.prompt.region.height == 4)
        app.prompt.set_text("line\n" * 100)
        await until(lambda: app.prompt.region.height == 8)
        assert app.prompt.region.bottom == 24
        for rows, height in ((15, 5), (30, 10)):
            await pilot.resize_terminal(60, rows)
            await until(lambda height=height: app.prompt.region.height == height)
        app.prompt.set_text("")
        await until(lambda: app.prompt.region.height == 3)


async def test_the_border_has_the_model_or_a_mode_at_the_left_and_the_work_at_the_right(app):
    app.prompt.border.model = "qwen3\x1b[2J"
    await until(lambda: "╭─ qwen3␛[2J ─" in top(app))
    app.prompt.show_state(editing=True)
    await until(lambda: "╭─ editing a question ·" in top(app))
    app.prompt.border.activity = ActivityView("thinking", "qwen3", 4)
    app.prompt.border.stop = "Esc"
    await until(lambda: "thinking 4 s" in top(app))
    assert "editing a q" in top(app)
    app.prompt.show_state()
    await until(lambda: top(app).endswith(" qwen3 · thinking 4 s · Esc stops ─╮"))
    assert top(app).startswith("╭───")
    app.prompt.border.activity = None
    await until(lambda: top(app).startswith("╭─ qwen3␛[2J ─"))
    assert "thinking" not in top(app)


async def test_on_a_narrow_screen_the_phase_goes_before_the_model(running):
    async with running((34, 24)) as (app, _):
        app.prompt.border.activity = ActivityView("thinking", "claude-sonnet-4-5", 4)
        app.prompt.border.stop = "Esc"
        await until(lambda: " thinking 4 s · Esc stops ─╮" in top(app))


async def test_the_sign_moves_four_times_a_second_and_rests_without_motion(app):
    border = app.prompt.query_one(TopBorder)

    def signs():
        for seconds in (0, 0.2, 0.25, 0.5):
            app.prompt.border.activity = ActivityView("waiting", "qwen3", seconds)
            yield border.render_line(0).text.partition(" waiting")[0][-1]

    assert list(signs()) == ["⠋", "⠋", "⠙", "⠹"]
    app.animation_level = "none"
    assert set(signs()) == {"●"}


async def test_reason_and_queue_stand_in_the_border_until_they_are_empty(app, pilot):
    app.prompt.show_state("[b]held\x1b[2J by another")
    app.prompt.show_queue(PromptQueue(("queued",)))
    await until(lambda: "[b]held␛[2J by another · 1 queued" in bottom(app))
    await pilot.press("k")
    app.prompt.show_state()
    await until(lambda: "held" not in bottom(app))
    assert "1 queued" in bottom(app)
    app.prompt.show_queue(PromptQueue())
    await until(lambda: "queued" not in bottom(app))
    await pilot.press("x")
    assert app.prompt.text == "kx"


async def test_the_terminals_cursor_is_at_the_caret_when_the_screen_changes(running):
    async with running((60, 24)) as (app, pilot):
        await pilot.press("x")
        assert app.cursor_position == (3, 22)
        # The prompt only moves.
        await pilot.resize_terminal(60, 20)
        await until(lambda: app.prompt.region.bottom == 20)
        assert app.cursor_position == (3, 18)
        await pilot.press("backspace", *"会話", "ctrl+j", "x")
        await until(lambda: app.prompt.region.height == 4)
        assert app.cursor_position == (3, 18)
        await pilot.resize_terminal(50, 18)
        await until(lambda: app.cursor_position == (3, 16))
        app.prompt.set_text("会" * 30)
        await until(lambda: app.prompt.region.height == 4)
        # 22 of them in a row of 46 cells less the caret's.
        assert app.cursor_position == (2 + 2 * 8, 16)
        await pilot.resize_terminal(80, 18)
        await until(lambda: app.cursor_position == (2 + 2 * 30, 16))


async def test_it_follows_the_theme_and_focus_goes_to_what_is_typed_in(app, pilot):
    before = app.editor.styles.background, app.editor.rich_style
    app.theme = "textual-light"
    await pilot.pause()
    assert (app.editor.styles.background, app.editor.rich_style) != before
    app.set_focus(None)
    app.query_one(Prompt).focus()
    await until(lambda: app.focused is app.editor)


def test_a_text_may_be_set_before_it_is_on_the_screen_and_no_highlighting_is_prepared():
    prompt = Prompt()
    prompt.set_text("draft")
    prompt.show_queue(PromptQueue(("queued",)))
    assert prompt.text == "draft"
    assert prompt.editor.language is None
    assert not prompt.editor.show_line_numbers
    assert not prompt.editor.highlight_cursor_line
    assert prompt.editor.theme == "css"


async def test_the_border_says_how_they_are_taken_back_and_dropped(app, pilot):
    app.prompt.show_queue(PromptQueue(("one",)))
    await until(lambda: "1 queued · ↑ edits it · Del drops it" in bottom(app))
    await pilot.press("enter")
    for key, text in (("up", "ab"), ("delete", "ab"), ("backspace", "a")):
        app.prompt.set_text("")
        await pilot.press("a", "b", key)
        assert app.prompt.text == text
    assert {*map(type, app.posted)} == {Prompt.Edited}
    app.prompt.set_text("")
    app.prompt.show_queue(PromptQueue(("one", "two")))
    await until(lambda: "2 queued · ↑ edits the last · Del drops the last" in bottom(app))
    await pilot.press("delete")
    assert app.prompt.text == ""
    await until(lambda: app.taken_back == [["two"]])
    await pilot.press("ctrl+z")
    assert app.prompt.text == "two"
    # One that was changed does not go back.
    app.prompt.set_text("")
    app.prompt.show_queue(PromptQueue(("one", "two")))
    await pilot.press("up", "!", "up")
    assert app.prompt.text == "two!"
    await until(lambda: app.taken_back == [["two"], ["two"]])
    await until(lambda: "1 queued · ↑ edits it · Del drops it" in bottom(app))


@pytest.mark.parametrize("key", ["up", "backspace"])
async def test_the_last_comes_back_and_the_keys_that_follow_are_about_it(app, pilot, key):
    app.history = ["earlier"]
    app.prompt.show_queue(PromptQueue(("one", "two")))
    await pilot.press(key, "!")
    assert app.prompt.text == "two!"
    await until(lambda: app.taken_back == [["two"]])
    await pilot.press("ctrl+u", key)
    assert app.prompt.text == "one"
    await pilot.press("ctrl+u", "up")
    assert app.prompt.text == "earlier"


async def test_enter_in_an_empty_prompt_wants_the_held_ones_sent_and_one_that_goes_back_is_held(
    app, pilot
):
    app.prompt.show_queue(PromptQueue(held=("one", "two")))
    await until(lambda: "2 queued · Enter sends · ↑ edits the last" in bottom(app))
    await pilot.press("enter")
    await until(lambda: [*map(type, app.posted)] == [Prompt.HeldWanted])
    app.prompt.show_queue(PromptQueue(("one",), ("two", "three")))
    await pilot.press("up", "up", "up")
    assert app.prompt.text == "one"
    backs = [event.back for event in app.posted if isinstance(event, Prompt.TakenBack)]
    assert backs == [None, Waiting("three", 1, held=True), Waiting("two", 0, held=True)]


async def test_up_again_takes_the_one_before_and_lets_the_other_wait_at_its_place(app, pilot):
    app.prompt.show_queue(PromptQueue(("one", "two", "three")))
    await pilot.press("up")
    assert app.prompt.text == "three"
    await until(lambda: "2 queued · ↑ edits the one before instead" in bottom(app))
    await pilot.press("up")
    assert app.prompt.text == "two"
    await pilot.press("up")
    assert app.prompt.text == "one"
    await until(lambda: "2 queued · ↑ edits the last" in bottom(app))
    await until(lambda: app.taken_back == [["three"], ["two"], ["one"]])
    backs = [event.back for event in app.posted if isinstance(event, Prompt.TakenBack)]
    assert backs == [None, Waiting("three", 1), Waiting("two", 0)]
