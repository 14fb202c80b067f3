"""The table of messages: it is up to date, and lists what a user can meet."""

from tests.messages import PAPER, RENEW, table, texts_of


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
