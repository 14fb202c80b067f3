"""Servers and models that take no tools, no system prompt, or no pictures."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.attached import numbered, showing
from tests.providers.chat_server import ChatServer, Exchange, answers, refuses
from tests.providers.conftest import ModelAt, asks, collected, only_openai, says, text_of
from tests.samples import rows
from tests.tables import each_row
from tui.domain.journal.message import ToolCall
from tui.errors import KeyRefused, ModelRefused, ModelUnavailable
from tui.providers.chat_model import ChatModel
from tui.providers.protocol import ModelRequest, RequestAdapted, ToolDefinition

TOOL = ToolDefinition("look_up", "Looks up.", {"type": "object", "properties": {}})
CALLED = says("assistant", "Let me see.", tool_calls=(ToolCall("c1", "look_up", {"a": 1}),))
FOUND = says("tool", "It is blue.", tool_call_id="c1")
REQUEST = replace(asks("What is it?", CALLED, FOUND), tools=(TOOL,))


def takes_no_tools(exchange: Exchange) -> None:
    """Refuses tools, also those of earlier turns."""
    body = exchange.request.body
    blocks = [each for message in body["messages"] for each in message["content"]]
    has_results = any(isinstance(block, dict) and block["type"] != "text" for block in blocks)
    roles = [message["role"] for message in body["messages"]]
    if "tools" in body or has_results or "tool" in roles:
        refuses(400, "gemma3 does not support tools")(exchange)
    else:
        answers("Blue.")(exchange)


async def notices_and_text(model: ChatModel, request: ModelRequest) -> tuple[list[str], str]:
    events = await collected(model.stream(request))
    return [e.notice for e in events if isinstance(e, RequestAdapted)], text_of(events)


@each_row("status, said", rows(__file__, "no_tools"))
async def test_a_model_that_refuses_tools_is_asked_without_them_from_then_on(
    model_at: ModelAt, status: int, said: str
):
    with ChatServer(refuses(status, said), takes_no_tools) as server:
        model = model_at(server, retries=0)
        for _ in range(2):
            (notice,), text = await notices_and_text(model, REQUEST)
            assert text == "Blue."
            assert notice == (
                "local:test-model does not take tools: asked without them. To switch them off for"
                ' it, add tools = false to [models."local:test-model"] in config.toml.'
            )
        assert ["tools" in each.body for each in server.requests] == [True, False, False]


def named(name: str) -> ToolDefinition:
    return replace(TOOL, name=name)


OTHERS = replace(REQUEST, tools=(named("s__a"), named("s__a_b"), TOOL, named("s__c")))


@each_row("said, left_out", rows(__file__, "refused_tools"))
async def test_a_tool_that_a_refusal_names_is_left_out_and_the_others_stay(
    model_at: ModelAt, said: str, left_out: str
):
    with ChatServer(refuses(400, said), answers("Blue.")) as server:
        model = model_at(server, retries=0)
        (notice,), _ = await notices_and_text(model, OTHERS)
        await collected(model.stream(OTHERS))
        offered = [names_in(each.body) for each in server.requests]
    every = [tool.name for tool in OTHERS.tools]
    others = [name for name in every if name != left_out]
    assert offered == [every, others, others]
    assert notice.startswith(
        f"local:test-model did not take the tool {left_out}: asked without it. It says: "
    )


def names_in(body: dict[str, Any]) -> list[str]:
    """The tools that are offered, in any dialect."""
    return [each.get("function", each)["name"] for each in body.get("tools", [])]


async def test_a_schema_that_is_refused_without_a_name_is_not_called_a_lack_of_tools(
    model_at: ModelAt,
):
    refusal = refuses(400, "JSON schema conversion failed: unrecognized schema")
    with ChatServer(refusal, answers("Blue.")) as server:
        (notice,), text = await notices_and_text(model_at(server, retries=0), OTHERS)
    assert text == "Blue."
    assert notice.startswith(
        "local:test-model did not take one of the tools: asked without s__a and 3 more."
    )


async def test_a_refused_tool_that_has_changed_is_offered_again(model_at: ModelAt):
    refusal = refuses(400, "Invalid schema for function 'look_up'")
    with ChatServer(refusal, answers("Blue.")) as server:
        model = model_at(server, retries=0)
        await collected(model.stream(REQUEST))
        changed = replace(TOOL, parameters={"type": "object", "properties": {"a": {}}})
        await collected(model.stream(replace(REQUEST, tools=(changed,))))
        assert [names_in(each.body) for each in server.requests] == [["look_up"], [], ["look_up"]]


@only_openai
@each_row(
    "status, said",
    [
        (500, "System role not supported"),
        (400, "Conversation roles must alternate user/assistant/user/assistant/..."),
        (400, "Developer instruction is not enabled for models/gemma-3-27b-it"),
    ],
)
async def test_a_model_that_refuses_a_system_prompt_gets_it_with_the_first_message(
    model_at: ModelAt, status: int, said: str
):
    request = asks("Hello?", says("assistant", "Hi."), says("user", "Well?"), system="Be brief.")
    with ChatServer(refuses(status, said), answers("Fine.")) as server:
        (notice,), text = await notices_and_text(model_at(server, retries=0), request)
        assert server.requests[1].body["messages"] == [
            {"role": "user", "content": "Be brief.\n\nHello?"},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Well?"},
        ]
    assert text == "Fine."
    assert notice == (
        "local:test-model does not take a system prompt: sent it with the first message."
    )


@only_openai
async def test_a_model_may_refuse_both(model_at: ModelAt):
    refusals = (refuses(400, "tools are not supported"), refuses(500, "System role not supported"))
    request = replace(REQUEST, system_prompt="Be brief.")
    with ChatServer(*refusals, answers("Fine.")) as server:
        notices, text = await notices_and_text(model_at(server, retries=0), request)
        assert "tools" not in server.requests[2].body
        assert server.requests[2].body["messages"][0]["role"] == "user"
    assert (len(set(notices)), text) == (2, "Fine.")


FIRST, SECOND = numbered(1), numbered(2)


def looks(*messages: Any) -> ModelRequest:
    images = {FIRST.sha256: b"1", SECOND.sha256: b"2"}
    return replace(asks(showing("See", FIRST), *messages), images=images)


def pictures_in(body: dict[str, Any]) -> int:
    contents = [message["content"] for message in body["messages"]]
    parts = [part for content in contents if not isinstance(content, str) for part in content]
    return sum(part["type"] != "text" for part in parts)


@each_row("status, said", rows(__file__, "no_pictures"))
async def test_a_model_that_refuses_a_picture_is_sent_its_name(
    model_at: ModelAt, status: int, said: str
):
    with ChatServer(refuses(status, said), answers("Fine.")) as server:
        (notice,), text = await notices_and_text(model_at(server, retries=0), looks())
        assert [pictures_in(each.body) for each in server.requests] == [1, 0]
        assert FIRST.label in str(server.requests[1].body)
    assert text == "Fine."
    told = "local:test-model did not take 1.png: only its name is sent. It says: "
    assert notice == told + said


@each_row(
    "status, said",
    [
        (400, "At most 1 image(s) may be provided in one request."),
        (500, "vision model only supports a single image per message"),
        (413, "<html><title>413 Request Entity Too Large</title>"),
        (400, "Request payload size exceeds the limit: 20971520 bytes."),
    ],
)
async def test_of_too_many_pictures_those_of_the_last_question_are_sent(
    model_at: ModelAt, status: int, said: str
):
    request = looks(says("assistant", "Yes."), says("user", showing("And", SECOND)))
    with ChatServer(refuses(status, said), answers("Fine.")) as server:
        (notice,), text = await notices_and_text(model_at(server, retries=0), request)
        assert [pictures_in(each.body) for each in server.requests] == [2, 1]
        assert FIRST.label in str(server.requests[1].body)
    assert text == "Fine."
    assert "did not take 1.png" in notice


async def test_if_they_are_refused_too_all_are_names(model_at: ModelAt):
    request = looks(says("assistant", "Yes."), says("user", showing("And", SECOND)))
    too_many = refuses(400, "Too many images.")
    with ChatServer(too_many, too_many, answers("Fine.")) as server:
        notices, text = await notices_and_text(model_at(server, retries=0), request)
        assert [pictures_in(each.body) for each in server.requests] == [2, 1, 0]
    assert (len(set(notices)), text) == (2, "Fine.")


async def test_a_refused_picture_is_not_sent_again_and_another_one_is(model_at: ModelAt):
    with ChatServer(refuses(400, "Could not process image"), answers("Fine.")) as server:
        model = model_at(server, retries=0)
        await collected(model.stream(looks()))
        later = looks(says("assistant", "Fine."), says("user", showing("And", SECOND)))
        await collected(model.stream(later))
        assert [pictures_in(each.body) for each in server.requests] == [1, 0, 1]


async def test_a_short_name_of_a_model_hides_no_words_of_the_server(model_at: ModelAt):
    with ChatServer(refuses(400, "m does not take images"), answers("Fine.")) as server:
        events = await collected(model_at(server, model="m").stream(looks()))
    assert text_of(events) == "Fine."


INVALID = "tool call validation failed: parameters for tool look_up did not match schema"
PATTERN = "messages.2.content.0.tool_use.name: String should match pattern"


@each_row(
    "name, request, status, said, kind",
    [
        ("m", REQUEST, 400, INVALID, ModelRefused),
        ("m", REQUEST, 400, PATTERN, ModelRefused),
        ("m", REQUEST, 400, "temperature is not supported", ModelRefused),
        ("m", REQUEST, 401, "tools are not supported for this key", KeyRefused),
        ("m", asks(), 400, "gemma3 does not support tools", ModelRefused),
        ("some-vision", looks(), 404, "model 'some-vision' not found", ModelUnavailable),
        ("m", asks(showing("See", FIRST)), 400, "Could not process image", ModelRefused),
    ],
)
async def test_another_refusal_is_an_error(
    model_at: ModelAt, name: str, request: ModelRequest, status: int, said: str, kind: Any
):
    with ChatServer(refuses(status, said)) as server:
        with pytest.raises(kind):
            await collected(model_at(server, model=name, retries=0).stream(request))
        assert len(server.requests) == 1
