import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.samples import rows
from tests.strategies import any_text
from tests.tables import each_row
from tui.domain import completion
from tui.domain.commands import BY_NAME, COMMANDS, Command, parse, template_command, text_to_send
from tui.domain.completion import (
    MOST_CHARACTERS,
    MOST_OFFERED,
    Completion,
    FileListing,
    FileNames,
    Target,
    common_text,
    completions,
    dropped_files,
    file_completions,
    folders_of,
)
from tui.domain.references import references, unfinished_reference

AUTH = Target("session-20260111-153022-847291", "Auth bug in the shop")
SEARCH = Target("session-20260112-090000-000001", "会話の検索", is_open=True)
NOTES = Target("notes", "")
TARGETS = [AUTH, SEARCH, NOTES]
MODELS = ["anthropic:claude-opus", "openai:GPT-mini"]


def texts(text):
    return [each.text for each in completions(text, TARGETS, MODELS)]


def test_a_slash_offers_every_command_in_the_order_of_help_with_its_help():
    offered = [each.name for each in completions("/")]
    assert [each.split()[0] for each in offered] == [f"/{command.name}" for command in COMMANDS]
    assert "/resume list|delete|clear" in offered
    load = BY_NAME["load"]
    assert completions("/lo") == (Completion("/load ", load.line, load.help, "/load"),)
    found = completions("/theme li", [], MODELS, ["nord", "textual-light"])
    assert [each.text for each in found] == ["/theme textual-light"]


@pytest.mark.parametrize("text", ["/nothing", "/etc is full", "/nothing "])
def test_what_would_be_an_unknown_command_may_become_a_text(text):
    assert texts(text) == [f"/{text}"]
    assert parse(text) is not None
    assert text_to_send(f"/{text}") == text


@each_row("typed, offered", rows(__file__, "completions"))
def test_a_command_is_completed_and_then_its_arguments(typed, offered):
    assert texts(typed) == offered


@each_row(
    "typed",
    [
        *("/exit", "/save", "/model openai:GPT-mini", "/help load", "/load s\n", "/save "),
        *("", "s", "say /s", " /s", "//s", "/etc/", "/a1", "/日本"),
    ],
)
def test_what_is_finished_or_no_command_is_not_completed(typed):
    assert texts(typed) == []


def test_sessions_are_offered_in_the_order_given_with_their_projects():
    assert texts("/load ") == [f"/load {target.id}" for target in TARGETS]
    assert [each.help for each in completions("/load ", TARGETS)] == [t.label for t in TARGETS]
    [found] = completions("/load blog", [Target("s-1", "Notes", "blog"), Target("s-2", "Notes")])
    assert (found.name, found.help) == ("s-1", "Notes · blog")


@each_row(
    "argument, found",
    [
        ("session-2026011", [AUTH, SEARCH]),
        ("20260112", [SEARCH]),
        ("note", [NOTES]),
        ("BUG auth", [AUTH]),
        ("sho", [AUTH]),
        ("検索", [SEARCH]),
        ("bug 検索", []),
        ("  AUTH", [AUTH]),
    ],
)
def test_a_session_is_found_by_its_id_or_words_of_its_label(argument, found):
    assert [text.split()[-1] for text in texts(f"/load {argument}")] == [t.id for t in found]


def test_commands_of_the_users_own_are_offered_after_the_others():
    own = [template_command("savings", "Count:\nthem")]
    found = completions("/sav", [], [], [], own)
    assert [each.text for each in found] == ["/save", "/savings "]
    assert found[-1].help == "send: Count:"
    assert completions("/savings a", [], [], [], own) == ()
    assert [each.text for each in completions("/help savi", own=own)] == ["/help savings"]


def test_a_command_for_closed_sessions_is_not_offered_open_ones(monkeypatch):
    resume = Command("resume", "anywhere", "Resume", "resume", "<target>", "closed session")
    monkeypatch.setitem(completion.BY_NAME, "resume", resume)
    assert texts("/resume ") == [f"/resume {AUTH.id}", f"/resume {NOTES.id}"]


def test_a_text_is_completed_as_far_as_all_agree_and_never_to_less():
    assert common_text("/load bug", completions("/load bug", TARGETS)) == f"/load {AUTH.id}"
    assert common_text("/load s", completions("/load s", TARGETS)) == "/load session-2026011"
    assert common_text("/s", completions("/s")) == "/s"
    both = completions("/load a", [Target("x-1", "a"), Target("x-2", "a")])
    assert common_text("/load a", both) == "/load a"
    assert common_text("/load a", ()) == "/load a"


@given(any_text(), st.lists(st.builds(Target, any_text(), any_text()), max_size=4))
def test_whatever_is_typed_and_known_completing_it_leaves_a_command(text, targets):
    for prompt in (text, "/load " + text):
        for each in completions(prompt, targets):
            assert each.text.startswith("/")
            assert each.text != prompt


PATHS = ["README.md", "src/", "src/main.py", "src/prompt.py", "docs/", "docs/src.md", ".github/"]


def matching(wanted, paths=PATHS):
    return list(FileNames(paths).matching(wanted))


def offered(typed, paths=PATHS):
    listing = FileListing("", FileNames(paths))
    return [each.text for each in file_completions(unfinished_reference(typed), listing)]


def test_without_a_word_nearer_files_come_first_and_hidden_ones_last():
    assert matching("") == [
        *("docs/", "README.md", "src/", ".github/"),
        *("docs/src.md", "src/main.py", "src/prompt.py"),
    ]


@each_row(
    "wanted, paths, found",
    [
        ("main", ["main/a", "b/domain", "b/main"], ["b/main", "b/domain", "main/a"]),
        ("srcpr", PATHS, ["src/prompt.py"]),
        ("mnpy", PATHS, ["src/main.py"]),
        ("pymn", PATHS, []),
        ("readme", PATHS, ["README.md"]),
        ("MAIN", PATHS, ["src/main.py"]),
        ("src/", PATHS, ["src/main.py", "src/prompt.py"]),
        ("src/p", PATHS, ["src/prompt.py"]),
        ("ma", ["src/main.py", "src/mesa.py"], ["src/main.py"]),
    ],
)
def test_a_name_that_begins_so_comes_first_and_letters_in_their_order_last(wanted, paths, found):
    assert matching(wanted, paths) == found


def test_every_path_that_has_the_letters_is_found_and_no_other():
    chance = random.Random(5)
    names = {"".join(chance.choices("abc./", k=chance.randint(1, 8))) for _ in range(90)}
    for _ in range(300):
        wanted = "".join(chance.choices("abc", k=chance.randint(1, 6)))
        others = {each for each in FileNames(names).matching("") if each != wanted}
        in_order = re.compile(".*".join(wanted))
        containing = {each for each in others if wanted in each}
        expected = containing or {each for each in others if in_order.search(each)}
        assert set(matching(wanted, names)) == expected


def test_no_more_are_offered_than_anyone_looks_through_and_none_that_nobody_can_type():
    assert len(matching("a", [f"a{number}" for number in range(500)])) == MOST_OFFERED
    assert matching("", ["a\nb", "a\x1b[2J", "\udcff", "ok"]) == ["ok"]


def test_a_file_has_its_last_name_beside_its_folder_and_a_blank_behind():
    assert offered("see @src/m") == ["@src/main.py "]
    assert offered("@sr")[0] == "@src/"
    listing = FileListing("", FileNames(PATHS))
    (found,) = file_completions(unfinished_reference("@src/prom"), listing)
    assert (found.name, found.help) == ("prompt.py", "src/")


@each_row("name", ["my file.txt", 'a"b', "end.", "back\\slash", "(x)", "@", "[b]x"])
def test_every_name_that_is_offered_is_a_reference_to_it(name):
    (text,) = offered("@", [name])
    (found,) = references(text)
    assert found.candidates[0] == name


@each_row(
    "path, folders",
    [
        ("", ("",)),
        ("main", ("",)),
        ("src/ma", ("", "src/")),
        ("~/pi", ("~/",)),
        ("/usr/li", ("/usr/",)),
        ("../a/b", ("../a/",)),
        ("./x", ("./",)),
    ],
)
def test_a_path_from_elsewhere_is_looked_for_where_it_begins(path, folders):
    assert folders_of(path) == folders


@each_row("pasted, paths", rows(__file__, "drops"))
def test_a_drop_is_read_as_every_terminal_writes_it(pasted, paths):
    assert tuple(paths) in dropped_files(pasted)


@each_row(
    "pasted",
    [
        *("", " ", "hello", "see /a/b", "a/b", "~/a", "/", "//", "'/a'\nhello 'b'", "\x1b/a"),
        *("file://elsewhere/a", "https://example.org/a", "file://[/a", "file:/"),
        "/" * (MOST_CHARACTERS + 1) + "a",
    ],
)
def test_any_other_text_is_none(pasted):
    assert dropped_files(pasted) == ()


def test_a_quote_that_never_ends_may_be_a_part_of_the_name():
    assert dropped_files("/a/it's") == (("/a/it's",),)
