"""The sidebar: what it shows of its rows, and what it says the reader did."""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from rich.cells import cell_len
from textual import events
from textual.widgets import Button

from tests.strategies import any_text
from tests.waiting import until
from tests.widgets.sidebar.world import NOW, World, many, row, rows, scrolled, shown
from tui.domain.views.session_rows import Group, Mark
from tui.widgets import intents
from tui.widgets.sidebar import Sidebar
from tui.widgets.sidebar.rows_view import GroupHeading, Outline, RowsView, row_pieces
from tui.widgets.sidebar.sidebar import FilterLine

UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")


# --- what is shown


async def test_rows_stand_under_headings_with_their_age_at_the_right():
    given_rows = rows(
        row(1, Group.OPEN),
        row(2, Group.TODAY, 5),
        row(3, Group.TODAY, 180),
        row(4, Group.YESTERDAY, 24 * 60),
    )
    async with shown(given_rows) as (app, _):
        assert app.lines == [
            " ▾ Open",
            "▌  Session 1                now",
            " ▾ Today",
            "   Session 2                 5m",
            "   Session 3                 3h",
            " ▾ Yesterday",
            "   Session 4                 1d",
        ]


async def test_a_list_made_wide_has_counts_and_more_of_a_name_and_obeys_no_label():
    name = "a name of more than forty cells, is that not"
    hostile = "[b]x[/link]\x1b]0;t\x1b\\ \u202eab\ncd"
    given_rows = rows(
        row(1, message_count=123_456),
        row(2, message_count=1),
        row(3, label=name[:39] + "…", name=name),
        row(4, label=hostile),
    )
    async with shown(given_rows, size=(200, 10)) as (app, _):
        app.sidebar.show_width(60)
        await until(lambda: app.list.size.width > 50, "the width")
        assert app.lines[1].split() == ["▌", "Session", "1", "123k", "msgs", "now"]
        assert app.lines[2].split() == ["Session", "2", "1", "msg", "now"]
        assert app.lines[3].split("  ")[1].strip() == name
        assert "[b]x[/link]␛]0;t␛\\ <U+202E>ab cd" in app.lines[4]


async def test_a_label_goes_before_its_count_of_messages():
    long, longer = "a label which has room alone " + "x" * 10, "one that is cut anyway " * 3
    given_rows = rows(row(1, label=long), row(2, label=longer))
    async with shown(given_rows, size=(192, 10)) as (app, _):
        await until(lambda: app.list.size.width > 40, "the width")
        assert app.lines[1].removeprefix("▌  ").split("  ") == [long, "now"]
        assert app.lines[2].split("…")[1].split() == ["now"]


async def test_ages_follow_the_time_and_give_way_where_it_is_narrow():
    given_rows = rows(row(1), row(2, last_used_at="soon"))
    async with shown(given_rows) as (app, _):
        app.sidebar.show_rows(given_rows, NOW + timedelta(hours=2))
        assert app.lines[1].endswith(" 2h")
        assert app.lines[2] == "   Session 2"
        app.sidebar.show_width(20)
        await until(lambda: app.list.size.width < 20, "the width")
        assert app.lines[1] == "▌  Session 1"


async def test_what_goes_on_in_a_session_is_told_apart_without_colour():
    marked = [row(number, mark=mark) for number, mark in enumerate(Mark)]
    async with shown(rows(*marked, current="none")) as (app, _):
        signs = [line[1] for line in app.lines[1:]]
        assert signs == [" ", "●", "?", "•", "!", "⊘"]


async def test_the_current_session_is_marked_and_the_highlighted_line_alone_has_its_background():
    async with shown(rows(row(1), row(2), row(3), row(4), current="session-2")) as (app, pilot):
        await pilot.press("down")
        assert app.highlighted == "session-3"
        assert [line[0] for line in app.lines[1:]] == [" ", "▌", " ", " "]
        assert _is_bold(app, "Session 2")
        assert not _is_bold(app, "Session 3")
        grounds = [next(iter(app.list.render_line(y))).style.bgcolor for y in range(6)]
        assert [y for y in range(6) if grounds.count(grounds[y]) == 1] == [3]


def _is_bold(app, words):
    segments = app.list.render_line(app.line_of(words))
    return [part.style.bold for part in segments if words in part.text] == [True]


@given(any_text() | st.just("👩\u200d👩\u200d👧" * 20), st.integers(0, 60))
def test_any_label_fills_its_place_exactly_and_safely(label, width):
    pieces = list(row_pieces(row(1, label=label), "2d", width, "session-1"))
    text = "".join(text for text, _ in pieces)
    assert cell_len(text) == max(3, width)
    assert not UNSAFE.search(text)


async def test_it_says_whose_sessions_these_are_or_that_there_are_none_once_that_is_known():
    async with shown() as (app, _):
        assert (app.lines, app.note) == ([], [])
        app.sidebar.show_rows(rows(), NOW)
        assert app.lines == [" No sessions yet"]
        for fields, said in (
            ({}, ["all projects"]),
            ({"scope": "shop"}, ["project shop"]),
            ({"scope": "[b]\x1b]0;t\x1b\\"}, ["project [b]␛]0;t␛\\"]),
            ({"scope": "shop", "elsewhere": 123}, ["project shop", "123 in other projects"]),
        ):
            app.sidebar.show_rows(rows(row(1), **fields), NOW)
            assert app.note == said


async def test_a_row_names_its_program_its_project_among_others_and_has_its_pin():
    found = row(1, group=Group.PINNED, program="claude-code", pinned=True), row(2, scope="blog")
    async with shown(rows(*found)) as (app, _):
        assert "Pinned" in app.lines[0]
        assert ["▴" in line for line in app.lines[1:4]] == [True, False, False]
        assert "claude" in app.lines[app.line_of("Session 1")]
        assert "claude" not in app.lines[app.line_of("Session 2")]
        assert app.lines[app.line_of("Session 2")].split()[-2:] == ["blog", "now"]
        app.sidebar.show_rows(rows(*found, scope="blog"), NOW)
        await until(lambda: "blog" not in "".join(app.lines))


# --- highlight and view


async def test_the_highlight_begins_at_the_current_session_else_at_the_first_or_nowhere():
    found = row(1), row(2), row(3)
    async with shown(rows(*found, current="elsewhere")) as (app, pilot):
        assert app.highlighted == "session-1"
        app.sidebar.show_rows(rows(), NOW)
        assert app.highlighted is None
        await pilot.press("up", "down", "pageup", "pagedown", "home", "end", "enter")
        assert app.said == []
        app.sidebar.show_rows(rows(*found, current="session-2"), NOW)
        assert app.highlighted == "session-2"


async def test_the_highlight_is_in_view_when_rows_were_shown_before_there_was_room():
    class Early(World):
        def on_mount(self):
            assert not self.list.size.height
            self.sidebar.show_rows(many(200, current="session-00100"), NOW)

    app = Early()
    async with app.run_test(size=(32, 20)):
        await until(lambda: any("Session 00100" in line for line in app.lines), "the highlight")


async def test_the_highlight_stays_on_its_session_while_rows_come_and_change_places():
    async with shown(rows(row(1), row(2), row(3))) as (app, _):
        app.sidebar.rows.highlight("session-2")
        app.sidebar.show_rows(rows(row(9), row(8), row(1), row(2), row(3)), NOW)
        assert app.highlighted == "session-2"
        app.sidebar.show_rows(rows(row(2, Group.OPEN), row(9), row(1), row(3)), NOW)
        assert app.highlighted == "session-2"


@pytest.mark.parametrize(
    ("gone", "near"), [(1, "session-2"), (2, "session-1"), (3, "session-4"), (4, "session-3")]
)
async def test_the_highlight_goes_to_the_nearest_session_when_its_own_is_gone(gone, near):
    found = [row(1), row(2), row(3, Group.OLDER), row(4, Group.OLDER)]
    async with shown(rows(*found)) as (app, _):
        app.sidebar.rows.highlight(f"session-{gone}")
        left = [other for other in found if other.id != f"session-{gone}"]
        app.sidebar.show_rows(rows(*left), NOW)
        assert app.highlighted == near


@pytest.mark.parametrize(("keys", "then"), [([], "session-3"), (["down"], "session-2")])
async def test_a_session_without_a_row_is_highlighted_once_it_has_one_unless_the_reader_moves(
    keys, then
):
    async with shown(rows(row(1), row(2))) as (app, pilot):
        app.sidebar.rows.highlight("session-3")
        assert app.highlighted == "session-1"
        await pilot.press(*keys)
        app.sidebar.show_rows(rows(row(3), row(1), row(2)), NOW)
        assert app.highlighted == then


async def test_highlighting_a_session_brings_it_into_view():
    async with shown(many(200)) as (app, _):
        app.sidebar.rows.highlight("session-00150")
        assert app.line_of("Session 00150") == len(app.lines) - 1
        app.sidebar.rows.highlight("session-00120")
        assert app.line_of("Session 00120") == 0


async def test_the_view_stays_when_rows_come_and_change_places_unless_it_is_at_the_top():
    given_rows = many(100)
    async with shown(given_rows) as (app, _):
        app.sidebar.show_rows(rows(row("new"), *given_rows.rows), NOW)
        assert "Session new" in app.lines[1]
        app.sidebar.show_rows(given_rows, NOW)
        app.sidebar.rows.highlight("session-00050")
        seen = app.lines
        # A session that was used goes to the top.
        used = given_rows.rows[int(seen[0].split()[1])]
        left = [other for other in given_rows.rows if other != used]
        app.sidebar.show_rows(rows(used, *left, current="session-00000"), NOW)
        assert app.lines[1:] == seen[1:]
        app.sidebar.show_rows(given_rows, NOW)
        seen = app.lines
        more = [row(f"new {number}") for number in range(30)]
        app.sidebar.show_rows(rows(*more, *given_rows.rows, *many(50, 100).rows), NOW)
        assert app.lines == seen


async def test_a_view_that_becomes_smaller_keeps_the_highlight_unless_it_was_scrolled_away():
    async with shown(many(100)) as (app, pilot):
        app.sidebar.rows.highlight("session-00050")
        await pilot.resize_terminal(32, 12)
        await until(lambda: app.list.size.height < 12, "the new size")
        await until(lambda: "Session 00050" in app.lines[-1], "the highlight on the last line")
        await scrolled(app, 60)
        await pilot.resize_terminal(32, 10)
        await until(lambda: app.list.size.height < 10, "the new size")
        assert "Session 00059" in app.lines[0]
        # It has no hole when rows are taken away.
        await pilot.press("end")
        app.sidebar.show_rows(many(30), NOW)
        assert len(app.lines) == app.list.size.height
        assert "Session 00029" in app.lines[-1]


# --- keys


async def test_keys_move_the_highlight_by_rows_by_pages_and_to_the_ends():
    async with shown(many(100)) as (app, pilot):
        # The scroll bar takes one column of the rows.
        await until(lambda: app.list.show_vertical_scrollbar, "the scroll bar")
        await until(lambda: app.list.vertical_scrollbar.size.width == 1, "its width")
        page = app.list.size.height - 1
        await pilot.press("pagedown", "pagedown")
        assert app.highlighted == f"session-{2 * page:05}"
        await pilot.press("pageup")
        assert app.highlighted == f"session-{page:05}"
        assert app.line_of(f"Session {page:05}") == 0
        await pilot.press("up", "up", "down")
        assert app.highlighted == f"session-{page - 1:05}"
        await pilot.press("end", "down")
        assert app.highlighted == "session-00099"
        assert "Session 00099" in app.lines[-1]
        await pilot.press("home", "up")
        assert app.highlighted == "session-00000"
        assert app.lines[0] == " ▾ Today"


async def test_keys_select_a_session_and_want_a_new_one_or_those_of_all_projects():
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("down", "enter", "n", "ctrl+a", "slash", "x", "ctrl+a")
        selected, new, *toggled = app.said
        assert selected.session_id == "session-2"
        assert (new.name, new.arguments) == ("new", "")
        assert [type(each) for each in toggled] == [intents.ScopeToggled] * 2


# --- mouse


async def test_a_click_highlights_and_selects_what_is_seen_there_and_nothing_below_the_last_row():
    async with shown(many(100)) as (app, pilot):
        app.sidebar.rows.highlight("session-00060")
        await pilot.click(RowsView, offset=(5, app.line_of("Session 00055")))
        assert app.highlighted == "session-00055"
        assert [each.session_id for each in app.said] == ["session-00055"]
        app.sidebar.show_rows(rows(row(1), row(2)), NOW)
        before = app.highlighted
        await pilot.click(RowsView, offset=(5, 10))
        assert app.highlighted == before
        assert len(app.said) == 1


# --- folding

ARCHIVE = (row(1), row(2, Group.ARCHIVED), row(3, Group.ARCHIVED))


async def test_the_archive_is_folded_marked_for_the_current_session_and_enter_unfolds_it():
    async with shown(rows(*ARCHIVE)) as (app, pilot):
        app.sidebar.show_rows(rows(row(4), replace(ARCHIVE[0], group=Group.ARCHIVED)), NOW)
        assert app.highlighted is None
        await pilot.press("enter")
        assert "▾ Archived" in app.lines[2]
        await pilot.press("left")
        app.sidebar.show_rows(rows(*ARCHIVE, current="session-3"), NOW)
        assert [line[0] for line in app.lines] == [" ", " ", "▌"]
        app.sidebar.show_rows(rows(*ARCHIVE), NOW)
        assert app.lines[2:] == [" ▸ Archived 2"]
        await pilot.press("end", "enter")
        shown_lines = [line.strip()[:11] for line in app.lines[2:]]
        assert shown_lines == ["▾ Archived", "Session 2  ", "Session 3  "]
        assert app.highlighted == "session-2"
        assert app.said == []


async def test_a_click_on_a_heading_folds_it_also_for_rows_that_come():
    async with shown(rows(*ARCHIVE)) as (app, pilot):
        await pilot.click(RowsView, offset=(3, 0))
        assert app.lines == ["▌▸ Today 1", " ▸ Archived 2"]
        app.sidebar.show_rows(rows(row(9), *ARCHIVE), NOW)
        assert app.lines == ["▌▸ Today 2", " ▸ Archived 2"]


# --- filter


async def test_a_filter_shows_what_has_each_of_its_words_and_says_how_many_it_hides():
    found = (row(1, label="Auth bug"), row(2, label="Shop auth"), row(3, label="Bug"))
    async with shown(rows(*found, scope="shop")) as (app, pilot):
        await pilot.press("slash", *"bug AUTH")
        await until(lambda: app.note[0] == "2 hidden by the filter", "the note")
        assert app.note[1:] == ["project shop"]
        app.sidebar.show_rows(rows(*found, scope="shop", more=True), NOW)
        assert app.note[0] == "2+ hidden by the filter"
        assert [line.split()[:3] for line in app.lines[1:]] == [["▌", "Auth", "bug"]]


async def test_a_filter_finds_ids_is_for_rows_that_come_and_brings_back_what_a_longer_one_hid():
    one, two, twelve, ten = (row(number, label=f"Chat {number}") for number in (1, 2, 12, 10))
    async with shown(rows(one, two, twelve)) as (app, pilot):
        await pilot.press("slash", *"sess")
        await until(lambda: len(app.lines) == 1, "no match of what all ids begin with")
        await pilot.press(*"ion", "minus", "2")
        await until(lambda: len(app.lines) == 2, "the match of an id")
        await pilot.press(*["backspace"] * 9, "1", "2")
        await until(lambda: [line.split()[-2] for line in app.lines[1:]] == ["12"], "one match")
        await pilot.press("backspace")
        await until(lambda: len(app.lines) == 3, "two matches")
        app.sidebar.show_rows(rows(one, two, row(3), ten), NOW)
        assert [line.split()[-2] for line in app.lines[1:]] == ["1", "10"]
        assert app.note[0] == "2 hidden by the filter"
        await pilot.press("backspace", "2")
        await until(lambda: "Chat 2" in "".join(app.lines), "other matches")


@pytest.mark.parametrize("typed", ["resume", "RÉSUMÉ", "garden", "ｒｅｓｕｍｅ", "called", "がぎ"])
async def test_a_filter_passes_over_case_accents_and_width_and_looks_at_name_and_project(typed):
    found = row(1, label="Résumé がぎ", scope="Garden", name="Called so")
    async with shown(rows(found, row(2, label="かき", scope="shop"))) as (app, _):
        app.list.filter(typed)
        assert len(app.lines) == 2
        assert "Résumé" in app.lines[1]


@pytest.mark.parametrize("key", ["enter", "down"])
async def test_enter_and_down_lead_from_the_filter_to_the_first_match_and_a_choice_ends_it(key):
    async with shown(rows(row(1), row(2), row(3))) as (app, pilot):
        await pilot.press("slash", "2", key)
        await until(lambda: app.list.has_focus, "the rows")
        assert app.query_one(".sidebar--filter").display
        await pilot.press("enter")
        assert app.heard(intents.SessionSelected)[0].session_id == "session-2"
        await until(lambda: len(app.sidebar.rows.shown) == 3, "all of them")


@pytest.mark.parametrize("keys", [["escape"], ["enter", "escape"]])
async def test_escape_clears_the_filter_from_there_and_from_the_rows(keys):
    async with shown(rows(row(1), row(2))) as (app, pilot):
        await pilot.press("slash", "n", "slash")
        assert app.query_one(FilterLine).value == "n/"
        assert app.said == []
        await pilot.press(*keys)
        await until(lambda: len(app.lines) == 3, "all rows")
        assert app.list.has_focus
        assert not app.query_one(".sidebar--filter").display
        assert app.note == ["all projects"]


async def test_escape_without_a_filter_is_left_to_others():
    class Listening(World):
        BINDINGS = [("escape", "hear_escape")]  # noqa: RUF012 -- as Textual has it
        escapes = 0

        def action_hear_escape(self):
            self.escapes += 1

    app = Listening()
    async with app.run_test(size=(32, 20)) as pilot:
        app.sidebar.show_rows(rows(row(1)), NOW)
        app.sidebar.focus()
        await until(lambda: app.list.has_focus, "the focus")
        await pilot.press("slash", "1", "escape")
        assert app.escapes == 0
        await pilot.press("escape")
        assert app.escapes == 1


async def test_an_empty_filter_line_goes_away_when_it_is_left_and_a_paste_into_it_is_made_visible():
    async with shown(rows(row(1))) as (app, pilot):
        await pilot.press("slash")
        assert app.query_one(".sidebar--filter").display
        await pilot.press("down")
        await until(lambda: not app.query_one(".sidebar--filter").display, "the filter line to go")
        await pilot.press("slash")
        line = app.query_one(FilterLine)
        await until(lambda: line.has_focus, "the filter line")
        line.post_message(events.Paste("a\x1b]0;t\x1b\\\u202eb"))
        await until(lambda: line.value == "a␛]0;t␛\\<U+202E>b", "the text")


async def test_a_filter_looks_into_folded_groups_and_what_is_folded_meanwhile_ends_with_it():
    async with shown(rows(*ARCHIVE)) as (app, pilot):
        await pilot.press("slash", "3")
        await until(lambda: len(app.lines) == 2, "the match")
        assert app.lines[0] == " ▾ Archived"
        await pilot.press("enter")
        await until(lambda: app.list.has_focus, "the rows")
        await pilot.press("left")
        assert app.lines == [" ▸ Archived 1"]
        await pilot.press("escape")
        await until(lambda: app.lines[2:] == [" ▸ Archived 2"], "the fold")
        await pilot.press("slash", "2")
        await until(lambda: "Session 2" in app.lines[-1], "the other match")
        await pilot.press("escape")
        await until(lambda: app.lines[2:] == [" ▸ Archived 2"], "the fold as before")


async def test_a_filter_that_is_cleared_gives_the_highlight_back_or_keeps_what_was_selected():
    async with shown(many(300)) as (app, pilot):
        app.sidebar.rows.highlight("session-00030")
        await pilot.press("slash", "x")
        await until(lambda: app.lines == [" No matches"], "no match")
        await pilot.press("escape")
        await until(lambda: app.highlighted == "session-00030", "the highlight")
        await pilot.press("home", "slash", "7")
        await until(lambda: app.highlighted == "session-00007", "the match")
        app.list.focus()
        await until(lambda: app.list.has_focus, "the rows")
        await pilot.press("enter", "escape")
        await until(lambda: "Session 00008" in "".join(app.lines), "all rows")
        assert app.highlighted == "session-00007"
        await pilot.press("slash", *"299", "enter")
        await until(lambda: app.highlighted == "session-00299", "the match")
        await pilot.press("escape")
        await until(lambda: len(app.lines) > 2, "all rows")
        assert "Session 00299" in app.lines[-1]


# --- more


async def test_more_is_wanted_once_when_the_end_is_within_a_screen_until_there_is_none():
    async with shown(many(100, more=True)) as (app, pilot):
        assert app.heard(intents.MoreWanted) == []
        height = app.list.size.height
        app.sidebar.rows.highlight(f"session-{100 - height - 3:05}")
        await pilot.pause()
        assert app.heard(intents.MoreWanted) == []
        await pilot.press("down", "down", "down", "down", "end", "home", "end")
        assert len(app.heard(intents.MoreWanted)) == 1
        app.sidebar.show_rows(many(150, more=True), NOW)
        await pilot.pause()
        assert len(app.heard(intents.MoreWanted)) == 1
        await pilot.press("end")
        app.sidebar.show_rows(many(200), NOW)
        await pilot.press("end")
        assert len(app.heard(intents.MoreWanted)) == 2


async def test_rows_that_do_not_fill_the_screen_want_more_again_when_the_reader_moves():
    async with shown(many(5, more=True)) as (app, pilot):
        await until(lambda: app.heard(intents.MoreWanted), "the wish")
        for _ in range(3):
            app.sidebar.show_rows(many(5, more=True), NOW)
            await pilot.pause()
        assert len(app.heard(intents.MoreWanted)) == 1
        await pilot.press("down")
        assert len(app.heard(intents.MoreWanted)) == 2
        await pilot.press("down")
        assert len(app.heard(intents.MoreWanted)) == 2
        app.sidebar.show_rows(many(10, more=True), NOW)
        await until(lambda: len(app.heard(intents.MoreWanted)) == 3, "another one")


@pytest.mark.parametrize("way", ["the wheel", "a filter"])
async def test_the_wheel_and_a_filter_that_leaves_few_rows_want_more(way):
    async with shown(many(60, more=True)) as (app, pilot):
        assert app.heard(intents.MoreWanted) == []
        if way == "the wheel":
            await scrolled(app, 40)
        else:
            await pilot.press("slash", *"0019")
        await until(lambda: app.heard(intents.MoreWanted), "the wish")


async def test_a_view_that_moves_with_its_rows_is_no_reader_who_moves():
    given_rows = many(60, more=True)
    async with shown(given_rows) as (app, pilot):
        await scrolled(app, 30)
        await until(lambda: app.heard(intents.MoreWanted), "the wish")
        *others, used, last = given_rows.rows
        app.sidebar.show_rows(rows(used, *others, last, more=True), NOW)
        assert app.list.scroll_offset.y == 31
        await pilot.pause()
        assert len(app.heard(intents.MoreWanted)) == 1


# --- among other widgets


async def test_only_the_list_and_an_open_filter_take_the_focus():
    class Two(World):
        def compose(self):
            yield Sidebar()
            yield Button("other")

    app = Two()
    async with app.run_test(size=(60, 20)) as pilot:
        app.sidebar.focus()
        await until(lambda: app.list.has_focus, "the focus")
        await pilot.press("tab")
        assert isinstance(app.focused, Button)
        await pilot.press("shift+tab")
        assert app.list.has_focus


# --- the outline


async def test_of_ten_thousand_rows_only_those_in_view_are_drawn(monkeypatch):
    drawn = set()

    def draw(found, when, width, current, **more):
        drawn.add(found.id)
        return row_pieces(found, when, width, current, **more)

    monkeypatch.setattr("tui.widgets.sidebar.rows_view.row_pieces", draw)
    async with shown(many(10_000)) as (app, pilot):
        await until(lambda: "session-00000" in drawn, "the beginning")
        await pilot.press("end")
        await until(lambda: "session-09999" in drawn, "the end")
        assert len(drawn) <= 4 * app.list.size.height


def test_lines_have_drifted_as_far_as_most_of_them_or_not_if_none_is_left():
    before = Outline(many(10).rows)
    after = Outline(
        [row("a"), row("00005"), *(r for r in many(10).rows if r.id != "session-00005")]
    )
    assert after.drift(before.lines[1:9], 1) == 2
    assert Outline(many(3, 100).rows).drift(Outline(many(3).rows).lines[1:], 1) == 0


def test_the_nearest_row_of_headings_alone_is_the_heading_and_no_id_is_taken_for_one():
    outline = Outline([row(1)], {Group.TODAY})
    assert outline.lines == [GroupHeading(Group.TODAY, 1, folded=True)]
    assert outline.nearest_row(5) == 0
    assert Outline().nearest_row(5) == 0
    outline = Outline([row(1), row(2, id="Today")])
    assert outline.place_of_session("Today") == 2
    assert outline.place_of(outline.lines[0]) == 0
