"""Long files that are read twice: no words are held, and none are there that were not before."""

import json
import tracemalloc

import pytest

from tests.importers.conversations import Turn
from tests.importers.logs import ID, claude_code, codex, gemini_cli, pi, qwen_code
from tests.importers.samples import source_of
from tui.importers import two_passes
from tui.importers.json_lines import SourceChanged
from tui.importers.protocol import ForeignMessage, Ledger, Source
from tui.importers.readers import reader


@pytest.mark.parametrize(
    ("program", "written"),
    [
        ("claude-code", lambda made: claude_code(made, -1)),
        ("codex", lambda made: codex(made, [0] * len(made))),
        ("pi", lambda made: pi(made, -1)),
        ("qwen-code", lambda made: qwen_code(made, -1)),
    ],
    ids=["claude-code", "codex", "pi", "qwen-code"],
)
def test_the_words_of_a_long_file_are_never_all_in_memory(program, written, tmp_path):
    words = "x" * 20_000
    made = [Turn(n - 1, f"{n} {words}", [], f"Yes, {n} {words}") for n in range(600)]
    path = tmp_path / f"{ID}.jsonl"
    with path.open("w") as file:
        file.writelines(f"{json.dumps(record)}\n" for record in written(made))
    messages = 0
    tracemalloc.start()
    try:
        for conversation in reader(program).read(Source.of(path), Ledger()):
            messages += sum(isinstance(each, ForeignMessage) for each in conversation.items())
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert messages == 2 * len(made)
    assert most < path.stat().st_size / 3


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
