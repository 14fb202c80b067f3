"""Where characters and words begin and end."""

from tests.tables import each_row
from tui.widgets.graphemes import after, before, begin, graphemes, word_after, word_before

FAMILY, FLAGS, HINDI, THAI = "👨\u200d👩\u200d👧\u200d👦", "🇯🇵🇫🇷", "नमस्ते", "ก้ำ"


@each_row("character", [FAMILY, FLAGS[:2], HINDI[2:], THAI, "e\u0301", "会", "a"])
def test_no_column_is_within_a_character(character):
    line = f"x{character}y"
    end = 1 + len(character)
    assert (after(line, 1), before(line, end)) == (end, 1)
    assert {begin(line, column) for column in range(1, end)} == {1}
    assert graphemes(line) == ["x", character, "y"]


def test_a_line_without_text_has_one_place():
    assert (before("", 0), after("", 0), begin("", 0), graphemes("")) == (0, 0, 0, [])
    assert (word_before("", 0), word_after("", 0)) == (0, 0)


@each_row(
    "line, ends",
    [
        ("one two", [3, 7]),
        ("  one,  two", [5, 6, 11]),
        ("snake_case9 = x", [11, 13, 15]),
        ("日本語のテキスト", [3, 4, 8]),
        ("サーバーを起動", [4, 5, 7]),
        ("すごーい", [4]),
        ("नमस्ते दुनिया", [6, 13]),
        (f"a{FAMILY}b", [1, 8, 9]),
        ("e\u0301te\u0301 x", [5, 7]),
    ],
)
def test_words_end_with_their_script_and_never_within_a_character(line, ends):
    found = [0]
    while found[-1] < len(line):
        found.append(word_after(line, found[-1]))
    assert found[1:] == ends


@each_row(
    "line, begins",
    [
        ("one two  ", [4, 0]),
        ("日本語のテキスト。", [8, 4, 3, 0]),
        ("नमस्ते दुनिया", [7, 0]),
        (f"a {FAMILY}", [2, 0]),
    ],
)
def test_a_word_to_the_left_begins_where_its_script_does(line, begins):
    found = [len(line)]
    while found[-1]:
        found.append(word_before(line, found[-1]))
    assert found[1:] == begins
