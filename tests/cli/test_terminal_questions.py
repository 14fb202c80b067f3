"""Questions of servers on the terminal."""

import asyncio
import os
import sys

import pytest

from tests.waiting import until
from tui.cli.ask import TerminalQuestions
from tui.domain.server_questions import ServerQuestion, read_question

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
def answered(capsys, monkeypatch):
    """Asks a question, and types a line whenever it waits for one; gives the answer."""
    master, slave = os.openpty()

    async def ask(question, *lines):
        said = ""
        asking = asyncio.create_task(TerminalQuestions().ask(question))
        for line in lines:
            said = ""

            def waits():
                nonlocal said
                said += capsys.readouterr().err
                return said.rstrip().endswith(":")

            await until(waits, "a question")
            os.write(master, f"{line}\n".encode())
        return await asking

    with open(slave, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield ask
    os.close(master)


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
