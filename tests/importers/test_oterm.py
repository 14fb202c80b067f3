"""oterm's chats, which have no times."""

import pytest
from hypothesis import given

from tests.importers.samples import check, check_mutants, read_all
from tests.importers.spoken import check_said, lines
from tests.importers.tables import plain, written
from tui.importers.oterm import READER
from tui.importers.protocol import Places

TABLES = """
CREATE TABLE "chat" ("id" INTEGER, "name" TEXT, "model" TEXT NOT NULL, "system" TEXT,
                     PRIMARY KEY("id" AUTOINCREMENT));
CREATE TABLE "message" ("id" INTEGER, "chat_id" INTEGER NOT NULL, "author" TEXT NOT NULL,
                        "text" TEXT NOT NULL, "images" TEXT DEFAULT "[]",
                        PRIMARY KEY("id" AUTOINCREMENT));
"""


def message(author, text, **fields):
    return {"chat_id": 1, "author": author, "text": text, **fields}


def chats(folder, *messages):
    rows = [{"id": 1, "name": "Sky", "model": "llama3"}]
    return written(folder / "oterm" / "store.db", TABLES, chat=rows, message=messages)


def test_reads_a_chat(tmp_path):
    path = chats(
        tmp_path,
        message("user", "Why?", images='["aGVsbG8="]'),
        message("assistant", "So."),
        message("assistant", " "),
    )
    assert READER.recognises(path, path.read_bytes()[:4096])
    reading = check(READER, path, lambda _: 3)
    heading, (asked, answer) = reading.conversations[0]
    assert (heading.name, heading.model) == ("Sky", "llama3")
    assert (asked.content, asked.model) == ("Why?\n\n[image]", None)
    assert (answer.content, answer.model, answer.timestamp) == ("So.", "llama3", None)
    assert reading.ledger.skipped == {"empty message": 1}


def test_chats_of_two_databases_are_told_apart(tmp_path):
    one = read_all(READER, chats(tmp_path / "a", message("user", "Why?")))
    other = read_all(READER, chats(tmp_path / "b", message("user", "How?")))
    assert one.conversations[0][0].source_id != other.conversations[0][0].source_id
    assert one.messages[0].id != other.messages[0].id


@pytest.mark.parametrize("variable", ["XDG_DATA_HOME", "OTERM_DATA_DIR"])
def test_finds_the_database(tmp_path, variable):
    path = chats(tmp_path)
    folder = tmp_path if variable == "XDG_DATA_HOME" else path.parent
    assert [found.path for found in READER.find(Places(tmp_path, {variable: str(folder)}))] == [
        path
    ]


@pytest.mark.full
def test_survives_damaged_databases(tmp_path):
    path = chats(tmp_path / "source", *(message("user", f"{n}") for n in range(9)))
    check_mutants(READER, path, tmp_path)


@given(spoken=lines())
def test_reads_back_any_chat(tmp_path_factory, spoken):
    spoken = plain(spoken)
    folder = tmp_path_factory.mktemp("e")
    path = chats(folder, *(message(each.role, each.text) for each in spoken))
    check_said(read_all(READER, path).messages, spoken)
