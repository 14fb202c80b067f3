"""From one match to the next."""

from hypothesis import given
from hypothesis import strategies as st

from tui.domain.search.find import Match, Matches, MessageMatches, ReadingPosition

AWAY = ReadingPosition("m9")


def matches(*counts, reading=AWAY, page=2, whole=True):
    """Matches in messages ``m0``, ``m1`` …, of which each has so many; taken page by page."""
    found = Matches(reading)
    newest_first = list(enumerate(counts))[::-1]
    for start in range(0, len(newest_first), page):
        taken, below = [], None
        for number, count in newest_first[start : start + page]:
            taken += [MessageMatches(f"m{number}", count)] if count else []
            below = len(taken) if f"m{number}" == reading.message_id else below
        found.take(taken, below)
    if whole:
        found.end()
    return found


def test_the_nearest_is_the_first_from_the_reader_on():
    assert matches(1, 0, 2, 1, reading=ReadingPosition("m1")).go_to_nearest() == Match("m2", 0)
    assert matches(1, 3, 2, reading=ReadingPosition("m1", 2)).go_to_nearest() == Match("m1", 2)
    assert matches(1, 3, 2, reading=ReadingPosition("m1", 3)).go_to_nearest() == Match("m2", 0)


def test_the_nearest_is_the_last_one_above_if_nothing_is_below():
    assert matches(1, 2, 0, 0, reading=ReadingPosition("m3")).go_to_nearest() == Match("m1", 1)
    assert matches(1, 2, reading=ReadingPosition("m1", 2)).go_to_nearest() == Match("m1", 1)
    assert matches(0, 0).go_to_nearest() is None
    assert matches(1, reading=ReadingPosition(None)).go_to_nearest() == Match("m0", 0)


def test_nothing_is_nearest_before_the_search_has_come_to_the_reader():
    found = Matches(ReadingPosition("m0"))
    found.take([MessageMatches("m9", 1)])
    assert found.go_to_nearest() is None
    found.take([MessageMatches("m0", 1)], 1)
    assert found.go_to_nearest() == Match("m0", 0)


def test_steps_go_through_all_and_round_the_ends():
    found = matches(1, 2, 0, 1, reading=ReadingPosition("m1"))
    assert found.go_to_nearest() == Match("m1", 0)
    assert found.position == 2
    assert found.step(1) == (Match("m1", 1), False)
    assert found.step(1) == (Match("m3", 0), False)
    assert found.position == found.total == 4
    assert found.step(1) == (Match("m0", 0), True)
    assert found.position == 1
    assert found.step(-1) == (Match("m3", 0), True)
    assert found.step(-1) == (Match("m1", 1), False)


def test_before_the_beginning_is_reached_nothing_goes_round_it():
    found = matches(1, 1, reading=ReadingPosition("m1"), whole=False)
    assert found.go_to_nearest() == Match("m1", 0)
    assert found.position is None
    assert found.step(1) is None
    assert found.step(-1) == (Match("m0", 0), False)
    assert found.step(-1) is None


def test_a_first_step_begins_at_the_reader():
    assert matches(1, 0, 1, reading=ReadingPosition("m1")).step(1) == (Match("m2", 0), False)
    assert matches(1, 0, 1, reading=ReadingPosition("m1")).step(-1) == (Match("m0", 0), False)
    assert matches(0, 0, 1, reading=ReadingPosition("m1")).step(-1) == (Match("m2", 0), True)
    assert matches(0, 0).step(1) is None


def test_the_end_may_grow_and_the_reader_stays_at_his_match():
    found = Matches(ReadingPosition("m1"))
    found.begin([MessageMatches("m1", 1)], 1)
    found.take([MessageMatches("m0", 1)])
    found.end()
    assert found.go_to_nearest() == Match("m1", 0)
    found.renew([MessageMatches("m2", 3), MessageMatches("m1", 2)])
    assert (found.total, found.position) == (6, 2)
    assert found.step(-1) == (Match("m0", 0), False)
    found.renew([MessageMatches("m3", 1), MessageMatches("m2", 3), MessageMatches("m1", 2)])
    assert (found.total, found.position) == (7, 1)
    assert found.step(1) == (Match("m1", 0), False)
    found.renew([MessageMatches("m2", 3)])
    assert found.current is None


@given(counts=st.lists(st.integers(0, 3), max_size=8), page=st.integers(1, 4))
def test_steps_from_the_first_see_each_match_once_in_order(counts, page):
    found = matches(*counts, reading=ReadingPosition("m0"), page=page)
    every = [(f"m{m}", n) for m, count in enumerate(counts) for n in range(count)]
    seen = []
    for number, _ in enumerate(every, 1):
        match, round_the_end = found.step(1)
        seen.append((match.message_id, match.number))
        assert (found.position, round_the_end) == (number, False)
    assert seen == every
    assert found.total == len(every)
