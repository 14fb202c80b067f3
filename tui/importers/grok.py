"""Conversations of Grok's export: an object with all of them, each with its responses."""

import re
from collections.abc import Iterator

from tui.domain.journal.message import Role
from tui.importers import protocol as p
from tui.importers.answers import Piece
from tui.importers.branches import TreeTurn
from tui.importers.contents import placeholder
from tui.importers.formats import Export, Reading
from tui.importers.json_lines import items_in, objects_in, parse_text, text_in
from tui.importers.json_paths import object_at, text_at

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


READER = Grok().reader()
