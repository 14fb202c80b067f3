"""Words about imports."""

from tests.tables import each_row
from tui.domain.imports import bytes_words, skipped_words


@each_row(
    "count, words",
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (310_200_000, "310.2 MB"),
        (5_000_000_000_000_000, "5000.0 TB"),
    ],
)
def test_a_size_has_a_unit(count, words):
    assert bytes_words(count) == words


def test_reasons_are_named_the_most_frequent_first():
    skipped = {"system prompt": 1, "thinking": 3, "duplicate": 1}
    assert skipped_words(1, {}) == "1 record read"
    assert (
        skipped_words(2, skipped)
        == "2 records read, 5 skipped (3 thinking, 1 duplicate, 1 system prompt)"
    )
    assert skipped_words(0, {"blank line": 2}) == "2 skipped (2 blank lines)"
    assert skipped_words(2, skipped, 1) == "2 records read, 5 skipped (3 thinking, 2 others)"
    kept = "2 records read, 1 unknown block kept as text"
    assert skipped_words(2, {"unknown block new": 1}) == kept
    assert (
        skipped_words(2, {"unknown block": 1, "thinking": 3}) == f"{kept}, 3 skipped (3 thinking)"
    )
