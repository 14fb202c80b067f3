"""Names that models can have, the order of their rows, and the filter."""

from tests.domain.journal_lines import FIXTURES
from tests.tables import each_row
from tui.domain.models import (
    KEY,
    MOST_RECENT,
    NO_NAME,
    ModelFacts,
    arrange,
    looks_like_key,
    matches,
    refusal,
)

NAMES = (FIXTURES / "model-names.txt").read_text("utf-8").splitlines()
KEYS = (FIXTURES / "keys-that-are-no-names.txt").read_text("utf-8").splitlines()


@each_row("before", ["", "openai:", "my-server:"])
@each_row("name", NAMES)
def test_names_that_models_have_are_names(name, before):
    assert refusal(before + name) == ""


@each_row("before", ["", "  ", "openai:", "openai: "])
@each_row("key", KEYS)
def test_a_key_is_no_name_and_is_not_repeated(key, before):
    assert refusal(f"{before}{key}\n") == KEY
    assert looks_like_key(before + key)


@each_row("text", ["two words", "a\x1b[31mb", "a\nb", "https://api.openai.com/v1", "ab-" * 100])
def test_what_no_model_is_called_is_refused(text):
    assert refusal(text) == NO_NAME


LISTED = {"openai": ("a", "b"), "local": ("c",)}


def names(rows):
    return [row.name for row in rows]


def test_few_models_chosen_last_of_servers_that_are_there_come_first_and_once():
    rows = arrange(LISTED, ("local:c", "openai:b"), "openai:a", {"openai:a": ModelFacts(1000)})
    assert names(rows) == ["local:c", "openai:b", "openai:a"]
    assert [row.recent for row in rows] == [True, True, False]
    assert [row.current for row in rows] == [False, False, True]
    assert [row.facts.window for row in rows] == [None, None, 1000]
    assert names(arrange(LISTED, ("gone:x",), "", {})) == ["openai:a", "openai:b", "local:c"]
    assert names(arrange(LISTED, ("openai:own",), "", {}))[0] == "openai:own"
    assert names(arrange(LISTED, (), "strange:x", {}))[0] == "strange:x"
    recent = tuple(f"openai:{number}" for number in range(50))
    assert len(arrange({"openai": ()}, recent, "", {})) == MOST_RECENT


@each_row("wanted, found", [("", True), ("GPT luna", True), ("luna gpt", True), ("gpt x", False)])
def test_a_filter_wants_all_words_in_any_order(wanted, found):
    assert matches("openai:gpt-6-Luna", wanted) == found
