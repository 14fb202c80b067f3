"""Conversations in the form of the vendors, of Chatbot UI and of ShareGPT."""

import json

import pytest
from hypothesis import given

from tests.importers.conversations import said, turns
from tests.importers.samples import check, read_all
from tests.tables import each_row
from tui.importers.readers import reader, readers

GENERIC = reader("messages")
TURNS = [{"role": "user", "content": "Why?"}, {"role": "assistant", "content": "So."}]
SAID = [("user", "Why?"), ("assistant", "So.")]


def saved(folder, text, name="export.json"):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def spoken(reading):
    return [(message.role, message.content) for message in reading.messages]


def records_in(path):
    """Count the messages of a file."""
    text = path.read_text()
    return text.count('"role"') + text.count('"from"')


@each_row(
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
    assert (spoken(reading), len(reading.conversations)) == (SAID, 1)


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


@each_row("form", [ANTHROPIC, VERCEL, GOOGLE, RESPONSES])
@each_row("answering", ["user", "tool"])
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


@given(made=turns(linear=True, tools=False))
def test_reads_back_any_conversation(tmp_path_factory, made):
    folder, talk = tmp_path_factory.mktemp("e"), said(made)
    messages = [{"role": role, "content": text} for role, text in talk]
    assert spoken(read_all(GENERIC, saved(folder, [{"messages": messages}]))) == talk
    speaker = {"user": "human", "assistant": "gpt"}
    shared = [{"from": speaker[role], "value": text} for role, text in talk]
    path = saved(folder, json.dumps({"conversations": shared}), "lines.jsonl")
    assert spoken(read_all(reader("sharegpt"), path)) == talk
