"""Sessions of PicoClaw, in both of its formats."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.importers.odd_texts import texts
from tests.importers.samples import check, check_junk_lines, check_mutants, lines_in, read_all
from tui.domain.journal.message import ToolCall
from tui.importers.picoclaw import READER
from tui.importers.protocol import ForeignMessage, ForeignSummary, Places

SCOPE = "agent:main:telegram:direct:user123"
CREATED = "2026-03-01T11:00:00.123456789+08:00"
CALL = {"id": "call_1", "type": "function",
        "function": {"name": "read_file", "arguments": '{"path": "/tmp/a"}'}}  # fmt: skip
MESSAGES = [
    {"role": "user", "content": "Read it, \"please\"\n😀"},
    {"role": "assistant", "content": "", "reasoning_content": "Hm.", "tool_calls": [CALL]},
    {"role": "tool", "content": "text\u2028of it", "tool_call_id": "call_1"},
    {"role": "assistant", "content": "", "reasoning_content": "Only a thought."},
    {"role": "assistant", "content": "It says: text."},
    {"role": "user", "content": "thanks"},
]  # fmt: skip
INDEX = {
    "version": 1,
    "scopes": {
        SCOPE: {
            "active_session_key": f"{SCOPE}#2",
            "ordered_sessions": [f"{SCOPE}#2", SCOPE],
            "updated_at": CREATED,
        }
    },
}


def folder(home):
    path = home / ".picoclaw" / "workspace" / "sessions"
    path.mkdir(parents=True, exist_ok=True)
    return path


def file_name(key):
    return key.replace(":", "_").replace("/", "_")


def old(home, key=SCOPE, messages=MESSAGES, **fields):
    """Write a session as one object."""
    path = folder(home) / f"{file_name(key)}.json"
    session = {"key": key, "messages": messages, **fields, "created": CREATED, "updated": CREATED}
    path.write_text(json.dumps(session, indent=2, ensure_ascii=False))
    return path


def new(home, key=SCOPE, messages=MESSAGES, **fields):
    """Write a session as lines and what is beside them."""
    path = folder(home) / f"{file_name(key)}.jsonl"
    path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in messages))
    facts = {"key": key, "summary": "", "skip": 0, "count": len(messages),
             "created_at": CREATED, "updated_at": CREATED} | fields  # fmt: skip
    path.with_name(f"{file_name(key)}.meta.json").write_text(json.dumps(facts, indent=2))
    return path


def test_sessions_are_found_without_their_indexes(tmp_path):
    paths = [old(tmp_path), new(tmp_path, f"{SCOPE}#2")]
    (folder(tmp_path) / "index.json").write_text(json.dumps(INDEX))
    (folder(tmp_path) / "session-1.tmp").write_text("half")
    found = [source.path for source in READER.find(Places(tmp_path, {}))]
    assert sorted(found) == sorted(paths)
    assert all(READER.recognises(path, path.read_bytes()[:4096]) for path in paths)


def test_a_migrated_file_is_read_only_if_its_successor_is_gone(tmp_path):
    path = old(tmp_path)
    path.rename(path.with_name(path.name + ".migrated"))
    (source,) = READER.find(Places(tmp_path, {}))
    assert source.path.name.endswith(".json.migrated")
    assert read_all(READER, source.path).conversations[0][0].source_id == SCOPE
    successor = new(tmp_path)
    assert [source.path for source in READER.find(Places(tmp_path, {}))] == [successor]


def test_its_home_may_be_elsewhere(tmp_path):
    path = old(tmp_path / "other")
    places = Places(tmp_path, {"PICOCLAW_HOME": str(tmp_path / "other" / ".picoclaw")})
    assert [source.path for source in READER.find(places)] == [path]


@pytest.mark.parametrize("write", [old, new])
def test_a_session_is_read_whole(tmp_path, write):
    reading = check(READER, write(tmp_path), lambda _: len(MESSAGES))
    ((heading, (question, call, result, answer, thanks)),) = reading.conversations
    assert heading.source_id == SCOPE
    assert heading.created_at == "2026-03-01T03:00:00.123Z"
    assert question.content == 'Read it, "please"\n😀'
    assert call.tool_calls == (ToolCall("call_1", "read_file", {"path": "/tmp/a"}),)
    assert (result.role, result.content) == ("tool", "text\u2028of it")
    assert result.tool_call_id == "call_1"
    assert (answer.content, thanks.role) == ("It says: text.", "user")
    assert reading.ledger.skipped == {"thinking": 1}


def test_migration_keeps_the_ids(tmp_path):
    before = read_all(READER, old(tmp_path)).messages
    dated = [message | {"created_at": CREATED, "model_name": "glm"} for message in MESSAGES]
    after = read_all(READER, new(tmp_path, messages=dated)).messages
    assert [message.id for message in after] == [message.id for message in before]
    assert after[0].timestamp == "2026-03-01T03:00:00.123Z"
    assert after[0].model == "glm"


def test_scope_number_and_active_session_are_taken_over(tmp_path):
    (folder(tmp_path) / "index.json").write_text(json.dumps(INDEX))
    for key, ordinal, active in ((SCOPE, 1, False), (f"{SCOPE}#2", 2, True)):
        for write in (old, new):
            ((heading, _),) = read_all(READER, write(tmp_path, key)).conversations
            assert (heading.source_id, heading.scope) == (key, SCOPE)
            assert (heading.ordinal, heading.active) == (ordinal, active)


def test_an_opaque_key_has_the_scope_of_its_alias(tmp_path):
    path = new(tmp_path, "sk_v1_0123", aliases=[SCOPE, "agent:main:main"])
    ((heading, _),) = read_all(READER, path).conversations
    assert (heading.source_id, heading.scope, heading.ordinal) == ("sk_v1_0123", SCOPE, 0)


def test_a_summary_stands_for_the_lines_that_are_cut(tmp_path):
    path = new(tmp_path, summary="A file was read.", skip=4)
    ((_, items),) = check(READER, path, lambda _: len(MESSAGES)).conversations
    (place,) = [n for n, item in enumerate(items) if isinstance(item, ForeignSummary)]
    assert items[place] == ForeignSummary("A file was read.", through=items[place - 1].id)
    assert items[place - 1].role == "tool"
    assert items[place + 1].content == "It says: text."


def test_damaged_lines_count_among_those_that_are_cut(tmp_path):
    path = new(tmp_path, summary="A file was read.", skip=3)
    lines = path.read_text().split("\n")
    path.write_text("\n".join([lines[0], "", "{damaged", *lines[1:]]))
    ((_, items),) = read_all(READER, path).conversations
    (place,) = [n for n, item in enumerate(items) if isinstance(item, ForeignSummary)]
    assert items[place + 1].role == "tool"


@pytest.mark.parametrize("write", [old, new])
def test_a_summary_of_messages_that_are_gone_goes_before_the_rest(tmp_path, write):
    path = write(tmp_path, summary="All before.")
    ((_, items),) = check(READER, path, lambda _: len(MESSAGES)).conversations
    assert "All before." in items[0].content
    assert items[1] == ForeignSummary("All before.", through=items[0].id)


def test_files_stand_in_the_text(tmp_path):
    message = {"role": "user", "content": "Look", "media": ["data:image/png;base64,aGVsbG8="]}
    document = {"type": "document", "filename": "a.pdf", "content_type": "application/pdf"}
    messages = [message, {"role": "user", "content": "", "attachments": [document]}]
    reading = read_all(READER, new(tmp_path, messages=messages))
    assert [each.content for each in reading.messages] == [
        "Look\n\n[image: image/png, 5 bytes]",
        "[document: a.pdf, application/pdf]",
    ]


def test_lines_without_what_is_beside_them_are_read(tmp_path):
    path = new(tmp_path)
    path.with_name(f"{path.stem}.meta.json").unlink()
    ((heading, items),) = check(READER, path).conversations
    assert heading.source_id == path.stem
    assert len(items) == 5


def test_damage_hides_nothing_else(tmp_path):
    path = new(tmp_path)
    path.with_name(f"{path.stem}.meta.json").write_text("{")
    check_junk_lines(READER, path, tmp_path)
    path = old(tmp_path)
    path.write_text(path.read_text().replace('"thanks"', '"thanks'))
    assert len(read_all(READER, path).messages) == 4


@pytest.mark.full
@pytest.mark.parametrize("write", [old, new])
def test_mutants_do_not_fail(tmp_path, write):
    path = write(tmp_path, summary="All before.", skip=2)
    (path.parent / "index.json").write_text(json.dumps(INDEX))
    check_mutants(READER, path, tmp_path / "copy", root=path.parent)


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), texts), max_size=6))
def test_any_conversation_comes_back(tmp_path_factory, said):
    messages = [{"role": role, "content": text} for role, text in said]
    home = tmp_path_factory.getbasetemp()
    for path, records in (
        (new(home, messages=messages), lines_in),
        (old(home, messages=messages), lambda _: len(said)),
    ):
        ((_, items),) = check(READER, path, records).conversations
        assert all(isinstance(item, ForeignMessage) for item in items)
        assert [(item.role, item.content) for item in items] == said


def test_a_sub_agent_of_claude_code_is_left_to_its_reader(tmp_path):
    path = tmp_path / "agent-1.jsonl"
    path.write_text(json.dumps({"parentUuid": None, "isSidechain": True, "type": "user"}))
    path.with_name("agent-1.meta.json").write_text("{}")
    assert not READER.recognises(path, path.read_bytes())
