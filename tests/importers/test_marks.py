"""A file is known by the marks of its own program alone, whatever order the readers stand in."""

import json
import sqlite3
from contextlib import closing, suppress

import pytest

from tests.importers.samples import FOLDER, SOURCES, beginning, files_in, laid_out
from tests.tables import each_row
from tui.importers.readers import readers

CASES = sorted(SOURCES.glob("*/*.jsonl"))
ANY = "messages"
"""The reader of what no program is known by: it is asked last."""
NAMES = {"chatgpt-export": "chatgpt", "claude-ai-export": "claude-ai"}


def owners(path):
    """The programs whose marks a file or folder has."""
    head = beginning(path)
    return {each.program for each in readers() if each.recognises(path, head)} - {ANY}


KIN = {each.program: each.kin or each.program for each in readers()}
"""The program that stands for those that write the same files."""


def is_of(path, program):
    """True for a file that no other program takes, but one that writes the same files."""
    return {KIN[each] for each in owners(path)} <= {KIN.get(program, program)}


def test_the_reader_of_any_messages_is_the_last():
    assert readers()[-1].program == ANY


def spaced(path):
    """Lines or a value of JSON with other blanks between the words."""
    data, is_whole = path.read_bytes(), path.suffix == ".json"
    lines = [data] if is_whole else data.splitlines()
    values = [json.loads(line) for line in lines if line.strip()]
    for separators, indent in (((",", ":"), None), ((", ", ": "), None), ((",", ": "), 1)):
        if indent is None or is_whole:
            texts = [json.dumps(each, separators=separators, indent=indent) for each in values]
            yield ("\n".join(texts) + "\n").encode()


@each_row("case", CASES)
def test_no_program_takes_what_another_one_keeps_whatever_its_blanks(case, tmp_path):
    home = tmp_path / case.parent.name / case.stem
    program, sources = laid_out(case, home)
    assert [path for path in sources if not is_of(path, program.program)] == []
    owned = {path: owners(path) for path in home.rglob("*")}
    assert [path for path, found in owned.items() if len({KIN[each] for each in found}) > 1] == []
    for path in files_in(home):
        others = list[bytes]()
        with suppress(ValueError):
            others = list(spaced(path))
        for data in others:
            path.write_bytes(data)
            assert owners(path) == owned[path], data[:400]


@pytest.mark.parametrize("folder", sorted(FOLDER.glob("*/")), ids=lambda folder: folder.name)
def test_no_program_takes_a_sample_of_another_one(folder):
    program = NAMES.get(folder.name, folder.name)
    assert [(path, owners(path)) for path in files_in(folder) if not is_of(path, program)] == []


def test_a_database_of_the_first_opencode_is_not_one_of_crush(tmp_path):
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as database:
        database.executescript(
            "CREATE TABLE sessions (id TEXT, parent_session_id TEXT, title TEXT,"
            " message_count INTEGER, summary_message_id TEXT, created_at INTEGER);"
            "CREATE TABLE messages (id TEXT, session_id TEXT, role TEXT, parts TEXT, model TEXT,"
            " created_at INTEGER, updated_at INTEGER, finished_at INTEGER);"
        )
    assert owners(tmp_path / "opencode.db") == set()
