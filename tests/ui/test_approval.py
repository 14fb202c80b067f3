"""Calls of tools that wait for the user, on the screen of the whole program."""

from contextlib import asynccontextmanager

import pytest
from textual import events

from tests.engine.scripted_servers import ScriptedServers, set_up
from tests.ui.screen import (
    conversation,
    go_to,
    mark,
    rows,
    send,
    status,
    type_at_once,
    wait_for_answer,
)
from tests.ui.world import SIZE, messages
from tests.visible_text import visible_text
from tests.waiting import until
from tui.app.appearance import Appearance
from tui.domain.journal.message import ToolCall
from tui.engine.turns.tools import DENIED, ToolApprovals, Tools
from tui.widgets.key_line import KeyLine


def call(number=1, content="会話.md"):
    return ToolCall(f"c{number}", "files__read_file", {"path": content, "mode": "red\x1b[31m"})


def tools(w):
    """Tools of which nothing is allowed until the user quits yet."""
    return Tools(set_up(servers=w.servers), approvals=ToolApprovals(w.approvals_file))


@pytest.fixture
def asking(world):
    """Makes a world whose model has tools and gives these answers."""

    def make(*answers):
        w = world(*answers)
        w.servers = ScriptedServers()
        w.tools = tools(w)
        return w

    return make


@pytest.fixture
def asked_by(asking):
    """Runs the program until a call of its model waits for the user."""

    @asynccontextmanager
    async def asked_by(*answers, size=SIZE):
        w = asking(*answers)
        async with w.running(size=size) as (app, pilot):
            await send(pilot, "go")
            await asked(app)
            yield w, app, pilot

    return asked_by


def question(app):
    """What is asked on screen; empty if nothing is."""
    return "\n".join(visible_text(app.chat.approval)) if app.chat.approval.display else ""


async def asked(app, words="files: read_file"):
    await until(lambda: words in question(app), f"the question about {words}")


def results(w):
    return [text for role, text, _ in messages(w, w.workspace.current.id) if role == "tool"]


async def test_a_call_is_shown_whole_and_safely_and_who_types_goes_on_typing(asked_by):
    async with asked_by([call()], ["Done."]) as (w, app, pilot):
        assert "会話.md" in question(app)
        assert "red\\u001b[31m" in question(app)
        await pilot.press(*"oudo1", "left", "right", "down")
        assert app.chat.prompt.draft == "oudo1"
        await until(lambda: "waits for approval" in status(app))
        app.chat.prompt.set_text("")
        type_at_once(app, "<down>1 more", in_one_read=True)
        await until(lambda: app.chat.prompt.draft == "1 more", "what was typed")
        assert app.chat.prompt.has_focus_within
        await pilot.press("f3")
        app.post_message(events.Paste("a u o"))
        type_at_once(app, " so1")
        await until(lambda: app.chat.prompt.text == "1 morea u o so1", "the text")
        assert question(app)
        assert not w.servers.calls
        app.chat.prompt.set_text("")
        type_at_once(app, "<f3>oand do")
        await until(lambda: app.chat.prompt.draft == "and do", "what was typed behind the answer")
        await wait_for_answer(w)
        assert results(w) == ["# Shop"]


async def test_a_command_that_ends_while_it_is_answered_does_not_bring_the_question_back(asked_by):
    async def nothing(_shell):
        pass

    async with asked_by([call()], ["Done."]) as (_, app, _):
        app.chat.approval.action_choose("once")
        await app._shell().run(nothing)
        assert not question(app)


@pytest.mark.full
async def test_a_question_is_answered_by_its_own_keys(asking):
    ways = (
        (["o"], "# Shop"),
        (["1"], "# Shop"),
        (["d", "enter"], DENIED),
        (["enter"], DENIED),
        (["n", "escape"], DENIED),
        ([*"no 1 way", "enter"], "The user denied this call: o 1 way"),
        (["n", "up", "o"], "# Shop"),
        (["right", "enter"], "# Shop"),
        (["escape"], DENIED),
        # These are the last to be asked.
        (["left", "enter"], "# Shop"),
    )
    w = asking(*(answer for _ in ways for answer in ([call()], ["Done."])))
    async with w.running() as (app, pilot):
        for keys, result in ways:
            await send(pilot, "go")
            await asked(app)
            await pilot.press("f3", *keys)
            await wait_for_answer(w)
            assert (keys, results(w)[-1]) == (keys, result)
            assert not question(app)
            await pilot.press("x")
            await until(lambda: app.chat.prompt.draft == "x", "the keys are the prompt's again")
            await pilot.press("backspace")


@pytest.mark.full
@pytest.mark.parametrize("key", ["u", "a", "2", "3"])
async def test_the_answers_for_more_than_once_have_letters_and_numbers(asked_by, key):
    async with asked_by([call(1), call(2)], ["Done."]) as (w, _, pilot):
        await pilot.press("f3", key)
        await wait_for_answer(w)
        assert results(w) == ["# Shop", "# Shop"]
        # Only what is allowed for always is kept.
        assert w.approvals_file.exists() == (key in "a3")


async def test_down_leads_to_the_question_and_what_is_pressed_twice_answers_one(asking):
    w = asking([call(1), call(2, "second")], ["Done."])
    async with w.running() as (app, pilot):
        await pilot.press("down")
        assert app.chat.prompt.has_focus_within
        await send(pilot, "go")
        await asked(app)
        await pilot.press("down")
        assert "↑ ↓ scroll" in str(app.chat.approval.border_subtitle)
        await pilot.press("1", "1")
        await asked(app, "second")
        assert results(w) == ["# Shop"]
        await pilot.press("escape")
        await wait_for_answer(w)


async def test_escape_denies_from_the_prompt_and_stops_nothing(asked_by):
    async with asked_by([call()], ["Done."]) as (w, app, pilot):
        await pilot.press("escape")
        await wait_for_answer(w)
        assert results(w) == [DENIED]
        assert messages(w, w.workspace.current.id)[-1] == ("assistant", "Done.", None)
        await until(lambda: f"▸ files: read_file result: {DENIED}" in conversation(app))


async def test_a_call_in_a_session_not_on_screen_is_marked_and_asked_when_viewed(asking):
    w = asking([call()], ["Done."])
    other = await w.session("hello", "hi")
    async with w.running() as (app, pilot):
        await send(pilot, "go")
        await asked(app)
        mine = w.workspace.current.id
        await until(lambda: other in rows(app))
        await go_to(app, pilot, other, "hello")
        assert not question(app)
        await until(lambda: mark(app, mine) == "waits for approval")
        await pilot.press("f3")
        await go_to(app, pilot, mine)
        await asked(app)
        await pilot.press("f3", "o")
        await wait_for_answer(w)
        assert results(w) == ["# Shop"]
        await until(lambda: mark(app, mine) == "")


@pytest.mark.full
async def test_long_arguments_scroll_while_the_panel_has_the_keys(asked_by):
    steps = [f"doing {n}" for n in range(60)]
    call = ToolCall("c1", "files__read_file", {"steps": steps})
    async with asked_by([call], ["Done."], size=(60, 15)) as (w, app, pilot):
        assert "[o 1] Once  [u 2] Until I quit  [a 3] Always  [d n] Deny" in question(app)
        await pilot.press("f3")
        for _ in range(400):
            await pilot.press("pagedown")
            if "doing 59" in question(app):
                break
        assert "doing 59" in question(app)
        seen = [question(app)]
        for key in ("up", "pageup", "down"):
            await pilot.press(key)
            seen.append(question(app))
        lines = [each.split("\n")[1:-1] for each in seen]
        # The last line goes, a page goes, and the line after the first comes back.
        assert lines[0][:-1] == lines[1][1:]
        assert lines[1][-1] not in lines[2]
        assert lines[2][1:] == lines[3][:-1]
        await pilot.press("escape")
        await wait_for_answer(w)


async def test_while_a_tool_asks_one_sees_how_to_find_the_next_match(asked_by):
    async with asked_by([call()], ["Done."]) as (w, app, pilot):
        await pilot.press("ctrl+g", *"go")
        keys = app.chat.query_one(KeyLine)
        await until(lambda: "Enter Next  ↑ Previous" in keys.render_line(0).text)
        assert "F3 Answer" in keys.render_line(0).text
        await pilot.press("escape", "escape", "escape")
        await wait_for_answer(w)


async def test_a_question_names_the_users_own_keys(asking):
    w = asking([call()], ["Done."])
    w.appearance = Appearance(keys={"approval-once": "y", "approval-focus": "f9", "stop": "f10"})
    async with w.running(size=(40, 10)) as (app, pilot):
        await send(pilot, "go")
        await asked(app, "y Once u For now a Always d Deny")
        assert "F9 or ↓ answers · F10 denies" in str(app.chat.approval.border_subtitle)
        await pilot.press("f9", "y")
        await wait_for_answer(w)
        assert len(results(w)) == 1
