"""The chat of a file of Gemini CLI: its messages by places, and the order that they are shown in.

Lines replace, rewind and set what the lines before them said, so nothing is known until the last.
"""

import itertools
from typing import Any, NamedTuple

from tui.importers import contents
from tui.importers.json_lines import object_in, objects_in, text_in
from tui.importers.made_ids import MadeIds
from tui.importers.protocol import Json
from tui.importers.trees import Node, Order, in_order

INJECTED = ("/", "?", "<session_context>", "<hook_context>")
_CANCELLED = "Request cancelled"
_SAID = ("type", "content", "parts")
_ANSWERS = ("gemini", "model", "assistant")


class Place(NamedTuple):
    """The place of a message: of its line, and among the messages that the line sets."""

    offset: int
    length: int = 0
    number: int = -1


class Note(NamedTuple):
    """The end of an answer, as a message after it tells of it."""

    status: str
    error: str | None = None


class Chat:
    """Takes in messages in the order of the file."""

    def __init__(self) -> None:
        self._ids = MadeIds("")
        self.places: dict[str, Place] = {}
        """The messages with words."""
        self.notes: dict[str, Note] = {}
        self.summaries: dict[str, str] = {}
        """By the last messages that they stand for."""
        self._roles: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._live: dict[str, None] = {}

    def add(self, message: Json, place: Place) -> str:
        """Take a message in; the reason if it is skipped."""
        name = text_in(message.get("id")) or self._ids.make(*map(message.get, _SAID))
        kind = message.get("type")
        if kind in ("info", "warning", "error"):
            return self._note(name, message, place)
        if name not in self._parents:
            self._parents[name] = next(reversed(self._live), "")
        self._live[name] = None
        reason = _reason(message)
        if not reason:
            self.places[name] = place
            self._roles[name] = "user" if kind == "user" else "assistant"
        return reason

    def rewind(self, name: str) -> None:
        """Undo a message and all that follow it; all messages if it is unknown."""
        kept = itertools.takewhile(lambda each: each != name, self._live)
        self._live = dict.fromkeys(kept) if name in self._live else {}

    def set(self, messages: list[Json], place: Place) -> None:
        """Set the whole chat: what is compacted or cut off by it is kept."""
        names = [text_in(message.get("id")) for message in messages]
        known = [name for name in names if name in self._live and name in self.places]
        first = names.index(known[0]) if known else len(names)
        new = [message for message in messages[:first] if not _reason(message)]
        asked = [message for message in new if message.get("type") == "user"]
        if not known and (not self._live or len(asked) > 1):
            self._live, first = {}, 0
        elif new:
            self._summarise(asked or new, known[0] if known else "")
        if known:
            self._end_with(known[-1])
        for number, message in enumerate(messages[first:], first):
            if names[number] in self._parents:
                self._live[names[number]] = None
            else:
                self.add(message, place._replace(number=number))

    def order(self) -> Order:
        before = self._before_live()
        nodes = [Node(name, before.get(name) or self._above(name)) for name in self.places]
        return in_order(nodes, self._last())

    def _before_live(self) -> dict[str, str]:
        """The messages with words that those of the shown chat follow."""
        with_words = [name for name in self._live if name in self.places]
        return dict(zip(with_words[1:], with_words, strict=False))

    def _above(self, name: str) -> str:
        name = self._parents.get(name, "")
        while name and name not in self.places:
            name = self._parents.get(name, "")
        return name

    def _end_with(self, name: str) -> None:
        kept = itertools.takewhile(lambda each: each != name, self._live)
        self._live = dict.fromkeys([*kept, name])

    def _last(self) -> str:
        return next((name for name in reversed(self._live) if name in self.places), "")

    def _summarise(self, messages: list[Json], kept: str) -> None:
        through = self._before_live().get(kept, "") if kept else self._last()
        text = contents.joined(message_text(message) for message in messages)
        if through and text:
            self.summaries[through] = text

    def _note(self, name: str, message: Json, place: Place) -> str:
        kind, last = text_in(message.get("type")), self._last()
        text = message_text(message)
        if kind == "info" and text.startswith(_CANCELLED) and self._roles.get(last) == "assistant":
            self.notes[last] = Note("interrupted")
            return ""
        if kind != "error" or not last:
            return kind
        if self._roles[last] == "assistant":
            self.notes[last] = Note("failed", text)
            return ""
        self._parents[name] = next(reversed(self._live))
        self._live[name] = None
        self.places[name] = place
        self._roles[name] = "assistant"
        self.notes[name] = Note("failed", text)
        return ""


def _reason(message: Json) -> str:
    """The reason to skip a message; ``""`` if it has words."""
    kind = message.get("type")
    if kind == "user":
        if user_text(message):
            return ""
        parts = contents.blocks(message.get("content") or message.get("parts"))
        answers = any("functionResponse" in part for part in parts)
        return "duplicate" if answers else "injected text"
    if kind not in _ANSWERS:
        return "unknown record"
    if message_text(message) or objects_in(message.get("toolCalls")):
        return ""
    return "thinking" if message.get("thoughts") else "empty message"


def user_text(message: Json) -> str:
    """The user's own words, as they were typed."""
    typed = message.get("displayContent")
    text = _text(typed) if typed else ""
    text = text or message_text(message)
    return "" if text.lstrip().startswith(INJECTED) else text


def message_text(message: Json) -> str:
    """The text of a message, and what stands for its files."""
    content = message.get("content")
    return _text(content or message.get("parts"))


def _text(content: Any) -> str:
    return contents.joined(
        part_text(part) for part in contents.blocks(content) if part.get("thought") is not True
    )


def part_text(part: Json) -> str:
    """The text of a part, or what stands for its file."""
    inline = object_in(part.get("inlineData"))
    file = object_in(part.get("fileData"))
    if inline or file:
        kind = text_in(inline.get("mimeType")) or text_in(file.get("mimeType"))
        size = contents.base64_size(inline.get("data"))
        name = text_in(file.get("displayName"))
        return contents.attachment(name, kind, size)
    return text_in(part.get("text"))
