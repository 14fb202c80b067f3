"""The line of keys: what works where one is, and no more than fits."""

from pathlib import Path
from typing import ClassVar

from textual.app import App
from textual.binding import Binding
from textual.widgets import Input

from tests.waiting import until
from tui.widgets.key_line import KeyLine
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


async def test_it_says_what_works_where_the_focus_is():
    app = World()
    async with app.run_test(size=(60, 10)) as pilot:
        await until(lambda: "^T Turn" in words(app))
        assert words(app).index("Turn") < words(app).index("F5 Again")
        app.query_one("#other").focus()
        await until(lambda: "Turn" not in words(app))
        assert "F5 Again" in words(app)
        await pilot.pause()


async def test_it_leaves_out_what_is_not_meant_to_be_shown_and_makes_the_rest_harmless():
    app = World()
    async with app.run_test(size=(60, 10)):
        await until(lambda: "F5 Again" in words(app))
        assert "Hidden" not in words(app)
        assert "\x1b" not in words(app)


async def test_it_shows_only_whole_keys():
    app = World()
    async with app.run_test(size=(20, 10)):
        await until(lambda: "^T Turn" in words(app))
        assert words(app).split("  ")[-1].strip() in {"^T Turn", "F5 Again"}
        assert len(words(app)) <= 20


async def test_it_says_the_users_own_key():
    app = World()
    async with app.run_test(size=(60, 10)):
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


async def test_it_says_what_a_key_does_here_and_nothing_of_one_that_is_not_worth_it():
    app = Told()
    async with app.run_test(size=(80, 10)):
        await until(lambda: "F6 Heard" in words(app))
        assert "Quiet" not in words(app)
        assert words(app).index("Very long") < words(app).index("F5 Again")


async def test_there_is_room_for_what_is_always_said_and_for_what_fits_beside_it():
    app = Told()
    async with app.run_test(size=(34, 10)):
        await until(lambda: words(app) == " ^T Turn  F6 Heard  F5 Again")
