"""Files that are written anew while they are read."""

import json

import pytest

from tests.importers.conversations import Turn
from tests.importers.logs import claude_code, gemini_cli, pi
from tests.importers.samples import source_of
from tui.importers import two_passes
from tui.importers.json_lines import SourceChanged
from tui.importers.protocol import Ledger
from tui.importers.readers import reader

TURNS = [Turn(-1, "Why?", [], "So.")]


@pytest.mark.parametrize("text", ["", "{}\n" * 99], ids=["emptied", "rewritten"])
@pytest.mark.parametrize(
    ("program", "records"),
    [
        ("claude-code", claude_code(TURNS, 0)),
        ("gemini-cli", gemini_cli(TURNS)),
        ("pi", pi(TURNS, 0)),
    ],
    ids=["claude-code", "gemini-cli", "pi"],
)
def test_a_line_that_is_there_no_more_is_an_error(tmp_path, monkeypatch, program, records, text):
    monkeypatch.setattr(two_passes, "KEPT_BYTES", 0)
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    (conversation,) = reader(program).read(source_of(path), Ledger())
    assert len(list(conversation.items())) == 2
    path.write_text(text)
    with pytest.raises(SourceChanged):
        list(conversation.items())
