"""LibreChat's export: a tree of messages within messages, or a flat array."""

import json

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all, samples
from tests.importers.spoken import check_read, trees
from tui.importers.librechat import READER

SAMPLES = samples("librechat/**/*.json")
ROOT = "00000000-0000-0000-0000-000000000000"


def message(name, parent, text, *, user, children=(), **fields):
    said = {"messageId": name, "parentMessageId": parent or ROOT, "isCreatedByUser": user}
    return {**said, "text": text, "createdAt": "2024-04-09T14:32:05.230Z", **fields} | (
        {"children": list(children)} if children else {}
    )


def saved(folder, *messages, **fields):
    folder.mkdir(exist_ok=True)
    path = folder / "export.json"
    facts = {"conversationId": "c1", "title": "Bread", "exportAt": "16:33:32 GMT+0200"}
    path.write_text(json.dumps({**facts, **fields, "messages": messages}))
    return path


def records_in(path):
    """Count the messages, also those within others."""
    return path.read_text().count('"messageId"')


@pytest.mark.parametrize("path", SAMPLES)
def test_reads_the_samples_of_others(path):
    reading = check(READER, path, records_in)
    assert READER.recognises(path, path.read_bytes()[:4096])
    assert {message.role for message in reading.messages} == {"user", "assistant"}


@pytest.mark.full
@pytest.mark.parametrize("path", SAMPLES)
def test_survives_damaged_samples(path, tmp_path):
    check_mutants(READER, path, tmp_path)


def test_gives_the_facts_of_a_conversation(tmp_path):
    answer = message("a", "q", "Hi", user=False, model="gpt-4")
    path = saved(
        tmp_path, message("q", "", "Hello", user=True), answer, options={"model": "gpt-4o"}
    )
    heading, items = check(READER, path, records_in).conversations[0]
    assert (heading.source_id, heading.name, heading.model) == ("c1", "Bread", "gpt-4o")
    assert heading.updated_at == "2024-04-09T14:32:05.230Z"
    assert [item.model for item in items] == [None, "gpt-4"]


def test_shows_the_branch_of_the_last_children(tmp_path):
    first = message("b", "q", "So", user=False, children=[message("c", "b", "Go on", user=True)])
    last = message("d", "q", "Thus", user=False)
    path = saved(tmp_path, message("q", "", "Why?", user=True, children=[first, last]))
    assert [each.id for each in check(READER, path, records_in).messages] == ["q", "b", "c", "d"]


def test_reads_a_conversation_of_a_thousand_messages(tmp_path):
    text = ""  # Python does not write what it cannot read, either.
    for number in reversed(range(1000)):
        parent = f"m{number - 1}" if number else ""
        own = json.dumps(message(f"m{number}", parent, str(number), user=number % 2 == 0))
        text = f'{own[:-1]}, "children": [{text}]}}'
    path = saved(tmp_path, "messages")
    path.write_text(path.read_text().replace('["messages"]', f"[{text}]"))
    messages = check(READER, path, records_in).messages
    assert [message.content for message in messages] == [str(number) for number in range(1000)]


def test_keeps_what_stands_before_the_place_where_a_file_is_cut_off(tmp_path):
    inner = message("b", "a", "So" * 50, user=False)
    path = saved(tmp_path, message("a", "", "Why?", user=True, children=[inner]))
    path.write_bytes(path.read_bytes()[:-60])
    reading = read_all(READER, path)
    assert [message.content for message in reading.messages] == ["Why?"]
    assert reading.ledger.skipped == {"unreadable line": 1}


def test_takes_the_calls_of_an_answer_from_its_parts(tmp_path):
    call = {"id": "x", "name": "add", "args": '{"a": 1}', "output": "2"}
    parts = [
        {"type": "think", "think": "hm"},
        {"type": "text", "text": "First."},
        {"type": "tool_call", "tool_call": call},
        {"type": "text", "text": {"value": "Two."}},
    ]
    path = saved(tmp_path, message("a", "", "", user=False, content=parts))
    called, result, last = check(READER, path, records_in).messages
    assert (called.content, called.tool_calls[0].arguments) == ("First.", {"a": 1})
    assert (result.tool_call_id, result.content, last.content) == ("x", "2", "Two.")


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"unfinished": True}, "interrupted"),
        ({"error": True}, "failed"),
        ({"finish_reason": "length"}, "truncated"),
        ({}, None),
    ],
)
def test_marks_answers_that_did_not_end_well(tmp_path, fields, status):
    path = saved(tmp_path, message("a", "", "So", user=False, **fields))
    read = check(READER, path, records_in).messages[0]
    assert (read.status, read.error) == (status, "So" if status == "failed" else None)


def test_counts_what_says_nothing(tmp_path):
    path = saved(tmp_path, message("a", "", "", user=False), message("b", "", "Hi", user=True))
    assert check(READER, path, records_in).ledger.skipped == {"empty message": 1}


@given(tree=trees())
def test_reads_back_any_tree(tmp_path_factory, tree):
    spoken, _ = tree

    def below(name):
        return [
            message(each.id, each.parent, each.text, user=each.role == "user",
                    children=below(each.id))
            for each in spoken if each.parent == name
        ]  # fmt: skip

    leaf = ""
    while following := [each.id for each in spoken if each.parent == leaf]:
        leaf = following[-1]
    path = saved(tmp_path_factory.mktemp("e"), *below(""))
    check_read(read_all(READER, path).messages, spoken, leaf)
