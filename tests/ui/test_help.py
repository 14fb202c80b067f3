"""Help and palette say what there is."""

import pytest
from textual import events
from textual.binding import Binding
from textual.widgets import OptionList

from tests.ui.screen import answered, close, key_line, notices, send, text_of
from tests.waiting import until
from tui.app.app import SibylApp
from tui.app.appearance import ALL_KEYS, Appearance
from tui.domain.commands import COMMANDS
from tui.screens.chat import ChatScreen
from tui.screens.page import HelpScreen, matching
from tui.screens.palette import ACTIONS
from tui.widgets.transcript import Transcript


async def test_f1_shows_every_command_and_key_and_escape_closes_it(running):
    async with running() as (_, app, pilot):
        await pilot.press("f1")
        await until(lambda: isinstance(app.screen, HelpScreen))
        text = text_of(app.screen)
        for command in COMMANDS:
            assert command.line in text
        assert "Ctrl+S" in text
        for mark in ("●                  Running", "•                  Unread", "⊘"):
            assert mark in text
        assert "Alt+Down" in text
        await close(app, pilot)
        await pilot.press("f1", "f1")
        await until(lambda: app.screen is app.chat)
        # A question mark does it in an empty prompt, and is text elsewhere.
        prompt = app.chat.prompt
        await pilot.press("question_mark")
        await until(lambda: isinstance(app.screen, HelpScreen))
        await close(app, pilot)
        await pilot.press("space", "question_mark")
        assert prompt.text == " ?"
        prompt.set_text("")
        app.post_message(events.Paste("? is pasted"))
        await until(lambda: prompt.text == "? is pasted")
        assert app.screen is app.chat
        prompt.set_text("")
        await send(pilot, "/help load", says="/load [NAME, NUMBER or ID]")


def typed(does, **chosen):
    keys = {action.replace("_", "-"): key for action, key in chosen.items()}
    lines = [line for _, lines in HelpScreen(ALL_KEYS, keys).sections for line in lines]
    return next(line.typed for line in lines if line.does == does)


def test_help_says_the_keys_that_were_chosen():
    rows = "Open one of the first sessions in the list"
    assert typed(rows) == "Alt+1 … Alt+9"
    assert typed(rows, session_5="f9") == "Alt+1 … Alt+4, F9, Alt+6 … Alt+9"
    walk = "Open the session below or above"
    assert typed(walk, session_next="alt+down,f8") == "Alt+Down, Alt+Up or F8"
    wider = "Make the sidebar narrower or wider"
    assert typed(wider) == "<, > or Ctrl+Left, Ctrl+Right"
    assert typed(wider, sidebar_wider="w") == "<, w or Ctrl+Left"


def found(words):
    sections = matching(HelpScreen(ALL_KEYS, {}).sections, words)
    return [(where, line.typed) for where, lines in sections for line in lines]


def test_help_is_filtered_by_words_of_a_line_and_of_its_heading():
    assert ("In the sidebar", "p") in found("SIDEBAR pin")
    assert ("In the conversation", "y") in found("copy message")
    assert found("/export") == [("Commands, typed into the prompt", "/export [FILE]")]
    assert found("xyzzy") == []
    assert found("") == found(" ")


def test_one_letter_shows_what_it_does_wherever_it_is_a_key():
    assert {"In the sidebar", "While a tool waits for approval"} <= {
        where for where, _ in found("u")
    }
    assert all("u" in typed.split(", ") for _, typed in found("u"))
    assert ("In the conversation", "j, k") in found("k")


async def test_help_is_filtered_while_one_types_and_scrolled_meanwhile(world):
    async with world().running(size=(80, 24)) as (app, pilot):
        await pilot.press("f1", *"sidebar", "down")
        page = app.screen.query_one("VerticalScroll")
        await until(lambda: page.scroll_y == 1)
        assert "In the sidebar" in str(app.screen.query("Static").first().content)
        await pilot.press(*" pin")
        await until(lambda: page.max_scroll_y == page.scroll_y == 0)
        assert app.chat.prompt.text == ""


@pytest.mark.full
@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_a_key_for_the_palettes_rows_may_come_before_they_have_a_place(world, key):
    async with world().running() as (app, pilot):
        with app.batch_update():  # nothing is laid out
            await pilot.press("ctrl+p")
            rows = app.screen.query_one(OptionList)
            await until(lambda: rows.highlighted is not None, "the rows")
            await pilot.press(key)
            await pilot.press("escape")
        await until(lambda: app.screen is app.chat, "the chat")


async def test_a_draft_that_the_palette_puts_a_command_over_comes_back_by_undo(world):
    w = world()
    w.prompts = {"review": "Find the faults: {args}"}
    async with w.running() as (app, pilot):
        await pilot.press(*"draft", "ctrl+p")
        await pilot.press("slash", *"review")
        await until(lambda: "Prompt: review" in "\n".join(str(o.prompt) for o in options(app)))
        await pilot.press("enter")
        await until(lambda: app.chat.prompt.text == "/review ", "the command")
        assert app.chat.prompt.has_focus_within
        await pilot.press("ctrl+z")
        await until(lambda: app.chat.prompt.text == "draft", "the draft")


async def test_the_palette_begins_with_what_is_used_most_and_says_how_it_is_done(world):
    w = world()
    w.appearance = Appearance(keys={"search": "f9", "palette": "f10"})
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+p", "f10")
        await until(lambda: options(app))
        assert len(app.screen_stack) == 2
        shown = [str(option.prompt).split() for option in options(app)]
        assert shown[:2] == [
            ["New", "session", "Ctrl+N", "/new"],
            ["Search", "all", "sessions", "F9", "/search"],
        ]
        titles = [option.hit.text for option in options(app)]
        assert len(set(titles)) == len(titles)
        # No tool is waiting for approval
        assert "Answer the tool that waits for approval" not in titles


async def test_the_palette_knows_the_letters_and_where_they_work(world):
    w = world()
    w.appearance = Appearance(keys={"sidebar-focus": "f9", "sidebar-rename": "R"})
    there = await w.session("Hello", "Yes.")
    async with w.running(there) as (app, pilot):
        for typed, row in (
            ("y", "Copy this message F6 y"),
            ("R", "Rename this session F9 R /name"),
            ("a", "Archive this session F9 a /archive"),
        ):
            await pilot.press("ctrl+p", typed)
            await until(lambda row=row: first_option(app).startswith(row), row)
            await close(app, pilot)


def first_option(app):
    return " ".join(str(options(app)[0].prompt).split()) if options(app) else ""


def test_the_palette_has_every_key_that_does_more_than_move():
    moving = {"conversation-up", "conversation-down", "conversation-page-up"}
    elsewhere = {"palette", "find-here", "conversation-page-down", *moving}
    elsewhere |= {"conversation-bottom", "approval-below"}  # "end" and "f3" do it from anywhere
    nodes = (SibylApp, ChatScreen, Transcript)
    bound = {b.id for node in nodes for b in Binding.make_bindings(node.BINDINGS)}
    assert {action.key for action in ACTIONS} - {""} == bound - elsewhere
    assert all(action.title for action in ACTIONS)


async def test_the_palette_carries_out_a_command_and_closes_the_session_on_screen(running):
    async with running(talk=("Hello", "Yes.")) as (w, app, pilot):
        there = w.workspace.current.id
        for typed, title in (("save now", "Save now"), ("close this", "Close this session")):
            await pilot.press("ctrl+p", *typed)
            await until(lambda title=title: [o.hit.text for o in options(app)][:1] == [title])
            await pilot.press("enter")
            await until(lambda: app.screen is app.chat, "the chat")
        await until(lambda: 'Saved "' in notices(app))
        await until(lambda: app.chat.shown != there)


async def test_the_palette_asks_before_it_asks_again(running):
    async with running(["Better."], talk=("Hello", "Yes.")) as (w, app, pilot):
        for title, answer in (("Ask again", "escape"), ("Ask again for this answer", "enter")):
            asks = f"! {title}? Enter yes"
            await pilot.press("ctrl+p")
            app.post_message(events.Paste(title))
            await until(lambda title=title: [o.hit.text for o in options(app)][:1] == [title])
            await pilot.press("enter")
            await until(lambda asks=asks: asks in key_line(app), "the question")
            await pilot.press(answer)
            await until(lambda asks=asks: asks not in key_line(app), "the answer")
        await answered(w, app, "Better.")
    assert len(w.model.requests) == 1


def options(app):
    from textual.command import CommandList

    found = app.screen.query(CommandList)
    return (
        [found.first().get_option_at_index(i) for i in range(found.first().option_count)]
        if found
        else []
    )
