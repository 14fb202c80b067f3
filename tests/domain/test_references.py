from hypothesis import given
from hypothesis import strategies as st

from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.references import (
    kept_picture,
    reference_to,
    reference_to_picture,
    references,
    unfinished_reference,
)

_CONTROLS = {*map(chr, range(32)), *map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029"}
_TYPED = st.characters(exclude_categories=["Cs"], exclude_characters="".join(_CONTROLS))
_PATHS = st.text(st.sampled_from(" \\\"'`@./~,!)(\u00e4\u202e\u3000") | _TYPED, min_size=1)


def _paths(text):
    return [each.path for each in references(text)]


@each_row("text, paths", rows(__file__, "references"))
def test_a_reference_begins_a_word(text, paths):
    assert _paths(text) == paths


def test_a_reference_knows_its_place():
    text = 'see @a, and @"b c".'
    assert [text[each.start : each.end] for each in references(text)] == ["@a,", '@"b c"']


@each_row(
    "text, candidates",
    [
        ("@a.py", ("a.py",)),
        ("@a.py.", ("a.py.", "a.py")),
        ("(@a.py),", ("a.py),", "a.py)", "a.py")),
        ("@..", ("..",)),
        ("@.", (".",)),
        ("@...", ("...",)),
        ("@src/!", ("src/!", "src/")),
        ('@"a.py."', ("a.py.",)),
    ],
)
def test_punctuation_behind_a_word_is_tried_as_part_of_its_path_first(text, candidates):
    assert next(references(text)).candidates == candidates


def test_long_rows_of_punctuation_and_backslashes_are_read_at_once():
    found = next(references("@a" + "!" * 100_000)).candidates
    assert len(found) < 20
    assert found[-1] == "a"
    assert _paths('@"' + "\\" * 100_001 + '" @b') == ["b"]


@given(_PATHS)
def test_a_reference_that_was_written_is_read_as_its_path(path):
    text = f"of {reference_to(path)} and more"
    assert next(references(text)).candidates[0] == path
    assert len(_paths(text)) == 1


@each_row("path", ["a\nb", "\x1b[31m", "tab\there", "bad\udcff", "", "a\x9fb"])
def test_a_name_that_nobody_can_type_has_no_reference(path):
    assert reference_to(path) is None


@given(any_text())
def test_any_text_has_its_references_within(text):
    for each in references(text):
        assert text[each.start] == "@"
        assert each.path
        assert all(each.candidates)


@each_row(
    "text, path",
    [
        ("look at @sr", "sr"),
        ("@", ""),
        ('@"my fi', "my fi"),
        ('@"', ""),
        ("first\n@src/", "src/"),
        ("(@a", "a"),
    ],
)
def test_a_reference_is_unfinished_while_it_is_typed(text, path):
    found = unfinished_reference(text)
    assert found.path == path
    assert text[found.start] == "@"
    assert found.end == len(text)


@each_row("text", ["", "plain", "@a ", '@"a b"', "me@home", "@a\n", "@@"])
def test_nothing_is_unfinished_elsewhere(text):
    assert unfinished_reference(text) is None


def test_a_picture_that_only_the_store_has_is_known_by_its_hash():
    sha256 = "0123456789abcdef" * 4
    assert _paths(reference_to_picture(sha256)) == ["image-0123456789abcdef.png"]
    assert kept_picture("image-0123456789abcdef.png") == "0123456789abcdef"


@each_row("path", ["image-01.png", "image-0123456789ABCDEF.png", "a.png", ""])
def test_other_paths_are_no_such_pictures(path):
    assert kept_picture(path) is None
