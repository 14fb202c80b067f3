"""Elia's chats."""

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all
from tests.importers.spoken import lines, trees
from tests.importers.tables import plain, written
from tui.importers import oterm
from tui.importers.elia import READER
from tui.importers.protocol import Places

TABLES = """
CREATE TABLE chat (id INTEGER PRIMARY KEY, model VARCHAR, title VARCHAR, started_at DATETIME,
                   archived BOOLEAN);
CREATE TABLE message (id INTEGER PRIMARY KEY, chat_id INTEGER, role VARCHAR, content VARCHAR,
                      timestamp DATETIME, meta JSON, parent_id INTEGER, model VARCHAR);
"""


def message(role, content, **fields):
    time = "2026-11-22 22:12:41.506536"
    return {"chat_id": 1, "role": role, "content": content, "timestamp": time, **fields}


def chats(folder, *messages):
    row = {"id": 1, "title": "Sky", "model": "gpt-4", "started_at": "2026-11-22 22:12:40"}
    return written(folder / "elia" / "elia.sqlite", TABLES, chat=[row], message=messages)


def test_reads_a_chat(tmp_path):
    path = chats(
        tmp_path,
        message("system", "Be brief"),
        message("user", "Why?"),
        message("assistant", "So.", model="gpt-4o"),
    )
    head = path.read_bytes()[:4096]
    assert READER.recognises(path, head)
    assert not oterm.READER.recognises(path, head)
    reading = check(READER, path, lambda _: 3)
    heading, (asked, answer) = reading.conversations[0]
    assert (heading.name, heading.created_at) == ("Sky", "2026-11-22T22:12:40.000Z")
    assert (asked.content, asked.timestamp) == ("Why?", "2026-11-22T22:12:41.506Z")
    assert (answer.content, answer.model, answer.parent) == ("So.", "gpt-4o", asked.id)
    assert reading.ledger.skipped == {"system prompt": 1}


def test_finds_the_database(tmp_path):
    path = chats(tmp_path)
    places = Places(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})
    assert [found.path for found in READER.find(places)] == [path]


@pytest.mark.full
def test_survives_damaged_databases(tmp_path):
    path = chats(tmp_path / "source", *(message("user", f"{n}") for n in range(9)))
    check_mutants(READER, path, tmp_path)


@given(tree=trees())
def test_reads_back_any_tree(tmp_path_factory, tree):
    spoken = plain(tree[0])
    rows = [
        message(
            each.role, each.text, id=int(each.id[1:]) + 1,
            parent_id=int(each.parent[1:]) + 1 if each.parent else None,
        )
        for each in spoken
    ]  # fmt: skip
    read = read_all(READER, chats(tmp_path_factory.mktemp("e"), *rows)).messages
    assert {(each.role, each.content) for each in read} == {
        (each.role, each.text) for each in spoken
    }
    assert read[-1].content == spoken[-1].text


@given(spoken=lines())
def test_messages_without_parents_follow_each_other(tmp_path_factory, spoken):
    spoken = plain(spoken)
    path = chats(tmp_path_factory.mktemp("e"), *(message(each.role, each.text) for each in spoken))
    read = read_all(READER, path).messages
    assert [each.parent for each in read] == ["", *(each.id for each in read[:-1])]
