"""Results of calls as text for a model."""

from tests.samples import rows
from tests.tables import each_row
from tui.domain.tool_servers import ToolResult
from tui.tool_servers.server import LONGEST_RESULT, bounded, result_of


def text(words: str) -> dict:
    return {"type": "text", "text": words}


@each_row("content, expected", rows(__file__, "contents"))
def test_each_kind_of_content_is_a_text_or_a_label(content: object, expected: str):
    assert result_of({"content": content}) == ToolResult(expected.rstrip("\n"))


def test_structured_content_is_json_where_there_is_no_text():
    image = {"type": "image"}
    assert result_of({"content": [image], "structuredContent": {"a": "é"}}).text == (
        '[image]\n{"a": "é"}'
    )
    assert result_of({"content": [text("a")], "structuredContent": {"a": 1}}).text == "a"


@each_row("raw, expected", rows(__file__, "no_contents"))
def test_a_result_without_content_is_what_it_has_instead(raw: dict, expected: str):
    assert result_of(raw).text == expected


def test_a_secret_across_the_cut_is_hidden():
    key = "sk-secret"
    words = "x" * (LONGEST_RESULT - 4) + key

    assert "sk-" not in result_of({"content": words}, lambda said: said.replace(key, "…")).text


def test_an_error_is_a_failed_result_with_its_words_or_that_it_has_none():
    assert result_of({"content": [text("No.")], "isError": True}) == ToolResult("No.", failed=True)
    assert result_of({"isError": True}).text == "It failed, and said nothing."


def test_half_characters_become_whole_and_controls_stay():
    assert result_of({"content": [text("\ud800\x1b\0")]}).text == "\ufffd\x1b\0"


def test_a_text_is_cut_between_characters():
    cut = bounded("€" * LONGEST_RESULT)
    assert cut.startswith("€€")
    assert "\ufffd" not in cut
    assert cut.endswith("€\n[Cut: the first 100 KiB of 300 KiB.]")
    assert bounded("x" * LONGEST_RESULT) == "x" * LONGEST_RESULT
