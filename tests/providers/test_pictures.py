"""Pictures in the words of each dialect."""

from base64 import b64encode
from typing import Any

import pytest
from msgspec.structs import replace

from tests.attached import NOTES, PNG, picture, showing
from tests.providers.conftest import EVERY_DIALECT, ModelAt, asks, says, sent
from tui.domain.journal.message import ToolCall
from tui.providers.protocol import ModelRequest

every_dialect = pytest.mark.parametrize("dialect", EVERY_DIALECT, indirect=True)

DATA = b64encode(PNG).decode()
URI = f"data:image/png;base64,{DATA}"
PHOTO = picture()
IMAGES = {PHOTO.sha256: PNG}

PARTS: dict[str, list[Any]] = {
    "openai": [
        {"type": "text", "text": "See"},
        {"type": "image_url", "image_url": {"url": URI}},
        {"type": "text", "text": "there"},
    ],
    "responses": [
        {"type": "input_text", "text": "See"},
        {"type": "input_image", "image_url": URI, "detail": "auto"},
        {"type": "input_text", "text": "there"},
    ],
    "anthropic": [
        {"type": "text", "text": "See"},
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": DATA},
        },
        {"type": "text", "text": "there"},
    ],
    "google": [
        {"text": "See"},
        {"inlineData": {"data": DATA, "mimeType": "image/png"}},
        {"text": "there"},
    ],
}

PARTS["mistral"] = PARTS["openai"]


def with_images(request: ModelRequest) -> ModelRequest:
    return replace(request, images=IMAGES)


async def contents(model_at: ModelAt, request: ModelRequest) -> list[Any]:
    """The contents of the messages that the server got."""
    body = (await sent(model_at, request)).body
    messages = body.get("messages") or body.get("input") or body["contents"]
    return [message.get("content", message.get("parts")) for message in messages]


def words(content: Any) -> str:
    """The text of a content that has nothing else."""
    if isinstance(content, str):
        return content
    (part,) = content
    return part["text"]


@every_dialect
async def test_a_picture_is_sent_in_its_place(model_at: ModelAt, dialect: str):
    content = [*showing("See", PHOTO), {"type": "text", "text": "there"}]
    (content,) = await contents(model_at, with_images(asks(content)))
    assert content == PARTS[dialect]


@every_dialect
async def test_a_picture_that_is_missing_is_sent_as_its_label(model_at: ModelAt):
    (content,) = await contents(model_at, asks(showing("See", PHOTO, NOTES)))
    assert words(content) == f"See\n{PHOTO.label}\n{NOTES.fenced}"


@every_dialect
async def test_a_blank_text_beside_a_picture_is_not_sent(model_at: ModelAt, dialect: str):
    (content,) = await contents(model_at, with_images(asks(showing(" ", PHOTO))))
    assert content == PARTS[dialect][1:2]


async def test_earlier_pictures_stay_where_calls_become_text_and_neighbours_are_joined(
    model_at: ModelAt,
):
    called = says("assistant", "", tool_calls=(ToolCall("c", "f", {}),))
    result = says("tool", "Done.", tool_call_id="c")
    after = says("user", showing("And", PHOTO))
    request = asks(showing("See", PHOTO), called, result, after, system="Be brief.")
    plain = with_images(request).without_tools().without_system_prompt()
    first, _, last = await contents(model_at, plain)
    assert first[0]["text"] == "Be brief.\n\nSee"
    assert first[1]["type"].startswith("image")
    assert last[0]["text"] == "Result of f:\nDone.\n\nAnd"
    assert last[1]["type"].startswith("image")
