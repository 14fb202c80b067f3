"""Lines of Claude Code's files, and the words in them."""

import re
from typing import Any, cast

import msgspec

from tui.importers import contents
from tui.importers.blocks import CALL, RESULT, Blocks
from tui.importers.json_lines import decode, object_in, text_in
from tui.importers.json_paths import text_at, value_at
from tui.importers.protocol import Json, Ledger

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


DECODER = msgspec.json.Decoder(Line)


def line_of(data: bytes) -> Line | None:
    """Decode a line; ``None`` if it is none."""
    return decode(data, DECODER)


class _ClaudeBlocks(Blocks):
    def mark(self, name: str, block: Json) -> str:
        size = contents.base64_size(value_at(block, "source.data"))
        return contents.placeholder(
            name, text_at(block, "title"), text_at(block, "source.media_type"), size
        )


BLOCKS = _ClaudeBlocks()


def content_of(line: Line) -> Any:
    """The text or the blocks of a line."""
    if line.type == "attachment":
        return object_in(line.attachment).get("prompt")
    return object_in(line.message).get("content")


def texts_in(line: Line) -> list[str]:
    """The texts and placeholders of a line."""
    content = content_of(line)
    if isinstance(content, str):
        return [content] if content else []
    ledger = Ledger()
    return [
        text
        for block in contents.blocks(content)
        if (words := BLOCKS.words(block, ledger)) and (text := str(words))
    ]


def result_text(result: Json) -> str:
    """The text of a tool's result."""
    return BLOCKS.whole_text(result.get("content"), Ledger())


def thinks(line: Line) -> bool:
    """True if a line has thinking, which may be encrypted."""
    return BLOCKS.thinks(content_of(line))


def calls_in(line: Line) -> list[Json]:
    """The tool calls of an answer."""
    return _of_kind(CALL, line)


def results_in(line: Line) -> list[Json]:
    """The results of tools in a message."""
    return _of_kind(RESULT, line)


def _of_kind(kind: str, line: Line) -> list[Json]:
    content = content_of(line)
    if not isinstance(content, list):
        return []
    found = contents.blocks(cast("Any", content))
    return [each for each in found if BLOCKS.kind_of(text_in(each.get("type"))) == kind]


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
