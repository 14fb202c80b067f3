from hypothesis import given

from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain.commands import (
    ALIASES,
    BY_NAME,
    COMMANDS,
    Invocation,
    PromptText,
    filled,
    is_command,
    parse,
    read_input,
    text_to_send,
)


@each_row("text, name, arguments", rows(__file__, "commands"))
def test_a_slash_and_letters_are_a_command(text, name, arguments):
    assert parse(text) == Invocation(name, arguments)


@each_row(
    "text",
    [
        *("", " ", "hello", "/", "/ help", "//x", "//help me"),
        *("/etc/hosts", "/etc/hosts is what?", "/a1", "/a-b", "/日本", "/é", "/help!"),
        *("say /help", "/help/", "./help", "\u2215help", "／help"),
    ],
)
def test_anything_else_is_a_text_to_be_sent(text):
    assert parse(text) is None


@each_row("alias", ALIASES)
def test_a_command_has_the_names_that_other_clients_give_it(alias):
    assert parse(f"/{alias.upper()} x y") == Invocation(ALIASES[alias], "x y")
    assert alias not in BY_NAME
    assert ALIASES[alias] in BY_NAME


def test_the_users_own_command_goes_before_another_name_of_a_command():
    assert read_input("/clear a", {"clear": "Clear {args}."}) == PromptText("/clear a", "Clear a.")


@each_row("typed", ["exit", "quit", ":q", "quit \n", "/exit", "/quit", "/EXIT"])
def test_words_without_a_slash_leave_the_program(typed):
    assert read_input(typed) == Invocation("quit")


@each_row("typed", [" exit", "\nquit", "exit now", ":q!", ":wq", "Quit?", "//exit"])
def test_those_words_with_anything_else_are_sent(typed):
    assert read_input(typed) == PromptText(typed, text_to_send(typed))


def test_two_slashes_send_one():
    assert text_to_send("//help me") == "/help me"
    assert text_to_send("///x") == "//x"


@each_row("text", ["", "hello", "/etc/hosts", " //x", "a //x", "/", "// a comment", "//"])
def test_every_other_text_is_sent_as_it_is(text):
    assert text_to_send(text) == text


@given(any_text())
def test_a_text_is_a_command_or_is_sent_less_a_slash_at_most(text):
    invocation = parse(text)
    if invocation is None:
        assert text.removeprefix("/").endswith(text_to_send(text)) or text_to_send(text) == text
    else:
        assert invocation.name.isascii()
        assert invocation.name.isalpha()
        assert invocation.name == invocation.name.lower()
        assert invocation.arguments in text


def test_each_command_is_found_by_its_name_and_says_what_it_takes():
    assert list(BY_NAME) == [command.name for command in COMMANDS]
    for command in COMMANDS:
        assert BY_NAME[command.name] is command
        assert parse(command.line.partition(" ")[0]) == Invocation(command.name)

    assert BY_NAME["load"].line == "/load [NAME, NUMBER or ID]"
    assert BY_NAME["save"].line == "/save"
    for command in COMMANDS:
        assert bool(command.usage) == (command.takes != "nothing")
        assert command.help
        assert command.title


def test_a_command_of_the_table_is_known_and_one_of_the_users_own_sends_a_text():
    assert is_command("/load a b")
    assert is_command("/exit")
    assert not is_command("/review x", ["review"])
    assert not is_command("/load x", ["load"])
    assert not is_command("/etc/hosts")
    assert not is_command("/nothing")
    assert not is_command("load")


TEMPLATES = {"review": "Review this:\n{args}\nBe brief.", "haiku": "A haiku.", "just": "{args}"}


@each_row(
    "template, words, sent",
    [
        ("Review {args}.", "a {text}\nof two lines", "Review a {text}\nof two lines."),
        ("{args}, not {args}", "yes", "yes, not yes"),
        ("A haiku.\n", "about rain", "A haiku.\n\nabout rain"),
        ("A haiku.\n", "", "A haiku.\n"),
        ("{0} {n} {{args}} %s $args \\1 {args}", "{args}", "{0} {n} {{args}} %s $args \\1 {args}"),
    ],
)
def test_words_come_in_each_place_of_args_else_after_a_blank_line(template, words, sent):
    assert filled(template, words) == sent


@given(any_text(), any_text())
def test_nothing_else_means_anything(before, words):
    before = before.replace("{args}", "")
    assert filled(f"{before}\0{{args}}", words) == f"{before}\0{words}"


REVIEW = "/Review  some words\nand more "


@each_row(
    "typed, read",
    [
        (REVIEW, PromptText(REVIEW, "Review this:\nsome words\nand more\nBe brief.")),
        ("/haiku", PromptText("/haiku", "A haiku.")),
        ("/just", Invocation("just")),
        ("/save", Invocation("save")),
        ("//review x", PromptText("//review x", "/review x")),
        ("review", PromptText("review", "review")),
    ],
)
def test_a_command_of_the_users_own_is_a_text_to_be_sent_unless_it_would_send_nothing(typed, read):
    assert read_input(typed, TEMPLATES) == read
