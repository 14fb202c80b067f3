"""Notices and reports; what a key that does nothing says."""

import asyncio
from contextlib import asynccontextmanager
from importlib import metadata

import pytest

import tui
from tests.ui.screen import (
    close,
    conversation,
    key_line,
    newest_notice,
    notice,
    notices,
    report,
    rows,
    send,
    text_of,
    type_at_once,
)
from tests.waiting import until
from tui.app.appearance import Appearance
from tui.domain.views.notice import Notice
from tui.screens.page import HelpScreen, NoticeList


def give_back(app):
    while app.chat.key_line.notices.current is not None:
        app.chat.key_line.notices._advance()


async def test_a_notice_takes_the_place_of_the_keys_until_it_is_seen_and_a_page_leaves_it(world):
    async with world().running() as (app, pilot):
        keys = key_line(app)
        await pilot.press("ctrl+t")
        await until(lambda: "No to-dos" in notice(app), "a hint, which is not listed")
        assert notices(app) == ""
        await send(pilot, "/set")
        await until(lambda: "temperature:" in report(app), "a longer answer, which is not either")
        assert notices(app) == ""
        await close(app, pilot)
        assert "temperature:" not in conversation(app)
        await send(pilot, "/save")
        await until(lambda: "· Nothing to save yet." in key_line(app), "the notice")
        assert "Help" not in key_line(app)
        give_back(app)
        assert key_line(app) == keys
        # A warning that may be unread is named among the keys.
        await send(pilot, "/load nowhere")
        await until(lambda: "✗" in key_line(app), "the notice")
        give_back(app)
        assert key_line(app).startswith(" F8 Last notice")
        await pilot.press("f8")
        await until(lambda: isinstance(app.screen, NoticeList), "the list")
        await close(app, pilot)
        await until(lambda: "Help" in key_line(app), "the keys")
        assert "F8" not in key_line(app)
        await pilot.press("f1")
        await until(lambda: isinstance(app.screen, HelpScreen))
        await pilot.press("ctrl+s")
        await until(lambda: "Nothing to save" in key_line(app), "the notice below the help")


@pytest.mark.parametrize("size", [(80, 24), (40, 10)])
async def test_a_notice_covers_nothing_also_where_there_is_no_room_for_keys(world, size):
    async with world().running(size=size) as (app, pilot):
        await send(pilot, "/save")
        await until(lambda: "Nothing to save yet." in key_line(app), "the notice")
        line = app.chat.key_line
        await until(lambda: line.region.height == 1, "its row")
        assert line.region.bottom == app.chat.status_bar.region.y
        assert app.chat.prompt.region.bottom <= line.region.y
        shown = size[1] >= 15
        give_back(app)
        await until(lambda: bool(line.region.height) == shown, "the row as before")


async def test_f8_and_a_command_list_the_notices_newest_first_and_f8_closes_the_list(world):
    async with world().running() as (app, pilot):
        await send(pilot, "/notices")
        await until(lambda: isinstance(app.screen, NoticeList), "the list")
        assert text_of(app.screen) == "No notices yet."
        await close(app, pilot)
        app.controllers.notices.show((Notice("The first\nof two lines", "warning"), ""))
        app.controllers.notices.show((Notice("The second", "error"), "Auth bug"))
        await pilot.press("f8")
        await until(lambda: isinstance(app.screen, NoticeList), "the list")
        second, first, rest = text_of(app.screen).splitlines()
        assert second.endswith('✗ "Auth bug": The second')
        assert first.endswith("! The first")
        assert rest.strip() == "of two lines"
        await pilot.press("f8")
        await until(lambda: app.screen is app.chat, "the chat")


async def test_the_line_shows_what_the_last_key_or_command_has_caused(world):
    async with world().running() as (app, pilot):
        commands = [f"/set temperature {value}" for value in ("3", "4", "0.3")]
        for each in commands:
            await send(pilot, each)
            await until(lambda value=each: value.split()[-1] in notice(app), "its answer")
        before = newest_notice(app)
        type_at_once(app, "".join(f"{each}<enter>" for each in commands), in_one_read=True)
        await until(lambda: newest_notice(app) is not before, "the answers")
        await until(lambda: "0.3" in newest_notice(app).notice.text, "the last answer")
        assert "0.3" in notice(app)
        await pilot.press("ctrl+t")
        await until(lambda: "No to-dos" in notice(app), "the hint")
        assert app.chat.key_line.notices.waiting == 0


async def test_a_failed_answer_on_screen_is_shown_at_once_and_one_elsewhere_waits_with_its_title(
    running,
):
    gate = asyncio.Event()
    answers = [gate, ZeroDivisionError("no server")], [ZeroDivisionError("no key")]
    async with running(*answers) as (w, app, pilot):
        await send(pilot, "fails later")
        await until(lambda: w.workspace.current.activity.running)
        await send(pilot, "/new")
        await send(pilot, "/set temperature 3")
        await until(lambda: "temperature" in notice(app), "the answer")
        await send(pilot, "fails now")
        await until(lambda: "no key" in notice(app), "the failure here")
        gate.set()
        told = "fails later Unexpected error: ZeroDivisionError: no server"
        await until(lambda: told in notices(app), "the failure elsewhere")
        assert "no server" not in conversation(app)
        assert "no key" in notice(app)
        assert app.chat.key_line.notices.waiting == 1


class TestANewVersion:
    HINT = "/help changes shows what is new"

    @pytest.fixture
    def used(self, world):
        """Starts a version, where there may be a session, and waits until it was looked up."""
        place = world()

        @asynccontextmanager
        async def used(version, *texts):
            if texts:
                await place.session(*texts)
            asked = []
            place.version = lambda: asked.append(version) or version
            async with place.running() as (app, pilot):
                await until(lambda: asked and not is_looking(app), "the version")
                yield app, pilot

        def is_looking(app):
            return any(each.name == "look for an update" for each in app.workers)

        return used

    async def test_is_told_once_and_is_no_news_to_a_new_user(self, used):
        for version, texts, is_told in (
            ("1.0.0", (), False),
            ("1.1.0", ("Hello",), True),
            ("1.1.0", (), False),
            ("1.2.0", (), True),
        ):
            async with used(version, *texts) as (app, _):
                assert (f"sibyl-tui {version}: {self.HINT}" in notices(app)) == is_told
                assert (self.HINT in notices(app)) == is_told

    async def test_whose_metadata_an_upgrade_replaces_is_not_told(self, world, monkeypatch):
        place = world()
        await place.session("Hello")
        asked = []

        def missing(name):
            asked.append(name)
            raise metadata.PackageNotFoundError(name)

        monkeypatch.setattr(metadata, "version", missing)
        place.version = lambda: tui.__version__
        async with place.running() as (app, _):
            await until(lambda: "sibyl-tui" in asked, "the look")
            await until(lambda: all(each.name != "look for an update" for each in app.workers))
            assert self.HINT not in notices(app)

    async def test_that_cannot_be_kept_is_not_told_each_time(self, used, tmp_path):
        (tmp_path / "state").mkdir()
        (tmp_path / "state" / "ui.json").write_text('{"version": 2}')
        async with used("1.0.0", "Hello") as (app, _):
            assert self.HINT not in notices(app)

    async def test_has_its_changes_in_the_help(self, world):
        async with world().running() as (app, pilot):
            await send(pilot, "/help changes")
            await until(lambda: report(app).startswith("1."), "the changes")


@pytest.mark.full
async def test_a_key_that_does_nothing_says_why_and_says_it_once(running):
    async with running(talk=("Hello", "Yes.")) as (w, app, pilot):
        there = w.workspace.current.id
        await until(lambda: rows(app) == [there], "the list")
        for keys, words in (
            (["ctrl+b", "ctrl+c"], "Nothing is selected. Ctrl+Q quits."),
            (["ctrl+t"], "No to-dos yet. /todo add TEXT adds one"),
            (["ctrl+b", "x", "ctrl+c"], "Nothing is selected. Ctrl+Q quits."),
            (["alt+5"], "There is no session 5 in the list."),
            (["f6", "c"], "No code to copy; y copies the message."),
            (["f3"], "No tool is waiting for approval"),
            (["alt+1"], "Session 1 is already on screen."),
            (["alt+up"], "There is no other session in the list"),
        ):
            await pilot.press(*keys)
            await until(lambda words=words: words == notice(app), words)
            await pilot.press(keys[-1])
            await pilot.pause()
            assert notice(app) == words
            assert app.chat.key_line.notices.waiting == 0
        # What is done to a session is not done to a heading.
        await pilot.press("ctrl+b", "left")
        for key in ("a", "r", "d"):
            give_back(app)
            await pilot.press(key)
            await until(lambda: "This is a group. Right unfolds it" in notice(app), key)


async def test_a_walk_says_at_both_ends_of_the_list_that_it_is_one(world):
    w = world()
    ids = [await w.session(f"Hello {n}", "Yes.") for n in range(2)]
    async with w.running(ids[0]) as (app, pilot):
        await until(lambda: sorted(rows(app)) == sorted(ids), "the list")
        for step, end, target in (("up", "first", rows(app)[0]), ("down", "last", rows(app)[-1])):
            await pilot.press(f"alt+{step}")
            await until(lambda target=target: app.chat.shown == target, f"the {end} of the list")
            await pilot.press(f"alt+{step}")
            told = f"This is the {end} session of the list."
            await until(lambda told=told: told in notice(app), told)


async def test_without_a_message_there_is_none_to_go_to(world):
    async with world().running() as (app, pilot):
        for keys in (["pageup"], ["pagedown"], ["f6", "home"]):
            await pilot.press(*keys)
            await until(lambda: "There is no message yet." in notice(app), keys)
            app.chat.key_line.notices._advance()
        # The key that leads to the list leads back.
        await pilot.press("f6", "ctrl+b")
        await until(lambda: app.chat.sidebar.rows.has_focus)
        await pilot.press("ctrl+b")
        await until(lambda: app.chat.prompt.has_focus_within)


async def test_the_key_that_leaves_is_named_as_it_was_chosen(world):
    w = world()
    w.appearance = Appearance(keys={"quit": "f10"})
    async with w.running() as (app, pilot):
        await pilot.press("x", "ctrl+c")
        await until(lambda: "F10 quits." in notice(app))
