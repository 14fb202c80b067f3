"""The keys of the sidebar: headings, commands, deleting by two presses."""

import pytest
from rich.cells import cell_len

from tests.waiting import until
from tests.widgets.sidebar.world import NOW, many, row, rows, shown
from tui.domain.rows import Group
from tui.widgets.intents import CommandInvoked
from tui.widgets.sidebar import Sidebar

GROUPS = (row(1, Group.OPEN), row(2), row(3), row(4, Group.OLDER), row(5, Group.ARCHIVED))


def commands(app):
    return [(said.name, said.arguments) for said in app.heard(CommandInvoked)]


def deleted(app):
    return [said.session_id for said in app.heard(Sidebar.DeletionConfirmed)]


# --- headings


@pytest.mark.parametrize(("down", "up"), [("down", "up"), ("j", "k")])
async def test_up_and_down_pass_over_the_headings_of_open_groups(down, up):
    async with shown(rows(*GROUPS)) as (app, pilot):
        seen = [app.sidebar.highlighted]
        for _ in range(3):
            await pilot.press(down)
            seen.append(app.sidebar.highlighted)
        assert seen == ["session-1", "session-2", "session-3", "session-4"]
        await pilot.press(up, up)
        assert app.sidebar.highlighted == "session-2"


async def test_the_heading_of_a_folded_group_is_a_stop():
    async with shown(rows(*GROUPS)) as (app, pilot):
        await pilot.press("end")
        assert app.sidebar.highlighted is None
        await pilot.press("up")
        assert app.sidebar.highlighted == "session-4"


async def test_left_folds_the_group_and_right_gives_the_same_row_back():
    async with shown(rows(*GROUPS)) as (app, pilot):
        await pilot.press("down", "down", "left")
        assert app.lines[2] == " ▸ Today 2"
        assert app.sidebar.highlighted is None
        await pilot.press("left")
        assert app.lines[2] == " ▸ Today 2"
        await pilot.press("right")
        assert app.sidebar.highlighted == "session-3"
        await pilot.press("right")
        assert app.lines[2] == " ▾ Today"


async def test_a_folded_heading_that_was_walked_to_opens_at_its_first_row():
    async with shown(rows(*GROUPS)) as (app, pilot):
        await pilot.press("end", "enter")
        assert app.sidebar.highlighted == "session-5"


async def test_up_from_the_first_row_shows_its_heading():
    async with shown(many(100)) as (app, pilot):
        await pilot.press("end", "home")
        assert app.lines[0] == " ▾ Today"
        assert app.sidebar.highlighted == "session-00000"


async def test_when_every_group_is_folded_the_headings_are_walked():
    async with shown(rows(row(1), row(2, Group.OLDER))) as (app, pilot):
        await pilot.press("left", "down", "left")
        assert app.lines == ["▌▸ Today 1", " ▸ Older 1"]
        await pilot.press("up", "right")
        assert app.sidebar.highlighted == "session-1"


# --- the archive


async def test_an_archive_that_was_not_read_yet_has_its_heading_and_its_count():
    async with shown(rows(row(1), archived=12)) as (app, _):
        assert app.lines[2:] == [" ▸ Archived 12"]


async def test_unfolding_the_archive_asks_for_what_is_in_it():
    async with shown(rows(row(1), archived=2)) as (app, pilot):
        await pilot.press("end", "right")
        assert len(app.heard(Sidebar.ArchiveUnfolded)) == 1
        read = [row(7, Group.ARCHIVED), row(8, Group.ARCHIVED)]
        app.sidebar.show_rows(rows(row(1), *read, archived=2), NOW)
        assert "Session 8" in app.lines[-1]
        await pilot.press("left", "right")
        assert len(app.heard(Sidebar.ArchiveUnfolded)) == 1


async def test_a_filter_looks_into_the_archive_too():
    async with shown(rows(row(1), archived=2)) as (app, pilot):
        await pilot.press("slash", "x")
        await until(lambda: app.heard(Sidebar.ArchiveUnfolded), "the wish")
        assert app.lines == [" No matches"]


# --- commands


async def test_a_archives_the_highlighted_session():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("down", "a")
        assert commands(app) == [("archive", "session-2")]


async def test_u_undoes():
    async with shown(rows(row(1))) as (app, pilot):
        await pilot.press("u")
        assert commands(app) == [("undo", "")]


async def test_on_a_heading_there_is_nothing_to_archive_delete_or_rename():
    async with shown(rows(row(1), archived=3)) as (app, pilot):
        await pilot.press("end", "a", "d", "d", "r")
        assert app.said == []
        assert not app.sidebar.renaming


async def test_letters_that_are_typed_into_the_filter_are_no_commands():
    async with shown(rows(row(1))) as (app, pilot):
        await pilot.press("slash", *"ndaurd<>")
        await until(lambda: len(app.heard(Sidebar.FilterChanged)) == 8, "the text")
        assert commands(app) == []
        assert deleted(app) == []


# --- deleting


async def test_the_first_d_only_says_what_the_second_would_do():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("down", "d")
        assert app.lines[2].endswith("d again deletes")
        assert "Session 2" in app.lines[2]
        assert "deletes" not in app.lines[1]
        assert deleted(app) == []


async def test_the_second_d_deletes():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("down", "d", "d")
        assert deleted(app) == ["session-2"]
        assert not any("again" in line for line in app.lines)
        await pilot.press("d")
        assert deleted(app) == ["session-2"]


@pytest.mark.parametrize(
    "key", ["up", "down", "home", "x", "n", "a", "u", "left", "enter", "ctrl+a", "slash", "escape"]
)
async def test_any_other_key_disarms(key):
    async with shown(rows(row(1), row(2), row(3))) as (app, pilot):
        await pilot.press("down", "d", key)
        assert not any("again" in line for line in app.lines)
        app.list.focus()
        await until(lambda: app.list.has_focus, "the focus")
        app.sidebar.highlight("session-2")
        await pilot.press("d")
        assert deleted(app) == []


async def test_a_click_elsewhere_disarms():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("d")
        await pilot.click(type(app.list), offset=(5, 2))
        await pilot.press("up", "d")
        assert deleted(app) == []


async def test_escape_that_disarms_does_nothing_else():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("slash", "1", "enter", "d", "escape")
        assert len(app.lines) == 2  # the filter is still there
        await pilot.press("escape")
        await until(lambda: len(app.lines) == 3, "all rows")


async def test_a_session_that_is_gone_or_folded_away_is_not_deleted_by_the_second_d():
    async with shown(rows(row(1), row(2), row(3))) as (app, pilot):
        await pilot.press("down", "d")
        app.sidebar.show_rows(rows(row(1), row(3)), NOW)
        await pilot.press("d")
        assert deleted(app) == []


async def test_rows_that_arrive_leave_a_session_armed():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("down", "d")
        app.sidebar.show_rows(rows(row(9), row(1), row(2)), NOW)
        await pilot.press("d")
        assert deleted(app) == ["session-2"]


@pytest.mark.parametrize("width", range(20, 51))
async def test_the_warning_is_whole_at_every_width(width):
    async with shown(rows(row(1, label="会話" * 20)), size=(120, 8)) as (app, pilot):
        app.sidebar.show_width(width)
        await until(lambda: app.list.size.width == width - 1, "the width")
        await pilot.press("d")
        assert "d again deletes" in app.lines[1]
        assert cell_len(app.list.render_line(1).text) == width - 1


async def test_the_warning_names_the_key_that_it_was_bound_to():
    async with shown(rows(row(1))) as (app, pilot):
        app.set_keymap({"sidebar-delete": "x"})
        await pilot.press("x")
        assert app.lines[1].endswith("x again deletes")
        await pilot.press("x")
        assert deleted(app) == ["session-1"]
