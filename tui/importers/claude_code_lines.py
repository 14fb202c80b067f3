"""Lines of Claude Code's files, and the words in them."""

import re
from typing import Any, NamedTuple

import msgspec

from tui.importers import contents
from tui.importers.json_lines import object_in, text_in
from tui.importers.json_paths import text_at, value_at
from tui.importers.message_blocks import Blocks
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


class _ClaudeBlocks(Blocks):
    def mark(self, name: str, block: Json) -> str:
        size = contents.base64_size(value_at(block, "source.data"))
        return contents.placeholder(
            name, text_at(block, "title"), text_at(block, "source.media_type"), size
        )


_BLOCKS = _ClaudeBlocks()


class Parts(NamedTuple):
    """The content of a line, by what its blocks are."""

    texts: list[str]
    """The words and placeholders."""
    calls: list[Json]
    results: list[Json]
    thinks: bool

    @property
    def text(self) -> str:
        return contents.joined(self.texts)


def parts_of(line: Line, ledger: Ledger) -> Parts:
    """Tell the blocks of a line apart; unknown ones are counted, those of results, too."""
    holder, name = (
        (line.message, "content") if line.type != "attachment" else (line.attachment, "prompt")
    )
    content = object_in(holder).get(name)
    if isinstance(content, str):
        return Parts([content] if content else [], [], [], thinks=False)
    texts: list[str] = []
    calls: list[Json] = []
    results: list[Json] = []
    thinks = False
    for block in contents.blocks(content):
        match _BLOCKS.kind_of(text_in(block.get("type"))):
            case "call":
                calls.append(block)
            case "result":
                results.append(block)
                _BLOCKS.count_unknown(block.get("content"), ledger)
            case "thinking":
                thinks = True
            case _:
                if words := _BLOCKS.words(block, ledger):
                    texts.append(str(words))
    return Parts(texts, calls, results, thinks)


def is_usage(line: Line) -> bool:
    """Tell whether a line has only the token counts of an answer."""
    message = object_in(line.message)
    return "usage" in message and not message.get("content")


def result_text(result: Json) -> str:
    """The text of a tool's result."""
    content = result.get("content")
    return content if isinstance(content, str) else _BLOCKS.whole_text(content, Ledger())


def own_words(line: Line, parts: Parts) -> str:
    """The user's own words, without what the program has put beside them."""
    if line.is_meta is True or line.is_compact_summary is True or _is_of_program(line):
        return ""
    return contents.joined(map(_typed, parts.texts))


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


def says_interrupted(parts: Parts) -> bool:
    """True for the notice that the user has stopped the answer before."""
    return any(text.lstrip().startswith(INTERRUPTED) for text in parts.texts)


def is_failure(line: Line) -> bool:
    """True for an error that the program has written as an answer."""
    synthetic = object_in(line.message).get("model") == _SYNTHETIC
    return synthetic or line.is_api_error_message is True


def is_notice(line: Line, parts: Parts) -> bool:
    """True for an answer that only fills a gap, and is no error."""
    return is_failure(line) and parts.text.strip() == _NO_ANSWER


def model_of(line: Line) -> str:
    """The model of an answer; ``""`` for what the program wrote itself."""
    model = text_in(object_in(line.message).get("model"))
    return "" if model == _SYNTHETIC else model
