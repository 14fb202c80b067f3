"""What one sees on any screen: themes, keys, palette, help."""

import asyncio
import re
from time import monotonic

import pytest
from textual import events
from textual.binding import Binding
from textual.command import CommandList
from textual.widgets import Input

from tests.ui.screen import (
    close,
    conversation,
    go_to,
    key_line,
    notices,
    press,
    rows,
    send,
    text_of,
    words,
)
from tests.waiting import until
from tui.app.appearance import ALL_KEYS, Appearance
from tui.errors import ConfigError
from tui.screens.dialog import ThemePicker
from tui.screens.page import HelpScreen
from tui.screens.palette import Actions
from tui.storage import state_files
from tui.terminal.colours import BackgroundReported
from tui.widgets.keys import TYPING
from tui.widgets.prompt.editor import Editor

pytestmark = pytest.mark.full


@pytest.mark.fast
async def test_the_frame_of_the_prompt_has_one_colour_with_and_without_the_focus(world):
    def colours(app):
        prompt = app.chat.prompt.region
        strips = app.screen._compositor.render_strips()[prompt.y : prompt.bottom]
        parts = [part for strip in strips for part in strip.crop(prompt.x, prompt.right)]
        return {part.style.color.triplet for part in parts if part.text.startswith(("╭", "╰"))}

    async with world().running() as (app, pilot):
        seen = []
        for key in ("f6", "f6", "ctrl+b"):
            await pilot.pause()
            seen.append(colours(app))
            await pilot.press(key)
        assert [len(each) for each in seen] == [1, 1, 1]
        assert seen[0] == seen[2] != seen[1]


async def test_the_last_theme_that_was_chosen_counts_on_the_screen_or_in_the_configuration(world):
    w = world()
    # One that is not there any more is passed over.
    state_files.change_ui_state(w.ui_state_file, {"theme": "gone", "theme_over": "nord"})
    for configured, first, chosen in (
        ("nord", "nord", "dracula"),
        ("nord", "dracula", None),
        ("gruvbox", "gruvbox", None),
    ):
        w.appearance = Appearance(theme=configured)
        async with w.running() as (app, pilot):
            assert app.theme == first
            if chosen:
                await send(pilot, f"/theme {chosen}")


@pytest.mark.fast
async def test_code_that_is_cut_is_cut_at_the_next_start_too(running):
    async with running([f"```\n{'word ' * 60}\n```"]) as (w, app, pilot):
        await send(pilot, "Code", shows="↳ word")
        await pilot.press("f6", "w")
        await until(lambda: "↳" not in conversation(app), "lines that are cut")
        session_id = w.workspace.current.id
    async with w.running() as (app, pilot):
        await go_to(app, pilot, session_id, "│ word")
        assert "↳" not in conversation(app)


async def test_the_palette_offers_what_has_a_key_the_themes_and_the_sessions(world):
    w = world()
    one = await w.session("What is a [b]journal[/b]?", "A file.")
    name = "What [b]is[/b] kept of a conversation when the disk is full at night"
    ids = [await w.session(*["Hello", "Yes."][:count], name=name) for count in (1, 2)]
    async with w.running() as (app, pilot):

        async def look_for(text, shows):
            await pilot.press("ctrl+p")
            await until(lambda: isinstance(app.focused, Input), "the palette")
            app.focused.post_message(events.Paste(text))
            await until(lambda: shows in shown(app), shows)

        await until(lambda: {one, *ids} <= set(rows(app)))
        await look_for("journal", "What is a [b]journal")
        await pilot.press("enter")
        await until(lambda: app.chat.shown == one)
        await look_for("session 2", "Session 2")
        await until(lambda: "Session 9" not in shown(app), "what is found alone")
        await pilot.press("escape")
        await look_for("conversation when", name)
        assert shown(app).count(name) == 2
        assert f"just now · 1 message · shop · {ids[0]}" in shown(app)
        assert f"just now · 2 messages · shop · {ids[1]}" in shown(app)
        await pilot.press("escape")
        await look_for("nord", "Theme: nord")
        await pilot.press("enter")
        await until(lambda: app.theme == "nord")
        await look_for("sidebar", "Go to the sidebar")
        # One key takes a whole character.
        app.focused.post_message(events.Paste("👨\u200d👩\u200d👧"))
        await until(lambda: app.focused.value == "sidebar👨\u200d👩\u200d👧")
        await pilot.press("backspace")
        await until(lambda: app.focused.value == "sidebar")
        await pilot.press("ctrl+p")
        assert len(app.screen_stack) == 2
        await until(lambda: "Go to the sidebar" in shown(app))
        await pilot.press("enter")
        await until(lambda: app.chat.sidebar.rows.has_focus)


async def test_the_palette_keeps_its_lower_border_while_rows_come(world):
    async with world().running() as (app, pilot):
        await pilot.press("ctrl+p")
        await until(lambda: app.screen.query(".--visible"), "the rows")
        found = app.screen.query_one(CommandList)
        border = found.styles.border_bottom
        found.add_class("--populating")
        await pilot.pause()
        assert border[0] == found.styles.border_bottom[0] == "round"


async def test_what_can_be_done_goes_before_a_session_of_that_name_whoever_is_heard_first(
    world, monkeypatch
):
    w = world()
    await w.session("Hello", name="Save now")
    search = Actions.search

    async def slow(self, query):
        await asyncio.sleep(0.2)
        async for hit in search(self, query):
            yield hit

    monkeypatch.setattr(Actions, "search", slow)
    async with w.running() as (app, pilot):
        await until(lambda: rows(app))
        await pilot.press("ctrl+p", *"save", "space", *"now")
        await until(lambda: "Ctrl+S" in shown(app).split("\n")[0], "the command first")
        assert shown(app).count("Save now") == 2


def shown(app):
    from textual.command import CommandList

    lists = app.screen.query(CommandList)
    if not lists:
        return ""
    found = lists.first()
    return "\n".join(str(found.get_option_at_index(i).prompt) for i in range(found.option_count))


@pytest.mark.fast
async def test_a_key_of_ones_own_works_and_stands_in_the_help_and_in_the_line_of_keys(world):
    w = world()
    w.appearance = Appearance(keys={"help": "f9"})
    async with w.running() as (app, pilot):
        await until(lambda: "F9 Help" in key_line(app))
        await pilot.press("f1")
        await pilot.press("f9")
        await until(lambda: isinstance(app.screen, HelpScreen))
        text = text_of(app.screen)
        assert "F9" in text
        assert "F1 " not in text
        await pilot.press("f9")
        await until(lambda: app.screen is app.chat)


@pytest.mark.fast
@pytest.mark.parametrize(
    ("appearance", "words"),
    [
        (Appearance(keys={"neu": "f9"}), "config.toml: keys.neu: unknown action; the actions are"),
        (Appearance(keys={"new": "ctrl+s"}), "config.toml: keys.new: ctrl+s is the key of save"),
        (Appearance(theme="mauve"), "config.toml: theme: unknown theme; the themes are"),
    ],
)
async def test_what_cannot_be_is_said_before_there_is_a_screen(world, appearance, words):
    w = world()
    w.appearance = appearance
    with pytest.raises(ConfigError, match=re.escape(words)):
        async with w.running():
            pass


@pytest.mark.parametrize("reduced", [True, False])
async def test_no_cursor_blinks_with_reduced_motion(world, reduced):
    w = world()
    w.appearance = Appearance(reduced_motion=reduced)
    async with w.running() as (app, pilot):
        assert (app.animation_level == "none") is reduced
        for key, place in (("", Editor), ("ctrl+g", Input), ("ctrl+p", Input)):
            await pilot.press(*[key] if key else [])
            await until(lambda place=place: isinstance(app.focused, place), "the focus")
            await until(lambda: app.focused.cursor_blink is not reduced, key)


@pytest.mark.fast
def test_whatever_has_a_key_can_be_given_another():
    bindings = [each for place in ALL_KEYS.values() for each in Binding.make_bindings(place)]
    typed = {each.description for each in TYPING}
    for binding in bindings:
        if binding.description not in typed:
            assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", binding.id or ""), binding
            assert binding.description or binding.id == "find-here"
            assert binding.description[:1].isupper() or not binding.description


@pytest.mark.fast
async def test_an_answer_that_comes_can_be_stopped_says_the_line_of_keys(running):
    async with running(["It begins", asyncio.Event()]) as (_, app, pilot):
        await until(lambda: "F1 Help" in key_line(app))
        assert "Stop" not in key_line(app)
        await send(pilot, "Go on.")
        await until(lambda: "Esc Stop  F1 Help" in key_line(app))


_KEYS_OF_PLACES = [
    ([], ["^N New", "F2 Sessions", "^F Search", "^Q Quit", "F1 Help"], ["Prompt"]),
    (["ctrl+b"], ["Enter Open", "/ Filter", "Esc Prompt", "F1 Help"], ["^B"]),
    (["ctrl+b", "slash"], ["Enter To the list", "Esc Clear", "F1 Help"], ["n New"]),
    (["ctrl+b", "r"], ["Enter Rename", "Esc Cancel", "F1 Help"], ["^A"]),
    (["f6"], ["j Next", "k Previous", "y Copy", "Esc Prompt", "F1 Help"], ["F6"]),
    (["ctrl+g"], ["Enter Next", "↑ Previous", "Esc Close", "F1 Help"], ["^G", "Prompt"]),
    (["ctrl+f"], ["Enter Go there", "↓ Next", "↑ Previous", "Esc Close"], []),
]


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
async def test_the_line_of_keys_says_what_is_wanted_most_and_the_way_out_wherever_one_is(
    running, columns
):
    async with running(talk=("Hello", "Yes."), size=(columns, 24)) as (w, app, pilot):
        there = w.workspace.current.id
        await until(lambda: rows(app) == [there], "the list")
        for keys, said, left_out in _KEYS_OF_PLACES:
            await pilot.press(*keys)
            for each in said:
                await until(lambda each=each: each in key_line(app), each)
            for each in left_out:
                await until(lambda each=each: each not in key_line(app), f"no {each}")
            if app.screen is not app.chat:
                await close(app, pilot)
            while not app.chat.prompt.has_focus_within:
                await pilot.press("escape")


@pytest.mark.parametrize(
    ("way", "keys"), [("f1", ["ctrl+n"]), ("ctrl+p", ["ctrl+n"]), ("ctrl+f", [])]
)
async def test_what_another_screen_is_over_is_left_alone(running, way, keys):
    async with running(talk=("Hello", "Yes.")) as (w, app, pilot):
        there = w.workspace.current.id
        await until(lambda: rows(app) == [there], "the list")
        await pilot.press(way)
        await until(lambda: app.screen is not app.chat, "the other screen")
        before = app.screen
        await pilot.press(*keys, "f4", "ctrl+p", "ctrl+f")
        assert app.screen is before
        await close(app, pilot)
        await press(pilot, "ctrl+s", says='Saved "')
        assert notices(app).count('Saved "') == 1
        assert w.workspace.current.id == there


@pytest.mark.parametrize("size", [(40, 10), (60, 15), (80, 24), (120, 40), (300, 100)])
async def test_no_line_of_the_help_is_cut(world, size):
    async with world().running(size=size) as (app, pilot):
        await pilot.press("f1")
        await until(lambda: isinstance(app.screen, HelpScreen))
        pages = [each for each in app.screen.query(".help--page") if each.size.width]
        await until(lambda: all(each.size.height for each in pages))
        for each in pages:
            assert max(map(len, str(each.content).splitlines())) <= each.size.width


async def test_end_in_an_empty_prompt_goes_to_the_end_and_the_line_of_keys_says_how(running):
    async with running(talk=[f"Question {number}" for number in range(40)]) as (_, app, pilot):
        await until(lambda: "Question 39" in conversation(app))
        for text, key in (("", "end"), ("x", "ctrl+end")):
            assert "Latest" not in key_line(app)
            await pilot.press("pageup")
            await until(lambda: "^End Latest" in key_line(app))
            await pilot.press(*text, key)
            await until(lambda: app.chat.conversation.following, key)
            await until(lambda: "Latest" not in key_line(app))
        await pilot.press("pageup", "pagedown")
        await until(lambda: app.chat.conversation.following, "the end by pages")
        # In a prompt with text it is the end of its line.
        await pilot.press("pageup", "a", "home", "end", "c")
        await until(lambda: app.chat.prompt.text == "xac")
        assert not app.chat.conversation.following


@pytest.mark.fast
async def test_an_empty_session_says_what_this_is_how_to_begin_and_how_to_leave(world):
    w = world(["Fine."])
    w.appearance = Appearance(keys={"quit": "f10"})
    async with w.running() as (app, pilot):
        for size in ((40, 10), (60, 15), (80, 24), (120, 40)):
            await pilot.resize_terminal(*size)
            await until(lambda size=size: app.screen.size == size, "the size")
            await until(lambda: "F10" in conversation(app), "the welcome")
            assert "sibyl-tui" in words(app)
            assert "chat with language models" in words(app)
            assert "F1 Show all keys" in words(app)
        assert "F10 Save everything and quit" in words(app)
        assert "No model" not in words(app)
        await send(pilot, "How are you?", shows="Fine.")
        assert "Save everything" not in conversation(app)


@pytest.mark.fast
async def test_an_empty_session_says_that_no_model_is_connected(world):
    w = world()
    w.model.name = "offline:guide"
    async with w.running(size=(80, 24)) as (app, pilot):
        await until(lambda: "No model is connected yet." in words(app), "the welcome")
        assert "Save everything and quit" in words(app)
        assert "Connect a model" in words(app)
        # The smallest screen has room for the keys alone.
        await pilot.resize_terminal(40, 10)
        await until(lambda: "No model is connected yet." not in words(app), "the keys alone")
        assert "Connect a model" in words(app)
        assert "Save everything and quit" in words(app)


async def test_the_line_of_keys_says_only_what_the_message_has_and_how_to_go_on_finding(running):
    code = "```\nx = 1\n```\nSee https://example.com."
    talk = ("Plain?", "Plain.", "Code?", code)
    async with running(talk=talk, size=(140, 24)) as (_, app, pilot):
        await until(lambda: "x = 1" in conversation(app))
        await pilot.press("f6")
        await until(lambda: "o Open" in key_line(app))
        assert "c Copy code  r Ask again" in key_line(app)
        assert "Fold" not in key_line(app)
        await pilot.press("k")
        await until(lambda: "Copy code" not in key_line(app))
        assert "o Open" not in key_line(app)
        assert "Next match" not in key_line(app)
        await pilot.press("slash", "x")
        await until(lambda: app.chat.transcript.finder.can_go_on, "what is looked for")
        await pilot.press("escape")
        await until(lambda: "n Next match" in key_line(app))


async def test_the_line_of_keys_says_what_a_prompt_has_and_gives_its_place_to_what_covers_it(world):
    async with world().running(size=(140, 24)) as (app, pilot):
        await until(lambda: "^N New" in key_line(app))
        await pilot.press("slash", "t", "h")
        await until(lambda: "Tab Complete" in key_line(app))
        assert "Esc Close" in key_line(app)
        await pilot.press("escape")
        await until(lambda: "Complete" not in key_line(app))
        assert "Show paste" not in key_line(app)
        app.chat.prompt.editor.post_message(events.Paste("row\n" * 20))
        await until(lambda: "^O Show paste" in key_line(app))
        await pilot.press("ctrl+p")
        await until(lambda: app.screen is not app.chat)
        line = app.chat.key_line
        # The palette names its own.
        await until(lambda: not line.render_line(0).text.strip())
        assert "Esc close" in str(app.screen.query_one("CommandList").border_subtitle)
        await close(app, pilot)
        await until(lambda: "^O Show paste" in key_line(app))
        assert line.display
        await pilot.resize_terminal(80, 14)
        await until(lambda: not line.display)


async def test_the_line_of_keys_says_where_other_sessions_are(world):
    w = world()
    below, above = await w.session("Below", "Yes."), await w.session("Above", "Yes.")
    async with w.running(below, size=(140, 24)) as (app, pilot):
        await until(lambda: len(rows(app)) == 2, "the list")
        first, last = rows(app)
        assert {first, last} == {below, above}
        await go_to(app, pilot, first)
        await until(lambda: "Next session" in key_line(app))
        assert "Previous session" not in key_line(app)
        await go_to(app, pilot, last)
        await until(lambda: "Previous session" in key_line(app))
        assert "Next session" not in key_line(app)


@pytest.mark.fast
async def test_what_is_typed_while_the_terminal_is_too_small_is_in_the_prompt(world):
    async with world().running() as (app, pilot):
        await pilot.press(*"ab", "ctrl+b")
        await pilot.resize_terminal(39, 9)
        await until(lambda: [each.region.width for each in app.chat.query("#too-small")] == [39])
        await pilot.press(*"cd")
        await pilot.resize_terminal(100, 30)
        await until(lambda: not app.chat.query_one("#too-small").display)
        await pilot.press(*"ef")
        await until(lambda: app.chat.prompt.text == "abcdef")


@pytest.mark.fast
async def test_the_highlighted_theme_is_shown_escape_gives_back_the_old_one_and_enter_keeps_it(
    running,
):
    async with running() as (_, app, pilot):
        before = app.theme
        for kept, keys in ((before, ["escape"]), ("ansi-light", ["enter"])):
            await send(pilot, "/theme")
            await until(lambda: isinstance(app.screen, ThemePicker))
            await pilot.press("home")
            await until(lambda: app.theme == "ansi-dark")
            await pilot.press("down")
            await until(lambda: app.theme == "ansi-light")
            await pilot.press(*keys)
            await until(lambda: app.screen is app.chat)
            await until(lambda kept=kept: app.theme == kept, kept)
        # Enter keeps one even before it was shown.
        await send(pilot, "/theme")
        await until(lambda: isinstance(app.screen, ThemePicker))
        await pilot.press("home", "enter")
        await until(lambda: app.screen is app.chat and app.theme == "ansi-dark")


@pytest.mark.fast
async def test_a_theme_is_chosen_by_its_name_if_there_is_one(running):
    async with running() as (_, app, pilot):
        before = app.chat.transcript.rich_style.bgcolor
        await send(pilot, "/theme nord", says="Theme: nord")
        assert app.theme == "nord"
        assert app.chat.transcript.rich_style.bgcolor != before
        await send(pilot, "/theme mauve", says="Unknown theme: mauve")
        assert app.theme == "nord"


def background(*, light, late=0.0):
    """The terminal's answer."""
    reported = BackgroundReported(light=light)
    reported.time += late
    return reported


@pytest.mark.fast
@pytest.mark.parametrize(
    ("configured", "answer", "theme"),
    [
        (None, {"light": True}, "textual-light"),
        (None, {"light": False}, "textual-dark"),
        (None, {"light": True, "late": 90}, "textual-dark"),
        ("nord", {"light": True}, "nord"),
    ],
)
async def test_the_first_theme_fits_the_terminal(world, configured, answer, theme):
    w = world()
    w.appearance = Appearance(theme=configured)
    async with w.running() as (app, pilot):
        app.controllers.themes.ask(monotonic())
        app.post_message(background(**answer))
        await pilot.pause()
        assert app.theme == theme


@pytest.mark.fast
async def test_a_theme_that_was_chosen_is_not_asked_about_again(running):
    async with running() as (w, app, pilot):
        assert app.controllers.themes.ask(monotonic())
        await send(pilot, "/theme nord")
        assert not app.controllers.themes.ask(monotonic())
    async with w.running() as (app, _):
        assert not app.controllers.themes.ask(monotonic())
