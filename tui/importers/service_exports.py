"""Exports of ChatGPT, DeepSeek, Claude.ai, Grok, and of Gemini's apps by Google's Takeout."""

import re
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Any

from tui.domain.journal.message import Role, ToolCall
from tui.domain.timestamps import parse_utc
from tui.importers import protocol as p
from tui.importers.contents import arguments, joined, placeholder
from tui.importers.formats import Export, Reading, Talk
from tui.importers.html_text import markdown
from tui.importers.json_elements import beginning, has_key, records
from tui.importers.json_lines import items_in, object_in, objects_in, parse_text, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, time_at, value_at
from tui.importers.made_ids import made_id
from tui.importers.message_blocks import Piece, Result, Unknown, unknown_block
from tui.importers.trees import TreeTurn


class NodeExport(Export):
    """A service whose nodes name their parent and their children; the last one shown is named."""

    within = ("conversations",)
    source_id = ("id", "made")
    message_id = ("node",)
    parent = ("above",)

    def messages_of(self, record: p.Json) -> list[p.Json]:
        """All nodes, parents first and siblings in the order of their parent."""
        nodes = {name: object_in(node) for name, node in object_at(record, "mapping").items()}
        names = repr(list(nodes)).encode("utf-8", "replace")
        parents = {name: _known(node.get("parent"), nodes) for name, node in nodes.items()}
        record |= {"made": sha256(names).hexdigest(), "parents": parents}
        record["below"] = below = _children_of(nodes)
        roots = [name for name in nodes if not parents[name]]
        waiting = [*reversed(nodes), *reversed(roots)]
        ordered: dict[str, p.Json] = {}
        while waiting:
            name = waiting.pop()
            if name not in ordered:
                message = object_in(nodes[name].get("message"))
                ordered[name] = {**message, "node": name, "above": parents[name]}
                ordered[name]["is_empty"] = not message
                waiting.extend(reversed(below[name]))
        return list(ordered.values())

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        """The node that was shown last, else the last child of the last child from a root on."""
        facts = reading.talk.facts
        parents, below = facts["parents"], facts["below"]
        if current := _known(facts.get("current_node"), parents):
            return current
        name = next((name for name in parents if not parents[name]), "")
        passed: set[str] = set()
        while name not in passed and (children := below.get(name)):
            passed.add(name)
            name = children[-1]
        return name


def _known(name: Any, nodes: p.Json) -> str:
    return name if text_in(name) in nodes else ""


def _children_of(nodes: dict[str, p.Json]) -> dict[str, list[str]]:
    """The children of each node, as it lists them, then those that only name it as their parent."""
    below = {
        name: [child for child in items_in(node.get("children")) if text_in(child) in nodes]
        for name, node in nodes.items()
    }
    listed = {child for children in below.values() for child in children}
    for name, node in nodes.items():
        parent = text_at(node, "parent")
        if parent in nodes and name not in listed:
            below[parent].append(name)
    return below


_NO_BRACKETS = str.maketrans("[]", "()")
_DROPPED = {
    "thoughts": "thinking",
    "reasoning_recap": "thinking",
    "user_editable_context": "custom instructions",
    "model_editable_context": "memory",
}
_CITED = re.compile("\ue200([^\ue200\ue201]*)\ue201|【(\\d+)[^【】†]*†[^【】]*】")
"""The marks of citations, the older ones with the number of what is cited."""
_TEXTS = ("title", "url", "text", "result", "output_str", "summary", "content")
"""Fields with the words of contents that have no parts."""


class ChatGpt(NodeExport):
    """ChatGPT, whose conversations are trees of nodes with a message each, or none."""

    program, title = "chatgpt", "ChatGPT"
    revision = 1
    marks = (b"mapping", b"author|current_node")
    source_id = ("conversation_id", "id", "made")
    created = ("create_time",)
    updated = ("update_time",)
    model = ("default_model_slug",)
    role = ("author.role",)
    time = ("create_time",)
    said_by = ("metadata.model_slug",)
    finish = ("metadata.finish_details.type",)
    statuses = {"max_tokens": "truncated", "interrupted": "interrupted"}

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        if reason := _reason_to_drop(record):
            return reading.skip(reason)
        if tool := _tool_of(record):
            reading.known[name] = tool
        return super().said(record, text_at(record, "id") or name, reading)

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        if text_at(record, "content.content_type") == "system_error":
            return "failed", _text(record) or None
        if text_at(record, "status") == "in_progress":
            return "interrupted", None
        return super().end(record)

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        text, tool = _text(record) if whole.error is None else "", _tool_of(record)
        text = text if whole.role == "user" else _with_links(text, record)
        if whole.role == "tool":
            yield Result(_call_of(record, reading), text)
        else:
            yield ToolCall(f"{record['node']}-0", tool, arguments(text)) if tool else text


def _call_of(record: p.Json, reading: Reading) -> str:
    """The call that a result answers: the last one to its tool, else the last one at all."""
    facts, tool = reading.talk.facts, text_at(record, "author.name")
    last, at, passed = "", record["above"], {record["node"]}
    while at and at not in passed:
        passed.add(at)
        called = reading.known.get(at, "")
        if called and called.partition(".")[0] == tool.partition(".")[0]:
            return f"{at}-0"
        last = last or (f"{at}-0" if called else "")
        role = value_at(object_in(facts["mapping"][at]), "message.author.role")
        at = "" if role == "user" else facts["parents"][at]
    return last or f"{record['node']}-0"


def _reason_to_drop(message: p.Json) -> str:
    role = text_at(message, "author.role")
    if message["is_empty"]:
        return "node without a message"
    if reason := _DROPPED.get(text_at(message, "content.content_type")):
        return reason
    if role == "system":
        return "system prompt"
    if role not in ("user", "assistant", "tool"):
        return "unknown role"
    if value_at(message, "metadata.is_user_system_message"):
        return "custom instructions"
    is_hidden = value_at(message, "metadata.is_visually_hidden_from_conversation")
    hidden = message.get("weight") == 0 or is_hidden
    return "hidden message" if hidden and role != "tool" and not _tool_of(message) else ""


def _tool_of(message: p.Json) -> str:
    recipient = text_at(message, "recipient")
    is_call = text_at(message, "author.role") == "assistant" and recipient != "all"
    return recipient if is_call else ""


def _text(message: p.Json) -> str:
    content = object_at(message, "content")
    if isinstance(content.get("parts"), list):
        return joined([*map(_part, items_in(content["parts"])), *_attached(message)])
    found = [text_at(content, field) for field in _TEXTS]
    if any(text.strip() for text in found):
        return joined(dict.fromkeys(found))
    known = any(field in content for field in _TEXTS)
    return "" if known or not content else placeholder(text_at(content, "content_type"))


def _with_links(text: str, message: p.Json) -> str:
    """Put links in the place of the marks of citations; a mark of none goes."""
    if not _CITED.search(text):
        return text
    references = objects_at(message, "metadata.content_references")
    facts = {text_at(each, "matched_text"): each for each in references}
    for cited in objects_at(message, "metadata.citations"):
        number = value_at(cited, "metadata.extra.cited_message_idx")
        facts.setdefault(str(number), object_at(cited, "metadata"))

    def link(mark: re.Match[str]) -> str:
        return _link(facts.get(mark[0]) or facts.get(mark[2] or "", {}), mark[1] or "")

    return _CITED.sub(link, text)


def _link(cited: p.Json, mark: str) -> str:
    """The links to what is cited, else its words."""
    found = [each for each in objects_at(cited, "items") or [cited] if text_at(each, "url")]
    titles = (text_at(each, "title", "name", "url").translate(_NO_BRACKETS) for each in found)
    links = (f"[{name}]({text_at(each, 'url')})" for name, each in zip(titles, found, strict=True))
    words = text_at(cited, "alt", "prompt_text", "name", "title")
    if not cited and mark.startswith("entity\ue202"):
        words = next(iter(items_in(parse_text(mark.partition("\ue202")[2]))[1:2]), "")
    return f"({', '.join(dict.fromkeys(links))})" if found else text_in(words)


def _part(part: Any) -> str:
    facts = object_in(part)
    if text := text_in(part) or text_at(facts, "text"):
        return text
    kind = text_at(facts, "content_type")
    word = next((word for word in ("image", "audio", "video") if word in kind), "file")
    return placeholder(word, _size(facts.get("size_bytes"))) if facts else ""


def _attached(message: p.Json) -> Iterator[str]:
    """Files beside the text; pictures among the parts are not repeated."""
    pictures = text_at(message, "content.content_type") == "multimodal_text"
    for file in objects_at(message, "metadata.attachments"):
        kind = text_at(file, "mimeType", "mime_type")
        if not (pictures and kind.startswith("image/")):
            yield placeholder("file", text_at(file, "name"), kind, _size(file.get("size")))


def _size(value: Any) -> str:
    return f"{value} bytes" if isinstance(value, int) and value else ""


_TOOLS = {"SEARCH": "search", "TOOL_SEARCH": "search", "TOOL_OPEN": "open"}
_NUMBERED = re.compile(r"\[citation:(\d+)\]")


class DeepSeek(NodeExport):
    """DeepSeek, whose searches are among the fragments of an answer."""

    program, title = "deepseek", "DeepSeek"
    marks = (b"mapping", b"inserted_at")
    mark_of_others = b"current_node"
    created = time = ("inserted_at",)
    updated = ("updated_at",)
    model = ()
    content = ("fragments",)
    kinds = {
        **dict.fromkeys(("REQUEST", "RESPONSE", "TEMPLATE_RESPONSE"), "text"),
        "THINK": "thinking",
        "TIP": "silent",
        "FILE": "mark",
    }

    def said(self, record: p.Json, name: str, reading: Reading) -> tuple[p.ForeignMessage, ...]:
        if record["is_empty"]:
            return reading.skip("node without a message")
        return super().said(record, reading.ids.within(name), reading)

    def role_of(self, record: p.Json) -> Role:
        """The user has asked; all else is said by the model."""
        kinds = [text_at(each, "type") for each in objects_at(record, "fragments")]
        is_asked = "REQUEST" in kinds or text_at(record, "role").lower() == "user"
        return "user" if is_asked else "assistant"

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        is_whole = text_at(record, "status") in ("", "FINISHED")
        return None if is_whole else "interrupted", None

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        links = dict[str, str]()
        for number, block in enumerate(objects_at(record, "fragments")):
            if tool := _TOOLS.get(text_at(block, "type")):
                found = objects_at(block, "results") or objects_in([block.get("result")])
                links |= {str(each.get("cite_index")): text_at(each, "url") for each in found}
                asked = text_at(block, "content")
                call = f"{whole.id}-call-{number}"
                yield ToolCall(call, tool, {"query": asked} if asked else {})
                yield Result(call, joined(unknown_block("", each).words for each in found))
                continue
            for piece in self.pieces_in([block], whole.id, reading.ledger):
                yield _linked(piece, links) if isinstance(piece, str) else piece
        if not record.get("fragments"):
            yield text_at(record, "content")
        for file in objects_at(record, "files"):
            yield self.mark("file", file)

    def mark(self, name: str, block: p.Json) -> str:
        files = [text_at(each, "file_name") for each in (block, *objects_at(block, "files"))]
        return placeholder("file", *files)


def _linked(text: str, links: dict[str, str]) -> str:
    """A text whose citations are links to what was found."""

    def link(match: re.Match[str]) -> str:
        address = links.get(match[1])
        return f" [{match[1]}]({address})" if address else match[0]

    return _NUMBERED.sub(link, text)


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
    ends = {"truncated": "truncated"}
    parent = ("parent_message_uuid",)
    shown = ("current_leaf_message_uuid",)
    may_be_a_line = True
    kinds = {"token_budget": "thinking", "flag": "thinking"}
    file_names = ("file_name",)
    unsaid = (_UNSUPPORTED, _ANT_THINKING)

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

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        """What its blocks say; where they say nothing, its plain text."""
        pieces = list(self.pieces_in(objects_at(record, "content"), whole.id, reading.ledger))
        text = self.text(text_at(record, "text"))
        words = (piece.words if isinstance(piece, Unknown) else piece for piece in pieces)
        says = any(not isinstance(each, str) or each.strip() for each in words)
        yield from pieces if says or not text.strip() else [text]
        for attachment in objects_at(record, "attachments"):
            name, kind = text_at(attachment, "file_name"), text_at(attachment, "file_type")
            content = text_at(attachment, "extracted_content")
            yield joined([name, content]) if content.strip() else placeholder("file", name, kind)
        for file in objects_at(record, "files", "files_v2"):
            kind = "image" if file.get("file_kind") == "image" else "file"
            yield placeholder(kind, text_at(file, "file_name"))


_CARD = re.compile(r"<grok:render\b([^>]*)>(.{0,2000}?)</grok:render>", re.DOTALL)
_CARD_ID = re.compile(r'card_id="([^"]*)"')
_CITATION = re.compile(r'name="citation_id">\s*(\w+)')


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
    failure = ("error", "error.message")
    thoughts = ("thinking_trace", "agent_thinking_traces", "steps")
    parent = ("parent_response_id",)
    shown = ("conversation.leaf_response_id",)
    may_be_a_line = True

    def messages_of(self, record: p.Json) -> list[p.Json]:
        found = [object_at(each, "response") for each in super().messages_of(record)]
        record["first"] = next(filter(None, (text_at(each, "_id") for each in found)), "")
        return found

    def role_of(self, record: p.Json) -> Role | None:
        """The human; else Grok, under the names of its models, too."""
        sender = text_at(record, "sender").lower()
        return ("user" if sender in ("human", "user") else "assistant") if sender else None

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
            return reading.skip(_OTHER_ACTIVITY)
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
