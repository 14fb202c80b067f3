"""Prompts with references to files: what is sent, kept, given back, and in what order."""

import asyncio
import threading

import pytest

from tests.ui.screen import notices, rows, wait_for_answer
from tests.ui.world import kept
from tests.waiting import until
from tui.domain.journal.message import FileBlock, ImageBlock
from tui.domain.references import words_in
from tui.engine import attachments
from tui.engine.sessions.open_session import SessionOrigin
from tui.widgets.prompt import Prompt

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 100


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.txt").write_text("alpha")
    (folder / "b.txt").write_text("beta")
    (folder / "bad").write_bytes(b"\0")
    return folder


@pytest.fixture
def shop(world, project):
    """A world whose sessions belong to a project with files."""

    def make(*answers):
        w = world(*answers)
        w.place = SessionOrigin("project:/shop", str(project), "scripted:model")
        return w

    return make


@pytest.fixture
def slow_disk(monkeypatch):
    """Reading a file takes until the gate is set."""
    read, gate, begun = attachments.read_attachment, threading.Event(), threading.Event()

    def held_up(path, name):
        begun.set()
        gate.wait(20)
        return read(path, name)

    async def submit_held_up(app, text, *behind):
        """Submit a prompt whose files are being read when this returns, and others behind it."""
        submit(app, text)
        await asyncio.to_thread(begun.wait, 20)
        for each in behind:
            submit(app, each)
        queued = app.workspace.current.prompt
        await until(lambda: queued.queued == [*behind], "what waits behind it")

    monkeypatch.setattr(attachments, "read_attachment", held_up)
    gate.submit = submit_held_up
    yield gate
    gate.set()


def submit(app, text):
    """As Enter does, without the list that completes paths."""
    app.post_message(Prompt.Submitted(text, words_in(text)))


def questions(w, session_id=None):
    """The user's messages on disk: what was typed, and what came with it."""
    session_id = session_id or w.workspace.current.id
    found = w.other_program().journal(session_id).load().all_messages
    return [(m.typed_text, m.attachments) for m in found if m.role == "user"]


def attached(w):
    return [[block.text for block in blocks] for _, blocks in questions(w)]


async def test_files_and_pictures_go_with_the_prompt_which_stays_as_typed(shop, project):
    w = shop(["It is fine."], ["A cat."], ["Yes."], ["There."], ["Long."])
    (project / "cat").write_bytes(PNG)
    (project / "log").write_text("x" * 300_000)
    w.prompts = {"review": "Find the fault in {args}."}
    async with w.running() as (app, _):
        for number, text in enumerate(
            (
                *("check @a.txt, please", "@cat what is it?", "what is @property?"),
                *("/review @a.txt", "@log"),
            ),
            1,
        ):
            submit(app, text)
            await until(lambda number=number: len(w.model.requests) == number, text)
            await wait_for_answer(w)
        said = "Attached in part: [file: log, first 256 KB of 300 KB]"
        await until(lambda: said in notices(app), "what is cut")
        session_id = w.workspace.current.id
        assert session_id in rows(app)
    block = FileBlock("a.txt", "alpha", 5)
    (typed, attached), (_, (picture,)), only_looks_like_one, own, _ = questions(w, session_id)
    assert (typed, attached) == ("check @a.txt, please", (block,))
    assert w.model.requests[0].messages[0].text == f"check @a.txt, please\n{block.fenced}"
    assert isinstance(picture, ImageBlock)
    assert w.other_program().attachment(session_id, picture.sha256) == PNG
    assert list(w.model.requests[1].images.values()) == [PNG]
    assert only_looks_like_one == ("what is @property?", ())
    assert own == ("Find the fault in @a.txt.", (block,))
    assert w.drafts().load(session_id) is None


async def test_a_prompt_that_cannot_be_attached_is_given_back_with_the_reason(shop, monkeypatch):
    def broken(path, name):
        raise ZeroDivisionError("a defect")

    w = shop(["Fine."])
    async with w.running() as (app, pilot):
        with monkeypatch.context() as patched:
            patched.setattr(attachments, "read_attachment", broken)
            submit(app, "look at @b.txt")
            told = "Unexpected error: ZeroDivisionError"
            await until(lambda: told in notices(app), "the notice of a defect")
            assert app.chat.prompt.text == "look at @b.txt"
            await wait_for_answer(w)
        app.chat.prompt.set_text("")
        submit(app, "look at @a.txt and @bad")
        await until(lambda: app.chat.prompt.text == "look at @a.txt and @bad", "the prompt")
        said = "Not sent. Cannot attach bad: it is not text or a picture."
        await until(lambda: said in notices(app), "the reason")
        await wait_for_answer(w)
        assert not w.workspace.current.published
        assert not w.model.requests
        app.chat.prompt.set_text("look at @a.txt", own=words_in("@a.txt"))
        await pilot.press("enter")
        await until(lambda: w.model.requests, "the request")
        await wait_for_answer(w)
        assert attached(w) == [["alpha"]]


async def test_prompts_behind_one_that_is_given_back_wait_behind_it(shop, slow_disk):
    w = shop(["never asked"])
    async with w.running() as (app, _):
        await slow_disk.submit(app, "first @bad", "second", "third")
        slow_disk.set()
        await until(lambda: app.chat.prompt.text == "first @bad", "the prompt")
        await wait_for_answer(w)
        assert w.workspace.current.prompt.queue.held == ("second", "third")
        assert w.model.requests == []


async def test_prompts_are_sent_in_their_order_though_the_first_one_reads_for_long(shop, slow_disk):
    w = shop(["one"], ["two"], ["three"])
    async with w.running() as (app, _):
        await slow_disk.submit(app, "first @a.txt", "second", "third @b.txt")
        waiting = "first @a.txt", "second", "third @b.txt"
        await until(lambda: kept(w) == ("", waiting), "all of them in the draft")
        slow_disk.set()
        await until(lambda: len(w.model.requests) == 3, "all requests")
        await wait_for_answer(w)
        assert [typed for typed, _ in questions(w)] == ["first @a.txt", "second", "third @b.txt"]
        assert attached(w) == [["alpha"], [], ["beta"]]
        await until(lambda: kept(w) is None, "the draft without what was sent")


async def test_a_file_is_read_when_its_prompt_is_sent(shop, project):
    gate = asyncio.Event()
    w = shop(["one", gate], ["two"])
    async with w.running() as (app, _):
        submit(app, "first")
        await until(lambda: w.model.requests, "the request")
        submit(app, "second @a.txt")
        await until(lambda: w.workspace.current.prompt.queued, "the queue")
        (project / "a.txt").write_text("changed")
        gate.set()
        await until(lambda: len(w.model.requests) == 2, "the second request")
        await wait_for_answer(w)
        assert attached(w) == [[], ["changed"]]


async def test_esc_gives_back_the_prompt_whose_files_are_read(shop, slow_disk):
    w = shop(["one"])
    async with w.running() as (app, pilot):
        await slow_disk.submit(app, "first @a.txt", "second")
        await pilot.press("escape")
        await until(lambda: app.chat.prompt.text == "first @a.txt", "the prompt")
        await until(lambda: not w.workspace.current.activity.running, "the end of reading")
        assert w.workspace.current.prompt.queue.held == ("second",)
        assert w.workspace.current.prompt.leaving == []
        slow_disk.set()
        await pilot.press("enter")
        await until(lambda: len(w.model.requests) == 1, "the request")
        await wait_for_answer(w)
        assert attached(w) == [["alpha"]]


async def test_a_prompt_is_not_sent_whose_files_were_read_while_it_was_taken_back(shop, slow_disk):
    w = shop(["one"])
    async with w.running() as (app, _):
        await slow_disk.submit(app, "first @a.txt")
        session = w.workspace.current
        # The first half of a stop.
        app.controllers.turns.hold_queue(session)
        slow_disk.set()
        await until(lambda: not session.activity.running, "the end of reading")
        assert app.chat.prompt.text == "first @a.txt"
        assert session.entries == ()
        assert w.model.requests == []


async def test_leaving_the_program_keeps_the_prompt_whose_files_are_read(shop, slow_disk):
    w = shop(["one"])
    async with w.running() as (app, _):
        await slow_disk.submit(app, "first @a.txt")
    draft = w.drafts().load(w.workspace.current.id)
    # The loop waits for its threads before the fixtures end.
    slow_disk.set()
    assert (draft.text, draft.queued) in [("", ("first @a.txt",)), ("first @a.txt", ())]
    assert w.model.requests == []


async def test_a_prompt_read_for_in_another_session_is_sent_there(shop, slow_disk):
    w = shop(["one"])
    other = await w.session("Hello", "Yes.")
    async with w.running() as (app, _):
        first = w.workspace.current.id
        await slow_disk.submit(app, "first @a.txt")
        await w.workspace.open_session(other)
        await app.controllers.navigation.show_session()
        slow_disk.set()
        await until(lambda: w.model.requests, "the request")
        await until(lambda: questions(w, first), "the message")
    assert questions(w, first) == [("first @a.txt", (FileBlock("a.txt", "alpha", 5),))]


# --- versions


async def edit_the_question(w, app, pilot, text):
    await pilot.press("f6", "e", "enter")
    await until(lambda: app.chat.prompt.text == text, "the question")
    app.chat.prompt.set_text("")


async def test_an_edited_question_reads_its_files_anew_and_keeps_those_that_are_gone(shop, project):
    w = shop(["one"], ["two"], ["three"], ["four"])
    async with w.running() as (app, pilot):
        submit(app, "see @a.txt")
        await until(lambda: w.model.requests, "the request")
        await wait_for_answer(w)
        (project / "a.txt").write_text("changed")
        await edit_the_question(w, app, pilot, "see @a.txt")
        submit(app, "now see @a.txt")
        await until(lambda: len(w.model.requests) == 2, "the second request")
        await wait_for_answer(w)
        assert attached(w) == [["alpha"], ["changed"]]
        assert [m.typed_text for m in w.model.requests[1].messages] == ["now see @a.txt"]
        (project / "a.txt").unlink()
        await edit_the_question(w, app, pilot, "now see @a.txt")
        submit(app, "and now @a.txt")
        await until(lambda: len(w.model.requests) == 3, "the third request")
        await wait_for_answer(w)
        assert attached(w)[-1] == ["changed"]
        await pilot.press("f6", "r", "enter")
        await until(lambda: len(w.model.requests) == 4, "the same request again")
        await wait_for_answer(w)
        assert w.model.requests[3].messages == w.model.requests[2].messages


async def test_an_edited_question_that_is_given_back_is_still_edited(shop):
    w = shop(["one"], ["two"])
    async with w.running() as (app, pilot):
        submit(app, "see @a.txt")
        await until(lambda: w.model.requests, "the request")
        await wait_for_answer(w)
        await edit_the_question(w, app, pilot, "see @a.txt")
        submit(app, "see @bad")
        await until(lambda: app.chat.prompt.text == "see @bad", "the prompt")
        await wait_for_answer(w)
        assert w.workspace.current.prompt.editing
        app.chat.prompt.set_text("")
        submit(app, "see @b.txt")
        await until(lambda: len(w.model.requests) == 2, "the second request")
        await wait_for_answer(w)
        assert attached(w) == [["alpha"], ["beta"]]
        assert [m.typed_text for m in w.model.requests[1].messages] == ["see @b.txt"]


async def test_pictures_for_a_model_that_sees_none_are_sent_as_names_by_a_second_enter(
    shop, project
):
    (project / "a.png").write_bytes(PNG)
    w = shop(["I cannot see it."])
    w.model.sees_images = False
    async with w.running() as (app, pilot):
        prompt = app.screen.query_one(Prompt)
        for text in ("see @a.png", "look at @a.png"):
            # Another prompt is asked about again.
            prompt.set_text("")
            submit(app, text)
            await until(
                lambda text=text: (
                    prompt.text == text
                    and "Not sent. scripted:model sees no pictures." in notices(app)
                ),
                text,
            )
        assert not w.model.requests
        await pilot.press("enter")
        await until(lambda: w.model.requests)
        await wait_for_answer(w)
        assert w.model.requests[0].messages[0].text.startswith("look at @a.png\n[image: a.png")
        assert not w.model.requests[0].images
