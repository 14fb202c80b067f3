"""Questions of servers, on the screen of the whole program."""

import asyncio

import pytest
from textual.widgets import Static

from tests.engine.scripted_servers import ScriptedServers, set_up
from tests.ui.screen import send, wait_for_answer
from tests.waiting import until
from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import ServerQuestion, read_question
from tui.engine.turns.tools import ToolApprovals, Tools
from tui.screens.confirm import QuestionDialog
from tui.screens.page import ReportScreen
from tui.screens.tools import ToolScreen

FORM = {
    "message": "Who? [b]bold[/b]",
    "requestedSchema": {
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "age": {"type": "integer", "default": 30},
            "sure": {"type": "boolean", "default": True},
            "colour": {"type": "string", "enum": ["red", "green"], "default": "green"},
            "sizes": {"type": "array", "items": {"enum": ["S", "M"]}, "default": ["M"]},
        },
    },
}
DEFAULTS = {"age": 30, "sure": True, "colour": "green", "sizes": ["M"]}
ADDRESS = "https://pay.example/invoice?id=1"


@pytest.fixture
def opened(monkeypatch):
    """The addresses that were opened; ``refusal`` says why none can be."""
    addresses = []

    async def open_outside(address):
        addresses.append(address)
        return open_outside.refusal

    open_outside.refusal = ""
    monkeypatch.setattr("tui.commands.viewers.open_outside", open_outside)
    return addresses, open_outside


@pytest.fixture
def asking(world):
    """Makes a world in which a call of a tool asks this question."""

    def make(question):
        w = world([ToolCall("c1", "files__read_file", {})], ["Done."])
        w.servers = ScriptedServers()
        w.servers.question = question
        w.tools = Tools(set_up(servers=w.servers), approvals=ToolApprovals(w.approvals_file))
        return w

    return make


async def asked(w, app, pilot):
    """Allow the call, and wait for the question; gives its panel."""
    w.servers.ask = app.controllers.questions.ask
    await send(pilot, "go")
    await until(lambda: app.chat.approval.display, "the approval")
    await pilot.press("f3", "o")
    await until(lambda: app.chat.question_panel, "the question")
    await pilot.pause()
    return app.chat.question_panel


def words(panel):
    return "\n".join(str(each.content) for each in panel.query(Static))


async def test_a_form_is_filled_in_and_sent_and_who_types_goes_on_typing(asking):
    w = asking(read_question("files", FORM))
    async with w.running() as (app, pilot):
        panel = await asked(w, app, pilot)
        await pilot.press("a")
        assert (app.chat.prompt.text, "[b]bold[/b]" in words(panel)) == ("a", True)
        await pilot.press("f3", "enter", "A", "n", "n", "a")
        await pilot.press(*["tab"] * 6, "enter")
        await wait_for_answer(w)
        assert w.servers.answers == [{"name": "Anna", **DEFAULTS}]
        assert app.chat.question_panel is None


async def test_what_does_not_fit_is_said_and_not_sent_and_escape_refuses_from_the_prompt(asking):
    w = asking(read_question("files", FORM))
    async with w.running() as (app, pilot):
        panel = await asked(w, app, pilot)
        panel.query_one("#send").press()
        await until(lambda: "please fill it in" in words(panel), "the reason")
        assert w.servers.answers == []
        app.chat.prompt.focus()
        await pilot.press("escape")
        await wait_for_answer(w)
        assert w.servers.answers == [None]


async def test_a_button_has_the_colours_of_a_cursor_and_none_for_the_mouse(asking):
    w = asking(read_question("files", FORM))
    async with w.running() as (app, pilot):
        panel = await asked(w, app, pilot)
        button, at_rest = panel.query_one("#send"), panel.styles.background
        await pilot.hover("#send")
        await until(lambda: button.mouse_hover, "the mouse")
        assert button.styles.background == at_rest
        button.focus()
        await until(lambda: button.has_focus, "the focus")
        assert button.styles.background != at_rest
        assert (button.styles.background_tint.a, button.styles.text_style.reverse) == (0, None)


async def test_an_address_is_shown_and_opened_only_when_the_user_wants_it(asking, opened):
    w = asking(read_question("files", {"mode": "url", "url": ADDRESS, "message": "Pay"}))
    async with w.running() as (app, pilot):
        panel = await asked(w, app, pilot)
        assert ADDRESS in words(panel)
        assert opened[0] == []
        await pilot.press("f3", "o")
        await wait_for_answer(w)
        assert (opened[0], w.servers.answers) == ([ADDRESS], [{}])


async def test_a_sign_in_stays_until_it_is_done_and_without_a_browser_its_address_is_copied(
    asking, opened
):
    opened[1].refusal = "there is no desktop here"
    w = asking(ServerQuestion("files", "sign-in", "Sign in.", address=ADDRESS))
    async with w.running() as (app, pilot):
        panel = await asked(w, app, pilot)
        await pilot.press("f3", "o")
        await until(lambda: "there is no desktop" in words(panel), "the reason")
        assert app.controllers.clipboard.text == ADDRESS
        assert w.servers.answers == []
        await pilot.press("escape")
        await wait_for_answer(w)
        assert w.servers.answers == [None]


async def test_a_question_that_ends_below_another_page_is_gone_once_that_is_closed(asking):
    w = asking(read_question("files", FORM))
    async with w.running() as (app, pilot):
        await send(pilot, "/tools")
        await until(lambda: isinstance(app.screen, ToolScreen), "the tools")
        ask = asyncio.create_task(app.controllers.questions.ask(w.servers.question))
        await until(lambda: isinstance(app.screen, QuestionDialog), "the question")
        app.push_screen(ReportScreen("Another", "page", lambda _: None))
        await until(lambda: isinstance(app.screen, ReportScreen), "the page")
        ask.cancel()
        await asyncio.wait({ask})
        await pilot.press("escape")
        await until(lambda: isinstance(app.screen, ToolScreen), "the tools again")


async def test_s_in_the_list_of_tools_signs_in_and_out(asking):
    w = asking(read_question("files", FORM))
    async with w.running() as (app, pilot):
        w.servers.ask = app.controllers.questions.ask
        await send(pilot, "/tools")
        await until(lambda: isinstance(app.screen, ToolScreen), "the tools")
        await until(lambda: app.screen.choices.highlighted, "a row")
        while app.screen.choices.highlighted.id != "server:files":
            await pilot.press("down")
        await pilot.press("s")
        await until(lambda: isinstance(app.screen, QuestionDialog), "the question")
        await pilot.press("escape")
        await until(lambda: w.servers.answers == [None], "the answer")
        await until(lambda: isinstance(app.screen, ToolScreen), "the tools again")
        await until(lambda: w.servers.status.state == "ready", "the server")
        await pilot.press("s")
        await until(lambda: w.servers.forgotten == ["files"], "the end of the sign-in")
