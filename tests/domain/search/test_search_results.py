"""What a search found, in words and in pieces."""

from tests.builders import answer, user
from tests.tables import each_row
from tui.domain.search.query import Hit, SearchResult, parse
from tui.domain.search.search_results import Results, SessionHits, as_typed, by_session, preview


def hit(session_id, message_id):
    return Hit(session_id, message_id, "user", "", "needle", 1.0)


def results(total, shown, **fields):
    hits = tuple(hit("s", str(number)) for number in range(shown))
    return Results("needle", (SessionHits("s", hits),), SearchResult(hits, total, **fields))


@each_row(
    "typed, wanted",
    [
        ("zebra", "zebra*"),
        ("two words", "two words*"),
        ("done ", "done "),
        ("ab", "ab"),
        ('"a phrase"', '"a phrase"'),
        ("zeb*", "zeb*"),
        ("a->", "a->"),
        ("", ""),
    ],
)
def test_the_word_that_is_being_typed_may_be_a_beginning(typed, wanted):
    assert as_typed(typed) == wanted


def test_hits_stand_by_sessions_the_best_first():
    grouped = by_session([hit("b", "1"), hit("a", "2"), hit("b", "3")], [])
    assert [(each.session_id, [hit.message_id for hit in each.hits]) for each in grouped] == [
        ("b", ["1", "3"]),
        ("a", ["2"]),
    ]


def test_how_much_was_found_what_is_missing_and_what_is_near_is_said():
    assert results(1, 1).words() == "1 match"
    assert results(12, 12).words() == "12 matches"
    assert results(80, 50).words() == "80 matches · the best 50 shown"
    assert results(300, 50, more=True).words() == ("300+ matches · the best 50 of the newest shown")
    late = "not all could be searched in time"
    assert results(1, 1, late=True).words().endswith(late)
    assert "indexing 42 %: 7 MB to go" in results(1, 1, pending=7_000_000).words("indexing 42 %")
    assert results(1, 1, notice="It was damaged.").words().endswith("It was damaged.")
    assert results(0, 0, late=True).words() == f"Nothing found so far · {late}"
    assert results(0, 0, pending=7_000_000).words().startswith("Nothing found so far · indexing")
    assert Results("x", error="gone").words() == "gone"

    assert Results("needle").words() == "No name or message contains this."
    assert Results("needle hay").words() == "No name or message contains all of this."
    assert Results(" ").words().startswith("All sessions:")
    assert Results("needle in:shop").words() == "No session matches."
    assert Results("before:soon").words() == (
        "before:soon is not a date. It needs a year, month or day: before:2026-05-01"
    )
    assert Results("->").words().startswith("Symbols alone")

    near = results(2, 2, looser="need* OR hay*")
    found = Results("needle hay", near.sessions, near=near.found)
    assert found.words() == "Not found; 2 matches near it: need* OR hay*"
    assert found.marked == "need* OR hay*"
    assert results(2, 2).marked == "needle*"
    beside = Results("needle hay", near.sessions, results(1, 1).found, "", near.found)
    assert beside.words() == "1 match · 2 matches near it: need* OR hay*"


def test_a_preview_shows_the_place_that_fits_harmlessly_and_a_part_of_the_others():
    far = "word " * 2000 + "needle" + " word" * 2000
    shown = preview(parse("needle"), "m2", [user("m1", far), answer("m2", far)])
    before, found = shown.messages
    assert (before.chosen, found.chosen) == (False, True)
    assert "needle" not in before.text
    begin, end = found.marks[0]
    assert found.text[begin:end] == "needle"
    assert len(found.text) < 3000

    shown = preview(parse("needle"), "m1", [user("m1", "a\x1b[31m\r\nneedle\t\x9b\u202e")])
    text = shown.messages[0].text
    assert text.startswith("a\u241b[31m\nneedle    ")
    assert not set("\x1b\r\t\x9b\u202e") & set(text)
    begin, end = shown.messages[0].marks[0]
    assert text[begin:end] == "needle"
