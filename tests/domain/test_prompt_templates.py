from hypothesis import given

from tests.strategies import any_text
from tui.domain.commands import Invocation, PromptText, filled, read_input

TEMPLATES = {"review": "Review this:\n{args}\nBe brief.", "haiku": "A haiku.", "just": "{args}"}


def test_words_come_in_the_place_of_args():
    assert filled("Review {args}.", "a {text}\nof two lines") == "Review a {text}\nof two lines."


def test_words_come_in_every_place_of_args():
    assert filled("{args}, not {args}", "yes") == "yes, not yes"


def test_words_come_after_a_blank_line_where_no_place_is_named():
    assert filled("A haiku.\n", "about rain") == "A haiku.\n\nabout rain"
    assert filled("A haiku.\n", "") == "A haiku.\n"


@given(any_text(), any_text())
def test_nothing_else_means_anything(before, words):
    before = before.replace("{args}", "")
    assert filled(f"{before}\0{{args}}", words) == f"{before}\0{words}"


def test_braces_percent_signs_and_backslashes_are_sent_as_they_are():
    template = "{0} {name} {{args}} %s $args \\1 {args}"
    assert filled(template, "{args}") == "{0} {name} {{args}} %s $args \\1 {args}"


def test_a_command_of_the_users_own_is_a_text_to_be_sent():
    typed = "/Review  some words\nand more "
    sent = "Review this:\nsome words\nand more\nBe brief."
    assert read_input(typed, TEMPLATES) == PromptText(typed, sent)
    assert read_input("/haiku", TEMPLATES) == PromptText("/haiku", "A haiku.")


def test_a_command_that_would_send_nothing_stays_a_command():
    assert read_input("/just", TEMPLATES) == Invocation("just")


def test_other_commands_and_texts_are_what_they_are():
    assert read_input("/save", TEMPLATES) == Invocation("save")
    assert read_input("//review x", TEMPLATES) == PromptText("//review x", "/review x")
    assert read_input("review", TEMPLATES) == PromptText("review", "review")
