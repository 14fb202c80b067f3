"""Every command of the documents: each is run, as it stands there with its words filled in."""

import io
import re
import shlex
import shutil
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.attached import PNG
from tui.cli import run
from tui.cli.parser import parse
from tui.domain.commands import ALIASES, BY_NAME

ROOT = Path(__file__).parent.parent.parent
CLAUDE_CODE = ROOT / "tests/importers/sources/claude-code/a-stopped-answer-is-interrupted"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$|^((?: {4}.*\n)+)", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"(?:^|[|]) *(sibyl-tui\b.*?)(?= {2,}\S| *[\\|<]|$)")
_PARSED_ONLY = ("postgresql:", "--watch", "--from configured", "--to configured", "--help")
"""What needs a server, or never ends."""


def commands():
    found = {}
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        blocks = (
            block[2] or block[3] for block in _BLOCK.finditer(text) if block[1] in (None, "sh")
        )
        lines = [line.strip() for block in blocks for line in block.splitlines()]
        prose = " ".join(_BLOCK.sub("", text).split())
        lines += [code for code in re.findall(r"`([^`]+)`", prose) if " " in code]
        for line in lines:
            found |= dict.fromkeys(match[1].strip() for match in [_COMMAND.search(line)] if match)
    return [each for each in found if not re.match(r"sibyl-tui [a-z]+ (an?|the|this)\b", each)]


@pytest.fixture
def world(saved, sibyl, data, tmp_path, monkeypatch):
    """What the documents speak of: sessions, files, an export."""
    monkeypatch.setenv("SIBYL_DATA_DIR", str(data))
    monkeypatch.setenv("SIBYL_MODEL", "offline:guide")
    monkeypatch.setenv("HOME", str(tmp_path))
    kept, trashed = saved("one", "two", name="A plan"), saved("three", "four")
    files = {"a.py": "a = 1\n", "src/a.py": "a = 2\n", "question.txt": "Why?\n"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "photo.png").write_bytes(PNG)
    assert sibyl("sessions", "export", kept, "--format", "jsonl", "--output", "file").code == 0
    for folder in ("sample", "folder"):
        (tmp_path / folder).mkdir()
        shutil.copytree(CLAUDE_CODE, tmp_path / folder, dirs_exist_ok=True)
    assert sibyl("sessions", "delete", "--yes", trashed).code == 0
    return {
        "TARGET": kept,
        "restore TARGET": trashed,
        "ID": kept,
        "FILE": "file",
        "--output FILE": "written",
        "FOLDER": "folder",
        "PATH": "folder",
        "TEXT": "plan",
        "NAME": "claude",
        "PROMPT": "session?",
        "...": "What is a session?",
        "export.zip": "file",
        "rescue-….jsonl": "file",
        "/mnt/stick/sibyl": str(tmp_path / "stick"),
        "/backup/sibyl": str(tmp_path / "backup"),
    }


def test_the_documents_have_commands():
    found = commands()
    assert len(found) > 60
    for command in ("sibyl-tui doctor --repair", "sibyl-tui import ~/sample", "sibyl-tui mcp"):
        assert command in found


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_documents_does_what_it_is_there_for(command, world, monkeypatch, capsys):
    words = shlex.split(command, comments=True)[1:]
    filled = [
        world.get(f"{before} {word}", world.get(word, word)).replace("=FILE", "=log")
        for before, word in pairwise(["", *words])
    ]
    filled = [re.sub("^~/", "", word) for word in filled]
    chosen = parse(filled)
    if not chosen.command or any(each in command for each in _PARSED_ONLY):
        return
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Why?\n")))
    # Without a terminal it cannot be asked whether to delete.
    expected = 2 if words[:2] == ["sessions", "delete"] else 0
    assert run(filled) == expected, capsys.readouterr().err


def test_a_slash_command_of_the_documents_is_there():
    own = {"review", "x", "v", "sse", "etc", "tmp", "mnt", "backup", "home", "chat"}
    unknown = {
        f"{document.name}: /{name}"
        for document in DOCUMENTS
        for name in re.findall(r"(?:`|^ {4})/([a-z]+)(?=[ `])", document.read_text("utf-8"))
        if name not in own and name not in BY_NAME and name not in ALIASES
    }
    assert unknown == set()
