import random
import re

import pytest

from tui.domain.completion import (
    MOST_CHARACTERS,
    MOST_OFFERED,
    FileListing,
    FileNames,
    dropped_files,
    file_completions,
    folders_of,
)
from tui.domain.references import references, unfinished_reference

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


def test_a_last_name_that_begins_so_comes_before_one_that_contains_it_and_before_folders():
    paths = ["main/other.py", "a/domain.py", "b/main.py"]
    assert matching("main", paths) == ["b/main.py", "a/domain.py", "main/other.py"]


def test_letters_in_their_order_are_enough():
    assert matching("srcpr") == ["src/prompt.py"]
    assert matching("mnpy") == ["src/main.py"]
    assert matching("pymn") == []


def test_upper_and_lower_case_are_the_same():
    assert matching("readme") == ["README.md"]
    assert matching("MAIN") == ["src/main.py"]


def test_a_folder_and_a_slash_offer_what_is_in_it_and_not_the_folder_again():
    assert matching("src/") == ["src/main.py", "src/prompt.py"]
    assert matching("src/p") == ["src/prompt.py"]


def test_letters_in_their_order_count_only_where_nothing_contains_them():
    assert matching("ma", ["src/main.py", "src/mesa.py"]) == ["src/main.py"]


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


def test_no_more_are_offered_than_anyone_looks_through():
    assert len(matching("a", [f"a{number}" for number in range(500)])) == MOST_OFFERED


def test_names_that_nobody_can_type_are_not_offered():
    assert matching("", ["a\nb", "a\x1b[2J", "\udcff", "ok"]) == ["ok"]


def test_a_file_is_followed_by_a_blank_and_a_folder_can_be_continued():
    assert offered("see @src/m") == ["@src/main.py "]
    assert offered("@sr")[0] == "@src/"


@pytest.mark.parametrize("name", ["my file.txt", 'a"b', "end.", "back\\slash", "(x)", "@", "[b]x"])
def test_every_name_that_is_offered_is_a_reference_to_it(name):
    (text,) = offered("@", [name])
    (found,) = references(text)
    assert found.candidates[0] == name


def test_a_file_is_shown_by_its_last_name_beside_its_folder():
    listing = FileListing("", FileNames(PATHS))
    (found,) = file_completions(unfinished_reference("@src/prom"), listing)
    assert (found.name, found.help) == ("prompt.py", "src/")


@pytest.mark.parametrize(
    ("path", "folders"),
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


@pytest.mark.parametrize(
    ("pasted", "paths"),
    [
        ("/a/b.png", ("/a/b.png",)),
        ("'/a/my file.png' ", ("/a/my file.png",)),
        ("/a/my\\ file.png ", ("/a/my file.png",)),
        ("/a/my file.png", ("/a/my file.png",)),
        ("'/a/x' '/b/y z'", ("/a/x", "/b/y z")),
        ("/a/x /b/y", ("/a/x", "/b/y")),
        ("/a/x y\n/b/z\n", ("/a/x y", "/b/z")),
        ("file:///a/my%20file.png", ("/a/my file.png",)),
        ("file://localhost/a/x\r\nfile:///b/%C3%A4\r\n", ("/a/x", "/b/ä")),
        ("'/a/it'\\''s'", ("/a/it's",)),
        ('"/a/b c"', ("/a/b c",)),
    ],
)
def test_a_drop_is_read_as_every_terminal_writes_it(pasted, paths):
    assert paths in dropped_files(pasted)


@pytest.mark.parametrize(
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
