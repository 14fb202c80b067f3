"""The line of keys: what works where one is, and no more than fits; and the queue of notices."""

from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App
from textual.binding import Binding
from textual.widgets import Input

from tests.app.controllers.stand_ins import Clock
from tests.strategies import any_text
from tests.tables import each_row
from tests.waiting import until
from tui.domain.views.notice import Notice
from tui.widgets.key_line import (
    LEAST_SECONDS,
    MOST_WAITING,
    SECONDS,
    KeyLine,
    NoticeQueue,
    fit_notice,
)
from tui.widgets.keys import key

STYLES = Path(__file__).parents[2] / "styles"


class Field(Input):
    BINDINGS: ClassVar = [Binding("ctrl+t", "nothing", "Turn")]


class World(App[None]):
    CSS_PATH = STYLES / "key_line.tcss"
    BINDINGS: ClassVar = [
        Binding("f5", "nothing", "Again", id="again"),
        Binding("f6", "nothing", "Hidden", show=False),
        Binding("f7", "nothing", "Sag\x1bte"),
    ]

    def compose(self):
        yield Field(id="field")
        yield Input(id="other")
        yield KeyLine()


def words(app):
    line = app.query_one(KeyLine)
    return line.render_line(0).text.rstrip()


async def test_it_says_what_works_where_the_focus_is_harmlessly_by_the_users_keys_and_whole():
    app = World()
    async with app.run_test(size=(60, 10)) as pilot:
        await until(lambda: "^T Turn" in words(app))
        assert words(app).index("Turn") < words(app).index("F5 Again")
        assert "Hidden" not in words(app)
        assert "\x1b" not in words(app)
        await pilot.resize_terminal(20, 10)
        await until(lambda: len(words(app)) <= 20)
        assert words(app).split("  ")[-1].strip() in {"^T Turn", "F5 Again"}
        await pilot.resize_terminal(60, 10)
        app.query_one("#other").focus()
        await until(lambda: "Turn" not in words(app))
        assert "F5 Again" in words(app)
        app.set_keymap({"again": "f9"})
        await until(lambda: "F9 Again" in words(app))


class Told(World):
    def compose(self):
        yield Field(id="field")
        yield KeyLine(
            (
                key("f5", "nothing", "Again", "again", line=2, always=True),
                key("f9", "nothing", "Very long words of another", "other", line=1),
            ),
            words=lambda: {"quiet": "", "hidden": "Heard"},
        )

    BINDINGS: ClassVar = [
        Binding("f5", "nothing", "Again", id="again"),
        Binding("f6", "nothing", "Hidden", id="hidden", show=False),
        Binding("f8", "nothing", "Quiet", id="quiet"),
        Binding("f9", "nothing", "Very long words of another", id="other"),
    ]


async def test_it_says_what_a_key_does_here_and_has_room_for_what_is_always_said():
    app = Told()
    async with app.run_test(size=(80, 10)) as pilot:
        await until(lambda: "F6 Heard" in words(app))
        assert "Quiet" not in words(app)
        assert words(app).index("Very long") < words(app).index("F5 Again")
        await pilot.resize_terminal(34, 10)
        await until(lambda: words(app) == " ^T Turn  F6 Heard  F5 Again")


class QueueWorld:
    """A queue, and a timer that ends when a test says so."""

    def __init__(self):
        self.clock, self.shown = Clock(), []
        self.timer = None
        self.queue = NoticeQueue(self.set_timer, self.note, self.clock)

    def set_timer(self, seconds, then):
        self.timer = self.clock.seconds + seconds, then
        return SimpleNamespace(stop=lambda: None)

    def note(self):
        current = self.queue.current
        self.shown.append(current.text if current else "")

    @property
    def rest(self):
        return pytest.approx(self.timer[0] - self.clock.seconds)

    def wait(self):
        self.clock.seconds, then = self.timer
        then()


@pytest.fixture
def world():
    return QueueWorld()


@pytest.mark.parametrize(
    ("severity", "unread"), [("information", False), ("warning", True), ("error", True)]
)
def test_a_notice_has_its_line_for_some_seconds_and_may_be_unread_then(world, severity, unread):
    world.queue.add(Notice("away", severity))
    world.queue.withdraw(Notice("away", severity))
    world.queue.add(Notice("Archived", severity))
    assert not world.queue.unread
    assert world.queue.current == Notice("Archived", severity)
    assert world.rest == SECONDS
    world.wait()
    assert world.queue.current is None
    assert world.queue.unread is unread
    assert world.shown == ["away", "", "Archived", ""]


def test_none_covers_the_keys_for_longer_than_two_seconds(world):
    assert max(SECONDS, *LEAST_SECONDS.values()) <= 2
    assert LEAST_SECONDS["error"] > LEAST_SECONDS["warning"] > LEAST_SECONDS["information"]
    world.queue.add(Notice("one", "error"))
    world.clock.seconds = 1.9
    world.queue.add(Notice("one", "error"))
    assert world.rest == pytest.approx(0.1)


def test_one_that_waits_shortens_the_time_of_the_one_before(world):
    world.queue.add(Notice("one", "error"))
    world.clock.seconds = 1.0
    world.queue.add(Notice("two"))
    assert (world.queue.current.text, world.queue.waiting) == ("one", 1)
    assert world.rest == LEAST_SECONDS["error"] - 1.0
    world.wait()
    assert (world.queue.current.text, world.queue.waiting) == ("two", 0)
    assert world.rest == SECONDS


def test_the_same_words_are_shown_once_and_of_many_the_latest(world):
    world.queue.add(Notice("one"))
    world.queue.add(Notice("one"))
    assert world.queue.waiting == 0
    world.clock.seconds = 3.0
    world.queue.add(Notice("two"))
    # The one before has had its time.
    assert world.timer[0] <= world.clock.seconds
    world.queue.add(Notice("two"))
    assert world.queue.waiting == 1
    for number in range(20):
        world.queue.add(Notice(f"{number}"))
    assert world.queue.waiting == MOST_WAITING
    world.wait()
    assert world.queue.current.text == "15"


def test_one_that_is_not_true_any_more_gives_way_at_once_or_is_never_shown(world):
    world.queue.add(Notice("away", "warning"))
    world.queue.add(Notice("back"))
    world.queue.withdraw(Notice("away", "warning"))
    assert (world.queue.current, world.queue.waiting) == (Notice("back"), 0)
    assert world.rest == SECONDS
    world.queue.add(Notice("off", "warning"))
    world.queue.withdraw(Notice("off", "warning"))
    world.wait()
    assert world.shown[-1] == ""
    assert "off" not in world.shown


def caused(text, severity="information"):
    return Notice(text, severity, caused=True)


def test_what_the_user_caused_takes_the_place_of_all_that_he_caused_before(world):
    world.queue.add(caused("one", "error"), caused("more of one"))
    assert (world.queue.current.text, world.queue.waiting) == ("one", 1)
    world.queue.add(caused("two"))
    assert (world.queue.current.text, world.queue.waiting) == ("two", 0)
    assert world.rest == SECONDS
    world.wait()
    assert world.shown[-1] == ""


def test_what_came_by_itself_waits_and_comes_again_if_it_was_hardly_seen(world):
    world.queue.add(Notice("seen"))
    world.clock.seconds = LEAST_SECONDS["information"]
    world.queue.add(caused("one"))
    world.queue.add(Notice("away"))
    world.wait()
    assert world.queue.current.text == "away"
    world.queue.add(caused("two"))
    assert world.queue.current.text == "two"
    world.wait()
    assert world.queue.current.text == "away"
    world.wait()
    assert world.queue.current is None


# --- the words that fit

ARCHIVED = 'Archived "Fix the login page that fails on Safari". /undo brings it back'


def fit(text, width):
    return fit_notice(Notice(text), width)


PATH = "Exported to /home/u/a/directory/of/names/the-login-page.md"


@each_row(
    "text, width, words",
    [
        (ARCHIVED, 80, ARCHIVED),
        (ARCHIVED, 60, 'Archived "Fix the login page that fa…". /undo brings it back'),
        (ARCHIVED, 44, 'Archived "Fix the lo…". /undo brings it back'),
        (ARCHIVED, 37, 'Archived "Fix t…". /undo brings it b…'),
        (PATH, 30, "Exported to …the-login-page.md"),
        (PATH, 60, PATH),
        ("Could not save.\nThe rest is in /tmp/x.", 80, "Could not save. …"),
    ],
)
def test_a_title_or_the_beginning_of_a_path_gives_way_first(text, width, words):
    assert fit(text, width) == words


@given(text=any_text(), width=st.integers(0, 60))
def test_it_never_takes_more_room_than_there_is(text, width):
    assert cell_len(fit(text, width)) <= width
    assert "\n" not in fit(text, width)
