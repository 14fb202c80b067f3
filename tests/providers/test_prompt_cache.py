"""Requests that a vendor's prompt cache can serve: each begins as the one before it."""

import json
from itertools import pairwise
from typing import Any

from tests.providers.conftest import EVERY_DIALECT
from tests.providers.recorded import codec
from tests.tables import each_row
from tui.domain.journal.message import Message, ToolCall
from tui.domain.journal.records import Summary
from tui.engine.model_requests import project
from tui.providers.protocol import ModelRequest, ToolDefinition

TOOLS = tuple(ToolDefinition(name, "Do it.", {"type": "object"}) for name in ("add", "sub"))
CALL = ToolCall("c1", "add", {"x": [1, "ä"]})


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


@each_row("dialect", EVERY_DIALECT)
def test_each_request_begins_as_the_one_before_it(dialect: str):
    vendor = {"base_url": "https://api.anthropic.com"} if dialect == "anthropic" else {}
    made = codec(dialect, **vendor)
    for one, other in pairwise(made.body(each) for each in requests()):
        (name,) = {"messages", "input", "contents"} & one.keys()
        messages, more = json.dumps(one.pop(name)), json.dumps(other[name])
        assert more.startswith(messages.removesuffix("]"))
        assert len(more) > len(messages)
        assert one == {each: value for each, value in other.items() if each != name}
