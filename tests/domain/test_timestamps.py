from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.timestamps import (
    format_milliseconds,
    format_utc,
    from_milliseconds,
    parse_utc,
    storable_ns,
)

MOMENT = datetime(2026, 1, 11, 14, 30, 22, 123000, UTC)
ZONES = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@each_row(
    "moment, text",
    [
        (MOMENT, "2026-01-11T14:30:22.123Z"),
        (MOMENT.astimezone(timezone(timedelta(hours=9))), "2026-01-11T14:30:22.123Z"),
        (MOMENT.replace(microsecond=999_999), "2026-01-11T14:30:22.999Z"),
        (MOMENT.replace(microsecond=0), "2026-01-11T14:30:22.000Z"),
        (datetime(7, 1, 1, tzinfo=UTC), "0007-01-01T00:00:00.000Z"),
    ],
)
def test_a_time_is_written_in_utc_to_the_millisecond_and_never_later_than_it_is(moment, text):
    assert format_utc(moment) == text


# The zone may not carry a time beyond the years that there are.
@given(st.datetimes(timezones=ZONES).filter(lambda moment: 1 < moment.year < 9999))
def test_a_time_is_read_as_it_was_written(moment):
    assert parse_utc(format_utc(moment)) == moment.replace(
        microsecond=moment.microsecond // 1000 * 1000
    )


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-11T14:30:22.123Z",
        "2026-01-11T14:30:22.123",
        "2026-01-11 14:30:22.123000+00:00",
        "2026-01-11T23:30:22.123+09:00",
        "20260111T143022.123Z",
    ],
)
def test_foreign_forms_of_a_time_are_read_and_without_a_zone_they_are_utc(text, zone):
    zone("JST-9")
    assert parse_utc(text) == MOMENT
    assert parse_utc(text).tzinfo is UTC


@each_row(
    "text",
    [
        *(None, "", "yesterday", "2026-13-01T00:00:00Z", "2026-02-30", "0", "1768141822"),
        *("2026-01-11T14:30:22.123Z\n", "\ud800", "٢٠٢٦-٠١-١١"),
        *("0001-01-01T00:00:00+09:00", "9999-12-31T23:59:59-09:00"),
    ],
)
def test_what_is_no_time_is_none(text):
    assert parse_utc(text) is None


@pytest.mark.parametrize("rule", ["PST8", "UTC0", "JST-9"])
@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999Z"])
def test_every_time_of_a_file_has_a_local_time(text, rule, zone):
    zone(rule)
    assert parse_utc(text).astimezone().year == int(text[:4])


@each_row("moment", [10**19, -(10**19), 2**63, 0])
def test_a_time_is_stored_as_near_as_a_database_can(moment):
    assert abs(storable_ns(moment)) <= min(abs(moment), 2**63 - 1)


@given(any_text() | st.text(alphabet="0123456789-:.TZ+W ", max_size=32))
def test_no_text_is_too_strange_to_be_looked_at(text):
    moment = parse_utc(text)
    assert moment is None or moment.tzinfo is UTC


def test_milliseconds_are_a_time_unless_no_datetime_reaches_it():
    milliseconds = round(MOMENT.timestamp() * 1000)
    assert from_milliseconds(milliseconds) == MOMENT
    assert format_milliseconds(milliseconds) == "2026-01-11T14:30:22.123Z"
    assert from_milliseconds(10**18) is None
    assert format_milliseconds(10**18) == ""
