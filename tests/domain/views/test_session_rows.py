"""Rows of sessions: groups, ages, filters; states of those in the picker."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.journal.session import SessionEntry
from tui.domain.moves import Move
from tui.domain.text import UNREADABLE
from tui.domain.timestamps import format_utc
from tui.domain.views.session_rows import (
    Group,
    Mark,
    SessionRow,
    Times,
    about,
    arrange,
    matches,
    narrows,
    neighbour,
    picker_row,
    short_age,
)

NOW = datetime(2026, 1, 20, 12, 0, 0, tzinfo=UTC)
# Clocks go forward in the night to 29 March 2026, back in the night to 25 October.
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"


def group_of(one, now):
    """The heading under which a session stands."""
    (row,) = arrange([one], (), {}, now)
    return row.group


def entry(session_id="tale", used=NOW, status="closed", **fields):
    known = {
        "name": "",
        "label": session_id,
        "scope": "project:/shop",
        "ordinal": 1,
        "active": False,
        "project_path": "/shop",
        "model": "offline:guide",
        "created_at": format_utc(NOW),
        "updated_at": format_utc(NOW),
        "last_used_at": used if isinstance(used, str) else format_utc(used),
        "closed_at": None,
        "message_count": 3,
    }
    return SessionEntry(id=session_id, status=status, **{**known, **fields})


def row(label="Auth bug", session_id="session-20260111-153022-847291"):
    return SessionRow(session_id, label, Group.TODAY, format_utc(NOW), 1)


# --- groups


def test_sessions_of_one_title_and_project_are_told_apart_by_their_times(zone):
    zone("UTC")
    used = ["2026-01-20T09:30:00.000Z", "2026-01-18T11:00:00.000Z", "2025-12-31T11:00:00.000Z"]
    alike = [msgspec.structs.replace(row(), last_used_at=each) for each in used]
    others = [msgspec.structs.replace(alike[0], scope="blog"), row("Another")]
    times = Times([*alike, *others], NOW)
    assert [times.of(each) for each in alike] == ["09:30", "01-18 11:00", "2025-12-31"]
    assert [times.of(each) for each in others] == ["2h", "now"]


@each_row("rule, used, group", [*rows(__file__, "groups"), ("UTC0", "9" * 5000, "Older")])
def test_a_session_stands_under_the_local_day_of_its_last_use(rule, used, group, zone):
    zone(rule)
    assert group_of(entry(used=used), NOW) == group


def test_today_is_that_of_the_place_whatever_zone_now_is_said_in(zone):
    zone("JST-9")
    now = datetime(2026, 1, 20, 16, 0, tzinfo=UTC)  # one o'clock on the 21st there
    assert group_of(entry(used="2026-01-20T14:59:59.999Z"), now) is Group.YESTERDAY
    assert group_of(entry(used="2026-01-20T15:00:00.000Z"), now) is Group.TODAY


def test_a_day_of_23_hours_is_a_whole_day(zone):
    zone(BERLIN)
    now = datetime(2026, 3, 30, 10, 0, tzinfo=UTC)
    assert group_of(entry(used="2026-03-28T23:00:00.000Z"), now) is Group.YESTERDAY
    assert group_of(entry(used="2026-03-28T22:59:59.999Z"), now) is Group.LAST_WEEK


# --- order


def test_groups_stand_in_their_order_and_their_sessions_in_that_of_the_list(zone):
    zone("UTC0")
    entries = [
        entry("today"),
        entry("archived", status="archived"),
        entry("yesterday", NOW - timedelta(days=1)),
        entry("older", NOW - timedelta(days=30)),
        entry("week", NOW - timedelta(days=3)),
        entry("also today", NOW - timedelta(hours=1)),
    ]
    rows = arrange(entries, [], {}, NOW)
    assert [(found.id, found.group) for found in rows] == [
        ("today", Group.TODAY),
        ("also today", Group.TODAY),
        ("yesterday", Group.YESTERDAY),
        ("week", Group.LAST_WEEK),
        ("older", Group.OLDER),
        ("archived", Group.ARCHIVED),
    ]


def test_open_sessions_come_first_in_their_own_order_and_only_once():
    old, new = entry("old", NOW - timedelta(days=90)), entry("new")
    rows = arrange([new, entry("other"), old], [old, new], {}, NOW)
    assert [(found.id, found.group) for found in rows] == [
        ("old", Group.OPEN),
        ("new", Group.OPEN),
        ("other", Group.TODAY),
    ]


def test_a_row_says_what_its_session_says_and_what_goes_on_in_it():
    known = entry("one", NOW, label="Auth bug", message_count=7, imported_from="claude-code:1")
    own = entry("own", imported_from="x.jsonl")
    mine, found = arrange([known], [own], {"one": Mark.UNREAD, "two": Mark.RUNNING}, NOW)
    assert found == SessionRow(
        *("one", "Auth bug", Group.TODAY, format_utc(NOW), 7, Mark.UNREAD),
        scope="shop",
        program="claude-code",
    )
    assert (mine.mark, mine.program) == (Mark.NONE, "")


# --- ages


@each_row("span, words", rows(__file__, "short_ages"))
def test_a_short_age_is_minutes_hours_days_and_then_the_date_or_the_year(span, words, zone):
    zone("UTC0")
    assert short_age(NOW - timedelta(**span), NOW) == words
    assert short_age(None, NOW) == ""


@pytest.mark.parametrize(
    ("rule", "words"), [("JST-9", "01-02"), ("UTC0", "01-01"), ("PST8", "01-01"), ("XXX23", "2025")]
)
def test_the_date_and_the_year_are_the_local_ones(rule, words, zone):
    zone(rule)
    assert short_age(datetime(2026, 1, 1, 18, 0, tzinfo=UTC), NOW) == words


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_age_takes_at_most_five_cells(then):
    assert len(short_age(then, NOW)) <= 5


# --- filter


@each_row(
    "label, text, is_there",
    [
        *(("Auth bug", text, True) for text in ("", "  ", "auth", "AUTH", "bug auth", "th bu")),
        *(("Auth bug", text, True) for text in ("847291", "20260111 bug", "Session-")),
        *(("Auth bug", text, False) for text in ("auht", "auth login", "bugsession", "bugs")),
        ("STRASSE", "straße", True),
        ("会話の検索", "検索", True),
    ],
)
def test_a_row_matches_each_word_of_its_label_or_its_id_in_any_case(label, text, is_there):
    assert matches(row(label), text) is is_there


@given(any_text(), any_text())
def test_what_matches_a_longer_filter_matches_its_beginning(label, text):
    found = row(label + text)
    if matches(found, text):
        assert all(
            matches(found, text[:end]) for end in range(len(text)) if narrows(text, text[:end])
        )


@pytest.mark.parametrize("text", ["s", "sess", "session"])
def test_what_all_ids_begin_with_matches_only_where_it_is_typed_whole(text):
    assert not matches(row("Auth bug"), text)
    assert matches(row("Auth bug"), row().id)
    assert not narrows("session-2026", text)
    assert matches(row("A session bug"), text)


@each_row(
    "session_id, step, found",
    [("b", 1, "c"), ("b", -1, "a"), ("a", -1, "a"), ("c", 1, "c"), ("a", 9, "c"), ("gone", 1, "a")],
)
def test_a_neighbour_is_a_row_away_or_the_last_on_the_way(session_id, step, found):
    rows = [row(session_id=name) for name in "abc"]
    assert neighbour(rows, session_id, step) == found
    assert neighbour([], session_id, step) is None


PICKED_AT = datetime(2026, 1, 14, 8, tzinfo=UTC)
MOVE = Move("s", "sessions", "archive", "2026-01-11T08:00:00.000Z", "age", "b")


def picked(move=None, marks=None, own=(), **fields):
    return picker_row(entry("s", **fields), marks or {}, own, move, PICKED_AT)


@each_row(
    "status, own, label, state",
    [
        ("open", ("s",), "Title", "open here"),
        ("open", (), "Title", "open elsewhere"),
        ("closed", (), "Title", "closed"),
        ("closed", (), UNREADABLE, "unreadable"),
        ("archived", (), "Title", "archived"),
        ("trashed", (), "Title", "in the trash"),
    ],
)
def test_each_state_has_its_name(status, own, label, state):
    assert picked(own=own, status=status, label=label).state == state


def test_a_picked_session_says_when_and_why_it_was_moved_or_how_it_stands():
    words = about(picked(MOVE, status="archived", imported_from="claude-code:1"), PICKED_AT)
    assert words.startswith("shop · from claude-code · archived 3 days ago, not used for long · ")
    words = about(picked(MOVE, {"s": Mark.RUNNING}, ("s",), status="open"), PICKED_AT)
    assert "open here, used" in words
    assert "running" in words
