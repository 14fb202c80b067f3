"""Samples of others are read, each record counted, and survive damage.

A program's samples come with the number of the records in one, counted in another way.
"""

import json

import pytest

from tests.importers.samples import (
    beginning,
    check,
    check_junk_lines,
    check_mutants,
    elements_in,
    files_in,
    lines_in,
    samples,
)
from tui.importers.readers import reader


def list_at(*keys):
    """Count the elements of the list that is at one of these keys."""

    def count(path):
        fields = json.loads(path.read_bytes())
        return next(len(fields[key]) for key in keys if fields.get(key))

    return count


def in_each(count):
    """Add what is counted in each conversation of an export, which may be one alone."""

    def add(path):
        value = json.loads(path.read_bytes())
        return sum(map(count, value if isinstance(value, list) else [value]))

    return add


def texts(*parts):
    return lambda path: sum(path.read_text().count(part) for part in parts)


def lines_of_folder(path):
    return sum(lines_in(file) for file in files_in(path) if file.suffix == ".jsonl")


def of_opencode(path):
    """Count the files of a session's messages and parts, by the ids that are in them."""
    storage = path.parents[2]
    session = json.loads(path.read_bytes())["id"]
    messages = [(each.stem, json.loads(each.read_bytes())) for each in storage.glob("message/*/*")]
    names = [{stem, info["id"]} for stem, info in messages if info["sessionID"] == session]
    parts = [list(storage.glob(f"part/{name}/*")) for both in names for name in both]
    loose = [json.loads(each.read_bytes())["messageID"] for each in storage.glob("part/*.json")]
    found = sum(name in both for both in names for name in loose)
    return len(names) + sum(map(len, parts)) + found


ROWS = [
    ("aider", ["aider/**/*.md", "aider/**/.aider*.md"], lines_in),
    ("chatbot-ui", ["chatbot-ui/**/*.json"], texts('"role"', '"from"')),
    ("chatgpt", ["chatgpt-export/**/*.json"], in_each(lambda c: len(c.get("mapping") or [None]))),
    ("claude-ai", ["claude-ai-export/**/*.json"],
     in_each(lambda c: len(c.get("chat_messages") or [None]))),
    ("claude-code", ["claude-code/**/*.jsonl"], lines_in),
    ("cline", ["cline/**/tasks/*"], lambda p: elements_in(p / "api_conversation_history.json")),
    ("cline", ["cline/**/*.messages.json"], list_at("messages")),
    ("codex", ["codex/**/*.jsonl"], lines_in),
    ("continue", ["continue/**/sessions/*-*.json"], list_at("history")),
    ("copilot-cli", ["copilot-cli/**/*.jsonl"], lines_in),
    ("cursor-cli", ["cursor-cli/**/*.jsonl"], lines_in),
    ("cursor-cli", ["cursor-cli/agent-sessions/*.db"], lambda _: 0),
    ("gemini-cli", ["gemini-cli/**/*.json"], list_at("messages", "history")),
    ("gemini-cli", ["gemini-cli/**/*.jsonl"], lines_in),
    ("gptme", ["gptme/**/conversation.jsonl"], lines_of_folder),
    ("librechat", ["librechat/**/*.json"], texts('"messageId"')),
    ("open-webui", ["open-webui/**/*.json"],
     in_each(lambda c: len(c["chat"]["history"]["messages"]))),
    ("opencode", ["opencode/session-migrate/**/*.json"],
     lambda path: sum(1 + len(m["parts"]) for m in json.loads(path.read_bytes())["messages"])),
    ("opencode", ["opencode/*/storage*/session/*/*.json"], of_opencode),
    ("pi", ["pi/**/*.jsonl"], lines_in),
    ("vibe", ["vibe/**/messages.jsonl"], lines_of_folder),
]  # fmt: skip
WITHOUT_MESSAGES = {"claude-code", "codex", "cursor-cli", "gemini-cli"}
"""Programs with samples in which nobody says anything."""
SAMPLES = [
    pytest.param(program, path.values[0], records, marks=path.marks, id=f"{program}-{path.id}")
    for program, patterns, records in ROWS
    for path in samples(*patterns)
]


def whole(program, path):
    """A sample, or the folder that is the source of one of its files."""
    return path.parent if program in {"gptme", "vibe"} else path


@pytest.mark.parametrize(("program", "path", "records"), SAMPLES)
def test_a_sample_of_others_is_read(program, path, records, tmp_path):
    source = whole(program, path)
    assert reader(program).recognises(source, beginning(source))
    reading = check(reader(program), source, records)
    assert reading.messages or program in WITHOUT_MESSAGES
    if source.suffix == ".jsonl":
        check_junk_lines(reader(program), source, tmp_path)


@pytest.mark.full
@pytest.mark.parametrize(("program", "path", "records"), SAMPLES)
def test_a_damaged_sample_of_others_does_no_harm(program, path, records, tmp_path):
    check_mutants(reader(program), whole(program, path), tmp_path)
