"""Exports of Claude.ai, of Grok, and of Gemini's apps by Google's Takeout."""

import re
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from tui.domain.journal.message import Role
from tui.domain.timestamps import parse_utc
from tui.importers import protocol as p
from tui.importers.contents import joined, placeholder
from tui.importers.formats import Export, Reading, Talk
from tui.importers.html_text import markdown
from tui.importers.json_elements import beginning, has_key, records
from tui.importers.json_lines import items_in, object_in, objects_in, parse_text, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, time_at
from tui.importers.made_ids import made_id
from tui.importers.message_blocks import THINKING, Piece, Unknown
from tui.importers.trees import TreeTurn

_ANT_THINKING = re.compile(r"<antThinking>.*?(</antThinking>\s*|\Z)", re.DOTALL | re.IGNORECASE)
_UNSUPPORTED = re.compile(r"(```)?\s*This block is not supported on[^\n]*\n?(```)?\s*")


class ClaudeAi(Export):
    """Claude.ai, whose messages have blocks, and often the same as plain text."""

    program, title = "claude-ai", "Claude.ai"
    revision = 1
    marks = (b"chat_messages",)
    within = ("conversations",)
    listed = ("chat_messages",)
    source_id = ("uuid", "first", "name")
    name = ("name",)
    role = ("sender",)
    roles = {"human": "user", "user": "user", "assistant": "assistant"}
    message_id = ("uuid",)
    one_model = True
    finish = ("stop_reason",)
    statuses = {"user_canceled": "interrupted", "max_tokens": "truncated"}
    parent = ("parent_message_uuid",)
    may_be_a_line = True
    kinds = {"token_budget": THINKING, "flag": THINKING}

    def messages_of(self, record: p.Json) -> list[p.Json]:
        """The messages, each with an id that no other has."""
        found = super().messages_of(record)
        seen: set[str] = set()
        for number, facts in enumerate(found):
            name = text_at(facts, "uuid")
            record.setdefault("first", name)
            if facts and (not name or name in seen):
                name = facts["uuid"] = f"{record.get('uuid')}-{number}"
            seen.add(name)
        return found

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        leaf = text_at(reading.talk.facts, "current_leaf_message_uuid")
        return leaf if any(turn.id == leaf for turn in turns) else turns[-1].id

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        return ("truncated", None) if record.get("truncated") is True else super().end(record)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What its blocks say; where they say nothing, its plain text."""
        pieces = list(self.pieces_in(objects_at(record, "content"), whole.id, reading.ledger))
        text = self.text(text_at(record, "text"))
        yield from [text] if text.strip() and not any(map(_says, pieces)) else pieces
        for attachment in objects_at(record, "attachments"):
            name, kind = text_at(attachment, "file_name"), text_at(attachment, "file_type")
            content = text_at(attachment, "extracted_content")
            yield joined([name, content]) if content.strip() else placeholder("file", name, kind)
        for file in objects_at(record, "files", "files_v2"):
            kind = "image" if file.get("file_kind") == "image" else "file"
            yield placeholder(kind, text_at(file, "file_name"))

    def text(self, text: str) -> str:
        return _ANT_THINKING.sub("", _UNSUPPORTED.sub("", text))

    def mark(self, name: str, block: p.Json) -> str:
        return placeholder(name, text_at(block, "file_name"))


def _says(piece: Piece) -> bool:
    """True for a piece with words, or a call or a result."""
    if isinstance(piece, Unknown):
        return bool(piece.words)
    return not isinstance(piece, str) or bool(piece.strip())


_CARD = re.compile(r"<grok:render\b([^>]*)>(.{0,2000}?)</grok:render>", re.DOTALL)
_CARD_ID = re.compile(r'card_id="([^"]*)"')
_CITATION = re.compile(r'name="citation_id">\s*(\w+)')
_THOUGHTS = ("thinking_trace", "agent_thinking_traces", "steps")


def _time(name: str) -> tuple[str, ...]:
    """Where a time is that may be in the form of MongoDB."""
    return f"{name}.$date.$numberLong", f"{name}.$date", name


class Grok(Export):
    """Grok, whose responses are a tree, the prompts among them."""

    program, title = "grok", "Grok"
    marks = (b"conversation", b"responses", b"response", b"sender")
    within = ("conversations",)
    listed = ("responses",)
    source_id = ("conversation.id", "first")
    name = ("conversation.title",)
    created = _time("conversation.create_time")
    updated = _time("conversation.modify_time")
    model = ()
    message_id = ("_id",)
    content = ("message",)
    time = _time("create_time")
    parent = ("parent_response_id",)
    may_be_a_line = True

    def messages_of(self, record: p.Json) -> list[p.Json]:
        found = [object_at(each, "response") for each in super().messages_of(record)]
        record["first"] = next(filter(None, (text_at(each, "_id") for each in found)), "")
        return found

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        leaf = text_at(reading.talk.facts, "conversation.leaf_response_id")
        return leaf if any(turn.id == leaf for turn in turns) else super().leaf(reading, turns)

    def role_of(self, record: p.Json) -> Role | None:
        """The human; else Grok, under the names of its models, too."""
        sender = text_at(record, "sender").lower()
        return ("user" if sender in ("human", "user") else "assistant") if sender else None

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        error = text_at(record, "error", "error.message")
        return ("failed", error) if error else (None, None)

    def reason_without_words(self, record: p.Json) -> str:
        return "thinking" if any(map(record.get, _THOUGHTS)) else "empty message"

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        yield _with_cards(text_at(record, "message", "query"), record)
        for name in items_in(record.get("file_attachments")):
            yield placeholder("file", text_in(name))
        for address in items_in(record.get("generated_image_urls")):
            yield placeholder("image", text_in(address))


def _with_cards(text: str, record: p.Json) -> str:
    """Put links and pictures in the place of the marks of cards; a mark of none goes."""
    listed = [parse_text(each) for each in items_in(record.get("card_attachments_json"))]
    cards = {text_at(card, "id"): card for card in objects_in(listed)}

    def shown(mark: re.Match[str]) -> str:
        name, number = _CARD_ID.search(mark[1]), _CITATION.search(mark[2])
        card = cards.get(name[1], {}) if name else {}
        if address := text_at(card, "url"):
            return f" [{number[1] if number else 'source'}]({address})"
        picture = text_at(card, "image_chunk.imageUrl")
        return placeholder("image", picture) if picture else ""

    return _CARD.sub(shown, text)


_SITTING = timedelta(minutes=30)
"""Between two prompts of one conversation at most, as in other readers of these files."""
_NAME = re.compile(r"\b(Gemini|Bard)\b")
_NAMED = re.compile(rb'"(?:header|products)"\s*:\s*(?:\[\s*)?"[^"]*(?:Gemini|Bard)')
_PROMPTED = re.compile(
    r"(Prompted with:|Asked (Gemini|Bard):|Prompted|Asked|Said|Branched|Answered"
    r"|Eingegebener Prompt:)\s"
)
_OTHER = re.compile(
    r"(Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Searched|Edited|Pinned"
    r"|Renamed|Exported|Updated)\s"
)
_OTHER_ACTIVITY = "record of other activity"
_ATTACHED = re.compile(r"\s*(Attached \d+ files?|\d+ Datei(en|\(en\))? angehängt)\.?\s*\Z")


class GeminiApps(Export):
    """Gemini's apps, whose prompts are titles behind a verb, and whose answers are HTML."""

    program, title = "gemini-apps", "Gemini Apps"
    created = ("begun",)
    updated = ("ended",)
    model = ()
    source_id = ("begun",)

    def recognises(self, path: Path, head: bytes) -> bool:
        start = beginning(path, head)
        return has_key(start, b"header", b"title", b"time") and _NAMED.search(start) is not None

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        sitting: list[p.Json] = []
        for record in records(source, ledger):
            labels = [record.get("header"), *items_in(record.get("products"))]
            if not any(_NAME.search(text_in(label)) for label in labels):
                ledger.skipped[_OTHER_ACTIVITY] += 1
                continue
            if sitting and not _is_near(sitting[-1], record):
                yield self.talk(source.path, sitting)
                sitting = []
            sitting.append(record)
        if sitting:
            yield self.talk(source.path, sitting)

    def talk(self, path: Path, sitting: list[p.Json]) -> Talk:
        """The conversation of a sitting."""
        ordered = sorted(sitting, key=lambda each: time_at(each, "time") or "")
        facts = {"begun": text_at(ordered[0], "time"), "ended": ordered[-1].get("time")}
        return Talk(path, facts, lambda _: ordered)

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        answer = joined(
            markdown(text_at(each, "html")) for each in objects_at(record, "safeHtmlItem")
        )
        text, time = text_at(record, "title"), time_at(record, "time")
        prompted = _PROMPTED.match(text)
        # Of a verb in another language, the answer says that it was a prompt.
        if _OTHER.match(text) or not (prompted or answer):
            reading.ledger.skipped[_OTHER_ACTIVITY] += 1
            return ()
        reading.ledger.read += 1
        listed = [record.get("imageFile"), *items_in(record.get("attachedFiles"))]
        listed += [each for each in objects_at(record, "subtitles") if "url" in each]
        named = [text_in(each) or text_at(object_in(each), "name", "url") for each in listed]
        names = (name.removeprefix("- ").strip() for name in dict.fromkeys(named) if name)
        files = [placeholder("file", each) for each in names]
        words = text[prompted.end() :] if prompted else text
        asked = joined([_ATTACHED.sub("", words) if files else words, *files])
        # Not of the conversation: a later export may have lost the prompt that began it.
        name = made_id(self.program, time, words)
        found = [p.ForeignMessage(name, "user", asked, time)] if asked else []
        if answer:
            found.append(p.ForeignMessage(f"{name}-answer", "assistant", answer, time))
        return tuple(found)


def _is_near(one: p.Json, other: p.Json) -> bool:
    """True if two prompts are of one sitting."""
    times = [time for each in (one, other) if (time := time_at(each, "time"))]
    moments = [moment for time in times if (moment := parse_utc(time))]
    return any(abs(later - earlier) <= _SITTING for earlier, later in pairwise(moments))
