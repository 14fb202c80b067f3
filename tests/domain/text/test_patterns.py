"""Patterns that are compiled when they are first used."""

import re

import pytest

from tui.domain.text import late_pattern


def test_it_finds_what_the_pattern_finds():
    word = late_pattern("[a-z]+")
    assert word.match("one two")[0] == "one"
    assert word.sub("-", "one two") == "- -"
    assert word.findall("one two") == ["one", "two"]
    assert word.match("three")[0] == "three"


def test_its_flags_count():
    assert late_pattern("a.b", re.DOTALL | re.IGNORECASE).fullmatch("A\nB")


def test_it_is_compiled_with_its_first_use():
    broken = late_pattern("(")
    with pytest.raises(re.error):
        broken.search("")


def test_it_has_no_more_than_a_pattern():
    with pytest.raises(AttributeError):
        late_pattern("a").nothing  # noqa: B018
