"""The built-in guide: no model, no network, but the manual."""

import asyncio
import threading
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.binding import Binding

from tests.attached import showing
from tests.providers.conftest import asks, collected, says, text_of
from tests.tables import each_row
from tui.app.app import SibylApp
from tui.domain.commands import COMMANDS, Command
from tui.domain.journal.message import FileBlock
from tui.providers.guide import OfflineGuide, PastHit
from tui.providers.protocol import AnswerEnded, ModelRequest, TextReceived
from tui.widgets.keys import NO_KEY

OFF_TOPIC = """Hello
セッションとは何ですか
🙂

?!
what's the weather in Berlin?
who won the world cup in 2014
explain quantum computing
how does a car engine work"""


async def answer(question: str, guide: OfflineGuide | None = None) -> str:
    return text_of(await collected((guide or OfflineGuide()).stream(asks(question))))


def questions(name: str) -> list[tuple[str, ...]]:
    """What may be asked, and what is in the answer: ``question | words``."""
    lines = Path(__file__).with_name("samples").joinpath(f"{name}.txt").read_text("utf-8")
    return [tuple(line.split(" | ", 1)) for line in lines.splitlines()]


async def test_it_says_first_that_it_is_no_model_and_how_one_is_connected():
    text = await answer("Hello")
    assert text.startswith("I am the built-in guide, not a language model")
    assert "press F5 or type /connect" in text


async def test_it_introduces_itself_once_in_a_session():
    said = says("assistant", await answer("Hello"))
    asked = ModelRequest("", (says("user", "Hello"), said, says("user", "What is a session?")))
    text = text_of(await collected(OfflineGuide().stream(asked)))
    assert text.startswith("From the manual:\n\n## Sessions\n")


async def test_it_answers_what_was_typed_not_the_file_that_came_with_it():
    question = "how do I resume my last session"
    file = FileBlock("doctor.txt", "doctor " * 50, 350)
    asked = replace(says("user", ""), content=showing(question, file))
    text = text_of(await collected(OfflineGuide().stream(ModelRequest("", (asked,)))))
    assert text == await answer(question)


@each_row("question, section", questions("guide_sections"))
async def test_it_answers_from_the_section_that_fits(question: str, section: str):
    assert f"From the manual:\n\n## {section}\n" in await answer(question)


@each_row("question", [*OFF_TOPIC.split("\n"), " ", "a\ud800", "x" * 100_000])
async def test_it_says_in_a_line_where_help_is_where_nothing_fits(question: str):
    (line,) = (await answer(question)).splitlines()[2:]
    assert line.startswith("The manual has nothing on that. /help lists the commands, F1 the keys")
    assert line.endswith(" https://sibyl-tui.github.io/sibyl-tui/")


@each_row("question, says", questions("guide_words"))
async def test_it_answers_what_newcomers_ask(question: str, says: str):
    assert says in " ".join((await answer(question)).split())


async def test_its_answers_have_no_targets_of_links():
    text = await answer("which keys are there")
    assert "gives it another key:" in " ".join(text.split())
    assert "](" not in text


async def test_it_answers_in_pieces_of_a_few_words_that_make_the_whole():
    events = await collected(OfflineGuide().stream(asks("What is a session?")))
    assert events[-1] == AnswerEnded("stop")
    pieces = [event.text for event in events if isinstance(event, TextReceived)]
    assert len(pieces) > 20
    assert all(0 < len(piece.split()) <= 4 for piece in pieces)
    assert "    sibyl-tui sessions list               shows them all" in "".join(pieces)


async def test_it_can_be_stopped_between_two_pieces():
    task = asyncio.create_task(collected(OfflineGuide().stream(asks("What is a session?"))))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_it_quotes_the_users_own_sessions_which_it_searches_in_a_thread():
    asked: list[tuple[str, bool]] = []

    def search(question: str) -> list[PastHit]:
        asked.append((question, threading.current_thread() is threading.main_thread()))
        return [PastHit(f"session-{number}", f"hit {number}") for number in range(9)]

    text = await answer("Where were we?", OfflineGuide(search))
    assert asked == [("Where were we?", False)]
    assert "In your own sessions:\n\n- session-0: `hit 0`\n- session-1: `hit 1`\n" in text
    assert "session-3" not in text
    assert "`/load` and the id opens a session." in text


async def test_what_it_quotes_is_no_markdown_of_its_own():
    def search(_: str) -> list[PastHit]:
        text = "[link](http://x) **bold** ``code`` `end`"
        return [PastHit("session-1", text, "3 days ago, you")]

    text = await answer("xyzzy", OfflineGuide(search))
    quoted = "- session-1 (3 days ago, you): ``` [link](http://x) **bold** ``code`` `end` ```\n"
    assert quoted in text
    assert "The manual has nothing on that." not in text


@each_row("question, says", questions("guide_passages"))
async def test_it_answers_with_the_passage_that_fits(question: str, says: str):
    passage = (await answer(question)).split("\n\n", 3)[3]
    assert says in passage
    assert passage.count("\n") < 12


@each_row("command", COMMANDS)
async def test_the_manual_has_every_command_and_its_verbs(command: Command):
    text = await answer("Which commands are there?")
    assert f"| `/{command.name}" in text
    for verb in command.verbs:
        assert f"`/{command.name} {verb}" in text or command.name == "set"


async def test_the_manual_has_every_key_that_works_everywhere():
    text = await answer("Which keys are there?")
    keys = {binding.key for binding in SibylApp.BINDINGS if isinstance(binding, Binding)}
    written = [key.title() for key in keys - {NO_KEY}]
    assert [key for key in written if key not in text] == []
