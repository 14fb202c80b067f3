"""Files that are written anew while they are read."""

import json

import pytest

from tests.importers.samples import source_of
from tui.importers import claude_code, gemini_cli, pi
from tui.importers.json_lines import SourceChanged
from tui.importers.protocol import Ledger

CLAUDE_CODE = [
    {"type": "user", "uuid": "u", "sessionId": "s", "message": {"role": "user", "content": "Why?"}}
]
GEMINI = [
    {"sessionId": "s", "projectHash": "p", "startTime": "2026-01-02T03:04:05Z"},
    {"id": "u", "type": "user", "content": "Why?"},
]
PI = [
    {"type": "session", "version": 3, "id": "s", "cwd": "/shop"},
    {
        "type": "message",
        "id": "u",
        "parentId": None,
        "message": {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
    },
]


@pytest.mark.parametrize("text", ["", "{}\n" * 99], ids=["emptied", "rewritten"])
@pytest.mark.parametrize(
    ("reader", "records"),
    [(claude_code.READER, CLAUDE_CODE), (gemini_cli.READER, GEMINI), (pi.READER, PI)],
    ids=["claude-code", "gemini-cli", "pi"],
)
def test_a_line_that_is_there_no_more_is_an_error(tmp_path, reader, records, text):
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    (conversation,) = reader.read(source_of(path), Ledger())
    assert len(list(conversation.items())) == 1
    path.write_text(text)
    with pytest.raises(SourceChanged):
        list(conversation.items())
