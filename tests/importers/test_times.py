"""Times of other programs."""

from tests.tables import each_row
from tui.importers.times import utc

EXPECTED = "2026-01-11T14:30:22.500Z"


@each_row(
    "value",
    [
        "2026-01-11T14:30:22.5Z",
        "2026-01-11T15:30:22.5+01:00",
        "2026-01-11 14:30:22.5",
        1768141822.5,
        1768141822500,
        1768141822500000,
        1768141822500000000,
        "1768141822500",
        "2026-01-11 14:30:22.500000 UTC",
    ],
)
def test_every_form_of_a_time_is_read(value):
    assert utc(value) == EXPECTED
    # As in mails.
    assert utc("Sun, 11 Jan 2026 15:30:22 +0100") == "2026-01-11T14:30:22.000Z"


@each_row(
    "value",
    [None, "", "soon", True, 0, -5, 1e30, float("nan"), {}, "9999999", "0001-01-01T00:00:00Z"],
)
def test_what_is_no_time_is_none_or_a_time(value):
    assert utc(value) in (None, "1970-04-26T17:46:39.000Z")
