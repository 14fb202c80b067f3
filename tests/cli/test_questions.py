"""Questions on the terminal: may a tool be run, and what a server asks."""

import asyncio
import json
import os
import select
import sys
import threading

import pytest

from tests.providers.chat_server import answers
from tests.tool_servers.conftest import RAW
from tests.waiting import is_running, until
from tui.cli import ask
from tui.cli.ask import TerminalQuestions, ask_on_terminal
from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import Decision, Question, ServerQuestion, ToolApproval, read_question

QUESTION = Question(
    "s",
    ToolCall("c1", "files__read_file", {"path": "会話"}),
    "It has changed.",
    ToolApproval("files", "read_file", "1"),
)


@pytest.fixture
def keyboard(monkeypatch):
    """What is typed on the terminal that is asked on."""
    master, slave = os.openpty()
    with open(slave, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(ask.console, "is_terminal", lambda _: True)
        yield lambda text: os.write(master, text.encode())
    os.close(master)


@pytest.fixture
def asking(capsys):
    """Asks, and goes on once the question is there; gives what it said, and the answer to come."""

    async def ask():
        answer, said = asyncio.create_task(ask_on_terminal(QUESTION)), []

        def seen():
            said.append(capsys.readouterr().err)
            return "n deny" in "".join(said)

        await until(seen, "the question")
        return "".join(said), answer

    return ask


async def test_where_there_is_no_terminal_it_is_denied_and_said(capsys):
    assert await ask_on_terminal(QUESTION) == Decision("deny")
    assert "the tool files: read_file: there is no terminal" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("typed", "choice"),
    [
        ("y\n", "once"),
        ("Yes\n", "once"),
        (" y \n", "once"),
        ("u\n", "until-quit"),
        ("a\n", "always"),
        ("ALWAYS\n", "always"),
    ],
)
async def test_who_says_so_allows_it_for_that_long(asking, keyboard, typed, choice):
    said, answer = await asking()
    assert "Allow the tool files: read_file?\nIt has changed.\n" in said
    assert "会話" in said
    keyboard(typed)
    assert await answer == Decision(choice)


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("n\n", ""),
        ("n use the other file\n", "use the other file"),
        ("\n", ""),
        ("yess no\n", ""),
        ("all\n", ""),
        ("\x04", ""),
    ],
)
async def test_anything_else_denies_it_and_n_may_say_why(asking, keyboard, typed, reason):
    _, answer = await asking()
    keyboard(typed)
    assert await answer == Decision("deny", reason)


async def test_what_was_typed_before_the_question_answers_nothing(asking, keyboard):
    keyboard("y\n")
    assert select.select([sys.stdin], [], [], 60)[0]
    _, answer = await asking()
    keyboard("n\n")
    assert await answer == Decision("deny")


async def test_an_answer_that_nobody_waits_for_any_more_is_dropped(asking, keyboard):
    errors = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
    _, answer = await asking()
    answer.cancel()
    await asyncio.gather(answer, return_exceptions=True)
    keyboard("y\n")
    await until(lambda: not _readers(), "the end of the line")
    await asyncio.sleep(0)
    assert errors == []


def _readers():
    return [each for each in threading.enumerate() if each.name == "answer"]


FORM = read_question(
    "files",
    {
        "message": "Who?",
        "requestedSchema": {
            "required": ["name"],
            "properties": {
                "name": {"type": "string"},
                "age": {"type": "integer", "default": 30},
                "sizes": {"type": "array", "items": {"enum": ["S", "M"]}, "default": ["M"]},
            },
        },
    },
)
SIGN_IN = ServerQuestion("files", "sign-in", "Sign in.", address="https://login.example/")


@pytest.fixture
def answered(capsys, keyboard):
    """Asks a question, and types a line whenever it waits for one; gives the answer."""

    async def ask(question, *lines):
        asking = asyncio.create_task(TerminalQuestions().ask(question))
        for line in lines:
            said = ""

            def waits():
                nonlocal said
                said += capsys.readouterr().err
                return said.rstrip().endswith(":")

            await until(waits, "a question")
            keyboard(f"{line}\n")
        return await asking

    return ask


@pytest.fixture
def opened(monkeypatch):
    addresses = []

    async def open_outside(address):
        addresses.append(address)
        return ""

    monkeypatch.setattr("tui.commands.viewers.open_outside", open_outside)
    return addresses


async def test_each_value_is_asked_for_and_enter_keeps_its_default(answered):
    answer = await answered(FORM, "y", "", "Anna", "thirty", "31", "")
    assert answer == {"name": "Anna", "age": 31, "sizes": ["M"]}


async def test_anything_but_a_yes_refuses(answered, opened):
    assert (await answered(FORM, ""), await answered(SIGN_IN, "n")) == (None, None)
    assert opened == []


async def test_an_address_is_opened_or_only_waited_for(answered, opened):
    assert (await answered(SIGN_IN, "c"), opened) == ({}, [])
    assert (await answered(SIGN_IN, "y"), opened) == ({}, [SIGN_IN.address])


def test_ask_offers_their_tools_and_ends_them(sibyl, served, tmp_path):
    log = tmp_path / "log"
    command = [sys.executable, RAW, json.dumps({"log": str(log), "ignore_end": True})]
    server = served(answers("Yes."), more=f"[mcp.raw]\ncommand = {json.dumps(command)}")

    asked = sibyl("ask", "Well?")

    (request,) = server.requests
    names = [tool["function"]["name"] for tool in request.body["tools"]]
    noted = [json.loads(line) for line in log.read_text().splitlines()]
    assert (asked.code, asked.out) == (0, "Yes.\n")
    assert "raw__echo" in names
    assert not any(is_running(line["pid"]) for line in noted if "pid" in line)
