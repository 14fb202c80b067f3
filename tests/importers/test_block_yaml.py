"""YAML in blocks, as the libraries of many programs write it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.tables import each_row
from tui.importers.block_yaml import Unfit, load


@each_row(
    "text, value",
    [
        ("a: 1\nb: 1.5\nc: true\nd: null\ne:\n", [1, 1.5, True, None, None]),
        ("a: text # comment\nb: 'it''s'\nc: \"q \\\"\\n\\u00e9\"\n", ["text", "it's", 'q "\né']),
        ("a:\n- 1\nb:\n  - 2\nc: []\nd: {}\n", [[1], [2], [], {}]),
        ("a:\n- 1\n-\n  - 2\n- b: 3\n  c: 4\n", [[1, [2], {"b": 3, "c": 4}]]),
        ("a: |-\n  one\n\n    two\nb: |\n  x\nc: 1\n", ["one\n\n  two", "x\n", 1]),
        ("a: |+\n  y\n\nb: 1\n", ["y\n\n", 1]),
        ("a: |2-\n    x\n", ["  x"]),
        ("a: >-\n  one\n  two\n\n  three\n", ["one two\nthree"]),
        ("a: one\n  two\nb: 'one\n\n  two'\n", ["one two", "one\ntwo"]),
        ('a: "one\\\n  two \\ud83d\\ude00"\n', ["onetwo 😀"]),
        ("# comment\n---\na: http://x.y\n", ["http://x.y"]),
        ("'a b': 1\n\"c\\n\": 2\n", [1, 2]),
    ],
)
def test_each_style_is_read(text, value):
    document = load(text)
    assert [*document.value.values()] == value
    assert not document.skipped


DEEP = "\n".join("  " * n + "a:" for n in range(5000))


@each_row("text", ["a: &x 1", "a: *x", "a: !!python/object:os.system x", "a: {b: c}", DEEP])
def test_what_constructs_or_repeats_or_is_nested_too_deeply_is_refused(text):
    with pytest.raises(Unfit):
        load(text)


def test_a_damaged_item_hides_no_other_and_a_damaged_line_is_counted():
    text = "m:\n- a: 1\n- a: *x\n  b: 'open\n- a: 3\n"
    assert load(text).value == {"m": [{"a": 1}, {}, {"a": 3}]}
    assert load("a: 1\nnonsense\nb: 2\n") == ({"a": 1, "b": 2}, 1)
    assert load("- " * 100_000) is not None


@given(st.lists(texts, max_size=5))
def test_any_text_comes_back_in_double_quotes(values):
    lines = "".join(f"- t: {json.dumps(text)}\n" for text in values)
    assert load(f"m:\n{lines}" if values else "m: []").value == {"m": [{"t": v} for v in values]}
