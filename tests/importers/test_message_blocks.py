"""Blocks are read alike, whatever their program calls them."""

from tests.tables import each_row
from tui.domain.journal.message import ToolCall
from tui.importers.message_blocks import Blocks, Result, Unknown
from tui.importers.protocol import Ledger


def pieces(*blocks):
    ledger = Ledger()
    return list(Blocks().pieces_in(list(blocks), "m", ledger)), dict(ledger.skipped)


@each_row(
    "block",
    [
        {"type": "tool_use", "id": "x", "name": "add", "input": {"a": 1}},
        {"type": "tool-call", "toolCallId": "x", "toolName": "add", "args": {"a": 1}},
        {"type": "function_call", "call_id": "x", "name": "add", "arguments": '{"a": 1}'},
        {"type": "tool_call", "id": "x", "function": {"name": "add", "arguments": {"a": 1}}},
        {"type": "toolRequest", "id": "x",
         "toolCall": {"value": {"name": "add", "arguments": {"a": 1}}}},
        {"functionCall": {"id": "x", "name": "add", "args": {"a": 1}}},
    ],
)  # fmt: skip
def test_a_call_has_many_names(block):
    assert pieces(block) == ([ToolCall("x", "add", {"a": 1})], {})


@each_row(
    "output, text",
    [
        ("2", "2"),
        ([{"type": "text", "text": "2"}, {"type": "image"}], "2\n\n[image]"),
        ({"content": [{"text": "2"}]}, "2"),
        ({"sum": 2}, '{"sum": 2}'),
        ([2, 3], "[2, 3]"),
        (None, ""),
    ],
)
def test_a_result_is_kept_in_any_form(output, text):
    block = {"type": "tool_result", "tool_use_id": "x", "content": output}
    assert pieces(block) == ([Result("x", text)], {})


def test_a_block_of_an_unknown_type_keeps_its_words_but_no_ids_and_data():
    inner = [{"text": "One"}, {"note": "two words", "code": "x"}]
    block = {"type": "new", "id": "1 2", "data": "QU JD", "url": "data:QUJD", "inner": inner}
    assert pieces(block) == ([Unknown("new", "One\n\ntwo words\n\nx")], {"unknown block new": 1})


def test_thinking_says_nothing_and_a_call_without_an_id_has_that_of_its_place():
    thoughts = {"type": "thinking", "text": "Hm."}, {"text": "Hm.", "thought": True}
    found, skipped = pieces(*thoughts, {"type": "tool_use", "name": "add"})
    assert (found, skipped) == ([ToolCall("m-call-2", "add", None)], {})
