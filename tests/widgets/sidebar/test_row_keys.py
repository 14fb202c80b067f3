"""The keys of the sidebar: headings, commands, deleting after a question."""

import pytest
from rich.cells import cell_len
from textual import events

from tests.waiting import until
from tests.widgets.sidebar.world import NOW, ask, row, rows, shown
from tui.domain.views.session_rows import Group
from tui.widgets import intents
from tui.widgets.intents import CommandInvoked
from tui.widgets.sidebar.sidebar import FilterLine

GROUPS = (row(1, Group.OPEN), row(2), row(3), row(4, Group.OLDER), row(5, Group.ARCHIVED))


def commands(app):
    return [(said.name, said.arguments) for said in app.heard(CommandInvoked)]


def deleted(app):
    return [said.session_id for said in app.heard(intents.DeletionConfirmed)]


# --- headings


async def test_up_and_down_pass_over_the_headings_of_open_groups():
    async with shown(rows(*GROUPS)) as (app, pilot):
        for down, up in (("down", "up"), ("j", "k")):
            seen = [app.highlighted]
            for _ in range(3):
                await pilot.press(down)
                seen.append(app.highlighted)
            assert seen == ["session-1", "session-2", "session-3", "session-4"]
            await pilot.press(up, up)
            assert app.highlighted == "session-2"
            await pilot.press(up)


async def test_left_folds_the_group_whose_heading_is_a_stop_and_right_gives_the_same_row_back():
    async with shown(rows(*GROUPS)) as (app, pilot):
        await pilot.press("end")
        assert app.highlighted is None
        await pilot.press("up")
        assert app.highlighted == "session-4"
        await pilot.press("up", "left")
        assert app.lines[2] == " ▸ Today 2"
        assert app.highlighted is None
        await pilot.press("left")
        assert app.lines[2] == " ▸ Today 2"
        await pilot.press("right")
        assert app.highlighted == "session-3"
        await pilot.press("right")
        assert app.lines[2] == " ▾ Today"
        # When every group is folded the headings are walked.
        app.sidebar.show_rows(rows(row(1), row(2, Group.OLDER)), NOW)
        await pilot.press("home", "left", "down", "left")
        assert app.lines == ["▌▸ Today 1", " ▸ Older 1"]
        await pilot.press("up", "right")
        assert app.highlighted == "session-1"


# --- the archive


async def test_unfolding_the_archive_or_filtering_asks_for_what_is_in_it():
    async with shown(rows(row(1), archived=2)) as (app, pilot):
        assert app.lines[2:] == [" ▸ Archived 2"]
        await pilot.press("end", "right")
        assert len(app.heard(intents.GroupUnfolded)) == 1
        read = [row(7, Group.ARCHIVED), row(8, Group.ARCHIVED)]
        app.sidebar.show_rows(rows(row(1), *read, archived=2), NOW)
        assert "Session 8" in app.lines[-1]
        await pilot.press("left", "right")
        assert len(app.heard(intents.GroupUnfolded)) == 1
        await pilot.press("left")
        app.sidebar.show_rows(rows(row(1), archived=2), NOW)
        await pilot.press("slash", "x")
        await until(lambda: len(app.heard(intents.GroupUnfolded)) > 1, "the wish")
        assert app.lines == [" No matches"]


# --- commands


async def test_a_archives_the_highlighted_session_and_u_undoes_but_not_on_a_heading_or_filter():
    async with shown(rows(row(1), row(2), archived=3)) as (app, pilot):
        await pilot.press("end", "a", "d", "d", "r")
        assert app.said == []
        assert not app.sidebar.renaming
        await pilot.press("home", "down", "a", "u")
        assert commands(app) == [("archive", "session-2"), ("undo", "")]
        await pilot.press("slash", *"ndaurd<>")
        await until(lambda: app.query_one(FilterLine).value == "ndaurd<>", "the text")
        assert len(commands(app)) == 2
        assert deleted(app) == []


# --- deleting


def asks(app):
    return any("Delete" in line for line in app.lines)


async def test_d_or_another_key_asks_in_the_line_of_the_session_and_enter_deletes_it():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await ask(app, pilot, "down")
        assert app.lines[2] == ' Delete "Session 2"? Enter'
        assert "Delete" not in app.lines[1]
        assert deleted(app) == []
        await pilot.press("enter")
        assert deleted(app) == ["session-2"]
        assert not asks(app)
        assert not app.heard(intents.SessionSelected)
        app.set_keymap({"sidebar-delete": "f9"})
        await pilot.press("f9")
        await until(lambda: app.list.can_be_answered, "the question")
        await pilot.press("enter")
        assert deleted(app)[1:] == ["session-2"]


@pytest.mark.parametrize(
    "key",
    [
        *("d", "up", "down", "home", "x", "n", "a", "u", "r", "left", "less_than_sign"),
        *("ctrl+a", "slash", "escape", "tab", "ctrl+q", "f12"),
    ],
)
async def test_every_other_key_takes_the_question_back_and_does_nothing_else(key):
    async with shown(rows(row(1), row(2), row(3))) as (app, pilot):
        app.bind("f12", "app.bell")
        await ask(app, pilot, "down")
        await pilot.press(key)
        await until(lambda: not asks(app), "no question")
        assert app.said == []
        assert app.list.has_focus
        assert app.highlighted == "session-2"
        await pilot.press("enter")
        assert deleted(app) == []


async def test_a_paste_a_click_and_the_end_of_its_row_take_the_question_back():
    async with shown(rows(row(1), row(2), row(3))) as (app, pilot):
        await ask(app, pilot)
        app.post_message(events.Paste("text"))
        await until(lambda: not asks(app), "no question")
        await ask(app, pilot)
        await pilot.click(type(app.list), offset=(5, 2))
        assert not asks(app)
        await pilot.press("enter")
        await ask(app, pilot)
        app.sidebar.show_rows(rows(row(1), row(3)), NOW)
        await pilot.press("enter")
        assert deleted(app) == []
        app.sidebar.show_rows(rows(row(1), row(2)), NOW)
        app.sidebar.rows.highlight("session-2")
        await ask(app, pilot)
        app.sidebar.show_rows(rows(row(9), row(1), row(2)), NOW)
        await pilot.press("enter")
        assert deleted(app) == ["session-2"]


async def test_an_enter_from_before_the_question_is_seen_deletes_nothing():
    async with shown(rows(row(1))) as (app, _):
        for key, character in (("d", "d"), ("enter", "\r")):
            app.post_message(events.Key(key, character))
        await until(
            lambda: not app.input_queue.waiting and not asks(app) and not app._message_queue.qsize()
        )
        assert app.said == []


@pytest.mark.full
@pytest.mark.parametrize("width", range(21, 51))
async def test_the_question_names_the_session_at_every_width(width):
    async with shown(rows(row(1, label="会話" * 20)), size=(120, 8)) as (app, pilot):
        app.sidebar.show_width(width)
        await until(lambda: app.list.size.width == width - 1, "the width")
        await ask(app, pilot)
        assert app.lines[1].startswith(' Delete "会')
        assert app.lines[1].endswith('…"? Enter')
        assert cell_len(app.list.render_line(1).text) == width - 1


async def test_p_pins_and_takes_the_pin_away():
    async with shown(rows(row(1), row(2, pinned=True, group=Group.PINNED))) as (app, pilot):
        app.sidebar.rows.highlight(row(1).id)
        await pilot.press("p")
        await until(lambda: app.heard(intents.SessionPinned), "the wish")
        app.sidebar.rows.highlight(row(2).id)
        await pilot.press("p")
        await until(lambda: len(app.heard(intents.SessionPinned)) == 2, "the other")
        wanted = [(each.session_id, each.pinned) for each in app.heard(intents.SessionPinned)]
        assert wanted == [(row(1).id, True), (row(2).id, False)]


async def test_one_in_the_trash_is_brought_back_by_a_second_enter():
    trashed = row(2, group=Group.TRASHED)
    async with shown(rows(row(1), trashed, trashed=1)) as (app, pilot):
        await pilot.press("end", "right", "down")
        assert app.highlighted == trashed.id
        await pilot.press("d", "p", "enter")
        await until(lambda: app.list.can_be_answered, "the question")
        assert not app.heard(intents.SessionSelected)
        await pilot.press("enter")
        await until(lambda: app.heard(CommandInvoked), "the wish")
        [wanted] = app.heard(CommandInvoked)
        assert (wanted.name, wanted.arguments) == ("restore", trashed.id)
        assert not app.heard(intents.SessionPinned)
