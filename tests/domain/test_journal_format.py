"""Journals of version 1 are read for ever, and written as they were."""

import json

import pytest

from tests.domain.journal_lines import BLOCK_LINES, FORK_LINES, LINES, line_of
from tui.domain.journal import records
from tui.domain.journal.blocks import FileBlock, ImageBlock
from tui.domain.journal.message import Message, TokenUsage, ToolCall
from tui.domain.journal.records import (
    Closed,
    Import,
    Offsets,
    Opened,
    Partial,
    Reset,
    Restored,
    SessionHeader,
    Settings,
    State,
    Summary,
    Titled,
    Todos,
    decode,
)
from tui.domain.journal.todo import TodoItem

# What the lines of the fixtures have meant since version 1. Lines may be added, never changed:
# somebody's journals are made of them.
MEANINGS = [
    SessionHeader(
        version=1,
        id="session-20260111-153022-847291",
        created_at="2026-01-11T14:30:22.123Z",
        scope="project:/home/u/shop",
        ordinal=2,
        project_path="/home/u/shop",
        model="anthropic:claude-sonnet-4-5",
    ),
    Message(
        id="20260111T143023456-a1b2c3d4",
        role="user",
        content="Fix the bug in auth.py",
        timestamp="2026-01-11T14:30:23.456Z",
    ),
    Message(
        id="20260111T143027001-c3d4e5f6",
        role="assistant",
        content="Reading it first.",
        timestamp="2026-01-11T14:30:27.001Z",
        tool_calls=(ToolCall(id="tc_1", name="read_file", arguments={"path": "auth.py"}),),
    ),
    Message(
        id="20260111T143027350-e5f60718",
        role="tool",
        content="def login(): …",
        timestamp="2026-01-11T14:30:27.350Z",
        tool_call_id="tc_1",
    ),
    State(
        name="Auth bug",
        prompt_count=1,
        message_count=3,
        total_count=3,
        updated_at="2026-01-11T14:30:28.000Z",
        offsets=Offsets(),
    ),
    Closed(at="2026-01-11T14:31:00.000Z"),
    Restored(at="2026-02-20T08:00:00.000Z"),
    Opened(at="2026-02-20T08:00:01.000Z", resumed=True),
    Message(
        id="m4",
        role="user",
        content="会話 \x85 \u2028 \ud800 😀",
        timestamp="2026-02-20T08:00:02.000Z",
        context_snapshot={"files": ["auth.py"]},
        metadata={"via": "paste"},
    ),
    Message(
        id="m5",
        role="assistant",
        content="It",
        timestamp="2026-02-20T08:00:03.000Z",
        status="failed",
        error="connection lost",
        model="openai:gpt-5",
    ),
    Partial(
        message_id="m6",
        at=0,
        text="It is ",
        role="assistant",
        timestamp="2026-02-20T08:00:09.000Z",
        model="openai:gpt-5",
        replaces="m5",
    ),
    Partial(message_id="m6", at=6, text="done"),
    Message(
        id="m6",
        role="assistant",
        content=[{"type": "text", "text": "It is done."}, {"type": "image", "data": None}],
        timestamp="2026-02-20T08:00:09.000Z",
        model="openai:gpt-5",
        replaces="m5",
    ),
    Message(
        id="m7",
        role="assistant",
        content=None,
        timestamp="2026-02-20T08:00:10.000Z",
        tool_calls=(ToolCall(id="tc_2", name="now", arguments=None),),
        status="interrupted",
    ),
    Summary(text="A bug in auth.py was fixed.", through="m7"),
    Todos(
        items=(
            TodoItem(content="write", status="completed", active_form="writing"),
            TodoItem(content="test", status="in_progress", active_form="testing"),
            TodoItem(content="send", status="pending", active_form="sending"),
        )
    ),
    State(
        name="Auth bug",
        model="openai:gpt-5",
        prompt_count=2,
        message_count=6,
        total_count=7,
        updated_at="2026-02-20T08:00:11.000Z",
        offsets=Offsets(summary=2014, todos=2085),
    ),
    Reset(at="2026-02-20T08:00:12.000Z"),
    Opened(at="2026-02-20T08:00:13.000Z"),
    Partial(
        message_id="m8",
        at=0,
        text="Cut ",
        role="assistant",
        timestamp="2026-02-20T08:00:14.000Z",
        model="openai:gpt-5",
    ),
    State(
        name="",
        model="openai:gpt-5",
        prompt_count=2,
        message_count=0,
        total_count=7,
        updated_at="2026-02-20T08:00:15.000Z",
        offsets=Offsets(todos=2085, reset=2494),
    ),
    Settings(
        system_prompt="Be brief.",
        temperature=0.2,
        max_tokens=4000,
        effort="high",
        tools_off=("write_todos",),
        pinned=True,
    ),
    State(
        name="",
        model="openai:gpt-5",
        prompt_count=2,
        message_count=0,
        total_count=7,
        updated_at="2026-02-20T08:00:16.000Z",
        offsets=Offsets(todos=2085, reset=2494, settings=2911),
    ),
    Message(
        id="m9",
        role="user",
        content="Again.",
        timestamp="2026-02-20T08:00:17.000Z",
        after="",
        folded=((0, 5),),
    ),
    Partial(
        message_id="m10",
        at=0,
        text="Yes",
        role="assistant",
        timestamp="2026-02-20T08:00:18.000Z",
        after="m9",
        after_at=3263,
    ),
    Message(
        id="m10",
        role="assistant",
        content="Yes.",
        timestamp="2026-02-20T08:00:18.000Z",
        after="m9",
        after_at=3263,
    ),
]
FORK_MEANINGS = [
    SessionHeader(
        version=1,
        id="session-20260221-090000-000001",
        created_at="2026-02-21T08:00:00.000Z",
        scope="notes",
        ordinal=1,
        project_path="/home/u",
        model="offline:guide",
        forked_from="session-20260111-153022-847291",
        imported_from="rescue.jsonl",
        metadata={"imported": True},
    ),
    Opened(at="2026-02-21T08:00:00.500Z"),
    Message(
        id="f1",
        role="assistant",
        content="",
        timestamp="2026-02-21T08:00:01.000Z",
        status="truncated",
        metadata={},
    ),
    Message(
        id="f2",
        role="assistant",
        content="Counted.",
        timestamp="2026-02-21T08:00:02.000Z",
        model="openai:gpt-5",
        usage=TokenUsage(1200, 30, cached_tokens=1024, cache_write_tokens=100),
    ),
    Summary(text="They met.", through="f2", model="openai:gpt-5", usage=TokenUsage(1300, 40)),
    Import(
        at="2026-11-22T21:00:00.000Z",
        program="claude-code",
        source_id="0a000000-0000-4000-8000-000000000001",
        path="/home/u/.claude/projects/-home-u-shop/0a000000-0000-4000-8000-000000000001.jsonl",
        format_version="2.1.209",
        size=4096,
        read=12,
        skipped={"thinking": 3},
        prompts_only=True,
    ),
    Titled(
        text="How to count",
        at="2026-11-26T21:00:00.000Z",
        model="openai:gpt-5",
        usage=TokenUsage(120, 4),
    ),
]


@pytest.mark.parametrize(
    ("line", "meaning"),
    list(zip(LINES + FORK_LINES, MEANINGS + FORK_MEANINGS, strict=True)),
    ids=lambda each: type(each).__name__ if not isinstance(each, bytes) else "line",
)
def test_a_line_of_version_1_means_what_it_meant_and_is_written_as_it_was(line, meaning):
    assert decode(line) == meaning
    assert _without_null_offsets(line_of(meaning)) == _without_null_offsets(line)


def _without_null_offsets(line):
    """A line; of a ``state``, in which older programs left out what there is not, its fields."""
    if not line.startswith(b'{"type":"state"'):
        return line
    fields = json.loads(line)
    offsets = {key: place for key, place in fields["offsets"].items() if place is not None}
    return {**fields, "offsets": offsets}


def test_the_fixtures_have_every_kind_of_record_with_every_field():
    known = {
        (kind, field) for kind in records._KINDS for field in records._KINDS[kind].__struct_fields__
    }
    found = {
        (value["type"], field) for value in map(json.loads, LINES + FORK_LINES) for field in value
    }
    assert known == {(kind, field) for kind, field in found if field != "type"}


EMPTY_SHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
BLOCKS = (
    FileBlock(path="auth.py", text="def login():\n    …\n", size=21),
    FileBlock(path="src/", text="auth.py\n", size=2, cut=True, folder=True),
    ImageBlock(name="photo.png", media_type="image/png", sha256=EMPTY_SHA256, size=120000),
)


def test_the_blocks_of_a_message_mean_what_they_meant_and_are_written_as_they_were():
    message = decode(BLOCK_LINES[1])
    assert message.attachments == BLOCKS
    assert message.typed_text == "See @auth.py, @src/ and @photo.png"
    assert [line_of(decode(line)) for line in BLOCK_LINES] == BLOCK_LINES


def test_a_block_of_another_form_is_neither_a_file_nor_a_picture_and_is_kept():
    message = decode(BLOCK_LINES[2])
    assert message.attachments == ()
    assert message.text == "text\n[audio]\n[image]\n[file]"
    assert line_of(message) == BLOCK_LINES[2]
