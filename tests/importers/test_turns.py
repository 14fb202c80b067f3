"""Any conversation with tools, branches and undone turns is read back from logs."""

import json
import tempfile
from pathlib import Path

import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.conversations import Turn, branch, live, roles_and_texts, said, turns
from tests.importers.logs import ID, claude_code, codex, copilot_cli, gemini_cli, pi, qwen_code
from tests.importers.samples import check, read_all
from tui.importers.readers import reader


def read(program, records, count=None):
    """Write the records of a file, or one object in their place, and read it back."""
    with tempfile.TemporaryDirectory() as folder:
        whole = isinstance(records, dict)
        path = Path(folder, f"session.{'json' if whole else 'jsonl'}")
        lines = [records] if whole else records
        text = "".join(f"{json.dumps(line, separators=(',', ':'))}\n" for line in lines)
        path.write_text(text)
        total = count or len(lines)
        return check(reader(program), path, lambda _: total)


@pytest.mark.parametrize("program", [claude_code, pi, qwen_code])
@given(made=turns(), data=st.data())
def test_any_tree_is_read_back_with_the_branch_that_was_shown(program, made, data):
    shown = data.draw(st.integers(0, len(made) - 1))
    reading = read(program.__name__.replace("_", "-"), program(made, shown))
    ((_, items),) = reading.conversations
    assert roles_and_texts(live(items)) == said(branch(made, shown))
    every = {each.content for each in reading.messages}
    assert every >= {turn.prompt for turn in made} | {turn.answer for turn in made}


@given(turns(linear=True), st.lists(st.integers(0, 9), min_size=6, max_size=6))
def test_turns_that_were_undone_are_read_but_not_shown(made, drawn):
    shown, undone = [], []
    for turn, number in zip(made, drawn, strict=False):
        undone.append(number % (len(shown) + 1))
        shown = [*shown[: len(shown) - undone[-1]], turn]
    reading = read("codex", codex(made, undone))
    ((_, items),) = reading.conversations
    assert roles_and_texts(live(items)) == said(shown)
    assert {each.content for each in items} >= {turn.prompt for turn in made}


@given(turns(linear=True))
def test_any_line_of_turns_is_read_back(made):
    assert roles_and_texts(read("copilot-cli", copilot_cli(made)).messages) == said(made)
    assert roles_and_texts(read("pi", pi(made, -1, version=1)).messages) == said(made)
    header, *messages = records = gemini_cli(made)
    lines = read("gemini-cli", records).messages
    assert roles_and_texts(lines) == said(made)
    assert read("gemini-cli", {**header, "messages": messages}, len(messages)).messages == lines


@given(turns(linear=True))
def test_any_chat_of_vscode_is_read_back_with_each_call_at_its_result(made):
    requests = [
        {
            "requestId": f"r{number}",
            "message": {"text": turn.prompt},
            "response": [
                *(
                    {
                        "kind": "toolInvocationSerialized",
                        "toolCallId": f"{number}-{place}",
                        "toolId": "look",
                        "resultDetails": {"input": "{}", "output": result},
                    }
                    for place, result in enumerate(turn.results)
                ),
                {"value": turn.answer},
            ],
        }
        for number, turn in enumerate(made)
    ]
    chat = {"responderUsername": "GitHub Copilot", "sessionId": ID, "requests": requests}
    spoken = roles_and_texts(read("vscode", chat, len(made)).messages)
    calls = ("assistant", None)
    assert [each for each in spoken if each != calls] == [
        each for each in said(made) if each != calls
    ]


@pytest.mark.parametrize(
    ("program", "line", "reason"),
    [
        ("claude-code", {"type": "progress", "data": "x" * 3_000_000}, "progress"),
        ("copilot-cli", {"type": "session.binary_asset", "data": {"data": "x" * 3_000_000}},
         "session binary asset"),
    ],
    ids=["claude-code", "copilot-cli"],
)  # fmt: skip
def test_a_huge_line_without_words_is_skipped_and_hides_nothing(program, line, reason):
    made = [Turn(-1, "Hello", [], "Hi.")]
    first, *others = claude_code(made, 0) if program == "claude-code" else copilot_cli(made)
    reading = read(program, [first, line, *others])
    assert roles_and_texts(reading.messages) == said(made)
    assert reading.ledger.skipped[reason] == 1


def test_a_compressed_file_of_codex_is_read_as_far_as_it_is_whole(tmp_path):
    made = [Turn(-1, "Hello", [], "Hi.")]
    records = codex(made, [0])
    whole = zstd.compress("".join(f"{json.dumps(record)}\n" for record in records).encode())
    path = tmp_path / f"rollout-2026-05-01T12-00-00-{ID}.jsonl.zst"
    path.write_bytes(whole)
    reading = check(reader("codex"), path, lambda _: len(records))
    assert roles_and_texts(reading.messages) == said(made)
    for damaged in (whole[:40], whole[:10] + b"x" * 90):
        path.write_bytes(damaged)
        assert read_all(reader("codex"), path).ledger.skipped == {"unreadable file": 1}
