"""References in pasted text: they are text, however it is edited, kept and sent."""

import json
import shlex

import pytest
from textual import events

from tests.ui.screen import newest_notice, notices, rows, send, wait_for_answer
from tests.ui.world import PLACE, World
from tests.waiting import until
from tui.app.controllers import turns
from tui.domain.journal.message import FileBlock, content_of
from tui.engine.sessions.open_session import SessionOrigin
from tui.widgets.prompt.editor import Editor

PAGE = "\n".join(f"{number} see @b.txt, (@c.txt) or @~/.ssh/id_rsa" for number in range(20))


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("PRIVATE")
    folder = tmp_path / "shop"
    folder.mkdir()
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text(f"text of {name}")
    return folder


@pytest.fixture
def w(tmp_path, project):
    w = World(tmp_path / "data", ["one"], ["two"], ["three"], ["four"])
    w.place = SessionOrigin(PLACE.scope, str(project), PLACE.model)
    return w


async def typed(pilot, text):
    """Type a text; ``{...}`` in it is pasted, ``<...>`` a key."""
    while text:
        if text[0] in "{<":
            inner, _, text = text[1:].partition({"{": "}", "<": ">"}[text[0]])
            if inner in NAMED:
                pilot.app.post_message(events.Paste(NAMED[inner]))
                await pilot.pause()
            else:
                await pilot.press(inner)
        else:
            await pilot.press(text[0])
            text = text[1:]


NAMED = {"page": PAGE, "b": "see @b.txt"}


async def press_enter(pilot):
    """Press Enter, which takes no completion."""
    if pilot.app.chat.prompt.completing:
        await pilot.press("escape")
    await pilot.press("enter")


async def sent_with(w, pilot, count=1):
    """Send the prompt, and give the names of the files that go with it."""
    await press_enter(pilot)
    await until(lambda: len(w.model.requests) == count, "the request")
    await wait_for_answer(w)
    found = w.other_program().journal(w.workspace.current.id).load().all_messages
    return [[b.name for b in m.attachments] for m in found if m.role == "user"][-1]


async def test_only_a_sign_of_the_users_own_refers_to_a_file_and_the_border_names_it(w):
    async with w.running() as (app, pilot):
        await typed(pilot, "@a.txt {page}")
        border = app.query_one(Editor)
        await until(lambda: border.border_subtitle == "attached: a.txt 9 bytes", "the border")
        assert await sent_with(w, pilot) == ["a.txt"]
        await typed(pilot, "{b}, right? @a.txt")
        assert await sent_with(w, pilot, 2) == ["a.txt"]


async def test_a_paste_that_is_completed_or_a_path_refers_and_the_internal_clipboard_does_not(
    w, project
):
    async with w.running() as (app, pilot):
        app.post_message(events.Paste("see @b"))
        await until(lambda: app.chat.prompt.completing, "the completion")
        await pilot.press("tab", "tab")
        assert app.chat.prompt.text == "see @b.txt "
        assert await sent_with(w, pilot) == ["b.txt"]
        app.post_message(events.Paste(shlex.quote(str(project / "b.txt"))))
        await until(lambda: app.chat.prompt.text == "@b.txt ", "the reference")
        assert await sent_with(w, pilot, 2) == ["b.txt"]
        app.controllers.clipboard.start("see @b.txt ", lambda _: None)
        await pilot.press("ctrl+v")
        assert app.chat.prompt.text == "see @b.txt "
        assert await sent_with(w, pilot, 3) == []


async def test_a_queued_prompt_keeps_what_it_refers_to_when_it_is_taken_back(w):
    async with w.running() as (app, pilot):
        await send(pilot, "/stop")
        session = w.workspace.current
        session.prompt.hold("{b} @b.txt")
        session.prompt.hold("x @a.txt and @b.txt", 0)
        session.prompt.refer("x @a.txt and @b.txt", frozenset({"@a.txt"}))
        app.chat.show_queue(session.prompt.queue)
        await pilot.press("up", "up")
        assert app.chat.prompt.text == "x @a.txt and @b.txt"
        assert await sent_with(w, pilot) == ["a.txt"]


async def test_a_draft_keeps_in_the_next_run_which_words_refer_and_an_older_one_knows_none(w):
    session_id = await w.session("hello", project=w.place.project_path)
    async with w.running(session_id) as (_, pilot):
        await typed(pilot, "@a.txt {page}")
    assert w.drafts().load(session_id).references == ("@a.txt",)
    async with w.running(session_id) as (app, pilot):
        await until(lambda: app.chat.prompt.text.startswith("@a.txt"), "the draft")
        assert await sent_with(w, pilot) == ["a.txt"]
        await typed(pilot, "see @a.txt ")
    (path,) = w.drafts().files()
    older = json.loads(path.read_text())
    assert older.pop("references") == ["@a.txt"]
    path.write_text(json.dumps(older))
    async with w.running(session_id) as (app, pilot):
        await until(lambda: app.chat.prompt.text == "see @a.txt ", "the draft")
        assert await sent_with(w, pilot, 2) == []


async def test_a_draft_is_as_it_was_after_a_look_at_another_session(w):
    first = await w.session("First", project=w.place.project_path)
    second = await w.session("Second", project=w.place.project_path)
    async with w.running(first) as (app, pilot):
        await until(lambda: {first, second} <= {*rows(app)}, "the list")
        places = {each: f"alt+{place}" for place, each in enumerate(rows(app), 1)}
        await typed(pilot, "@a.txt {b} ")
        await pilot.press(places[second])
        await until(lambda: app.chat.prompt.text == "", "the other session")
        await pilot.press(places[first])
        await until(lambda: app.chat.prompt.text.startswith("@a.txt"), "the draft")
        assert await sent_with(w, pilot) == ["a.txt"]


async def test_what_is_recalled_edited_or_behind_it_refers_to_the_files_that_it_had(w):
    async with w.running() as (app, pilot):
        await typed(pilot, "@a.txt {b} ")
        assert await sent_with(w, pilot) == ["a.txt"]
        await pilot.press("up")
        assert app.chat.prompt.text == "@a.txt see @b.txt "
        assert await sent_with(w, pilot, 2) == ["a.txt"]
        await typed(pilot, "@c.txt {b} ")
        await pilot.press("up", "down")
        assert app.chat.prompt.text == "@c.txt see @b.txt "
        assert await sent_with(w, pilot, 3) == ["c.txt"]
        # Pasted words stay text, also in an edited question.
        await send(pilot, "/edit")
        await until(lambda: w.workspace.current.prompt.editing, "the edit")
        await typed(pilot, "again ")
        assert await sent_with(w, pilot, 4) == ["c.txt"]


async def test_an_edited_question_of_another_program_reads_nothing_from_the_disk(w):
    session_id = await w.session("see @a.txt and @b.txt", project=w.place.project_path)
    path = w.other_program().path(session_id)
    header, *others = map(json.loads, path.read_text().splitlines())
    header["imported_from"] = "claude-code:tale"
    (question,) = (each for each in others if each["type"] == "message")
    question["content"] = content_of(question["content"], [FileBlock("a.txt", "as it was", 9)])
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (header, *others)))
    async with w.running(session_id) as (_, pilot):
        await send(pilot, "/edit")
        await until(lambda: w.workspace.current.prompt.editing, "the edit")
        assert await sent_with(w, pilot) == ["a.txt"]
        (sent,) = w.model.requests[0].messages
        assert "as it was" in sent.text
        assert "text of" not in sent.text


async def test_each_file_of_secrets_is_asked_about_by_name_and_sent_by_an_enter_that_was_meant(
    w, project, monkeypatch
):
    (project / "notes").symlink_to(project.parent / "home" / ".ssh" / "id_rsa")
    names = [".env", "id_rsa", "tls.key"]
    for name in names:
        (project / name).write_text("secret")
    async with w.running() as (app, pilot):

        async def asked_about(name):
            before = newest_notice(app)
            await press_enter(pilot)
            await until(lambda: newest_notice(app) is not before, "the question")
            told = f"Not sent. {name} may hold secrets. Enter sends it to scripted:model."
            assert newest_notice(app).notice.text == told
            await until(lambda: app.chat.prompt.text, "the prompt")

        # A key that is held down sends none.
        monkeypatch.setattr(turns, "SECONDS_TO_READ", 1000.0)
        for name, presses in (("notes", 1), ("~/.ssh/id_rsa", 3)):
            await pilot.press("ctrl+u")
            await typed(pilot, f"@{name} ")
            for _ in range(presses):
                await asked_about(name)
            assert app.chat.prompt.text == f"@{name} "
        assert not w.model.requests
        monkeypatch.setattr(turns, "SECONDS_TO_READ", 0.0)
        assert await sent_with(w, pilot) == ["~/.ssh/id_rsa"]
        await typed(pilot, "".join(f"@{name} " for name in names))
        for name in names:
            await asked_about(name)
        assert await sent_with(w, pilot, 2) == names


async def test_a_name_that_leads_to_nothing_is_told_before_the_prompt_is_sent(w):
    async with w.running() as (app, pilot):
        await typed(pilot, "see @aa.txt ")
        await press_enter(pilot)
        told = "Not sent. No such file: aa.txt. Enter sends it as text."
        await until(lambda: told in notices(app), "the notice")
        assert not w.model.requests
        await until(lambda: app.chat.prompt.text == "see @aa.txt ", "the prompt")
        assert await sent_with(w, pilot) == []
