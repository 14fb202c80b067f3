"""Lines of Claude Code's files, and the words in them."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from tui.importers import contents
from tui.importers.json_lines import decode, decode_again, object_in, text_in
from tui.importers.protocol import Json

INTERRUPTED = "[Request interrupted by user"
_NO_ANSWER = "No response requested."
_SYNTHETIC = "<synthetic>"
_INJECTED = (
    "<command-name>",
    "<command-message>",
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<system-reminder>",
    "<task-notification>",
    "<ide_opened_file>",
    "<ide_selection>",
    "<ide_diagnostics>",
    "<teammate-message",
    "<agent-message",
    "<cross-session-message",
    "<channel ",
    "<fork-boilerplate>",
    "Caveat: The messages below",
    INTERRUPTED,
)
_CALLS = ("tool_use", "server_tool_use", "mcp_tool_use")


class Line(msgspec.Struct, rename="camel", gc=False):
    """The wanted fields of a line; any may be of another type than it should."""

    type: Any = None
    uuid: Any = None
    parent_uuid: Any = msgspec.UNSET
    logical_parent_uuid: Any = None
    forked_from: Any = None
    timestamp: Any = None
    cwd: Any = None
    version: Any = None
    message: Any = None
    attachment: Any = None
    subtype: Any = None
    is_sidechain: Any = None
    is_meta: Any = None
    is_compact_summary: Any = None
    is_api_error_message: Any = None
    is_aborted_mid_stream: Any = None
    leaf_uuid: Any = None
    explicit: Any = None
    summary: Any = None
    custom_title: Any = None
    agent_name: Any = None
    ai_title: Any = None
    relocated_cwd: Any = None

    @property
    def role(self) -> str:
        """``user`` or ``assistant``; ``""`` of a line that is no message."""
        if self.type == "attachment":
            return "user" if object_in(self.attachment).get("type") == "queued_command" else ""
        role = self.type or object_in(self.message).get("role")
        return role if role in ("user", "assistant") else ""


_DECODER = msgspec.json.Decoder(Line)


def line_of(data: bytes) -> Line | None:
    """Decode a line; ``None`` if it is none."""
    return decode(data, _DECODER)


def line_again(descriptor: int, offset: int, length: int) -> Line:
    """Read a line of an open file again. Raises ``OSError``, ``SourceChanged``."""
    return decode_again(descriptor, offset, length, _DECODER)


def _content(line: Line) -> Iterator[Json]:
    if line.type == "attachment":
        return contents.blocks(object_in(line.attachment).get("prompt"))
    return contents.blocks(object_in(line.message).get("content"))


def texts_in(line: Line) -> list[str]:
    """The texts and placeholders of a line."""
    return [text for block in _content(line) if (text := _text(block))]


def result_text(result: Json) -> str:
    """The text of a tool's result."""
    return contents.joined(_text(block) for block in contents.blocks(result.get("content")))


def _text(block: Json) -> str:
    match block.get("type"):
        case "text":
            return text_in(block.get("text"))
        case "image" | "document" as kind:
            origin = object_in(block.get("source"))
            size = contents.base64_size(origin.get("data"))
            return contents.placeholder(
                kind, text_in(block.get("title")), text_in(origin.get("media_type")), size
            )
        case _:
            return ""


def thinks(line: Line) -> bool:
    """True if a line has thinking, which may be encrypted."""
    return any("thinking" in text_in(block.get("type")) for block in _content(line))


def calls_in(line: Line) -> list[Json]:
    """The tool calls of an answer."""
    return [block for block in _content(line) if block.get("type") in _CALLS]


def results_in(line: Line) -> list[Json]:
    """The results of tools in a message."""
    return [block for block in _content(line) if text_in(block.get("type")).endswith("tool_result")]


def words(line: Line) -> str:
    """The user's own words, without what the program has put beside them."""
    if line.is_meta is True or line.is_compact_summary is True or _is_of_program(line):
        return ""
    return contents.joined(_typed(text) for text in texts_in(line))


def _is_of_program(line: Line) -> bool:
    if line.type != "attachment":
        return False
    queued = object_in(line.attachment)
    origin = object_in(queued.get("origin")).get("kind", "human")
    return queued.get("commandMode", "prompt") != "prompt" or origin not in ("human", "user", "cli")


def _typed(text: str) -> str:
    start = text.lstrip()
    if start.startswith("<bash-input>"):
        return "!" + _element("bash-input", start)
    if start.startswith(("<command-name>", "<command-message>")):
        given = _element("command-args", start)
        return f"{_element('command-name', start)} {given}".strip() if given else ""
    return "" if start.startswith(_INJECTED) else text


def _element(name: str, text: str) -> str:
    found = re.search(f"<{name}>(.*?)</{name}>", text, re.DOTALL)
    return found[1].strip() if found else ""


def says_interrupted(line: Line) -> bool:
    """True for the notice that the user has stopped the answer before."""
    return any(text.lstrip().startswith(INTERRUPTED) for text in texts_in(line))


def is_failure(line: Line) -> bool:
    """True for an error that the program has written as an answer."""
    synthetic = object_in(line.message).get("model") == _SYNTHETIC
    return synthetic or line.is_api_error_message is True


def is_notice(line: Line) -> bool:
    """True for an answer that only fills a gap, and is no error."""
    return is_failure(line) and contents.joined(texts_in(line)).strip() == _NO_ANSWER


def model_of(line: Line) -> str:
    """The model of an answer; ``""`` for what the program wrote itself."""
    model = text_in(object_in(line.message).get("model"))
    return "" if model == _SYNTHETIC else model
