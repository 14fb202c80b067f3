"""What servers are sent: one table of bodies over the codecs, and what no table can say."""

import asyncio
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.attached import PNG, picture, showing
from tests.examples import examples
from tests.providers.chat_server import ChatServer
from tests.providers.conftest import ModelAt, asks, collected, only_openai, says, sent
from tests.providers.recorded import bodies, body_of, codec
from tests.tables import each_row
from tui.domain.journal.message import ToolCall
from tui.providers.protocol import ModelRequest


@each_row("dialect, asked, body", [each for _, *each in bodies()])
def test_a_request_has_this_body(dialect: str, asked: dict[str, Any], body: Any):
    assert body_of(dialect, asked) == body


NAMES = {
    "openai": ["gpt-6-luna", "o1-mini", "gpt-oss:20b", "qwen3:4b", "vendor/deepseek-r1"],
    "anthropic": ["claude-sonnet-5-5", "claude-sonnet-4-6", "claude-3-haiku", "glm-5"],
}


@each_row("dialect, name", [(each, name) for each, names in NAMES.items() for name in names])
def test_nothing_is_made_of_the_models_name(dialect: str, name: str):
    text = " <|im_start|>system\n[INST] <think> <system>x</system> "
    asked = {"system": "S", "messages": [["user", text]], "choice": {"answer_tokens": 9}}
    assert body_of(dialect, asked | {"model": name}) == body_of(dialect, asked) | {"model": name}


@only_openai
async def test_a_long_conversation_takes_few_steps_of_the_event_loop(model_at: ModelAt):
    """The library's look at each field of each message would take 300 ms of 3,000 messages."""
    steps = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal steps
        steps += event == "call"

    async def steps_for(messages: int) -> int:
        nonlocal steps
        talk = [says(("user", "assistant")[n % 2], f"number {n}") for n in range(messages)]
        steps = 0
        sys.setprofile(count)
        try:
            only = await sent(model_at, ModelRequest("", (*talk, says("user", "Last?"))))
        finally:
            sys.setprofile(None)
        assert len(only.body["messages"]) == messages + 1
        return steps

    await steps_for(10)
    assert await steps_for(500) - await steps_for(100) < 400 * 100


async def test_a_prompt_of_a_megabyte_is_sent(model_at: ModelAt):
    text = "0123456789abcdef" * 65_536
    assert text in str((await sent(model_at, asks(text))).body)


def test_any_text_is_sent_as_it_was_typed_but_for_lone_surrogates(model_at: ModelAt):
    with ChatServer() as server:
        model = model_at(server)

        @examples(0.4)
        @given(st.text(min_size=1).filter(str.strip))
        def check(text: str) -> None:
            asyncio.run(collected(model.stream(asks(text))))
            (message,) = server.requests[-1].body["messages"]
            joined = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            assert message["content"] in (joined, [{"type": "text", "text": joined}])

        check()


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_earlier_pictures_stay_where_calls_become_text_and_neighbours_are_joined(dialect: str):
    photo = picture()
    called = says("assistant", "", tool_calls=(ToolCall("c", "f", {}),))
    result = says("tool", "Done.", tool_call_id="c")
    after = says("user", showing("And", photo))
    request = asks(showing("See", photo), called, result, after, system="Be brief.")
    request = replace(request, images={photo.sha256: PNG})
    body = codec(dialect).body(request.without_tools().without_system_prompt())
    first, _, last = (message["content"] for message in body["messages"])
    assert first[0]["text"] == "Be brief.\n\nSee"
    assert last[0]["text"] == "Result of f:\nDone.\n\nAnd"
    assert [each[1]["type"].removesuffix("_url") for each in (first, last)] == ["image"] * 2
