"""Any conversation with branches is read back from exports and databases that hold trees.

A writer makes the file of a program in a folder from messages and the one that was shown last.
"""

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.samples import read_all
from tests.importers.tables import plain, written
from tests.strategies import any_text
from tui.importers.readers import reader
from tui.importers.trees import AGAIN


class Spoken(NamedTuple):
    """A message, and the one that it follows; ``""`` for a first one."""

    id: str
    parent: str
    role: str
    text: str


texts = any_text(6).map(lambda text: f"word {text}.")
"""Any text that has a word."""


@st.composite
def trees(draw):
    """A conversation with branches, and the id of the message that was shown last."""
    spoken = [Spoken("m0", "", "user", draw(texts))]
    for number in range(1, draw(st.integers(1, 6))):
        before = draw(st.sampled_from(spoken))
        role = "assistant" if before.role == "user" else "user"
        spoken.append(Spoken(f"m{number}", before.id, role, draw(texts)))
    return spoken, draw(st.sampled_from(spoken)).id


def children(spoken, name):
    """The ids of the messages that follow one."""
    return [each.id for each in spoken if each.parent == name]


def check_read(messages, spoken, leaf=None):
    """Check that all messages were read with their parents, the one shown last at the end."""
    read = {message.id: Spoken(message.id, message.parent or "", message.role, message.content)
            for message in messages if not message.id.endswith(AGAIN)}  # fmt: skip
    assert read == {each.id: each for each in spoken}
    assert messages[-1].id.removesuffix(AGAIN) == (leaf or spoken[-1].id)


ROOT = "00000000-0000-0000-0000-000000000000"


def saved(folder, value):
    path = folder / "export.json"
    path.write_text(json.dumps(value))
    return path


def chatgpt(folder, spoken, leaf):
    mapping = {"root": {"id": "root", "children": children(spoken, ""), "message": None}}
    for each in spoken:
        content = {"content_type": "text", "parts": [each.text]}
        message = {"id": each.id, "author": {"role": each.role}, "content": content}
        links = {"parent": each.parent or "root", "children": children(spoken, each.id)}
        mapping[each.id] = {"id": each.id, "message": message, **links}
    return saved(folder, [{"conversation_id": "c1", "mapping": mapping, "current_node": leaf}])


def claude_ai(folder, spoken, leaf):
    messages = [
        {
            "uuid": each.id,
            "sender": "human" if each.role == "user" else "assistant",
            "parent_message_uuid": each.parent or ROOT,
            "content": [{"type": "text", "text": each.text}],
        }
        for each in spoken
    ]
    leaves = {"current_leaf_message_uuid": leaf}
    return saved(folder, {"uuid": "c1", "chat_messages": messages, **leaves})


def open_webui(folder, spoken, leaf):
    messages = {
        each.id: {
            "id": each.id,
            "parentId": each.parent or None,
            "childrenIds": children(spoken, each.id),
            "role": each.role,
            "content": each.text,
        }
        for each in spoken
    }
    chat = {"history": {"currentId": leaf, "messages": messages}}
    return saved(folder, [{"id": "c1", "chat": chat}])


def grok(folder, spoken, leaf):
    responses = [
        {
            "response": {
                "_id": each.id,
                "parent_response_id": each.parent or None,
                "sender": "human" if each.role == "user" else "ASSISTANT",
                "message": each.text,
            }
        }
        for each in spoken
    ]
    facts = {"id": "c1", "leaf_response_id": leaf}
    return saved(folder, {"conversations": [{"conversation": facts, "responses": responses}]})


@pytest.mark.parametrize("program", [chatgpt, claude_ai, grok, open_webui])
@given(tree=trees())
def test_any_tree_is_read_back(program, tmp_path_factory, tree):
    spoken, leaf = tree
    path = program(tmp_path_factory.mktemp("e"), spoken, leaf)
    # Some have no tree where no message follows another.
    has_tree = program not in (claude_ai, grok) or any(each.parent for each in spoken)
    messages = read_all(reader(program.__name__.replace("_", "-")), path).messages
    check_read(messages, spoken, leaf if has_tree else None)


def librechat(folder, spoken):
    def below(name):
        return [
            {
                "messageId": each.id,
                "parentMessageId": each.parent or ROOT,
                "isCreatedByUser": each.role == "user",
                "text": each.text,
                "children": below(each.id),
            }
            for each in spoken
            if each.parent == name
        ]

    return saved(folder, {"conversationId": "c1", "exportAt": "16:33:32", "messages": below("")})


@given(tree=trees())
def test_any_tree_of_librechat_is_read_back_with_the_branch_of_the_last_children(
    tmp_path_factory, tree
):
    spoken, leaf = tree[0], ""
    while following := children(spoken, leaf):
        leaf = following[-1]
    path = librechat(tmp_path_factory.mktemp("e"), spoken)
    check_read(read_all(reader("librechat"), path).messages, spoken, leaf)


def test_a_conversation_of_librechat_may_have_a_thousand_messages_within_each_other(tmp_path):
    text = ""  # Python does not write what it cannot read, either.
    for number in reversed(range(1000)):
        links = {"messageId": f"m{number}", "parentMessageId": f"m{number - 1}" if number else ROOT}
        own = json.dumps({**links, "isCreatedByUser": number % 2 == 0, "text": str(number)})
        text = f'{own[:-1]}, "children": [{text}]}}'
    path = tmp_path / "export.json"
    path.write_text(f'{{"conversationId": "c1", "exportAt": "16:33", "messages": [{text}]}}')
    messages = read_all(reader("librechat"), path).messages
    assert [message.content for message in messages] == [str(number) for number in range(1000)]


LLM = """
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT,
                    tip_message_hash TEXT, model TEXT, datetime_utc TEXT);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
                    text TEXT);
"""


@given(tree=trees())
def test_any_thread_of_llm_is_read_back(tmp_path_factory, tree):
    spoken, leaf = plain(tree[0]), tree[1]
    path = written(
        tmp_path_factory.mktemp("e") / "logs.db",
        LLM,
        threads=[{"id": "th", "tip_message_hash": leaf}],
        turns=[
            {"id": each.id, "thread_id": "th", "parent_message_hash": each.parent,
             "tip_message_hash": each.id}
            for each in spoken
        ],
        messages=[
            {"hash": each.id, "parent_hash": each.parent or None, "role": each.role}
            for each in spoken
        ],
        parts=[{"message_hash": each.id, "type": "text", "text": each.text} for each in spoken],
    )  # fmt: skip
    read = read_all(reader("llm"), path).messages
    own = {each.id: (each.parent, each.content) for each in read if not each.id.endswith(AGAIN)}
    assert own == {
        f"th/{each.id}": (f"th/{each.parent}" if each.parent else "", each.text) for each in spoken
    }
    assert read[-1].id.removesuffix(AGAIN) == f"th/{leaf}"


ELIA = """
CREATE TABLE chat (id INTEGER PRIMARY KEY, model VARCHAR, title VARCHAR, started_at DATETIME,
                   archived BOOLEAN);
CREATE TABLE message (id INTEGER PRIMARY KEY, chat_id INTEGER, role VARCHAR, content VARCHAR,
                      timestamp DATETIME, meta JSON, parent_id INTEGER, model VARCHAR);
"""


@given(tree=trees())
def test_any_tree_of_elia_is_read_back(tmp_path_factory, tree):
    spoken = plain(tree[0])
    rows = [
        {"id": number, "chat_id": 1, "role": each.role, "content": each.text,
         "parent_id": int(each.parent[1:]) + 1 if each.parent else None}
        for number, each in enumerate(spoken, 1)
    ]  # fmt: skip
    folder = tmp_path_factory.mktemp("e")
    path = written(folder / "elia.sqlite", ELIA, chat=[{"id": 1, "model": "m"}], message=rows)
    read = read_all(reader("elia"), path).messages
    assert {(each.role, each.content) for each in read} == {
        (each.role, each.text) for each in spoken
    }
    assert read[-1].content == spoken[-1].text
