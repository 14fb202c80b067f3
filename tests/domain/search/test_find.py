"""What fits a text that is looked for in one conversation."""

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import answer, user
from tests.samples import rows
from tests.tables import each_row
from tui.domain.journal.message import ToolCall
from tui.domain.search.find import (
    Match,
    Matches,
    MessageMatches,
    Piece,
    ReadingPosition,
    count,
    count_in,
    needle,
    places,
)


def counted(wanted, text):
    return count(needle(wanted), text)


def marked(wanted, *rows, full=False):
    """The text of each place, its rows joined by a bar."""
    given_rows = [(row, full) for row in rows]
    return [
        "|".join(rows[piece.row][piece.begin : piece.end] for piece in place)
        for place in places(needle(wanted), given_rows)
    ]


@each_row("wanted, text, times", rows(__file__, "found"))
def test_a_text_is_found_anywhere_as_it_was_typed(wanted, text, times):
    assert counted(wanted, text) == times


@each_row("text", ["", "  ", "\n", "\u0301", "\u200d"])
def test_nothing_is_looked_for_without_a_character(text):
    assert needle(text) is None


def test_what_is_folded_on_screen_is_found_too():
    call = ToolCall("c", "read_file", {"path": "auth.py", "deep": ["日本"]})
    message = answer("m", "see auth.py", tool_calls=(call,))
    assert count_in(needle("auth.py"), message) == 2
    assert count_in(needle("日本"), message) == 1
    assert count_in(needle("read_file"), message) == 1
    assert count_in(needle("auth.py read"), message) == 0
    assert count_in(needle("x"), user("m", "")) == 0


def test_places_are_the_characters_as_they_stand_there_also_where_a_row_was_wrapped():
    assert marked("cafe", "Un CAFÉ, cafe\u0301!") == ["CAFÉ", "cafe\u0301"]
    assert places(needle("b"), [("abc", False)]) == [(Piece(0, 1, 2),)]
    assert marked("ss", "Straße") == ["ß"]

    assert marked("two words", "here two ", "  words there") == ["two|words"]
    assert marked("検索", "日本の検", "索です", full=True) == ["検|索"]
    assert marked("検 索", "日本の検", "索です", full=True) == ["検|索"]
    assert marked("検索", "日本の検", "索です") == []
    assert marked("two words", "two", "", "words") == []


WORDS = st.text("abA éÉ検が ガßſﬁ*`_\u0301\u3099-.", max_size=12)


@given(text=WORDS, wanted=WORDS)
def test_as_much_is_marked_in_a_row_as_is_counted(text, wanted):
    looked_for = needle(wanted)
    if looked_for is not None:
        assert len(places(looked_for, [(text, False)])) == count(looked_for, text)


@given(text=st.text(max_size=30), part=st.tuples(st.integers(0, 30), st.integers(1, 5)))
def test_as_much_is_marked_of_any_text_as_is_counted(text, part):
    looked_for = needle(text[part[0] : part[0] + part[1]])
    if looked_for is not None and not any(c.isspace() for c in text):
        assert len(places(looked_for, [(text, False)])) == count(looked_for, text)


AWAY = ReadingPosition("m9")


def matches(*counts, reading=AWAY, page=2, whole=True):
    """Matches in messages ``m0``, ``m1`` …, of which each has so many; taken page by page."""
    found = Matches(reading)
    newest_first = list(enumerate(counts))[::-1]
    for start in range(0, len(newest_first), page):
        taken, below = [], None
        for number, matches in newest_first[start : start + page]:
            taken += [MessageMatches(f"m{number}", matches)] if matches else []
            below = len(taken) if f"m{number}" == reading.message_id else below
        found.take(taken, below)
    if whole:
        found.end()
    return found


@each_row(
    "counts, reading, nearest",
    [
        ((1, 0, 2, 1), ("m1",), Match("m2", 0)),
        ((1, 3, 2), ("m1", 2), Match("m1", 2)),
        ((1, 3, 2), ("m1", 3), Match("m2", 0)),
        ((1, 2, 0, 0), ("m3",), Match("m1", 1)),
        ((1, 2), ("m1", 2), Match("m1", 1)),
        ((0, 0), ("m9",), None),
        ((1,), (None,), Match("m0", 0)),
    ],
)
def test_the_nearest_is_the_first_from_the_reader_on_else_the_last_above(counts, reading, nearest):
    assert matches(*counts, reading=ReadingPosition(*reading)).go_to_nearest() == nearest
    found = Matches(ReadingPosition("m0"))
    found.take([MessageMatches("m9", 1)])
    assert found.go_to_nearest() is None, "the search has not come to the reader"
    found.take([MessageMatches("m0", 1)], 1)
    assert found.go_to_nearest() == Match("m0", 0)


def test_steps_go_from_the_reader_through_all_and_round_the_ends_that_are_known():
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

    found = matches(1, 1, reading=ReadingPosition("m1"), whole=False)
    assert found.go_to_nearest() == Match("m1", 0)
    assert found.position is None
    assert found.step(1) is None
    assert found.step(-1) == (Match("m0", 0), False)
    assert found.step(-1) is None

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
