"""The status bar: what it says, and what it leaves out first where it is narrow."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App

from tests.strategies import any_text
from tests.tables import each_row
from tests.waiting import until
from tui.domain.views.costs import ContextUse
from tui.domain.views.shown_session import SaveState, SessionStatus
from tui.widgets.status_bar import StatusBar, lay_out

ID = "session-20260111-153022-847291"
SHORT_ID = ID.removeprefix("session-")
SAVED = SaveState(datetime(2026, 1, 20, 14, 2, tzinfo=UTC))
SAVED_WORDS = str(SAVED)
UNSAVED = SaveState(failure="disk full")
LONG_LABEL = "Fix the login page that fails on Safari"
EVERYTHING_SAID = f"{ID}  Auth bug  12 messages  anthropic:claude-sonnet-4-5  shop"
STYLES = Path(__file__).parents[2] / "styles"
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


def status(**fields):
    known = {
        "session_id": ID,
        "label": "Auth bug",
        "message_count": 12,
        "model": "anthropic:claude-sonnet-4-5",
        "scope": "project:/home/u/shop",
        "save": SAVED,
    }
    return SessionStatus(**{**known, **fields})


class World(App[None]):
    CSS_PATH = STYLES / "status_bar.tcss"

    def __init__(self):
        super().__init__()
        self.copied = []

    def compose(self):
        yield StatusBar()

    def on_copy_requested(self, message):
        self.copied.append(message.text)

    @property
    def bar(self):
        return self.query_one(StatusBar)

    @property
    def line(self):
        return self.bar.render_line(0).text


async def line_of(given_status, width):
    """The line as it is drawn on a terminal of so many columns."""
    app = World()
    async with app.run_test(size=(width, 5)):
        app.bar.show(given_status)
        await until(lambda: app.bar.size.width == width, "the width")
        assert cell_len(app.line) == width
        return app.line


# --- on the screen


@pytest.mark.parametrize(
    ("label", "width", "line"),
    [
        ("Auth bug", 120, f" {EVERYTHING_SAID:<107}{SAVED_WORDS} "),
        (LONG_LABEL, 80, f" {SHORT_ID}  Fix the login page t…  …claude-sonnet-4-5  {SAVED_WORDS} "),
        (LONG_LABEL, 60, f" {SHORT_ID}  Fix the login page t…  {SAVED_WORDS} "),
        (LONG_LABEL, 40, f" {SHORT_ID}     {SAVED_WORDS} "),
        (LONG_LABEL, 24, SHORT_ID),
        (LONG_LABEL, 12, "…3022-847291"),
    ],
)
async def test_everything_is_said_where_there_is_room_and_the_id_stays_where_it_is_narrow(
    label, width, line
):
    assert await line_of(status(label=label), width) == line.ljust(width)


def test_another_store_and_what_waits_for_the_user_are_named_before_label_and_model():
    for given_status in (status(), status(save=UNSAVED, read_only=True)):
        shown = lay_out(given_status, 80, store="LOCAL FILES")
        assert (shown["store"], shown["id"]) == ("LOCAL FILES", SHORT_ID)
    waiting = status(label=LONG_LABEL, asking=True, running=True)
    for width, words in (
        (118, "waits for approval"),
        (58, "waits for approval"),
        (48, "approval?"),
    ):
        shown = lay_out(waiting, width)
        assert (shown["asking"], shown["save"]) == (words, SAVED_WORDS)


def test_model_context_and_save_state_are_said_at_80_columns():
    for model, said, label in (
        ("local:qwen3", "local:qwen3", "Fix the login…"),
        ("anthropic:claude-sonnet-4-5", "…claude-sonnet-4-5", "Fix th…"),
    ):
        use = ContextUse(12_000, 100_000)
        shown = lay_out(status(label=LONG_LABEL, context_use=use, model=model), 78)
        assert shown == {
            "id": SHORT_ID,
            "save": SAVED_WORDS,
            "label": label,
            "context": "context 12 %",
            "model": said,
        }


async def test_it_is_one_line_at_the_bottom_where_one_status_takes_the_place_of_another():
    app = World()
    async with app.run_test(size=(80, 24)):
        await until(lambda: app.bar.region.width == 80, "the layout")
        assert (app.bar.region.y, app.bar.region.height) == (23, 1)
        assert app.line.strip() == ""
        app.bar.show(status())
        await until(lambda: SAVED_WORDS in _drawn(app), "the first status")
        app.bar.show(status(save=SaveState(saving=True)))
        await until(lambda: " saving " in _drawn(app), "the second status")
        assert SAVED_WORDS not in _drawn(app)


def _drawn(app):
    """The last line of the terminal."""
    *_, last = app.screen._compositor.render_strips()
    return "".join(segment.text for segment in last)


async def test_a_failure_stands_out_a_click_copies_the_id_and_only_other_words_are_painted():
    app = World()
    async with app.run_test(size=(80, 24)) as pilot:
        app.bar.show(status(save=UNSAVED))
        await until(lambda: app.bar.size.width == 80, "the layout")
        styles = {part.text: part.style for part in app.bar.render_line(0)}
        failure, ordinary = styles["NOT SAVED: disk full"], styles["Auth bug"]
        assert failure.bold
        assert not styles[SHORT_ID].bold
        assert failure.bgcolor != ordinary.bgcolor
        app.bar.show(status())
        await pilot.pause()
        await pilot.click(app.bar, offset=(30, 0))
        assert app.copied == []
        await pilot.click(app.bar, offset=(3, 0))
        assert app.copied == [ID]
        painted = []
        app.bar.refresh = lambda: painted.append(app.line)
        app.bar.show(status(save=SaveState(SAVED.saved_at + timedelta(seconds=20))))
        assert painted == []
        app.bar.show(status(save=SaveState(SAVED.saved_at + timedelta(minutes=1))))
        assert len(painted) == 1


# --- what is said


@each_row(
    "fields, place, words",
    [
        ({"message_count": 1}, "count", "1 message"),
        ({"message_count": 0}, "count", "0 messages"),
        ({"save": SaveState(saving=True)}, "save", "saving"),
        ({"save": UNSAVED}, "failure", "NOT SAVED: disk full"),
        ({"read_only": True}, "read-only", "read-only"),
        ({"queued": 2}, "queued", "2 queued"),
        ({"scope": "work"}, "scope", "work"),
        *(({}, place, None) for place in ("failure", "read-only", "queued")),
        ({"save": SaveState()}, "save", None),
        ({"save": UNSAVED}, "save", None),
        *(({place: ""}, place, None) for place in ("label", "model", "scope")),
    ],
)
def test_it_says_what_is_so_and_nothing_of_what_is_not(fields, place, words):
    assert lay_out(status(**fields), 200).get(place) == words


# --- what gives way


EVERYTHING = status(read_only=True, running=True, queued=2)
IN_ORDER = ["id", "save", "read-only", "queued", "label", "model", "count", "scope"]


@each_row("count, width", list(enumerate([22, 35, 46, 56, 65, 85, 106, 112], 1)))
def test_what_matters_less_is_left_out_first(count, width):
    assert set(lay_out(EVERYTHING, width)) == set(IN_ORDER[:count])
    if count > 1 and count != len(IN_ORDER) - 1:
        assert IN_ORDER[count - 1] not in lay_out(EVERYTHING, width - 1)


def test_a_failure_is_said_at_every_width_and_costs_the_id_its_beginning_where_it_must():
    long_failure = SaveState(failure="No space left on device, and some more words")
    for width in (120, 100, 80, 60, 52, 51, 50, 40, 30):
        shown = lay_out(status(save=UNSAVED), width)
        assert shown["failure"] == "NOT SAVED: disk full"
        if width >= 52:
            whole = ID if width > 98 else SHORT_ID
            assert shown["id"] == whole
            assert lay_out(status(save=long_failure), width)["id"] == whole
    assert lay_out(status(save=UNSAVED), 40) == {
        "failure": "NOT SAVED: disk full",
        "id": "…111-153022-847291",
    }
    assert lay_out(status(save=UNSAVED), 20) == {"failure": "NOT SAVED: disk full"}
    assert lay_out(status(save=SaveState(failure="No space left on device")), 48) == {
        "failure": "NOT SAVED: No space lef…",
        "id": SHORT_ID,
    }


def test_a_model_loses_its_beginning_before_it_goes():
    assert lay_out(status(), 120)["model"] == "anthropic:claude-sonnet-4-5"
    assert lay_out(status(), 65)["model"] == "…claude-sonnet-4-5"
    assert "model" not in lay_out(status(), 60)


def test_a_label_takes_what_the_others_leave_and_a_long_name_is_whole_where_all_else_is():
    labels = [lay_out(status(label=LONG_LABEL), width).get("label") for width in (60, 78, 98, 140)]
    assert labels == [
        "Fix the login page tha…",
        "Fix the login page t…",
        "Fix the login…",
        LONG_LABEL,
    ]
    name = "a name of more than forty cells, which is cut in lists"
    known = status(label=name[:39] + "…", name=name)
    assert lay_out(known, 200)["label"] == name
    assert lay_out(known, 130) == lay_out(status(label=known.label), 130)


@given(
    st.tuples(any_text(40), any_text(40), any_text(20), any_text(20), any_text(30), any_text(60)),
    st.integers(0, 150),
)
def test_any_texts_fit_into_any_width(texts, width):
    session_id, label, model, scope, failure, name = texts
    save = SaveState(failure=failure)
    fields = {"queued": 1, "name": name}
    shown = lay_out(SessionStatus(session_id, label, 3, model, scope, save, **fields), width)
    assert sum(cell_len(text) for text in shown.values()) + 2 * (len(shown) - 1) <= max(0, width)
    assert not UNSAFE.search("".join(shown.values()))
