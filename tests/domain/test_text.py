"""Text for people: ages, titles, cells, visible controls, fences."""

import re
import sys
import unicodedata
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from wcwidth import wcswidth

from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.text import (
    EMPTY,
    LABEL_CELLS,
    age,
    cell_width,
    closed,
    code_span,
    codes,
    cut_at_word,
    cut_to_cells,
    fenced,
    label,
    late_pattern,
    listed,
    make_visible,
    make_visible_line,
    make_visible_name,
    pad_to_cells,
    scope_name,
    whole_label,
    without_surrogates,
)

NOW = datetime(2026, 1, 20, 12, 0, 0, tzinfo=UTC)
FAMILY = "👩\u200d👩\u200d👧"


def before(**span):
    return NOW - timedelta(**span)


# --- age


@each_row("seconds, words", rows(__file__, "ages"))
def test_an_age_is_said_in_minutes_hours_or_days_and_from_a_week_on_as_a_date(seconds, words, zone):
    zone("UTC0")
    then = None if seconds is None else before(seconds=seconds)
    assert age(then, NOW) == words


@pytest.mark.parametrize(
    ("rule", "date"), [("JST-9", "2025-06-02"), ("UTC0", "2025-06-01"), ("PST8", "2025-06-01")]
)
def test_a_date_is_the_local_one(rule, date, zone):
    zone(rule)
    assert age(datetime(2025, 6, 1, 15, 30, tzinfo=UTC), NOW) == date


def test_a_date_in_summer_is_that_of_summer_time_all_year(zone):
    zone("CET-1CEST,M3.5.0,M10.5.0/3")
    then = datetime(2025, 7, 1, 22, 30, tzinfo=UTC)  # half past midnight there
    assert age(then, NOW.astimezone()) == "2025-07-02"


class _Summer(tzinfo):
    """A zone whose clocks go forward an hour at the beginning of March."""

    def utcoffset(self, moment):
        return timedelta(hours=1 if moment.month >= 3 else 0)

    def dst(self, moment):
        return self.utcoffset(moment)


def test_an_hour_lost_to_summer_time_is_no_hour_of_age():
    then = datetime(2026, 2, 28, 23, 50, tzinfo=_Summer())
    now = datetime(2026, 3, 1, 1, 5, tzinfo=then.tzinfo)
    assert age(then, now) == "15 min ago"


@pytest.mark.parametrize("hours", [-11, 0, 9])
def test_an_age_does_not_depend_on_the_zones_in_which_the_times_are_said(hours):
    there = timezone(timedelta(hours=hours))
    assert age(before(hours=3).astimezone(there), NOW) == "3 hours ago"
    assert age(before(hours=3), NOW.astimezone(there)) == "3 hours ago"


@given(st.datetimes(timezones=st.just(UTC)))
def test_every_time_has_an_age(then):
    assert age(then, NOW)


# --- labels


def test_a_session_is_called_by_its_name_else_its_summary_else_its_first_prompt():
    assert label("Name", "Summary", "Prompt") == "Name"
    # Not of the summary, which many programs begin with the same words.
    assert label("", "Summary", "Prompt") == "Prompt"
    assert label("", "Summary", "") == "Summary"
    assert label("", "", "") == EMPTY == "(empty)"


@each_row("blank", [" ", "\n\t", "\u3000", "\u200b", "\u200d\ufe0f", "\u2028 \x85"])
def test_what_shows_nothing_is_no_name(blank):
    assert label(blank, "", "Prompt") == "Prompt"
    assert label(blank, blank, blank) == EMPTY


@each_row(
    "name, words",
    [
        ("  one\n\ntwo\tthree  ", "one two three"),
        ("\n" * 5000 + "Fix it", "Fix it"),
        ("one\u2028two\r\nthree", "one two three"),
        ("\x1b]0;x\x1b\\", "␛]0;x␛\\"),
        ("user\u202etxt", "user<U+202E>txt"),
        ("\x00", "␀"),
        ("\ud800", "\ufffd"),
    ],
)
def test_a_label_is_one_line_with_its_controls_visible(name, words):
    assert label(name, "", "") == words


@each_row(
    "character, fitting",
    [("x", 80), ("会", 40), ("é", 80), ("e\u0301", 80), ("😀", 40), (FAMILY, 40), ("🇯🇵", 40)],
)
def test_a_label_has_80_cells_at_most(character, fitting):
    assert label(character * fitting, "", "") == character * fitting
    cut = label(character * (fitting + 1), "", "")
    assert cut == character * (79 // (80 // fitting)) + "…"


@given(any_text(40), any_text(40), any_text(40))
def test_every_label_shows_something_in_one_line_of_80_cells(name, summary, prompt):
    words = label(name, summary, prompt)
    assert 1 <= wcswidth(words) <= LABEL_CELLS
    assert words == make_visible_line(words)


@each_row(
    "line, cells, cut",
    [
        ("Fix the login page", 40, "Fix the login page"),
        ("Fix the login page", 16, "Fix the login…"),
        ("Fix the login page", 14, "Fix the login…"),
        ("Fix deoxyribonucleic acid", 16, "Fix deoxyribonu…"),
        ("会話する会話", 8, "会話す…"),
        ("third about 日本語の質問", 19, "third about 日本語…"),
    ],
)
def test_a_title_is_cut_behind_a_word_where_that_loses_little(line, cells, cut):
    assert cut_at_word(line, cells) == cut


# --- cells


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("▾ Last 7 days", "▾ Last 7 d…"),
        ("Größenwahn, naïve", "Größenwahn…"),
        ("“Ça va ?” – Élise", "“Ça va ?”…"),
        ("Список сеансов", "Список сеа…"),
    ],
)
def test_what_most_write_is_cut_without_the_library_that_knows_all_scripts(line, cut, monkeypatch):
    monkeypatch.setitem(sys.modules, "wcwidth", None)  # not to be imported
    assert cut_to_cells(line, 11) == cut
    assert cell_width(cut) <= 11


def test_what_is_taken_for_one_cell_is_one():
    characters = map(chr, range(0x20, 0x3000))
    assert [each for each in characters if cell_width(each * 2) != wcswidth(each * 2)] == []


def lines():
    wide = st.sampled_from(
        [
            "会",
            FAMILY,
            "❤\ufe0f",
            "1\ufe0f\u20e3",
            "🇯🇵",
            "👍🏽",
            "e\u0301",
            "क\u094dष",
            "\u094d❤",
            " ",
        ]
    )
    return st.lists(wide | st.characters(), max_size=30).map("".join).map(make_visible_line)


@given(lines(), st.integers(1, 50))
@example("\u094d❤xx", 3)  # wider than the sum of its parts
def test_a_line_is_never_wider_than_it_was_cut_to(line, cells):
    assert 0 <= wcswidth(cut_to_cells(line, cells)) <= cells


@given(lines(), st.integers(0, 10))
def test_what_fits_is_not_cut(line, more):
    assert cut_to_cells(line, cell_width(line) + more) == line


@given(lines(), st.integers(1, 50))
def test_what_is_cut_is_the_beginning_and_an_ellipsis(line, cells):
    cut = cut_to_cells(line, cells)
    if cut != line:
        assert cut.endswith("…")
        assert line.startswith(cut.removesuffix("…"))


@each_row("line, cells, cut", rows(__file__, "cuts"))
def test_a_cut_keeps_whole_characters_as_many_as_fit(line, cells, cut):
    assert cut_to_cells(line, cells) == cut


@given(lines(), st.integers(0, 10))
def test_a_line_is_filled_up_to_the_cells_asked_for(line, more):
    padded = pad_to_cells(line, cell_width(line) + more)
    assert padded == line + " " * more
    assert pad_to_cells("会話", 3) == "会話"


@each_row(
    "scope, name",
    [
        ("project:/home/u/shop", "shop"),
        ("project:/home/u/shop/", "shop"),
        ("project:/", "/"),
        ("project:", ""),
        ("work", "work"),
        ("a/b", "a/b"),
    ],
)
def test_a_scope_is_called_by_the_name_of_its_directory(scope, name):
    assert scope_name(scope) == name


@each_row(
    "name, called",
    [
        ("a name " * 9, ("a name " * 9).strip()),
        ("a  name\n" * 9, ("a name " * 9).strip()),
        ("short", "short"),
        ("", "the first prompt"),
        ("\u200b", "the first prompt"),
        ("\x1b" * 60, "␛" * 60),
    ],
)
def test_a_name_is_whole_where_there_may_be_room(name, called):
    assert whole_label(name, label(name, "", "the first prompt")) == called
    assert whole_label("", label("", "", "words " * 20)) == label("", "", "words " * 20)


@each_row(
    "words, said",
    [((), ""), (("a",), "a"), (("a", "b"), "a and b"), (("a", "b", "c"), "a, b and c")],
)
def test_a_series_of_words_ends_with_and(words, said):
    assert listed(words) == said
    assert listed(words, "or") == said.replace("and", "or")


CONTROLS = set(map(chr, [*range(0x20), *range(0x7F, 0xA0)])) - {"\n", "\t"}
BIDI = {*"\u061c\u200e\u200f", *map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)])}
TAGS = set(map(chr, range(0xE0000, 0xE0080)))
SURROGATES = set(map(chr, range(0xD800, 0xE000)))
UNSAFE = CONTROLS | BIDI | TAGS | SURROGATES


def test_what_a_terminal_would_obey_is_known_by_number():
    assert (len(CONTROLS), len(BIDI), len(TAGS), len(SURROGATES)) == (63, 12, 128, 2048)
    characters = [*map(chr, range(sys.maxunicode + 1))]
    controls = {each for each in characters if unicodedata.category(each) == "Cc"}
    assert controls == {*CONTROLS, *"\n\t"}
    directions = {"LRE", "RLE", "PDF", "LRO", "RLO", "LRI", "RLI", "FSI", "PDI"}
    directing = {each for each in characters if unicodedata.bidirectional(each) in directions}
    assert directing == BIDI - {*"\u061c\u200e\u200f"}


def test_all_that_a_terminal_would_obey_becomes_something_to_see_and_all_else_stays():
    for character in UNSAFE:
        mark = make_visible(character)
        assert mark.isprintable(), ascii(character)
        assert mark.strip(), ascii(character)
        assert not set(mark) & UNSAFE

    safe = "".join(c for c in map(chr, range(sys.maxunicode + 1)) if c not in UNSAFE)
    assert make_visible(safe) == safe


@each_row(
    "text, seen",
    [
        ("one\n\ttwo", "one\n\ttwo"),
        ("\x1b]52;c;ZXZpbA==\x07", "␛]52;c;ZXZpbA==␇"),
        ("\x1b]0;title\x1b\\", "␛]0;title␛\\"),
        ("\x9b2J\x85", "<U+009B>2J<U+0085>"),
        ("a\x00b\x7fc\r\n", "a␀b␡c␍\n"),
        ("user\u202etxt.exe", "user<U+202E>txt.exe"),
        ("x\U000e0041", "x<U+E0041>"),
        ("\ud83d", "\ufffd"),
    ],
)
def test_marks_say_what_was_there(text, seen):
    assert make_visible(text) == seen


@given(st.lists(any_text(4), max_size=4))
def test_text_is_made_visible_alike_in_pieces_and_whole(pieces):
    assert "".join(map(make_visible, pieces)) == make_visible("".join(pieces))


@given(any_text())
def test_visible_text_can_be_printed_and_stays_as_it_is(text):
    assert make_visible(make_visible(text)) == make_visible(text)
    assert not set(make_visible(text)) & UNSAFE
    make_visible(text).encode()


# --- one line


@given(any_text())
def test_a_visible_line_is_one_line_and_safe(text):
    line = make_visible_line(text)
    assert len((line + "x").splitlines()) == 1
    assert not set(line) & (UNSAFE | {"\n", "\t"})


@each_row(
    "text, line",
    [
        ("one\ntwo", "one two"),
        ("one  \r\n\r\n  two", "one two"),
        ("one\u2028two\x85three\x0bfour", "one two three four"),
        ("one\ttwo  three", "one two  three"),
        ("\x1b[31mred", "␛[31mred"),
    ],
)
def test_in_a_line_breaks_become_spaces(text, line):
    assert make_visible_line(text) == line


def test_the_name_of_a_file_stays_one_line_and_shows_what_it_is_made_of():
    name = make_visible_name("a\nb\tc\x1b[2J\u2028d\u202eg\udcff  e")
    assert name == "a\u240ab\u2409c\u241b[2J<U+2028>d<U+202E>g\ufffd  e"
    assert name.splitlines() == [name]


def test_a_megabyte_of_blanks_costs_no_more_than_its_length():
    # Time that grows with the square of the length would be an hour here.
    blanks = " " * 1_000_000
    assert make_visible_line(blanks + "x") == blanks + "x"
    assert make_visible_line(blanks + "\n" + blanks + "x") == " x"


# --- surrogates


@given(any_text())
def test_only_lone_surrogates_are_replaced_in_what_goes_to_a_file(text):
    replaced = without_surrogates(text)
    replaced.encode()
    assert replaced == "".join("\ufffd" if c in SURROGATES else c for c in text)


@each_row("text", ["plain", "a\n```python\nb\n```\nc", "````\n```\n````", "~~~\n~~~"])
def test_a_text_whose_blocks_end_stays_as_it_is(text):
    assert closed(text) == text


@pytest.mark.parametrize(
    ("text", "end"), [("a\n```python\nb", "```"), ("````\n```", "````"), ("~~~\n```\nx", "~~~")]
)
def test_a_block_that_was_cut_off_is_closed_by_its_own_mark(text, end):
    assert closed(text) == f"{text}\n{end}"


@each_row("text", ["", "x", "```\ninner\n```", "`````", "a ```` b", "~~~\n"])
def test_a_fence_holds_any_text(text):
    assert codes(f"before\n{fenced(text)}\nafter") == [text]


def test_a_span_of_code_holds_its_own_marks():
    assert code_span("a") == "`a`"
    assert code_span("a ``b`` c") == "```a ``b`` c```"
    assert code_span("`a`") == "`` `a` ``"


def test_a_late_pattern_finds_what_the_pattern_finds_and_is_compiled_with_its_first_use():
    word = late_pattern("[a-z]+")
    assert word.match("one two")[0] == "one"
    assert word.sub("-", "one two") == "- -"
    assert word.findall("one two") == ["one", "two"]
    assert late_pattern("a.b", re.DOTALL | re.IGNORECASE).fullmatch("A\nB")
    with pytest.raises(AttributeError):
        word.nothing  # noqa: B018
    broken = late_pattern("(")
    with pytest.raises(re.error):
        broken.search("")
