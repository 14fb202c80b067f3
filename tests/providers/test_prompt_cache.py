"""Requests that a vendor's prompt cache can serve: each begins as the one before it."""

import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from tests.providers.chat_server import ChatServer
from tests.providers.conftest import EVERY_DIALECT, ModelAt, collected, only_anthropic
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Summary
from tui.domain.providers import DialectName
from tui.engine.requests.model_request import project
from tui.providers.protocol import ModelRequest, ToolDefinition

TOOLS = tuple(ToolDefinition(name, "Do it.", {"type": "object"}) for name in ("add", "sub"))
CALL = ToolCall("c1", "add", {"x": [1, "ä"]})


@pytest.fixture(params=EVERY_DIALECT)
def dialect(request: pytest.FixtureRequest) -> DialectName:
    return request.param


def talk() -> list[Message]:
    """A conversation of several turns, with a call."""

    def said(number: int, role: Any, text: str, **more: Any) -> Message:
        return Message(f"m{number}", role, text, "2026-01-11T14:30:23.456Z", **more)

    return [
        said(0, "user", "Before."),
        said(1, "assistant", "Yes."),
        said(2, "user", "Add."),
        said(3, "assistant", "", tool_calls=(CALL,)),
        said(4, "tool", "3", tool_call_id="c1"),
        said(5, "assistant", "It is 3."),
        said(6, "user", "Thanks."),
        said(7, "assistant", "Welcome."),
        said(8, "user", "More."),
    ]


def requests() -> list[ModelRequest]:
    """What is sent for each user's message and each result, as the conversation grows."""
    summary, messages = Summary("They met.", "m1"), talk()
    ends = [3, 5, 7, 9]
    projected = (
        project("Be brief.", summary, messages[:end], 100_000, TOOLS).request for end in ends
    )
    return list(projected)


async def bodies(model_at: ModelAt, requests: Sequence[ModelRequest], **changes: Any) -> list[Any]:
    with ChatServer() as server:
        for request in requests:
            await collected(model_at(server, **changes).stream(request))
        return [each.body for each in server.requests]


async def test_each_request_begins_as_the_one_before_it(model_at: ModelAt):
    sent = await bodies(model_at, requests(), provider="anthropic")
    for one, other in pairwise(sent):
        (name,) = {"messages", "input"} & one.keys()
        messages, more = json.dumps(one.pop(name)), json.dumps(other[name])
        assert more.startswith(messages.removesuffix("]"))
        assert len(more) > len(messages)
        assert list(one.items()) == [each for each in other.items() if each[0] != name]


@only_anthropic
async def test_the_ends_of_tools_system_prompt_and_conversation_are_marked(model_at: ModelAt):
    for body in await bodies(model_at, requests(), provider="anthropic"):
        mark = body["cache_control"]
        assert mark["type"] == "ephemeral"
        assert [each.get("cache_control") for each in body["tools"]] == [None, mark]
        (system,) = body["system"]
        assert system["cache_control"] == mark
        assert "cache_control" not in json.dumps(body["messages"])


async def test_other_servers_are_sent_nothing_of_caches(model_at: ModelAt):
    (body,) = await bodies(model_at, requests()[-1:])
    assert "cache" not in json.dumps(body)
