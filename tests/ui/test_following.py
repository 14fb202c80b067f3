"""A session that another program holds, as it is seen here."""

from contextlib import asynccontextmanager

import pytest

from tests.ui.another_window import begin_answer_elsewhere
from tests.ui.screen import conversation, go_to, mark, notices, press, rows, status
from tests.ui.world import messages
from tests.waiting import until
from tui.domain.journal.session import Draft
from tui.domain.views.session_rows import Mark
from tui.engine.sessions.open_session import take_session

pytestmark = pytest.mark.full


@pytest.fixture
def followed(world):
    """Runs the program in a session that another one has open; gives that one, too."""

    @asynccontextmanager
    async def followed(*answers, talk=("hello", "hi")):
        w = world(*answers)
        session = await w.session(*talk)
        holder = take_session(w.other_program(), session, w.clock, resumed=True)
        async with w.running(session) as (app, pilot):
            await until(lambda: "read-only" in status(app))
            yield w, holder, app, pilot
        holder.abandon()

    return followed


def subtitle(app):
    return str(app.chat.prompt.editor.border_subtitle)


async def test_what_the_holder_says_appears_and_it_is_taken_over_as_soon_as_he_goes(followed):
    async with followed(["Here I am."]) as (w, holder, app, pilot):
        assert "in another window" in subtitle(app)
        await until(lambda: rows(app) and mark(app, holder.id) == Mark.READ_ONLY.value)
        answer = await begin_answer_elsewhere(holder, app)
        assert "interrupted" not in conversation(app)
        answer.receive("well.")
        holder.end_answer(answer)
        holder.rename("Health")
        await holder.save()
        await until(lambda: "Very well." in conversation(app), "the answer")
        await until(lambda: "Health" in status(app) and "4 messages" in status(app))
        assert conversation(app).count("Very") == 1
        await pilot.press(*"mine")
        await until(lambda: list(w.drafts().aside(holder.id)), "its own draft")
        await holder.close()
        await until(lambda: "read-only" not in status(app), "the end of the mark")
        assert subtitle(app) == ""
        assert "The other window is gone" in notices(app)
        await until(lambda: mark(app, holder.id) == Mark.NONE.value)
        assert app.chat.prompt.text == "mine"
        assert w.other_program().holder(holder.id)
        await press(pilot, "enter", shows="Here I am.")
        await until(lambda: not w.workspace.current.unsaved)
    said = [text for _, text, _ in messages(w, holder.id)]
    assert said[:2] == ["hello", "hi"]
    assert said[3:] == ["Very well.", "mine", "Here I am."]


async def test_a_reader_who_scrolled_up_stays_where_he_is(followed):
    talk = [f"message {number}" for number in range(80)]
    async with followed(talk=talk) as (_, holder, app, pilot):
        await until(lambda: "message 79" in conversation(app))
        app.chat.transcript.focus()
        await pilot.press("pageup", "pageup")
        await pilot.pause()
        before = conversation(app)
        holder.add_message("user", "the newest")
        await holder.save()
        await until(lambda: "81 messages" in status(app))
        now = conversation(app).splitlines()
        # The last row says that there is more.
        assert now[:-1] == before.splitlines()[:-1]
        await press(pilot, "end", shows="the newest")


@pytest.mark.parametrize("opened", [True, False], ids=["opened", "looked at"])
@pytest.mark.parametrize("mine", [pytest.param("", marks=pytest.mark.fast), "mine"])
async def test_what_the_holder_had_typed_is_shown_in_an_empty_prompt(world, opened, mine):
    w = world()
    session = await w.session("hello")
    holder = take_session(w.other_program(), session, w.clock, resumed=True)
    draft = Draft(holder.id, holder.header.scope, "/p", "the holder's", ("waited",))
    w.drafts().save(draft)
    async with w.running(*([holder.id] if opened else [])) as (app, pilot):
        if not opened:
            await until(lambda: rows(app))
            await go_to(app, pilot, holder.id)
        await until(lambda: "read-only" in status(app))
        app.chat.prompt.focus()
        await pilot.press(*mine)
        holder.abandon()
        await until(lambda: "read-only" not in status(app))
        shown = mine or "the holder's"
        await until(lambda: app.chat.prompt.draft == shown, "the draft")
        await pilot.press("x")
        await until(lambda: w.workspace.current.opened is not None, "the lease")
    kept = [w.drafts().load(holder.id), *(each for _, each in w.drafts().aside(holder.id))]
    texts = [(*each.queued, each.text) for each in kept if each]
    theirs = ("waited", "the holder's")
    assert texts == ([(f"{mine}x",), theirs] if mine else [("waited", "the holder'sx")])
