"""Earlier prompts, and prompts of the user's own: recalled, searched, completed."""

import threading

from tests.ui.screen import close, have_answered, report, send, text_of, type_at_once, words
from tests.ui.world import messages
from tests.waiting import until
from tui.screens.page import HelpScreen


async def test_up_recalls_the_prompts_of_all_sessions_and_down_what_was_typed(world):
    w = world(["yes"], ["yes"])
    await w.session("first", "Yes.")
    await w.session("elsewhere", "Yes.", scope="project:/garden")
    there = await w.session("second", "Yes.")
    async with w.running(there) as (app, pilot):
        prompt = app.chat.prompt
        await have_answered(w, pilot, "third")
        await app.action_invoke("new")
        await until(lambda: w.workspace.current.id != there, "the new session")
        await pilot.press(*"draft")
        for text in ("third", "second", "first", "first"):
            await pilot.press("up")
            await until(lambda text=text: prompt.text == text, text)
        for text in ("second", "third", "draft"):
            await pilot.press("down")
            assert prompt.text == text
        await pilot.press("!")
        assert w.workspace.current.prompt.text == "draft!"
        # Keys typed behind the one that recalls are for the recalled prompt.
        app.chat.prompt.set_text("")
        type_at_once(app, "<up>!<enter>", in_one_read=True)
        await until(lambda: len(w.model.requests) == 2, "the request")
        assert w.model.requests[1].messages[-1].text == "third!"


async def test_escape_frees_the_keys_from_a_store_that_hangs(running, monkeypatch):
    async with running() as (w, app, pilot):
        await pilot.press("f6", "f6")
        asked, hanging, journal = threading.Event(), threading.Event(), w.store.journal

        def hang(session_id):
            asked.set()
            assert hanging.wait(20)
            return journal(session_id)

        monkeypatch.setattr(w.store, "journal", hang)
        type_at_once(app, "<up>a")
        # Escape frees only the keys that wait for something by now.
        await until(lambda: asked.is_set() and app.input_queue.waiting, "the letter that waits")
        type_at_once(app, "<escape>")
        await until(lambda: app.chat.prompt.text == "a", "the letter")
        hanging.set()


async def test_ctrl_r_searches_them_and_sends_nothing(world):
    w = world()
    await w.session("fix the login", "Yes.", "other words", "Yes.")
    async with w.running() as (app, pilot):
        await pilot.press("f6", "ctrl+r", *"login")
        await until(lambda: app.chat.prompt.text == "fix the login", "what is found")
        await pilot.press("enter", "!")
        assert app.chat.prompt.text == "fix the login!"
        assert app.chat.prompt.has_focus_within
        assert w.model.requests == []


async def test_a_prompt_of_ones_own_is_completed_explained_and_sent_with_its_words(world):
    w = world(["It is fine."])
    w.prompts = {"review": "Find the fault in {args}, only in {args}.", "just": "{args}"}
    async with w.running() as (app, pilot):
        await until(lambda: app.chat.own_commands)
        await pilot.press("slash", "r", "e", "v", "tab")
        await until(lambda: app.chat.prompt.text == "/review ")
        await pilot.press("ctrl+u")
        await send(pilot, "/just", says="Usage: /just [TEXT]")
        app.chat.prompt.set_text("")
        await send(pilot, "/help review")
        await until(lambda: "Find the fault in {args}" in report(app), "what it sends")
        await pilot.press("f1")
        await until(lambda: isinstance(app.screen, HelpScreen))
        assert "Commands of your own" in text_of(app.screen)
        assert "/review [TEXT]" in text_of(app.screen)
        await pilot.press("escape")
        await close(app, pilot)
        await have_answered(w, pilot, "/review a - b")
        assert "Find the fault in a - b, only in a - b." in words(app)
        assert not app.chat.prompt.text
        session_id = w.workspace.current.id
    assert messages(w, session_id) == [
        ("user", "Find the fault in a - b, only in a - b.", None),
        ("assistant", "It is fine.", None),
    ]
