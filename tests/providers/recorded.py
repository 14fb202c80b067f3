"""What servers were heard to send, and what they are sent: ``samples/*.txt``.

A record of an answer is ``# name``, the very bytes, and ``= result``; bytes that are no text stand
as ``%0D``. One of a request is ``# name``, what is asked, and a line ``dialect body`` for each.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import msgspec

from tests.attached import PNG, picture
from tests.providers.conftest import a_choice, says
from tui.domain.journal.message import ToolCall
from tui.domain.models import ModelParameters
from tui.providers.chat_model import codec_of
from tui.providers.codec import Codec
from tui.providers.model_table import adaptation
from tui.providers.protocol import ModelRequest, ToolDefinition

CODECS = ("openai", "mistral", "responses", "anthropic", "google", "bedrock")
SAMPLES = Path(__file__).with_name("samples")


def samples(name: str) -> Iterator[tuple[str, bytes, str]]:
    """The name, the bytes and the result of each record in a file."""
    whole = SAMPLES.joinpath(f"{name}.txt").read_bytes()
    for record in whole.removesuffix(b"\n").split(b"\n# ")[1:]:
        named, _, rest = record.partition(b"\n")
        body, _, result = rest.rpartition(b"\n= ")
        yield unquote(named.decode()), unquote_to_bytes(body), unquote(result.decode())


def bodies() -> Iterator[tuple[str, str, Any, Any]]:
    """The name and the dialect of each body in ``bodies.txt``, what is asked, and the body."""
    for record in SAMPLES.joinpath("bodies.txt").read_text("utf-8")[2:].split("\n# "):
        name, asked, *lines = record.removesuffix("\n").split("\n")
        for line in lines:
            dialect, _, body = line.partition(" ")
            yield name, dialect, json.loads(asked), json.loads(body)


def codec(dialect: Any, model: str = "m", **changes: Any) -> Codec:
    fields = {"base_url": "http://127.0.0.1:1", "dialect": dialect, "model": model}
    return codec_of(a_choice(**fields | changes))


def body_of(dialect: str, asked: dict[str, Any]) -> Any:
    """The body of a request, its pictures as text, with the notice about it."""
    calls = {"tool_calls": lambda each: tuple(ToolCall(*call) for call in each)}
    messages = [
        says(role, content, **{name: calls.get(name, str)(value) for name, value in more.items()})
        for role, content, more in ((*each, {})[:3] for each in asked["messages"])
    ]
    wanted = ModelParameters(**asked.get("parameters", {}))
    made = codec(dialect, asked.get("model", "m"), **asked.get("choice", {}))
    sent = made.supported(wanted)
    request = ModelRequest(
        asked.get("system", ""),
        tuple(messages),
        tuple(ToolDefinition(*each) for each in asked.get("tools", ())),
        sent,
        images={picture().sha256: PNG} if "pictures" in asked else {},
    )
    told = adaptation(made.choice.name, wanted, sent, made.supported)
    return msgspec.to_builtins(made.body(request)) | ({"notice": told} if told else {})
