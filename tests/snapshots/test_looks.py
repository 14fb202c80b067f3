"""How the screen looks in each of its states."""

import asyncio
from pathlib import Path

import pytest
from textual import events
from textual.widgets import TextArea

from tests.attached import picture, showing
from tests.ui.screen import (
    conversation,
    go_to,
    have_answered,
    notices,
    question,
    rows,
    send,
    wait_for_answer,
    words,
)
from tests.ui.world import full_disk
from tests.visible_text import visible_text
from tests.waiting import until
from tui.commands import registry
from tui.domain.journal.message import FileBlock, ToolCall
from tui.domain.journal.records import Todos
from tui.domain.journal.todo import TodoItem
from tui.errors import ModelRefused
from tui.screens.dialog import ThemePicker

ANSWERS = Path(__file__).with_name("answers")
ANSWER = (ANSWERS / "plan.md").read_text("utf-8")
NAMES = (
    "Which licence?",
    "Trip to Kyoto in May",
    "Onboarding mail, second draft",
    "索引の作り方",
    "Parser for bank statements",
    "Why is /orders slow?",
    "Rename the billing tables",
    "Release notes for 0.4",
)


@pytest.mark.parametrize(
    ("keys", "name"),
    [([], "empty"), (["f1"], "help"), (["slash", "s"], "completion")],
    ids=["empty", "help", "completion"],
)
async def test_an_empty_session(world, same_picture, keys, name):
    async with world().running() as (app, pilot):
        await until(lambda: rows(app))
        await pilot.press(*keys)
        await same_picture(pilot, name)


async def test_the_first_start_without_a_model(world, same_picture):
    w = world()
    w.model.name = "offline:guide"
    async with w.running(size=(80, 24)) as (app, pilot):
        await until(lambda: rows(app) and "No model is connected" in words(app))
        await same_picture(pilot, "first-start")


async def test_an_answer_in_markdown(world, same_picture):
    w = world([ANSWER])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "What is wrong with the login?", "Never compare")
        await until(lambda: len(rows(app)) == 1)
        await same_picture(pilot, "markdown")


async def test_an_answer_while_it_streams(world, same_picture):
    w = world(["It begins with a list:\n\n- one\n- two, which is", asyncio.Event()])
    async with w.running() as (_app, pilot):
        await send(pilot, "Go on.", shows="which is")
        await same_picture(pilot, "streaming")


async def test_an_answer_that_was_stopped(world, same_picture):
    w = world(["Half of what", asyncio.Event()])
    async with w.running() as (app, pilot):
        await send(pilot, "Go on.", shows="Half of what")
        await pilot.press("escape")
        await wait_for_answer(w)
        await until(lambda: "interrupted" in conversation(app))
        await same_picture(pilot, "interrupted")


async def test_an_answer_that_failed(world, same_picture):
    w = world([ModelRefused("The server refused the key (401).")])
    async with w.running() as (_app, pilot):
        await have_answered(w, pilot, "Go on.", "refused the key")
        await same_picture(pilot, "failed")


@pytest.mark.parametrize("is_open", [False, True], ids=["folded", "open"])
async def test_a_tool_call(world, same_picture, is_open):
    call = ToolCall("c1", "read_file", {"path": "auth.py", "lines": [1, 2]})
    w = world([call], ["Without it I cannot tell."])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "Read auth.py.", "cannot tell")
        if is_open:
            app.chat.transcript.focus()
            await pilot.press("home", "j", "j", "enter", "j", "enter")
        await same_picture(pilot, "tool-open" if is_open else "tool-folded")


@pytest.mark.parametrize("is_open", [False, True], ids=["folded", "open"])
async def test_files_and_a_picture_of_a_question(world, same_picture, is_open):
    code = "def answer() -> int:\n    return 42  # of course\n"
    files = [
        FileBlock("src/answer.py", code, len(code)),
        FileBlock("src", "answer.py\nquestion.py", 2, folder=True),
        picture("photo.png", size=120_000),
    ]
    w = world()
    there = await w.session(showing("Explain @src/answer.py in @src/ with @photo.png", *files), "…")
    async with w.running(there, (80, 24)) as (app, pilot):
        await until(lambda: "[image: photo.png, 120 KB]" in conversation(app))
        if is_open:
            app.chat.transcript.focus()
            await pilot.press("home", "j", "enter")
        await same_picture(pilot, "files-open" if is_open else "files-folded")


async def test_work_in_sessions_in_groups_with_marks(world, same_picture):
    """The picture that the README begins with."""
    w = world([(ANSWERS / "diagnosis.md").read_text("utf-8")], ["Since 0.3", asyncio.Event()])
    w.model.name = "anthropic:claude-sonnet-5-5"
    for number, name in enumerate(NAMES):
        w.clock.now = w.clock.now.replace(day=1 + number, hour=9)
        await w.session("Where do I begin?", "With a test.", name=name)
    w.clock.now = w.clock.now.replace(hour=18, minute=5, second=0)
    async with w.running() as (app, pilot):
        await send(pilot, "The login fails after midnight, not always. Where would you look?")
        await until(lambda: "naive time" in conversation(app) and len(rows(app)) == 9)
        await wait_for_answer(w)
        own, at_work = rows(app)[:2]
        await go_to(app, pilot, at_work)
        await send(pilot, "Go on with it.", shows="Since 0.3")
        await go_to(app, pilot, own)
        await until(lambda: "naive time" in conversation(app) and rows(app)[0] == at_work)
        await same_picture(pilot, "groups")


async def test_a_filter_over_the_sessions(world, same_picture):
    w = world()
    for name in ("Login fault", "Garden plan", "Login page"):
        await w.session("Hello", "Yes.", name=name)
    async with w.running() as (app, pilot):
        await until(lambda: len(rows(app)) == 4)
        await pilot.press("ctrl+b", "slash", *"login")
        await same_picture(pilot, "filter")


async def test_prompts_that_wait_and_a_folded_paste(world, same_picture):
    w = world(["It begins", asyncio.Event()])
    async with w.running() as (app, pilot):
        await send(pilot, "Go on.", shows="It begins")
        await send(pilot, "And then?")
        await send(pilot, "In which order?")
        await pilot.press(*"See")
        app.chat.query_one(TextArea).post_message(events.Paste("line\n" * 120))
        await pilot.pause()
        await same_picture(pilot, "queued")


async def test_the_palette(world, same_picture):
    async with world().running() as (app, pilot):
        await until(lambda: rows(app))
        await pilot.press("ctrl+p")
        await until(lambda: app.screen.query("CommandList.--visible"))
        await same_picture(pilot, "palette")


async def test_the_narrowest_and_lowest_terminal(world, same_picture):
    w = world([ANSWER])
    async with w.running(size=(40, 10)) as (_app, pilot):
        await have_answered(w, pilot, "What is wrong?", "Never compare")
        await same_picture(pilot, "narrow")


async def test_a_terminal_that_is_too_small(world, same_picture):
    async with world().running(size=(39, 9)) as (_app, pilot):
        await same_picture(pilot, "too-small")


async def test_a_light_theme(world, same_picture):
    call = ToolCall("c1", "read_file", {"path": "auth.py"})
    w = world([ANSWER, call], ["Half of what", asyncio.Event()])
    async with w.running() as (app, pilot):
        app.theme = "textual-light"
        await send(pilot, "What is wrong with the login?", shows="Half of what")
        await pilot.press("escape")
        await wait_for_answer(w)
        await until(lambda: "interrupted" in conversation(app) and len(rows(app)) == 1)
        await same_picture(pilot, "light")


async def test_no_colour(world, same_picture, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    w = world([ANSWER], ["Begun", asyncio.Event()])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "What is wrong with the login?", "Never compare")
        await send(pilot, "Go on.", shows="Begun")
        await pilot.press("ctrl+g", *"compare")
        await until(
            lambda: "1 / 3" in str(app.chat.find_line.query_one(".find-line--count").content)
        )
        await same_picture(pilot, "no-colour")


async def test_time_and_model_of_messages(world, same_picture):
    w = world([ANSWER])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "What is wrong with the login?", "Never compare")
        await pilot.press("f6", "I")
        await until(lambda: "2026-01-11" in conversation(app))
        await same_picture(pilot, "details")


async def test_japanese(world, same_picture):
    w = world(["はい、**会話**は保存されました。\n\n- 一つ目\n- 二つ目\n"])
    await w.session("昨日の話の続きをしましょう", "はい。", name="長い名前の会話を切り詰める試験")
    async with w.running() as (app, pilot):
        await until(lambda: len(rows(app)) == 2)
        app.chat.prompt.set_text("会話を保存してください")
        await pilot.press("enter")
        await until(lambda: "二つ目" in conversation(app))
        await wait_for_answer(w)
        await until(lambda: "会話を保存" in conversation(app))
        await same_picture(pilot, "japanese")


async def test_a_session_that_another_program_holds(world, same_picture, monkeypatch):
    monkeypatch.setattr("tui.storage.locks.os.getpid", lambda: 4711)
    monkeypatch.setattr("tui.storage.locks.platform.node", lambda: "host")
    w = world()
    there = await w.session("Hello", "Yes.", name="Held elsewhere")
    lease = w.other_program().lease(there)
    async with w.running(there) as (app, pilot):
        await until(lambda: "Read-only: " in notices(app) and rows(app))
        await same_picture(pilot, "read-only")
    lease.release()


async def test_a_full_disk(world, same_picture):
    w = world()
    async with w.running() as (app, pilot):
        await until(lambda: rows(app))
        with full_disk(w):
            await send(pilot, "Is this kept?", says="Not sent")
            await same_picture(pilot, "not-saved")


async def test_a_question_where_there_is_little_room(world, same_picture, monkeypatch):
    async def ask(shell, arguments):
        words = f"Delete session {shell.workspace.current.id}? (y/n)"
        await shell.confirm(words, "Until it is purged, /undo brings it back.")

    monkeypatch.setitem(registry.FUNCTIONS, "save", ask)
    async with world().running(size=(40, 10)) as (app, pilot):
        await until(lambda: rows(app))
        await send(pilot, "/save")
        await question(app)
        await same_picture(pilot, "question-narrow")


async def test_what_is_found_in_a_conversation(world, same_picture):
    w = world([ANSWER])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "What is wrong with the login?", "Never compare")
        await until(lambda: len(rows(app)) == 1)
        await pilot.press("ctrl+g", *"compare")
        await until(
            lambda: "1 / 3" in str(app.chat.find_line.query_one(".find-line--count").content)
        )
        await same_picture(pilot, "find")


TODOS = [
    ("Read the login code", "completed"),
    ("Compare the hashes in constant time", "in_progress"),
    ("会話の検索を直す", "pending"),
    *[(f"Write test {number}", "pending") for number in range(1, 7)],
]


@pytest.mark.parametrize("size", [(100, 36), (40, 10)], ids=["wide", "narrow"])
async def test_to_dos(world, same_picture, size):
    w = world()
    async with w.running(size=size) as (app, pilot):
        await send(pilot, "/todo add one")
        opened = w.workspace.current.opened
        opened.add(Todos(tuple(TodoItem(text, status, text) for text, status in TODOS)))
        await send(pilot, "/todo start 2")
        await until(lambda: "Compare the hashes" in " ".join(visible_text(app.chat.todos)))
        await until(lambda: len(rows(app)) == 1)
        await same_picture(pilot, "todos" if size[0] > 60 else "todos-narrow")


@pytest.mark.parametrize(
    ("size", "keys", "name"),
    [
        ((120, 40), [*["down"] * 3, "r", *" 2"], "rename"),
        ((120, 40), [*["down"] * 3, "d"], "delete-armed"),
        ((80, 24), [*["ctrl+left"] * 6, "down", "down"], "sidebar-narrow"),
        ((40, 10), ["down", "down"], "sidebar-over"),
    ],
    ids=["rename", "delete", "narrow", "smallest"],
)
async def test_the_list_with_names_of_several_kinds(world, same_picture, size, keys, name):
    w = world()
    for each in ("Garden plan", "会話の検索を直すためのとても長い名前", "Login 👩‍👩‍👧 page", ""):
        await w.session("What is to be done about it?", "Yes.", name=each)
    async with w.running(size=size) as (app, pilot):
        await until(lambda: len(rows(app)) == 5)
        await pilot.press("ctrl+b", *keys)
        await same_picture(pilot, name)


async def test_code_that_wraps_or_was_moved_and_a_link_to_be_opened(world, same_picture):
    w = world([(ANSWERS / "code.md").read_text("utf-8")])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "How?", "argon2")
        await pilot.press("f6")
        await same_picture(pilot, "code-wrapped")
        await pilot.press("w", "right")
        await until(lambda: app.chat.key_line.notices.current is None, "the keys")
        await same_picture(pilot, "code-moved")
        await pilot.press("o")
        await question(app)
        await same_picture(pilot, "link-question")


async def test_a_private_session_with_a_folded_paste(world, same_picture, monkeypatch):
    monkeypatch.setattr("os.urandom", bytes)
    w = world(["A log."])
    async with w.running(size=(100, 24)) as (app, pilot):
        # Its id is a time, and each look at the clock lets a second pass: the list's comes first.
        await until(lambda: rows(app), "the list")
        await send(pilot, "/private")
        await until(lambda: w.workspace.current.private, "a private session")
        app.chat.prompt.editor.post_message(events.Paste("Explain:\n" + "row\n" * 20))
        await until(lambda: "row" in app.chat.prompt.text, "the paste")
        await pilot.press("enter")
        await until(lambda: "A log." in conversation(app), "the answer")
        await wait_for_answer(w)
        await until(lambda: app.chat.key_line.notices.current is None, "the keys")
        await same_picture(pilot, "private")


async def test_a_theme_shown_while_it_is_chosen(world, same_picture):
    w = world([ANSWER])
    async with w.running(size=(80, 24)) as (app, pilot):
        await have_answered(w, pilot, "What is wrong?", "Never compare")
        await send(pilot, "/theme")
        await until(lambda: isinstance(app.screen, ThemePicker))
        await pilot.press(*["up"] * 9)
        await until(lambda: app.theme == "flexoki")
        await same_picture(pilot, "themes")
