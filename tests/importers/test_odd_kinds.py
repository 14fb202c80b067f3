"""Blocks whose kind is no text are left out, and hide nothing else."""

import json

import pytest

from tests.importers.samples import read_all
from tui.importers import claude_ai, cursor_cli, goose, vscode

ODD = [{"type": ["text"], "text": ""}]
CLAUDE_AI = [
    {
        "uuid": "c",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "", "content": ODD},
            {"uuid": "m2", "sender": "human", "text": "Why?"},
        ],
    }
]
VSCODE = {
    "responderUsername": "Copilot",
    "requests": [
        {
            "requestId": "r",
            "message": {"text": "Why?"},
            "variableData": {"variables": [{"kind": ["file"], "name": "a"}]},
        }
    ],
}


def lines(*records):
    return "\n".join(map(json.dumps, records))


@pytest.mark.parametrize(
    ("reader", "name", "text"),
    [
        (claude_ai.READER, "conversations.json", json.dumps(CLAUDE_AI)),
        (
            cursor_cli.READER,
            "a.jsonl",
            lines(
                {"role": "user", "message": {"content": ODD}},
                {"role": "user", "message": {"content": [{"type": "text", "text": "Why?"}]}},
            ),
        ),
        (
            goose.READER,
            "a.jsonl",
            lines(
                {"working_dir": "/shop"},
                {"role": "user", "content": ODD},
                {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
            ),
        ),
        (vscode.READER, "chat.json", json.dumps(VSCODE)),
    ],
    ids=["claude-ai", "cursor-cli", "goose", "vscode"],
)
def test_a_kind_that_is_no_text_ends_nothing(tmp_path, reader, name, text):
    (tmp_path / name).write_text(text)
    assert [each.content for each in read_all(reader, tmp_path / name).messages] == ["Why?"]
