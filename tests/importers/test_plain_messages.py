"""Conversations in the form of the vendors, of Chatbot UI and of ShareGPT."""

import json
from zipfile import ZipFile

import msgspec
import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all, samples, source_of
from tests.importers.spoken import check_said, lines
from tui.importers import chatbot_ui, plain_messages, sharegpt
from tui.importers.protocol import Ledger
from tui.importers.readers import readers

CHATBOT_UI = samples("chatbot-ui/**/*.json")
GENERIC = plain_messages.READER
TURNS = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
SAID = [("user", "Why?"), ("assistant", "So.")]


def saved(folder, text, name="export.json"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def said(reading):
    return [(message.role, message.content) for message in reading.messages]


def records_in(path):
    """Count the messages of a file."""
    text = path.read_text()
    return text.count('"role"') + text.count('"from"')


@pytest.mark.parametrize("path", CHATBOT_UI)
def test_reads_the_samples_of_chatbot_ui(path):
    reading = check(chatbot_ui.READER, path, records_in)
    assert chatbot_ui.READER.recognises(path, path.read_bytes()[:4096])
    assert {message.role for message in reading.messages} == {"user", "assistant"}
    assert all(heading.name for heading, _ in reading.conversations)


@pytest.mark.full
@pytest.mark.parametrize("path", CHATBOT_UI)
def test_survives_damaged_samples_of_chatbot_ui(path, tmp_path):
    check_mutants(chatbot_ui.READER, path, tmp_path)


def test_reads_the_history_of_chatbot_ui(tmp_path):
    chat = {
        "id": "5c3c9e0e-7f2f-4b53-9c28-2d6d6a5a8f10",
        "name": "Bread",
        "model": {"id": "gpt-4"},
        "messages": TURNS,
    }
    path = saved(tmp_path, {"version": 4, "history": [chat], "folders": [], "prompts": []})
    reading = check(chatbot_ui.READER, path, records_in)
    heading, _ = reading.conversations[0]
    assert (heading.source_id, heading.name, heading.model) == (chat["id"], "Bread", "gpt-4")
    assert said(reading) == SAID


@pytest.mark.parametrize(
    "text",
    [
        {"messages": TURNS},
        [{"messages": TURNS}],
        TURNS,
        json.dumps({"messages": TURNS}) + "\n",
        "\n".join(map(json.dumps, TURNS)),
        {"conversations": [{"messages": TURNS}]},
        [TURNS],
        json.dumps(TURNS[:0]) + json.dumps(TURNS),
        {"chats": [{"messages": TURNS}]},
        [{"conversation": {"messages": TURNS}}],
        {"data": {"threads": {"one": {"messages": TURNS}}}},
        {"title": "mapping", "messages": [{**TURNS[0], "author": "me"}, TURNS[1]]},
        {"messages": [{**TURNS[0], "kind": "history"}, TURNS[1]]},
        {"conversationId": "c", "messages": [{**each, "messageId": "m"} for each in TURNS]},
        [{"role": each["role"], "parts": [{"text": each["content"]}]} for each in TURNS],
        [{"role": each["role"], "content": {"parts": [each["content"]]}} for each in TURNS],
        [{"role": each["role"], "text": each["content"]} for each in TURNS],
    ],
)
def test_reads_messages_wherever_they_are(tmp_path, text):
    path = saved(tmp_path, text)
    head = path.read_bytes()[:4096]
    assert next(each for each in readers() if each.recognises(path, head)) is GENERIC
    reading = check(GENERIC, path, records_in)
    assert (said(reading), len(reading.conversations)) == (SAID, 1)


def test_gives_each_line_of_a_file_its_own_conversation(tmp_path):
    facts = [{"id": "c1", "title": "Bread", "created_at": 1700000000}, {"id": 7}]
    path = saved(tmp_path, "\n".join(json.dumps({**each, "messages": TURNS}) for each in facts))
    reading = check(GENERIC, path, records_in)
    assert len({heading.source_id for heading, _ in reading.conversations}) == 2
    assert reading.conversations[0][0].created_at == "2023-11-14T22:13:20.000Z"


def test_gives_loose_messages_of_a_session_their_own_conversation(tmp_path):
    lines = [
        {**turn, "content": f"{name} {turn['content']}", "session_id": name}
        for turn in TURNS
        for name in ("cats", "dogs")
    ]
    reading = check(GENERIC, saved(tmp_path, "\n".join(map(json.dumps, lines))), records_in)
    texts = [[item.content for item in items] for _, items in reading.conversations]
    assert texts == [["cats Why?", "cats So."], ["dogs Why?", "dogs So."]]


def test_gives_loose_messages_of_each_file_in_a_zip_their_own_conversation(tmp_path):
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("cats", "dogs"):
            archive.writestr(f"{name}.json", json.dumps([{"role": "user", "content": name}]))
    source = msgspec.structs.replace(
        source_of(tmp_path / "a.zip"), members=("cats.json", "dogs.json")
    )
    read = GENERIC.read(source, Ledger())
    assert [[item.content for item in each.items()] for each in read] == [["cats"], ["dogs"]]


@pytest.mark.parametrize(
    "text",
    [
        "{0}{1}",
        "{0}\n{1}\n",
        "[{0}, {1}]",
        '{{"messages": {0}}}{{"messages": {1}}}',
    ],
)
def test_keeps_conversations_apart_that_have_only_their_places(tmp_path, text):
    cats, dogs = ([{"role": "user", "content": name}] for name in ("cats", "dogs"))
    path = saved(tmp_path, text.format(json.dumps(cats), json.dumps(dogs)))
    reading = read_all(GENERIC, path)
    texts = [[item.content for item in items] for _, items in reading.conversations]
    assert texts == [["cats"], ["dogs"]]


def test_keeps_apart_what_is_left_of_damaged_conversations(tmp_path):
    damaged = (
        {"id": 1, "name": talk, "messages": [{"id": 2, "name": "me", **each} for each in TURNS]}
        for talk in ("cats", "dogs")
    )
    text = ", ".join(json.dumps(each)[:-1] + ", x}" for each in damaged)
    reading = read_all(GENERIC, saved(tmp_path, f"[{text}]"))
    texts = [[item.content for item in items] for _, items in reading.conversations]
    assert texts == [["So."], ["So."]]


ANTHROPIC = [
    {"type": "tool_use", "id": "x", "name": "add", "input": {"a": 1}},
    {"type": "tool_result", "tool_use_id": "x", "content": [{"type": "text", "text": "2"}]},
]
VERCEL = [
    {"type": "tool-call", "toolCallId": "x", "toolName": "add", "args": {"a": 1}},
    {"type": "tool-result", "toolCallId": "x", "toolName": "add", "result": "2"},
]
GOOGLE = [
    {"functionCall": {"id": "x", "name": "add", "args": {"a": 1}}},
    {"functionResponse": {"name": "add", "response": "2"}},
]
RESPONSES = [
    {"type": "function_call", "id": "fc", "call_id": "x", "name": "add", "arguments": '{"a": 1}'},
    {"type": "function_call_output", "call_id": "x", "output": "2"},
]


@pytest.mark.parametrize("form", [ANTHROPIC, VERCEL, GOOGLE, RESPONSES])
@pytest.mark.parametrize("answering", ["user", "tool"])
def test_reads_calls_and_results_among_blocks(tmp_path, form, answering):
    call, result = form
    thought = [{"type": "thinking", "thinking": "Hm."}, {"text": "Hm.", "thought": True}]
    turns = [
        {"role": "assistant", "content": [*thought, {"type": "text", "text": "I add."}, call]},
        {"role": answering, "content": [result]},
    ]
    called, answer = check(GENERIC, saved(tmp_path, turns), records_in).messages
    assert called.content == "I add."
    assert [(each.id, each.name, each.arguments) for each in called.tool_calls] == [
        ("x", "add", {"a": 1})
    ]
    assert (answer.role, answer.content) == ("tool", "2")
    assert answer.tool_call_id == "x"


def test_reads_refusals(tmp_path):
    turns = [
        {"role": "assistant", "content": None, "refusal": "No."},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "Never."}]},
    ]
    assert [text for _, text in said(check(GENERIC, saved(tmp_path, turns), records_in))] == [
        "No.",
        "Never.",
    ]


def test_pairs_calls_and_results(tmp_path):
    function = {"name": "add", "arguments": '{"a": 1}'}
    turns = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "function": function}]},
        {"role": "tool", "tool_call_id": "x", "content": "2"},
        {"role": "assistant", "content": "", "function_call": function},
        {"role": "function", "name": "add", "content": [{"type": "text", "text": "2"}]},
    ]
    call, result, old, answer = check(GENERIC, saved(tmp_path, turns), records_in).messages
    assert (call.tool_calls[0].arguments, result.tool_call_id) == ({"a": 1}, "x")
    assert (old.content, answer.content) == (None, "2")
    assert answer.tool_call_id == old.tool_calls[0].id


def test_counts_what_is_left_out(tmp_path):
    turns = [
        {"role": "system", "content": "Be nice."},
        {"role": "user", "content": " "},
        {"role": "narrator", "content": "Once"},
        {"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "Look"}]},
    ]
    reading = check(GENERIC, saved(tmp_path, turns), records_in)
    assert said(reading) == [("user", "[image]\n\nLook")]
    assert reading.ledger.skipped == {
        "system prompt": 1,
        "empty message": 1,
        "unreadable line": 1,
    }


def test_reads_sharegpt(tmp_path):
    call = json.dumps({"name": "add", "arguments": {"a": 1}})
    turns = [
        {"from": "system", "value": "Be nice."},
        {"from": "human", "value": "Why?"},
        {"from": "function_call", "value": call},
        {"from": "observation", "value": "2"},
        {"from": "gpt", "value": "So."},
    ]
    path = saved(tmp_path, [{"id": "c1", "conversations": turns}])
    assert sharegpt.READER.recognises(path, path.read_bytes()[:4096])
    reading = check(sharegpt.READER, path, records_in)
    assert said(reading) == [("user", "Why?"), ("assistant", None), ("tool", "2"), SAID[1]]
    _, called, result, _ = reading.messages
    assert called.tool_calls[0].arguments == {"a": 1}
    assert result.tool_call_id == called.tool_calls[0].id
    assert reading.ledger.skipped == {"system prompt": 1}


@pytest.mark.full
@pytest.mark.parametrize("reader", [GENERIC, sharegpt.READER, chatbot_ui.READER])
def test_survives_damaged_files(reader, tmp_path):
    turns = [{"from": "human", "value": "Why?"}] * 3
    record = {"id": "c1", "messages": TURNS, "conversations": turns}
    check_mutants(reader, saved(tmp_path / "source", [record, record]), tmp_path)


@given(spoken=lines())
def test_reads_back_any_conversation(tmp_path_factory, spoken):
    folder = tmp_path_factory.mktemp("e")
    turns = [{"role": each.role, "content": each.text} for each in spoken]
    check_said(read_all(GENERIC, saved(folder, [{"messages": turns}])).messages, spoken)
    speaker = {"user": "human", "assistant": "gpt"}
    turns = [{"from": speaker[each.role], "value": each.text} for each in spoken]
    path = saved(folder, json.dumps({"conversations": turns}), "lines.jsonl")
    check_said(read_all(sharegpt.READER, path).messages, spoken)
