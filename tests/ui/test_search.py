"""The search screen: found while one types, looked at, and gone to."""

import asyncio
import threading
from contextlib import asynccontextmanager

import pytest

from tests.ui.screen import (
    close,
    conversation,
    have_answered,
    lines,
    notices,
    press,
    send,
    status,
    type_at_once,
    wait_for_answer,
)
from tests.ui.test_find import marked
from tests.ui.world import messages
from tests.visible_text import results_text, visible_text
from tests.waiting import until
from tui.app.controllers.search import IndexBuilder
from tui.domain.search.query import SearchResult
from tui.errors import ModelUnavailable, StorageError
from tui.screens.search import SearchScreen

pytestmark = pytest.mark.full


def words(app):
    return str(app.screen.words.content)


def hits(app):
    """The lines of what was found."""
    return [line.strip() for line in visible_text(app.screen.hits) if line.strip()]


def preview(app):
    return "\n".join(visible_text(app.screen.preview))


async def look_for(app, pilot, text):
    """Open the search screen and type into it; until that is what is shown."""
    await pilot.press("ctrl+f")
    await until(lambda: isinstance(app.screen, SearchScreen), "the search screen")
    app.screen.line.value = text
    await found(app, text)


async def found(app, text):
    await until(lambda: results_text(app.screen) == text, f"the answer to {text}")


async def go_there(app, pilot):
    await pilot.press("enter")
    await until(lambda: app.screen is app.chat, "the session")


@asynccontextmanager
async def looking(w, text, session_id=None, size=(120, 40)):
    """A run of the program that looks for a text."""
    async with w.running(session_id, size=size) as (app, pilot):
        await look_for(app, pilot, text)
        yield app, pilot


@asynccontextmanager
async def gone_to(w, text, session_id=None):
    """A run that has gone to the first hit of a text."""
    async with looking(w, text, session_id) as (app, pilot):
        await go_there(app, pilot)
        yield app, pilot


def long_talk(size=400, found_at=150):
    texts = [f"message {number}" for number in range(size)]
    texts[found_at] += " with the needle"
    return texts


@pytest.mark.fast
async def test_what_is_typed_is_found_under_the_sessions_it_was_said_in_with_what_is_around(world):
    w = world()
    await w.session("where is the needle", "the needle is in the hay", "thanks a lot", name="Farm")
    await w.session("no such thing", name="Other")
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+f", *"needle")
        await found(app, "needle")
        await until(lambda: words(app) == "2 matches", "the index")
        label, own, answer = hits(app)
        assert label.startswith("Farm")
        assert "you" in own
        assert own.endswith("where is the needle")
        assert "answer" in answer
        assert app.screen.line.has_focus
        await pilot.press("down")
        await until(lambda: "thanks a lot" in preview(app))
        assert preview(app).index("where is the needle") < preview(app).index("in the hay")


async def test_what_fits_is_marked_also_of_a_word_that_is_still_being_typed(world):
    w = world()
    await w.session("the zebrafinch migrates")
    async with looking(w, "zebra") as (app, _):
        strip = app.screen.hits.render_line(1)
        marked = [segment.text for segment in strip if segment.style and segment.style.underline]
        assert marked == ["zebrafinch"]


async def test_the_highlight_moves_while_the_keys_are_the_line_s(world):
    w = world()
    await w.session(*[f"needle {number}" for number in range(40)], name="Many")
    async with looking(w, "needle", size=(80, 24)) as (app, pilot):

        def at():
            return app.screen.hits.highlighted.snippet

        seen = [at()]
        for key in ("down", "down", "up"):
            await pilot.press(key)
            seen.append(at())
        assert len({*seen}) == 3
        assert seen[3] == seen[1]
        first = seen[0]
        await pilot.press("pagedown")
        assert at() not in seen
        await pilot.press("end")
        assert at() == "needle 1"
        assert any(line.endswith("needle 1") for line in hits(app))
        await until(lambda: "needle 1" in preview(app))
        await pilot.press("pageup")
        assert at() not in ("needle 1", first)
        await pilot.press("home")
        assert at() == first
        assert app.screen.line.has_focus


async def test_a_double_click_on_a_hit_goes_there(world):
    w = world()
    await w.session("a needle", name="Other")
    there = await w.session("another needle", "Yes.")
    async with looking(w, "needle") as (app, pilot):
        place = next(y for y, line in enumerate(hits(app)) if line.endswith("another needle"))
        await pilot.double_click(type(app.screen.hits), offset=(5, place))
        await until(lambda: app.chat.shown == there, "the session")


@pytest.mark.fast
async def test_escape_gives_everything_back_and_text_and_highlight_stay_for_the_next_time(world):
    w = world()
    await w.session("a needle", name="Sewing")
    await w.session("another needle", name="The needle")
    await w.session("no such thing", name="A needle")
    async with w.running() as (app, pilot):
        left = w.workspace.current.id
        await pilot.press(*"half a thought")
        await look_for(app, pilot, "needle")
        await pilot.press("down")
        chosen = app.screen.hits.highlighted
        assert chosen.message_id is None
        await close(app, pilot)
        assert app.chat.prompt.has_focus_within
        assert app.chat.prompt.text == "half a thought"
        await pilot.press("ctrl+f")
        await found(app, "needle")
        assert app.screen.line.value == "needle"
        assert app.screen.hits.highlighted == chosen
        # It is selected: other words take its place.
        await pilot.press(*"another")
        await found(app, "another")
        await go_there(app, pilot)
        assert app.chat.prompt.text == ""
        assert w.drafts().load(left).text == "half a thought"


async def test_without_a_text_nothing_happens_but_a_hint_and_that_nothing_was_found_is_said(world):
    w = world()
    await w.session("a needle -> hay")
    async with w.running() as (app, pilot):
        await pilot.press("ctrl+f")
        await until(lambda: isinstance(app.screen, SearchScreen))
        assert words(app).startswith("All sessions:")
        await pilot.press("enter", "down", "pageup", "end")
        await found(app, "")
        assert hits(app) == []
        assert isinstance(app.screen, SearchScreen)
        for text, said in (
            ("nowhereatall", "No name or message contains this."),
            ("->", "Symbols alone are not searched"),
        ):
            app.screen.line.value = text
            await found(app, text)
            assert words(app).startswith(said)
            await pilot.press("enter")
            assert isinstance(app.screen, SearchScreen)


@pytest.mark.fast
async def test_what_comes_nearest_is_shown_and_gone_to_where_nothing_fits(world):
    w = world()
    await w.session("the authentication middleware fails", "Let us see")
    async with looking(w, "authentification middlewares xyz") as (app, pilot):
        assert words(app).startswith("Not found; 1 match near it: authenti* OR middlewar*")
        assert any("authentication middleware" in line for line in hits(app))
        await go_there(app, pilot)
        await until(lambda: "the authentication middleware fails" in conversation(app))


async def test_on_a_small_screen_is_room_for_all_and_harmful_letters_are_shown_as_marks(world):
    w = world()
    await w.session(*[f"needle {number}" for number in range(9)], name="Farm")
    await w.session("会話の検索結果 \x1b]0;evil\x1b\\ \x9b31m 会議")
    async with looking(w, "needle", size=(60, 15)) as (app, _):
        await until(lambda: "needle 8" in preview(app))
        assert len(hits(app)) >= 6
        assert len(visible_text(app.screen.preview)) >= 4
        app.screen.line.value = "検索"
        await found(app, "検索")
        await until(lambda: "検索" in preview(app))
        shown = "\n".join([*hits(app), preview(app)])
        assert "会話の検索結果" in shown
        assert "\x1b" not in shown
        assert "\x9b" not in shown
        listed = app.screen.hits
        await until(
            lambda: {listed.render_line(y).cell_length for y in (0, 1)} == {listed.size.width}
        )


@pytest.mark.fast
async def test_only_the_answer_to_the_latest_text_is_shown(world, monkeypatch):
    w = world()
    await w.session("a needle")
    async with w.running() as (app, pilot):
        go_on, wanted = threading.Event(), []
        search = w.store.search

        def slow(text, limit, **known):
            if text.startswith("slow"):
                go_on.wait(30)
                wanted.append(known["wanted"]())
                return SearchResult(total=99)
            return search(text, limit, **known)

        monkeypatch.setattr(w.store, "search", slow)
        await pilot.press("ctrl+f")
        await until(lambda: isinstance(app.screen, SearchScreen))
        app.screen.line.value = "slow"
        await pilot.press("enter")
        app.screen.line.value = "needle"
        await found(app, "needle")
        go_on.set()
        await until(lambda: wanted)
        assert not any(wanted)
        await pilot.pause()
        assert words(app) == "1 match"


async def test_much_that_another_program_writes_is_indexed_once_it_is_looked_for(
    world, monkeypatch
):
    built = []
    monkeypatch.setattr("tui.app.controllers.search._AFTER_START_SECONDS", 600)
    monkeypatch.setattr(IndexBuilder, "catch_up", lambda _: built.append(1))
    w = world()
    w.index_root = w.root
    await w.session("a needle")
    async with looking(w, "needle") as (app, _):
        assert len(built) == 1
        await w.session(*["straw " * 20_000] * 12)
        app.screen.line.value = "straw"
        await until(lambda: len(built) == 2)
        # The end of a build looks again, and leads to no other one.
        app.screen.ask_again()
        app.screen.line.value = "needle"
        await until(lambda: len(built) == 3)


@pytest.mark.fast
async def test_a_search_that_fails_says_why(running, monkeypatch):
    async with running() as (w, app, pilot):

        def broken(*_, **__):
            raise StorageError("Cannot search the sessions: gone")

        monkeypatch.setattr(w.store, "search", broken)
        await look_for(app, pilot, "needle")
        assert words(app) == "Cannot search the sessions: gone"


# --- going there


@pytest.mark.fast
async def test_enter_behind_letters_opens_no_match_of_the_words_before_them(world):
    w = world()
    await w.session("a needle", name="Other")
    there = await w.session("a needle in the hay", "Yes.", name="Hay")
    await w.session("the needle again", name="Last")
    async with looking(w, "needle") as (app, pilot):
        type_at_once(app, " hay<enter>", in_one_read=True)
        await found(app, "needle hay")
        assert isinstance(app.screen, SearchScreen)
        await go_there(app, pilot)
        await until(lambda: app.chat.shown == there, "the session")


async def test_enter_opens_the_session_at_that_message_where_a_draft_leaves_the_reader(world):
    w = world()
    session_id = await w.session(*long_talk(), name="Long")
    async with gone_to(w, "needle") as (app, pilot):
        assert w.workspace.current.id == session_id
        assert "message 150 with the needle" in conversation(app)
        assert app.chat.conversation.cursor.message.text == "message 150 with the needle"
        assert "message 149" in conversation(app)
        assert app.chat.prompt.has_focus_within
        # Looking is free.
        assert w.workspace.current.opened is None
        await pilot.press("escape", *"hm")
        await until(lambda: w.workspace.current.opened is not None)
        await pilot.pause()
        assert "with the needle" in conversation(app)
        await press(pilot, "backspace", "backspace", "end", shows="message 399")
        assert app.chat.conversation.following


@pytest.mark.fast
async def test_a_session_is_found_by_its_name_and_opened_at_its_end_from_anywhere(world):
    w = world()
    await w.session(*long_talk(), name="Auth bug investigation")
    await w.session("an auth bug", name="Other")
    async with gone_to(w, "needle") as (app, pilot):
        assert "message 399" not in conversation(app)
        await look_for(app, pilot, "auth bug")
        assert words(app) == "2 matches"
        heading, name, *_ = hits(app)
        assert heading.startswith("Auth bug investigation")
        assert "400 messages · created" in heading
        assert name.startswith("# name")
        assert name.endswith("Auth bug investigation")
        await until(lambda: "message 399" in preview(app), "the end in the preview")
        await go_there(app, pilot)
        await until(lambda: "message 399" in conversation(app), "the end")
        assert app.chat.conversation.following
        assert w.workspace.current.opened is None


async def test_what_fits_is_marked_there_and_in_sight_until_one_goes_on(world):
    w = world()
    long = "\n\n".join(f"line {number}" for number in range(200)) + "\n\nthe Zebrafinch at last"
    talk = await w.session("Tell me", long)
    async with gone_to(w, "line zebraf") as (app, pilot):
        await until(lambda: app.workspace.current.id == talk)
        await until(lambda: "the Zebrafinch at last" in conversation(app), "the place")
        assert marked(app) == [["[Zebrafinch]"]]
        await pilot.press("escape")
        await until(lambda: app.chat.prompt.has_focus_within)
        assert marked(app) == []


async def test_from_there_one_reads_on_to_both_ends(world):
    w = world()
    await w.session(*long_talk(), name="Long")
    async with gone_to(w, "needle") as (app, pilot):

        async def read(key, last):
            seen = []
            while last not in conversation(app):
                seen.append(conversation(app))
                await pilot.press(key)
                await pilot.pause()
            return "\n".join([*seen, conversation(app)])

        down = await asyncio.wait_for(read("pagedown", "message 399"), 240)
        assert all(f"message {number}" in down for number in range(150, 400))
        assert not app.chat.conversation.ends.later
        up = await asyncio.wait_for(read("pageup", "message 0\n"), 240)
        assert all(f"message {number}" in up for number in range(399))
        assert up.count("message 0\n") == 1


@pytest.mark.fast
async def test_what_is_sent_from_there_stands_at_the_end(world):
    w = world(["It goes on."])
    session_id = await w.session(*long_talk(), name="Long")
    async with gone_to(w, "needle") as (app, pilot):
        await pilot.press("escape")
        await have_answered(w, pilot, "and now")
        await until(lambda: "It goes on." in conversation(app))
        assert "message 399" in conversation(app)
        assert "needle" not in conversation(app)
    assert [text for _, text, _ in messages(w, session_id)][-2:] == ["and now", "It goes on."]


async def test_an_answer_that_goes_on_does_not_disturb_who_reads_far_above(world):
    go_on = asyncio.Event()
    w = world(["It begins", go_on, " and it ends."])
    session_id = await w.session(*long_talk(), name="Long")
    async with w.running(session_id) as (app, pilot):
        await send(pilot, "go", shows="It begins")
        await look_for(app, pilot, "needle")
        await go_there(app, pilot)
        before = lines(app)[:-1]
        go_on.set()
        await wait_for_answer(w)
        await pilot.pause()
        assert lines(app)[:-1] == before
        await press(pilot, "end", shows="and it ends.")


async def test_what_was_said_before_a_reset_is_gone_to(running):
    async with running(["Yes."], talk=("where is the needle", "in the hay")) as (_, app, pilot):
        await send(pilot, "/reset", says="Started over")
        await look_for(app, pilot, "needle")
        await go_there(app, pilot)
        assert "where is the needle" in conversation(app)
        assert "started over here" in conversation(app)


async def test_a_session_in_the_archive_or_of_another_scope_says_so_and_is_gone_to(world):
    w = world()
    await w.session("a needle", name="Mine")
    foreign = await w.session("a foreign needle", name="Foreign", scope="project:/farm")
    archived = await w.session("an old needle", name="Old")
    w.store.archive(archived)
    async with looking(w, "needle") as (app, pilot):
        found_lines = "\n".join(hits(app))
        assert "· farm" in found_lines
        assert found_lines.count("archived") == 1
        assert found_lines.count("· shop") == 2
        await look_for(app, pilot, "old needle")
        await go_there(app, pilot)
        assert w.workspace.current.id == archived
        await look_for(app, pilot, "foreign needle")
        await go_there(app, pilot)
        assert w.workspace.current.id == foreign
        await until(lambda: "farm" in status(app))
        await until(lambda: app.chat.rows.scope == "farm")


@pytest.mark.parametrize("text", ["needle", "farm"])
@pytest.mark.parametrize("verbs", [["delete"], ["delete", "purge"]])
async def test_of_a_session_that_was_deleted_since_one_is_told(world, verbs, text):
    w = world()
    session_id = await w.session("a needle", name="Farm")
    async with w.running() as (app, pilot):
        before = w.workspace.current
        await look_for(app, pilot, text)
        for verb in verbs:
            getattr(w.other_program(), verb)(session_id)
        await pilot.press("enter")
        await until(lambda: "Session not found" in words(app))
        assert w.workspace.current is before
        await close(app, pilot)


# --- the ways to it


async def test_the_command_needs_a_text_and_the_palette_opens_the_screen(world):
    async with world().running() as (app, pilot):
        await send(pilot, "/search", says="Usage: /search TEXT")
        await pilot.press("ctrl+p", *"search all")
        await until(lambda: len(app.screen.query("CommandList")) and _options(app))
        await pilot.press("enter")
        await until(lambda: isinstance(app.screen, SearchScreen))


def _options(app):
    return app.screen.query_one("CommandList").option_count


async def test_another_session_puts_the_screen_away(world):
    w = world()
    await w.session("a needle")
    async with w.running() as (app, pilot):
        await send(pilot, "/name Here", says="Renamed to")
        await look_for(app, pilot, "needle")
        await pilot.press("ctrl+f", "ctrl+n")
        await until(lambda: app.screen is app.chat)
        await until(lambda: "Started a new session" in notices(app))


# --- by meaning


@pytest.mark.fast
async def test_after_a_question_mark_the_model_gives_other_words_when_enter_asks_for_them(world):
    w = world(["NAS full\nxylophone\n"])
    await w.session("The nightly backup failed because the NAS was full")
    await w.session("Why is there no cake?")
    async with looking(w, "?why was no copy made") as (app, pilot):
        await until(lambda: "Enter sends this question to scripted:model" in words(app), "the hint")
        assert w.model.requests == []
        await pilot.press("enter")
        await until(lambda: words(app) == "Also: NAS full (1) · xylophone (0)", "the queries")
        assert any("nightly backup" in line for line in hits(app))
        await until(lambda: "NAS was full" in preview(app), "the preview")
        await pilot.press("home")
        await pilot.press("enter")
        await until(lambda: app.screen is app.chat, "the session")
        assert len(w.model.requests) == 1


async def test_escape_ends_the_request_for_other_words(world):
    w = world([asyncio.Event()])
    async with looking(w, "?why was no copy made") as (app, pilot):
        await pilot.press("enter")
        await until(lambda: w.model.requests, "the request")
        assert words(app) == "Asking scripted:model for other words…"
        await pilot.press("escape")
        await until(lambda: w.model.closed == 1, "its end")
        assert app.screen is app.chat


async def test_a_model_that_fails_leaves_what_was_found(world):
    w = world([ModelUnavailable("The server is away.")])
    await w.session("no copy of it")
    async with looking(w, "?copy") as (app, pilot):
        await pilot.press("enter")
        await until(lambda: words(app) == "No other words: The server is away.", "the reason")
        assert any("no copy of it" in line for line in hits(app))
        await go_there(app, pilot)


async def test_no_model_is_asked_from_a_private_session(running):
    async with running() as (w, app, pilot):
        await send(pilot, "/private")
        await until(lambda: w.workspace.current.private, "the private session")
        await look_for(app, pilot, "?copy")
        assert "a private session asks none" in words(app)
        await pilot.press("enter")
        await pilot.pause()
        assert w.model.requests == []
