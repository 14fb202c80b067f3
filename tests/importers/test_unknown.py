"""A block of an unknown type keeps its words, and a record of an unknown type is counted.

Wherever a reader keeps the words of a block, another block beside it is put.
"""

import copy
import json
import sqlite3
from contextlib import closing, suppress

import pytest

from tests.importers.samples import SOURCES, files_in, laid_out, read_all
from tests.tables import each_row
from tui.importers.protocol import ForeignSummary, Ledger

CASES = [
    case
    for folder in sorted(SOURCES.iterdir())
    for case in sorted(folder.glob("*.jsonl"))
    # One without another source, whose files would be tried for nothing.
    if len(files_in(case.with_suffix(""))) < 4
    and not any(words in case.stem for words in ("sub-agents", "left-to-it", "of-kimi-code"))
]
WITHOUT_MARK = {"a-conversation-that-is-only-in-events-is-read", "a-context-alone-is-read"}
"""Cases of programs that say the same in two logs or messages: their texts are compared."""
WORDS = "words of a block that is new"
BLOCK = {"type": "newest_block", "text": WORDS}


def read_sources(program, sources):
    """All texts of the sources, and the counts of their records."""
    texts, ledger = [], Ledger()
    for source in sources:
        reading = read_all(program, source)
        ledger.add(reading.ledger)
        for _, items in reading.conversations:
            texts += [item.text for item in items if isinstance(item, ForeignSummary)]
        texts += [each.content for each in reading.messages if each.content]
    return "\n".join(texts), ledger


def lists_of_blocks(value):
    """The lists of blocks in a value of which one is a text."""
    for each in value.values() if isinstance(value, dict) else ():
        yield from lists_of_blocks(each)
    if isinstance(value, list):
        for each in value:
            yield from lists_of_blocks(each)
        blocks = [each for each in value if isinstance(each, dict) and each.get("type") == "text"]
        if any(isinstance(each.get("text"), str) for each in blocks):
            yield value


def extended(value, texts):
    """The value once for each list of blocks that is read, with another block behind the text."""
    for number, listed in enumerate(lists_of_blocks(value)):
        said = [each["text"] for each in listed if isinstance(each, dict) and "text" in each]
        if any(isinstance(each, str) and each.strip() and each in texts for each in said):
            new = copy.deepcopy(value)
            list(lists_of_blocks(new))[number].append(BLOCK)
            yield new


def rows(path):
    """The values of JSON in a database, with their places."""
    with closing(sqlite3.connect(path)) as database:
        tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            columns = [each[1] for each in database.execute(f"PRAGMA table_info({table})")]
            for number, *values in database.execute(f"SELECT rowid, * FROM {table}").fetchall():
                for column, value in zip(columns, values, strict=True):
                    with suppress(ValueError, TypeError):
                        yield table, column, number, json.loads(value)


def changes(path, texts):
    """The ways to put a block into a file: its bytes, with the block in one place each."""
    data = path.read_bytes()
    if path.suffix == ".json":
        with suppress(ValueError):
            for new in extended(json.loads(data), texts):
                yield json.dumps(new).encode()
    elif path.suffix == ".jsonl":
        lines = data.split(b"\n")
        for number, line in enumerate(lines):
            with suppress(ValueError):
                for new in extended(json.loads(line), texts):
                    changed = json.dumps(new).encode()
                    yield b"\n".join([*lines[:number], changed, *lines[number + 1 :]])
    elif data.startswith(b"SQLite"):
        for table, column, number, value in list(rows(path)):
            for new in extended(value, texts) if isinstance(value, list | dict) else ():
                path.write_bytes(data)
                with closing(sqlite3.connect(path)) as database, database:
                    database.execute(
                        f"UPDATE {table} SET {column} = ? WHERE rowid = ?",
                        (json.dumps(new), number),
                    )
                yield path.read_bytes()


@each_row("case", CASES)
def test_the_words_of_an_unknown_block_are_kept_with_its_mark(case, tmp_path):
    home = tmp_path / case.parent.name / case.stem
    program, sources = laid_out(case, home)
    texts, _ = read_sources(program, sources)
    for path in files_in(home):
        data = path.read_bytes()
        for changed in changes(path, texts):
            path.write_bytes(changed)
            found, ledger = read_sources(program, sources)
            assert WORDS in found, changed.decode(errors="replace")
            if case.stem not in WITHOUT_MARK:
                assert f"[newest_block] {WORDS}" in found
                new = {each for each in ledger.skipped if each.endswith("newest block")}
                assert new <= {"unknown block newest block", "unknown part newest block"}
                assert sum(ledger.skipped[each] for each in new) >= 1
        path.write_bytes(data)


@pytest.mark.parametrize(
    "program",
    ["claude-code", "codex", "copilot-cli", "cursor-cli", "gemini-cli", "pi", "qwen-code"],
)
def test_a_record_of_an_unknown_type_is_counted_by_it(program, tmp_path):
    case = max(SOURCES.glob(f"{program}/*.jsonl"), key=lambda each: len(each.read_text()))
    program, sources = laid_out(case, tmp_path / "home")
    for source in (each for each in sources if each.suffix == ".jsonl"):
        texts, before = read_sources(program, [source])
        if texts:
            with source.open("a") as file:
                file.write('{"type": "newest_record", "id": "n", "uuid": "n", "data": {}}\n')
            _, after = read_sources(program, [source])
            assert after.total == before.total + 1
            new = after.skipped - before.skipped
            assert list(new) in (["unknown record newest record"], ["unknown record"])
