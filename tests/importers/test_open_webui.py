"""Open WebUI's export: a tree of messages, with calls in the text or beside it."""

import json

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all, samples
from tests.importers.spoken import check_read, children, trees
from tests.importers.tables import written
from tui.importers.open_webui import READER

SAMPLES = samples("open-webui/**/*.json")


def message(name, parent, role, content, **fields):
    said = {"id": name, "parentId": parent, "childrenIds": [], "role": role, "content": content}
    return {**said, "timestamp": 1700000000, **fields}


def chat(*messages, current=None, **fields):
    history = {"currentId": current, "messages": {each["id"]: each for each in messages}}
    facts = {"id": "c1", "title": "New Chat", "created_at": 1700000000, "updated_at": 1700000010}
    return {**facts, "chat": {"models": ["llama3"], "history": history}, **fields}


def saved(folder, *chats):
    folder.mkdir(exist_ok=True)
    path = folder / "chat-export.json"
    path.write_text(json.dumps(chats))
    return path


def records_in(path):
    """Count the messages of all chats."""
    return sum(len(each["chat"]["history"]["messages"]) for each in json.loads(path.read_bytes()))


@pytest.mark.parametrize("path", SAMPLES)
def test_reads_the_samples_of_others(path):
    reading = check(READER, path, records_in)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert {message.role for message in reading.messages} == {"user", "assistant", "tool"}
    assert not any("<details" in (message.content or "") for message in reading.messages)


@pytest.mark.full
@pytest.mark.parametrize("path", SAMPLES)
def test_survives_damaged_samples(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_gives_the_facts_of_a_chat(tmp_path):
    answer = message("a", "q", "assistant", "Hi", model="llama3:8b", done=True)
    path = saved(tmp_path, chat(message("q", None, "user", "Hello"), answer, current="a"))
    heading, items = check(READER, path, records_in).conversations[0]
    assert (heading.source_id, heading.name, heading.model) == ("c1", "", "llama3")
    assert heading.updated_at == "2023-11-14T22:13:30.000Z"
    assert (items[1].model, items[1].status) == ("llama3:8b", None)


def test_shows_the_branch_of_the_current_message(tmp_path):
    both = [message(name, "q", "assistant", name) for name in ("a", "b")]
    path = saved(tmp_path, chat(message("q", None, "user", "Hello"), *both, current="a"))
    assert [each.id for each in check(READER, path, records_in).messages] == ["q", "b", "a"]


def test_reads_the_messages_of_a_chat_without_a_tree(tmp_path):
    said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}]
    path = saved(tmp_path, {"id": "c1", "chat": {"messages": said}})
    messages = read_all(READER, path).messages
    assert [(each.role, each.content) for each in messages] == [
        ("user", "Hello"),
        ("assistant", "Hi"),
    ]


def test_takes_the_calls_of_an_answer_from_its_output(tmp_path):
    output = [
        {"type": "reasoning", "content": [{"text": "hm"}]},
        {"type": "function_call", "call_id": "x", "name": "add", "arguments": '{"a": 1}'},
        {"type": "function_call_output", "call_id": "x", "output": [{"text": "2"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "Two."}]},
    ]
    answer = message("a", None, "assistant", "not this", output=output)
    call, result, last = check(READER, saved(tmp_path, chat(answer)), records_in).messages
    assert (call.content, call.tool_calls[0].arguments) == (None, {"a": 1})
    assert (result.tool_call_id, result.content, last.content) == ("x", "2", "Two.")


def test_takes_the_calls_of_an_answer_from_its_text(tmp_path):
    text = (
        '<details type="reasoning" done="true"><summary>Thought</summary>\n&gt; hm\n</details>\n'
        'First.\n<details type="tool_calls" done="true" id="x" name="add"'
        ' arguments="&quot;{\\&quot;a\\&quot;: 1}&quot;" result="&quot;2 &gt; 1&quot;">\n'
        "<summary>Tool Executed</summary>\n</details>\nTwo."
    )
    path = saved(tmp_path, chat(message("a", None, "assistant", text)))
    call, result, last = check(READER, path, records_in).messages
    assert (call.content, call.tool_calls[0].name) == ("First.", "add")
    assert call.tool_calls[0].arguments == {"a": 1}
    assert (result.tool_call_id, result.content, last.content) == ("x", "2 > 1", "Two.")


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({"done": False}, "interrupted", None),
        ({"error": {"content": "out of memory"}, "content": ""}, "failed", "out of memory"),
    ],
)
def test_marks_answers_that_did_not_end_well(tmp_path, fields, status, error):
    answer = {**message("a", None, "assistant", "So"), **fields}
    read = check(READER, saved(tmp_path, chat(answer)), records_in).messages[0]
    assert (read.status, read.error) == (status, error)


def test_counts_what_says_nothing(tmp_path):
    empty = message("a", None, "assistant", '<details type="reasoning">hm</details>')
    rules = message("s", None, "system", "Be nice.")
    path = saved(tmp_path, chat(empty, rules), {"id": "c2", "chat": {}})
    assert read_all(READER, path).ledger.skipped == {
        "empty message": 1,
        "system prompt": 1,
        "conversation without messages": 1,
    }


def test_reads_the_database_of_a_server(tmp_path):
    table = """
    CREATE TABLE chat (id VARCHAR PRIMARY KEY, user_id VARCHAR, title TEXT, chat TEXT,
                       created_at INTEGER, updated_at INTEGER, archived BOOLEAN);
    """
    record = chat(message("q", None, "user", "Hello"), title="Bread")
    row = {**record, "chat": json.dumps(record["chat"])}
    path = written(tmp_path / "server" / "webui.db", table, chat=[row])
    assert READER.recognises(path, path.read_bytes()[:4096])
    reading = check(READER, path, lambda _: 1)
    assert reading.conversations[0][0].name == "Bread"
    assert reading.messages[0].content == "Hello"


@given(tree=trees())
def test_reads_back_any_tree(tmp_path_factory, tree):
    spoken, leaf = tree
    messages = [
        message(
            each.id, each.parent or None, each.role, each.text,
            childrenIds=children(spoken, each.id),
        )
        for each in spoken
    ]  # fmt: skip
    path = saved(tmp_path_factory.mktemp("e"), chat(*messages, current=leaf))
    check_read(read_all(READER, path).messages, spoken, leaf)
