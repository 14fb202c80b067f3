"""Sessions of JidoCode."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_mutants, read_all
from tui.domain.journal.message import TokenUsage
from tui.domain.journal.records import Settings
from tui.domain.journal.todo import TodoItem
from tui.importers.jidocode import READER
from tui.importers.protocol import ForeignMessage, ForeignTodos, Places

ID = "550e8400-e29b-41d4-a716-446655440000"


def said(number, role, text, minute):
    return {
        "content": text,
        "id": f"msg-{number}",
        "role": role,
        "timestamp": f"2026-01-11T14:{minute:02}:00.123456Z",
    }


# Keys in the order of its encoder; messages in that of its memory: the newest first.
SAMPLE = {
    "closed_at": "2026-01-11T15:00:00.000000Z",
    "config": {"max_tokens": 4096, "model": "claude-3-5-sonnet", "provider": "anthropic",
               "temperature": 0.7},
    "conversation": [
        said(4, "assistant", "It is done.", 5) | {
            "usage": {"input_tokens": 120, "output_tokens": 30, "total_cost": 0.01}
        },
        said(3, "user", "and the tests?", 3),
        said(2, "assistant", "Renamed \"a\".\nYes.", 2),
        said(1, "user", "Rename a 😀", 1),
        said(0, "system", "You are JidoCode.", 0),
    ],
    "created_at": "2026-01-11T14:00:00.000000Z",
    "id": ID,
    "name": "shop",
    "project_path": "/home/ann/shop",
    "prompt_history": ["and the tests?", "Rename a 😀"],
    "signature": "c2lnbmF0dXJl",
    "todos": [
        {"active_form": "Running tests", "content": "Run tests", "status": "in_progress"},
        {"active_form": "Committing", "content": "Commit", "status": "pending"},
    ],
    "updated_at": "2026-01-11T14:05:00.000000Z",
    "version": 1,
}  # fmt: skip


@pytest.fixture
def path(tmp_path):
    """The sample, where JidoCode keeps it."""
    return written(tmp_path, SAMPLE)


def written(home, session):
    path = home / ".jido_code" / "sessions" / f"{ID}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(session, indent=2, ensure_ascii=False))
    return path


def records(path):
    return len(json.loads(path.read_text())["conversation"])


def contents(reading):
    return [message.content for message in reading.messages]


def test_sessions_are_found_where_jidocode_keeps_them(tmp_path, path):
    path.with_name(f"{ID}.json.tmp").write_text("half")
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == [path]
    assert READER.recognises(path, b"")


def test_a_session_is_read_whole_in_the_order_of_time(path):
    ((heading, items),) = check(READER, path, records).conversations
    assert (heading.source_id, heading.name, heading.project_path) == (ID, "shop", "/home/ann/shop")
    assert heading.model == "claude-3-5-sonnet"
    assert heading.updated_at == "2026-01-11T14:05:00.123Z"
    *messages, listed, settings = items
    assert settings == Settings(temperature=0.7, max_tokens=4096)
    assert [(each.role, each.content) for each in messages] == [
        ("user", "Rename a 😀"),
        ("assistant", 'Renamed "a".\nYes.'),
        ("user", "and the tests?"),
        ("assistant", "It is done."),
    ]
    assert messages[0].timestamp == "2026-01-11T14:01:00.123Z"
    assert messages[-1].usage == TokenUsage(120, 30)
    assert listed == ForeignTodos(
        (
            TodoItem("Run tests", "in_progress", "Running tests"),
            TodoItem("Commit", "pending", "Committing"),
        )
    )


def test_the_system_prompt_is_left_out_and_counted(path):
    assert read_all(READER, path).ledger.skipped == {"system prompt": 1}


def test_messages_of_one_time_keep_their_order(tmp_path):
    newest_first = [said(3, "user", "c", 2), said(2, "user", "b", 1), said(1, "user", "a", 1)]
    path = written(tmp_path, SAMPLE | {"conversation": newest_first})
    assert contents(read_all(READER, path)) == ["a", "b", "c"]
    path = written(tmp_path, SAMPLE | {"conversation": newest_first[::-1]})
    assert contents(read_all(READER, path)) == ["a", "b", "c"]


def test_a_message_without_a_time_stays_where_it_is(tmp_path):
    messages = [said(1, "user", "a", 1), said(2, "user", "b", 2), said(3, "user", "c", 3)]
    messages[1]["timestamp"] = None
    path = written(tmp_path, SAMPLE | {"conversation": messages})
    assert contents(read_all(READER, path)) == ["a", "b", "c"]


def test_a_session_without_signature_is_read_alike(tmp_path, path):
    before = read_all(READER, path)
    plain = {key: value for key, value in SAMPLE.items() if key != "signature"}
    assert read_all(READER, written(tmp_path, plain)).conversations == before.conversations


@pytest.mark.parametrize("project", ["(local)", "shop", None, 7])
def test_what_is_no_path_is_no_project(tmp_path, project):
    path = written(tmp_path, SAMPLE | {"project_path": project})
    assert read_all(READER, path).conversations[0][0].project_path == ""


def test_messages_of_a_damaged_file_are_read(tmp_path, path):
    text = path.read_text()
    path.write_text(text[: text.index("You are JidoCode")])
    reading = read_all(READER, path)
    assert len(reading.messages) == 4
    assert reading.conversations[0][0].source_id == ID
    path.write_text(text.replace('"user"', '"user', 1))
    assert "It is done." in contents(read_all(READER, path))
    assert "Rename a 😀" in contents(read_all(READER, path))


@pytest.mark.full
def test_mutants_do_not_fail(path, tmp_path):
    check_mutants(READER, path, tmp_path)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, spoken):
    messages = [said(n, role, text, n) for n, (role, text) in enumerate(spoken)]
    session = SAMPLE | {"conversation": messages[::-1]}
    reading = check(READER, written(tmp_path_factory.getbasetemp(), session), records)
    found = [each for each in reading.conversations[0][1] if isinstance(each, ForeignMessage)]
    assert [(each.role, each.content) for each in found] == spoken


@pytest.mark.parametrize("value", [True, None, "much", -1, 1e300, [], {}])
def test_parameters_that_cannot_be_set_here_are_left_out(path, value):
    session = {**SAMPLE, "config": {"temperature": value, "max_tokens": value}}
    path.write_text(json.dumps(session))
    ((_, items),) = read_all(READER, path).conversations
    assert not any(isinstance(item, Settings) for item in items)
