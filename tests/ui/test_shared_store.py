"""Several machines on one store at a server, and the server going away."""

import asyncio
from functools import partial

import psycopg
import pytest

from tests.ui.another_window import begin_answer_elsewhere
from tests.ui.screen import (
    close,
    conversation,
    have_answered,
    newest_notice,
    notices,
    rows,
    send,
    status,
    wait_for_answer,
)
from tests.ui.world import messages
from tests.waiting import until
from tui.engine.sessions.open_session import take_session
from tui.storage.postgres.store import PostgresStore

pytestmark = pytest.mark.full


@pytest.fixture
def at_server(world):
    """Makes a world whose store is at a server."""
    stores = []

    def opened(address, w):
        stores.append(PostgresStore(address, w.clock))
        return stores[-1]

    def made(address, *answers):
        w = world(*answers)
        w.open_store = partial(opened, address, w)
        return w

    yield made
    for store in stores:
        store.close()


@pytest.fixture
def polling_is_too_late(monkeypatch):
    monkeypatch.setattr("tui.app.controllers.background.WATCHED_SECONDS", 3600)


@pytest.fixture
def quick_polls(monkeypatch):
    monkeypatch.setattr("tui.app.controllers.background.WATCHED_SECONDS", 0.05)


async def test_up_recalls_the_prompts_of_all_machines(postgres, at_server):
    w = at_server(postgres)
    await w.session("first", "hi", "second", "hi")
    w.other_program().archive(await w.session("third", "hi"))
    async with w.running() as (app, pilot):
        for text in ("third", "second", "first"):
            await pilot.press("up")
            await until(lambda text=text: app.chat.prompt.text == text, text)


@pytest.mark.usefixtures("polling_is_too_late")
async def test_what_another_machine_does_appears_at_once_and_what_it_closes_can_be_written_to(
    postgres, at_server
):
    w = at_server(postgres, ["Here I am."])
    session = await w.session("hello", "hi")
    holder = await asyncio.to_thread(
        take_session, w.other_program(), session, w.clock, resumed=True
    )
    async with w.running(session) as (app, pilot):
        await until(lambda: "read-only" in status(app))
        answer = await begin_answer_elsewhere(holder, app)
        answer.receive("well.")
        holder.end_answer(answer)
        await holder.save()
        await until(lambda: "Very well." in conversation(app), "the answer")
        other = await w.session("From elsewhere")
        await until(lambda: other in rows(app), "its row")
        await asyncio.to_thread(w.other_program().archive, other)
        await until(lambda: other not in rows(app), "its leaving")
        await holder.close()
        await until(lambda: "read-only" not in status(app), "the right to write")
        await send(pilot, "Anybody?", shows="Here I am.")


async def test_all_is_saved_once_in_order_when_the_server_is_back(postgres_server, at_server):
    more = asyncio.Event()
    w = at_server(postgres_server.address(), ["Nothing", more, " is lost."])
    async with w.running() as (app, pilot):
        await send(pilot, "Is it lost?", shows="Nothing")
        postgres_server.stop()
        more.set()
        await until(lambda: "NOT SAVED: server unreachable" in status(app), "the failure")
        await until(lambda: "Nothing is lost." in conversation(app), "the answer")
        # Before that, the turn has not ended, and could be the one who saves.
        await until(lambda: "cannot be reached" in notices(app), "the bad news")
        postgres_server.start()
        await until(lambda: "NOT SAVED" not in status(app), "the save")
        await until(lambda: notices(app).count("server is back") == 1, "the good news")
        assert notices(app).count("cannot be reached") == 1
        session = w.workspace.current.id
    assert await asyncio.to_thread(messages, w, session) == [
        ("user", "Is it lost?", None),
        ("assistant", "Nothing is lost.", None),
    ]


async def test_a_prompt_that_could_not_be_sent_is_named_when_the_server_is_back(
    postgres_server, at_server
):
    w = at_server(postgres_server.address(), ["Yes.", "Now."])
    async with w.running() as (app, pilot):
        await have_answered(w, pilot, "Are you there?", "Yes.")
        postgres_server.stop()
        await send(pilot, "And now?", says="Not sent")
        postgres_server.start()
        await until(lambda: not w.workspace.current.unsaved, "the save")
        await until(lambda: "/retry sends it" in newest_notice(app).notice.text, "the hint")
        await send(pilot, "/retry", shows="Now.")


def take_away(address, session_id):
    """Let the lease of a session run out, as that of a machine that sleeps."""
    with psycopg.connect(address, autocommit=True, options="-c search_path=sibyl") as server:
        server.execute("update sessions set leased_until = now() where id = %s", (session_id,))


async def test_the_words_of_who_lost_a_session_go_on_in_a_copy(postgres, at_server):
    w = at_server(postgres, ["Yes."])
    session = await w.session("hello", "hi")
    async with w.running(session) as (app, pilot):
        await send(pilot, "/name Ours")
        await until(lambda: "Ours" in status(app) and not w.workspace.current.unsaved)
        await asyncio.to_thread(take_away, postgres, session)
        other = await asyncio.to_thread(
            take_session, w.other_program(), session, w.clock, resumed=True
        )
        other.add_message("user", "mine now")
        await other.close()
        await send(pilot, "Still here?", shows="Yes.")
        await until(lambda: "your copy is" in notices(app), "the reason")
        await wait_for_answer(w)
        copy = w.workspace.current.id
    assert copy != session
    texts = [text for _, text, _ in await asyncio.to_thread(messages, w, copy)]
    assert texts == ["hello", "hi", "Still here?", "Yes."]
    texts = [text for _, text, _ in await asyncio.to_thread(messages, w, session)]
    assert texts == ["hello", "hi", "mine now"]


@pytest.mark.usefixtures("quick_polls")
async def test_a_session_whose_machine_died_is_taken_over(postgres, at_server):
    w = at_server(postgres)
    session = await w.session("hello", "hi")
    await asyncio.to_thread(take_session, w.other_program(), session, w.clock, resumed=True)
    async with w.running(session) as (app, _):
        await until(lambda: "read-only" in status(app))
        # Nothing tells of that.
        await asyncio.to_thread(take_away, postgres, session)
        await until(lambda: "read-only" not in status(app), "the right to write")


def counted_looks(store):
    """Count how often a store is asked whether a session has changed."""
    looks, stamp = [], store.stamp

    def counted(session_id):
        looks.append(session_id)
        return stamp(session_id)

    store.stamp = counted
    return looks


def shown(app, part):
    """The words of a part of the topmost screen; none while it is not there."""
    return "".join(str(each.render()) for each in app.screen.query(part))


@pytest.mark.usefixtures("quick_polls")
async def test_a_reader_is_told_that_the_server_is_away_and_that_it_is_back_not_by_each_look(
    postgres_server, at_server
):
    w = at_server(postgres_server.address())
    session = await w.session("hello", "hi")
    await asyncio.to_thread(take_session, w.other_program(), session, w.clock, resumed=True)
    async with w.running(session) as (app, _):
        await until(lambda: "read-only" in status(app) and session in rows(app))
        postgres_server.stop()
        await until(lambda: "cannot be reached" in notices(app), "the bad news")
        looks = counted_looks(w.store)
        await until(lambda: len(looks) > 5, "more looks")
        postgres_server.start()
        await until(lambda: "server is back" in newest_notice(app).notice.text, "the good news")
        # Twice, if a look that was answered just before the end is heard of just after.
        assert notices(app).count("cannot be reached") < 3
        assert notices(app).count("server is back") < 3


@pytest.mark.usefixtures("quick_polls")
async def test_an_open_list_and_an_open_search_are_read_again_when_the_server_is_back(
    postgres_server, at_server
):
    w = at_server(postgres_server.address())
    await w.session("hello", "hi")
    async with w.running() as (app, pilot):
        postgres_server.stop()
        await pilot.press("f2")
        await until(lambda: "server unreachable" in shown(app, "#picker-views"), "the reason")
        assert "0+" not in shown(app, "#picker-views")
        postgres_server.start()
        await until(lambda: [row.label for row in app.screen.shown] == ["hello"], "its sessions")
        await close(app, pilot)
        postgres_server.stop()
        await pilot.press("ctrl+f", *"hello")
        await until(lambda: "cannot be reached" in shown(app, "#search-words"), "the reason")
        postgres_server.start()
        await until(lambda: "1 match" in shown(app, "#search-words"), "the match")
