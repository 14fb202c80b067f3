"""The built-in guide: no model, no network, but the manual."""

import asyncio
import threading

import pytest
from msgspec.structs import replace
from textual.binding import Binding

from tests.attached import showing
from tests.providers.conftest import asks, collected, says, text_of
from tui.app.app import SibylApp
from tui.domain.commands import COMMANDS, Command
from tui.domain.journal.blocks import FileBlock
from tui.providers.guide import OfflineGuide, PastHit
from tui.providers.protocol import AnswerEnded, ModelRequest, TextReceived
from tui.widgets.key_names import NO_KEY


async def answer(question: str, guide: OfflineGuide | None = None) -> str:
    return text_of(await collected((guide or OfflineGuide()).stream(asks(question))))


async def test_it_says_first_that_it_is_no_model_and_how_one_is_connected():
    text = await answer("Hello")
    assert text.startswith("I am the built-in guide, not a language model")
    assert "press F5 or type /connect" in text


async def test_it_answers_what_was_typed_not_the_file_that_came_with_it():
    question = "how do I resume my last session"
    file = FileBlock("doctor.txt", "doctor " * 50, 350)
    asked = replace(says("user", ""), content=showing(question, file))
    text = text_of(await collected(OfflineGuide().stream(ModelRequest("", (asked,)))))
    assert text == await answer(question)


@pytest.mark.parametrize(
    ("question", "section"),
    [
        ("What is a session?", "Sessions"),
        ("how do I resume my last session", "Commands"),
        ("How do I choose a model?", "Models"),
        ("How do I connect Ollama?", "Models"),
        ("base_url of my server", "Providers"),
        ("where do I put my API key", "API keys"),
        ("Where are my files?", "Files"),
        ("How do I attach a picture?", "Attachments"),
        ("what happens if it CRASHES", "Crashes and full disks"),
        ("ｄｉｓｋ　ｆｕｌｌ", "Crashes and full disks"),
        ("import a rescue file", "Crashes and full disks"),
        ("How can I delete a session?", "Archive, delete, purge"),
        ("what does the exit code mean", "Exit codes"),
        ("doctor", "Doctor"),
        ("--json events", "Asking"),
        ("which scope am I in", "Scopes"),
        ("claude, anthropic", "Known providers"),
        ("full screen", "The screen"),
        ("which keys are there", "Keys"),
        ("keyboard shortcuts", "Keys"),
        ("which commands are there", "Commands"),
        ("How do I fork one?", "Commands"),
        ("how to quit", "Commands"),
        ("find a sentence from last month", "Search"),
        ("What does auth* mean in a search?", "Search"),
        ("how do I change the colours", "Themes"),
        ("why was my session archived by itself", "Archived automatically"),
        ("what is the summary", "Summaries"),
        ("add a to-do", "To-dos"),
        ("how do I switch sessions", "The screen"),
        ("how do I start the screen", "The screen"),
        ("can it run tools", "Tools"),
        ("timeout", "Failed answers"),
        ("desktop notifications", "Notifications"),
        ("does it read sessions of opencode", "Formats"),
        ("write a debug log", "Debug log"),
    ],
)
async def test_it_answers_from_the_section_that_fits(question: str, section: str):
    assert f"From the manual:\n\n## {section}\n" in await answer(question)


@pytest.mark.parametrize(
    "question", ["Hello", "セッションとは何ですか", "🙂", "", " ", "?!", "a\ud800", "x" * 100_000]
)
async def test_it_tells_what_the_manual_has_where_nothing_fits(question: str):
    text = await answer(question)
    assert "The manual has nothing on that. Its topics: Agents · Attachments · " in text


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


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("doctor", "    sibyl-tui doctor            checks files"),
        ("How do I fork one?", "| `/fork [NAME, NUMBER or ID]` | continue in a copy |"),
        ("how do I rename a session", "To rename a session, type `/name TEXT`, or press `r`"),
        ("what does F9 do", "`[keys]` in the configuration gives an action another key"),
        ("what does auto_save_interval do", "| `auto_save_interval` | `300` | Seconds between"),
        ("the variable of the key for groq", "| `groq` | Groq | `GROQ_API_KEY` |"),
        ("what key pins a session in the sidebar", "| `p` | Pin to the top, or unpin |"),
    ],
)
async def test_it_answers_with_the_passage_that_fits(question: str, says: str):
    passage = (await answer(question)).split("\n\n", 3)[3]
    assert says in passage
    assert passage.count("\n") < 12


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
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
