"""Claude.ai's export, and single conversations that browser tools save."""

import json

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all, samples
from tests.importers.spoken import check_read, trees
from tui.importers.claude_ai import READER

SAMPLES = samples("claude-ai-export/**/*.json")
ROOT = "00000000-0000-4000-8000-000000000000"


def message(name, sender, *blocks, parent=None, **fields):
    """A message whose blocks are texts or objects."""
    content = [{"type": "text", "text": each} if isinstance(each, str) else each for each in blocks]
    parents = {"parent_message_uuid": parent} if parent else {}
    said = {"uuid": name, "sender": sender, "text": "not these", "content": content}
    return {**said, "created_at": "2025-01-02T03:04:05.6+00:00", **parents, **fields}


def conversation(*messages, **fields):
    return {"uuid": "c1", "name": "Bread", "chat_messages": list(messages), **fields}


def saved(folder, *conversations):
    folder.mkdir(exist_ok=True)
    path = folder / "conversations.json"
    path.write_text(json.dumps(conversations[0] if len(conversations) == 1 else conversations))
    return path


def records_in(path):
    """Count the messages of all conversations."""
    value = json.loads(path.read_bytes())
    return sum(
        len(each.get("chat_messages") or [None])
        for each in (value if isinstance(value, list) else [value])
    )


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


@pytest.mark.parametrize("path", SAMPLES)
def test_reads_the_samples_of_others(path):
    reading = check(READER, path, records_in)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert {message.role for message in reading.messages} >= {"user", "assistant"}
    assert all(message.timestamp for message in reading.messages)


@pytest.mark.full
@pytest.mark.parametrize("path", SAMPLES)
def test_survives_damaged_samples(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_gives_the_facts_of_a_conversation(tmp_path):
    path = saved(
        tmp_path,
        conversation(
            message("q", "human", "How?"),
            message("a", "assistant", "So."),
            created_at="2025-01-01T00:00:00Z",
            updated_at="2025-01-02T00:00:00Z",
            model="claude-3-5-sonnet",
        ),
    )
    heading, items = check(READER, path, records_in).conversations[0]
    assert (heading.source_id, heading.name, heading.model) == ("c1", "Bread", "claude-3-5-sonnet")
    assert heading.updated_at == "2025-01-02T00:00:00.000Z"
    assert [item.model for item in items] == [None, "claude-3-5-sonnet"]
    assert items[1].timestamp == "2025-01-02T03:04:05.600Z"


def test_shows_the_branch_of_the_current_leaf(tmp_path):
    tree = [
        message("q", "human", "How?", parent=ROOT),
        message("a1", "assistant", "So.", parent="q"),
        message("a2", "assistant", "Thus.", parent="q"),
    ]
    path = saved(tmp_path, conversation(*tree, current_leaf_message_uuid="a1"))
    assert [each.id for each in check(READER, path, records_in).messages] == ["q", "a2", "a1"]
    path = saved(tmp_path, conversation(*tree))
    assert [each.id for each in read_all(READER, path).messages] == ["q", "a1", "a2"]


def test_messages_without_parents_follow_each_other(tmp_path):
    messages = [message(name, "human", name) for name in "abc"]
    path = saved(tmp_path, conversation(*messages, current_leaf_message_uuid="a"))
    assert [each.parent for each in check(READER, path, records_in).messages] == ["", "a", "b"]


def test_divides_an_answer_by_the_results_of_its_tools(tmp_path):
    answer = message(
        "a",
        "assistant",
        {"type": "thinking", "thinking": "hm"},
        "I look.",
        {"type": "tool_use", "id": None, "name": "search", "input": {"query": "rye"}},
        {"type": "tool_result", "name": "search", "content": [{"type": "text", "text": "Rye."}]},
        "Rye it is.",
    )
    path = saved(tmp_path, conversation(message("q", "human", "Which?"), answer))
    _, call, result, last = check(READER, path, records_in).messages
    assert (call.id, call.content, call.tool_calls[0].arguments) == (
        "a",
        "I look.",
        {"query": "rye"},
    )
    assert (result.role, result.content) == ("tool", "Rye.")
    assert result.tool_call_id == call.tool_calls[0].id
    assert (last.id, last.content, last.parent) == ("a-2", "Rye it is.", "a-1")


def test_takes_the_plain_text_where_the_blocks_say_nothing(tmp_path):
    path = saved(
        tmp_path,
        conversation(
            message("a", "human", text="plain", content=None),
            message("b", "human", {"type": "new"}, text="said"),
            message("c", "human", {"type": "new"}, text=""),
            message("d", "human", text="This block is not supported on your current device yet."),
        ),
    )
    reading = check(READER, path, records_in)
    assert said(reading) == [("user", "plain"), ("user", "said"), ("user", "[new]")]
    assert reading.ledger.skipped == {"empty message": 1}


def test_appends_the_text_of_attachments_under_their_names(tmp_path):
    attached = [{"file_name": "notes.txt", "extracted_content": "Rye, water."}]
    files = [{"file_name": "loaf.png", "file_kind": "image"}]
    path = saved(
        tmp_path, conversation(message("q", "human", "Read", attachments=attached, files=files))
    )
    content = check(READER, path, records_in).messages[0].content
    assert content == "Read\n\nnotes.txt\n\nRye, water.\n\n[image: loaf.png]"


def test_leaves_thinking_out(tmp_path):
    thought = {"type": "thinking", "thinking": "hm"}
    path = saved(
        tmp_path,
        conversation(
            message("a", "assistant", "<antThinking>Hm.</antThinking>\n\nSo."),
            message("b", "assistant", thought, text=""),
        ),
    )
    reading = check(READER, path, records_in)
    assert said(reading) == [("assistant", "So.")]
    assert reading.ledger.skipped == {"thinking": 1}


@given(tree=trees())
def test_reads_back_any_tree(tmp_path_factory, tree):
    spoken, leaf = tree
    sender = {"user": "human", "assistant": "assistant"}
    messages = [
        message(each.id, sender[each.role], each.text, parent=each.parent or ROOT)
        for each in spoken
    ]
    path = saved(
        tmp_path_factory.mktemp("e"), conversation(*messages, current_leaf_message_uuid=leaf)
    )
    expected = leaf if len(spoken) > 1 and any(each.parent for each in spoken) else None
    check_read(read_all(READER, path).messages, spoken, expected)
