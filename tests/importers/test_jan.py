"""Threads of Jan."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_junk_lines, check_mutants, lines_in
from tui.domain.journal.message import ToolCall
from tui.importers.jan import READER
from tui.importers.protocol import Places

ID = "01JZX2M3T4"
THREAD = {"id": ID, "object": "thread", "title": "A cat's name", "created": 1718600000,
          "updated": 1718600100.5, "assistants": [{"model": {"id": "qwen3:4b"}}]}  # fmt: skip


def text(value, kind="text"):
    return {"type": kind, "text": {"value": value, "annotations": []}}


def message(name, role, *content, **fields):
    return {"id": name, "object": "thread.message", "thread_id": ID, "role": role,
            "content": list(content), "status": "ready", "created_at": 1718600000000,
            **fields}  # fmt: skip


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
CALL = {"tool": {"id": "c1", "function": {"name": "search", "arguments": '{"q": "cats"}'}},
        "response": {"content": [{"type": "text", "text": "Tom"}]}, "state": "ready"}  # fmt: skip
NEWER = {"type": "tool_call", "tool_call_id": "c2", "tool_name": "count", "input": {"of": "cats"},
         "output": {"content": [{"type": "text", "text": "2"}]}}  # fmt: skip
MESSAGES = [
    message("m0", "system", text("You are Jan.")),
    message("m1", "user", text("What is its name?"), PICTURE),
    message("m2", "assistant", text("<think>A cat.</think>\n\nTom."),
            metadata={"tool_calls": [CALL]}),
    message("m3", "user", text("How many?")),
    message("m4", "assistant", text("Hm.", "reasoning"), NEWER, text("Two, and"), status="stopped"),
    message("m5", "assistant"),
]  # fmt: skip


def written(home, made=MESSAGES, base=".local/share/Jan/data"):
    folder = home / base / "threads" / ID
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "thread.json").write_text(json.dumps(THREAD))
    path = folder / "messages.jsonl"
    path.write_text("".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in made))
    return folder


def records(folder):
    return lines_in(folder / "messages.jsonl")


@pytest.mark.parametrize("base", [".local/share/Jan/data", ".config/Jan/data", "jan"])
def test_threads_are_found(tmp_path, base):
    folder = written(tmp_path, base=base)
    (folder.parent / "empty").mkdir()
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == [folder]
    assert READER.recognises(folder / "messages.jsonl", b"{")
    assert not READER.recognises(folder.parent, b"")


def test_a_thread_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), records)
    ((heading, items),) = reading.conversations
    assert (heading.source_id, heading.name, heading.model) == (ID, "A cat's name", "qwen3:4b")
    assert heading.created_at == "2024-06-17T04:53:20.000Z"
    question, first, result, more, counted, number, answer = items
    assert question.content == "What is its name?\n\n[image: image/png, 5 bytes]"
    assert (first.content, first.tool_calls) == (
        "Tom.",
        (ToolCall("c1", "search", {"q": "cats"}),),
    )
    assert (result.role, result.content, result.tool_call_id) == ("tool", "Tom", "c1")
    assert more.content == "How many?"
    assert counted.tool_calls == (ToolCall("c2", "count", {"of": "cats"}),)
    assert (number.content, answer.content, answer.status) == ("2", "Two, and", "interrupted")
    assert reading.ledger.skipped == {"system prompt": 1, "empty message": 1}


def test_lines_that_are_no_messages_hide_none(tmp_path):
    folder = written(tmp_path)
    check_junk_lines(READER, folder, tmp_path)


@pytest.mark.full
def test_mutants_do_not_fail(tmp_path):
    check_mutants(READER, written(tmp_path), tmp_path / "copy")


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_thread_comes_back(tmp_path_factory, said):
    said = [(role, f"It is {words}") for role, words in said]
    made = [message(f"m{n}", role, text(words)) for n, (role, words) in enumerate(said)]
    folder = written(tmp_path_factory.getbasetemp(), made)
    read = check(READER, folder, records).messages
    assert [(each.role, each.content) for each in read] == said
