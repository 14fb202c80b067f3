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
from tui.engine.model_requests import project
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


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test's server is at the vendor's address."""
    monkeypatch.setattr("tui.providers.anthropic._VENDOR", "127.0.0.1")


def rest(body: Any) -> list[Any]:
    """A body without its messages."""
    return [each for each in body.items() if each[0] not in {"messages", "input", "contents"}]


def messages_of(body: Any) -> Any:
    return body.get("messages") or body.get("input") or body["contents"]


@pytest.mark.usefixtures("vendor")
async def test_each_request_begins_as_the_one_before_it(model_at: ModelAt):
    for one, other in pairwise(await bodies(model_at, requests())):
        messages, more = json.dumps(messages_of(one)), json.dumps(messages_of(other))
        assert more.startswith(messages.removesuffix("]"))
        assert len(more) > len(messages)
        assert rest(one) == rest(other)


def is_marked_at_the_end_of_tools_and_system_prompt(body: Any) -> bool:
    marks = [each.get("cache_control") for each in (*body["tools"], *body["system"])]
    return [mark and mark["type"] for mark in marks] == [None, "ephemeral", "ephemeral"]


@only_anthropic
@pytest.mark.usefixtures("vendor")
async def test_the_vendor_is_asked_to_cache_all(model_at: ModelAt):
    for body in await bodies(model_at, requests()):
        assert body["cache_control"]["type"] == "ephemeral"
        assert is_marked_at_the_end_of_tools_and_system_prompt(body)
        assert "cache_control" not in json.dumps(body["messages"])


@only_anthropic
async def test_a_gateway_to_the_vendor_is_sent_marks_only(model_at: ModelAt):
    for body in await bodies(model_at, requests(), provider="anthropic"):
        assert "cache_control" not in body
        assert is_marked_at_the_end_of_tools_and_system_prompt(body)
        *earlier, last = body["messages"]
        assert "cache_control" not in json.dumps(earlier)
        assert last["content"][-1]["cache_control"]["type"] == "ephemeral"


async def test_other_servers_are_sent_nothing_of_caches(model_at: ModelAt):
    (body,) = await bodies(model_at, requests()[-1:])
    assert "cache" not in json.dumps(body)
