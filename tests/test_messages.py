"""The table of messages: it is up to date, and lists what a user can meet."""

import re

from tests.messages import PAPER, RENEW, ROOT, table, texts_of

FIRST_WORDS = re.compile(r"(?:What|Who|Which|Where|Whether|How) .*[^?]")
# Read by scripts.
AS_IT_WAS = {"What could not be saved is in {path}."}


def test_the_table_lists_the_texts_of_today():
    up_to_date = PAPER.read_text("utf-8") == table()
    assert up_to_date, f"docs/messages.md is not up to date: {RENEW}"


def test_a_text_is_listed_with_the_names_of_its_parts():
    source = """say(f'Opened "{loaded.label()}" ({plural(count, "message")})')"""
    assert list(texts_of(source)) == ['Opened "{label}" ({count messages})']


def test_a_label_and_the_arguments_of_a_command_are_texts():
    assert list(texts_of("show('Copy', '[text | default]')")) == ["Copy", "[text | default]"]


def test_docstrings_types_names_and_patterns_are_no_texts():
    source = """
'''A module with a docstring.'''
value: "Some Type" = find("sidebar-up", "select id from messages", "tui.domain")
pattern = re.compile("two words")
"""
    assert list(texts_of(source)) == []


def test_every_text_is_in_the_voice_of_the_others():
    texts = {text for path in (ROOT / "tui").rglob("*.py") for text in texts_of(path.read_text())}
    odd = [text for text in texts if re.search(r"\(s\)|[‘’“”]", text)]
    riddles = [text for text in texts if FIRST_WORDS.fullmatch(text)]
    assert odd == []
    assert set(riddles) - AS_IT_WAS == set()
