"""Sessions of aichat."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_mutants, read_all
from tui.domain.journal.message import ToolCall
from tui.importers.aichat import READER
from tui.importers.protocol import ForeignSummary, Places

SESSION = """model: openai:gpt-4o
temperature: 0.2
compressed_messages:
- role: system
  content: Be brief.
- role: user
  content: |-
    Hello,
    "world": 'x' # no comment

    ```
    - a: b
    ```
- role: assistant
  content: 'Hi: there 😀'
messages:
- role: system
  content: "They greeted.\\nTwice."
- role: user
  content:
  - type: text
    text: What is this?
  - type: image_url
    image_url:
      url: data:image/png;base64,aGVsbG8=
- role: tool
  content:
    tool_results:
    - call:
        name: look
        arguments:
          deep: true
          places: []
        id: call_1
      output:
        found: cat
    text: I look.
- role: assistant
  content: '42'
"""


@pytest.fixture(autouse=True)
def east(monkeypatch):
    """A machine an hour east of Greenwich: the times in names are local."""
    monkeypatch.setenv("TZ", "UTC-1")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def written(home, text=SESSION, place="sessions/shop.yaml"):
    path = home / ".config" / "aichat" / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, newline="")
    return path


def test_sessions_are_found_with_unnamed_ones_and_those_of_agents(tmp_path):
    paths = [
        written(tmp_path, place=place)
        for place in (
            "sessions/shop.yaml",
            "sessions/_/20260517T101112-greeting.yaml",
            "agents/coder/sessions/shop.yaml",
        )
    ]
    written(tmp_path, place="config.yaml")
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == paths
    assert all(READER.recognises(path, path.read_bytes()[:4096]) for path in paths)
    headings = [read_all(READER, path).conversations[0][0] for path in paths]
    assert [heading.source_id for heading in headings] == [
        "shop",
        "_/20260517T101112-greeting",
        "coder/shop",
    ]
    assert [heading.name for heading in headings] == ["shop", "greeting", "shop"]
    assert headings[1].created_at == "2026-05-17T09:11:12.000Z"


def test_a_session_is_read_whole(tmp_path):
    reading = check(READER, written(tmp_path), lambda _: 7)
    ((heading, items),) = reading.conversations
    assert heading.model == "openai:gpt-4o"
    hello, hi, summary, question, call, result, answer = items
    assert hello.content == "Hello,\n\"world\": 'x' # no comment\n\n```\n- a: b\n```"
    assert (hi.role, hi.content) == ("assistant", "Hi: there 😀")
    assert summary == ForeignSummary("They greeted.\nTwice.", through=hi.id)
    assert question.content == "What is this?\n\n[image: image/png, 5 bytes]"
    assert (call.role, call.content) == ("assistant", "I look.")
    assert call.tool_calls == (ToolCall("call_1", "look", {"deep": True, "places": []}),)
    assert (result.role, result.content, result.tool_call_id) == (
        "tool",
        '{"found": "cat"}',
        "call_1",
    )
    assert answer.content == "42"
    assert reading.ledger.skipped == {"system prompt": 1}


def test_a_damaged_message_hides_no_other(tmp_path):
    text = SESSION.replace("content: 'Hi: there", "content: *x 'Hi: there")
    reading = read_all(READER, written(tmp_path, text))
    assert "42" in [message.content for message in reading.messages]
    assert reading.ledger.skipped["unreadable line"] == 1


def test_a_cut_session_is_read_as_far_as_it_goes(tmp_path):
    for cut in range(200, len(SESSION), 13):
        assert read_all(READER, written(tmp_path, SESSION[:cut])).messages


@pytest.mark.full
def test_mutants_do_not_fail(tmp_path):
    check_mutants(READER, written(tmp_path), tmp_path / "copy")


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    messages = "".join(f"- role: {role}\n  content: {json.dumps(text)}\n" for role, text in said)
    path = written(tmp_path_factory.getbasetemp(), f"model: m\nmessages:\n{messages}")
    reading = check(READER, path, lambda _: len(said))
    assert [(each.role, each.content) for each in reading.messages] == said
