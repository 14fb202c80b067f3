"""Chat apps that save all of their chats as one object."""

import errno
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from tui.files import UnfitFile
from tui.importers import protocol as p
from tui.importers.contents import blocks, link, placeholder
from tui.importers.formats import Export, Reading, Talk
from tui.importers.json_elements import beginning
from tui.importers.json_lines import items_in, object_in, object_of, text_in
from tui.importers.json_paths import object_at, objects_at, text_at, time_at, value_at
from tui.importers.message_blocks import Piece, Result, Unknown, call_in
from tui.importers.times import utc_of_local


class Backup(Export):
    """An app that saves its chats as one object.

    A message says in ``above`` which one it follows, a chat in ``shown`` which one was the last.
    """

    message_id = ("own_id",)
    parent = ("above",)
    shown = ("shown",)
    failure = ("error", "error.message", "error.type")
    thoughts = ("reasoning",)
    ends = {"generating": "interrupted"}
    created = time = ("createdAt",)
    updated = ("updatedAt",)
    file_names = ("name", "origin_name", "file.origin_name", "metadata.name")

    def pieces(self, record: p.Json, whole: p.ForeignMessage, reading: Reading) -> Iterator[Piece]:
        if whole.role == "tool":
            output = self.output(value_at(record, *self.content), reading.ledger)
            yield Result(text_at(record, "tool_call_id", "toolCallId"), output)
            return
        yield from super().pieces(record, whole, reading)
        for number, called in enumerate(objects_at(record, "tool_calls")):
            yield call_in(called, f"{whole.id}-call-{number}")
        for file in (*items_in(record.get("files")), *items_in(record.get("links"))):
            yield self.mark(text_at(object_in(file), "fileType", "type"), object_in(file))

    def mark(self, name: str, block: p.Json) -> str:
        if address := text_at(block, "url", "image_url.url", "image_url"):
            return link(address)
        return placeholder("image" if "image" in name else "file", text_at(block, *self.file_names))


class TypingMind(Backup):
    """TypingMind, which may ask several models: the answer of the last one is shown."""

    program, title = "typingmind", "TypingMind"
    marks = (b"messages", b"chatID", b"chatTitle|chatParams|preview|folderID")
    source_id = ("chatID",)
    name = ("chatTitle",)
    content = ("content", "contextSummary.content", "pluginResponse.data")
    sent = ("usage.prompt_tokens", "usage.input_tokens")
    received = ("usage.completion_tokens", "usage.output_tokens")
    roles = {**Export.roles, "function": "tool"}
    summary = ("type", "tm_context_summary")
    kinds = {
        "tm_provider_tool_call": "call",
        "tm_provider_tool_call_result": "result",
        **dict.fromkeys(("tm_image_file", "tm_text_file", "tm_blob_file"), "mark"),
    }

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        return objects_at(record, "data.chats") or [record]

    def messages_of(self, record: p.Json) -> list[p.Json]:
        found, last = list[p.Json](), ""
        for message in super().messages_of(record):
            if message.get("type") == "training-message":
                # An example, which its user does not see.
                message["role"] = "system"
            before = last
            for answer in objects_at(message, "responses") or [{"messages": [message]}]:
                model = {"model": answer["model"]} if "model" in answer else {}
                said = [{**each, **model} for each in objects_at(answer, "messages")]
                last = _follow(found, said, before, text_at(record, "chatID"))
        record["shown"] = last
        return found


class Chatbox(Backup):
    """Chatbox, whose sessions have threads, one after the other, and forks of them."""

    program, title = "chatbox", "Chatbox"
    marks = (rb"chat-sessions(-list)?|session:[\w-]+", b"contentParts|providers|aiProvider")
    name = ("name",)
    created = updated = ()
    model = ("settings.modelId",)
    content = ("contentParts", "content")
    time = ("timestamp",)
    finish = ("finishReason",)
    statuses = {"length": "truncated"}
    sent = ("usage.inputTokens",)
    received = ("usage.outputTokens",)
    summary = ("isSummary", True)
    kinds = {"info": "silent"}

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        newer = [object_in(record[name]) for name in record if name.startswith("session:")]
        every = (*objects_at(record, "chat-sessions"), *newer)
        return {text_at(each, "id"): each for each in every}.values()

    def messages_of(self, record: p.Json) -> list[p.Json]:
        found, last, name = list[p.Json](), "", text_at(record, "id")
        for thread in (*objects_at(record, "threads"), record):
            last = _follow(found, items_in(thread.get("messages")), last, name)
        for forked, fork in object_at(record, "messageForksHash").items():
            for branch in objects_at(object_in(fork), "lists"):
                _follow(found, items_in(branch.get("messages")), forked, name)
        record["shown"] = last
        return found


class LobeChat(Backup):
    """LobeChat, whose messages are in one table, in any order, and name their topics."""

    program, title = "lobechat", "LobeChat"
    marks = (b"exportType|userSettings|agentsToSessions|messagePlugins", b"state|data")
    name = ("title", "meta.title")
    compared = 1
    said_by = ("extra.fromModel", "model")
    sent = ("metadata.inputTokens", "metadata.totalInputTokens")
    received = ("metadata.outputTokens", "metadata.totalOutputTokens")

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        tables = object_at(record, "state", "data")
        about = [*objects_at(tables, "sessions"), *objects_at(tables, "topics")]
        facts = {text_at(each, "id"): each for each in about}
        called = {text_at(each, "id"): each for each in objects_at(tables, "messagePlugins")}
        threads = objects_at(tables, "threads")
        last = {text_at(each, "id"): text_at(each, "sourceMessageId") for each in threads}
        roles, chats = dict[str, str](), dict[str, p.Json]()
        messages = objects_at(tables, "messages")
        for message in sorted(messages, key=lambda each: time_at(each, "createdAt") or ""):
            name = text_at(message, "topicId", "sessionId", "agentId") or "inbox"
            line = text_at(message, "threadId") or name
            own, role, above = (text_at(message, key) for key in ("id", "role", "parentId"))
            if role == "tool" or roles.get(above, "tool") == "tool":
                # Results of one answer follow each other.
                above = last.get(line, "")
            roles[own] = role
            chat = chats.setdefault(name, {"id": name, **facts.get(name, {}), "messages": []})
            # An answer that has not begun is three dots.
            content = "" if message.get("content") == "..." else message.get("content")
            calls = [{**each, "name": each.get("apiName")} for each in objects_at(message, "tools")]
            more = {"own_id": own, "above": above, "content": content, "tool_calls": calls}
            chat["messages"].append({**called.get(own, {}), **message, **more})
            last[line] = own
            chat["shown"] = last.get(name)
        return chats.values()


_SHOWN = ("%Y/%m/%d %H:%M:%S", "%d.%m.%Y %H:%M:%S", "%m/%d/%Y %I:%M:%S %p")
"""Times of browsers; in the last form some have the day first."""
_MONTHS = 12


class NextChat(Backup):
    """NextChat, with times as its user's browser shows them.

    The shape is taken from its public code, not from a backup. Of the parts of a backup, of which
    one has keys, only that of the chats is looked at.
    """

    program, title = "nextchat", "NextChat"
    marks = (b"chat-next-web-store", b"sessions")
    name = ("topic",)
    created = ()
    updated = ("lastUpdate",)
    model = ("mask.modelConfig.model",)
    time = ("said_at",)
    ends = {"isError": "failed", "streaming": "interrupted"}
    summary = ("is_memory", True)

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        for chat in objects_at(record, "chat-next-web-store.sessions"):
            # In older versions a number.
            yield {**chat, "id": str(chat["id"])} if type(chat.get("id")) is int else chat

    def messages_of(self, record: p.Json) -> list[p.Json]:
        found, name = list[p.Json](), text_at(record, "id")
        # Before the memory is among them: it moves.
        said = [
            {**_with_tools(each), "id": text_at(each, "id") or f"{name}/{number}"}
            for number, each in enumerate(super().messages_of(record))
        ]
        place, memory = record.get("lastSummarizeIndex"), text_at(record, "memoryPrompt")
        if memory and type(place) is int and 0 < place <= len(said):
            facts = {"id": f"{name}/memory", "role": "assistant", "content": memory}
            said.insert(place, {**facts, "is_memory": True})
        record["shown"] = _follow(found, said, "", name)
        return found


def _with_tools(message: p.Json) -> p.Json:
    """A message whose calls are among its blocks; what a server's tool said is no user's."""
    calls = [
        {**each, "type": "tool_call", "output": text_at(each, "content", "errorMsg") or None}
        for each in objects_at(message, "tools")
    ]
    role = "tool" if message.get("isMcpResponse") is True else message.get("role")
    content = [*calls, *blocks(message.get("content"))]
    return {**message, "role": role, "content": content, "said_at": _shown_time(message)}


def _shown_time(message: p.Json) -> str | None:
    """The time of a message, if the form in which it is shown can mean only one."""
    words = " ".join(text_at(message, "date").replace(",", "").replace("-", "/").split())
    for form in _SHOWN:
        with suppress(ValueError):
            moment = datetime.strptime(words, form)  # noqa: DTZ007
            is_clear = "/%d/" not in form or moment.day > _MONTHS or moment.day == moment.month
            return utc_of_local(moment.isoformat()) if is_clear else None
    return None


_CHERRY = re.compile(
    rb'\s*\{\s*"time"\s*:\s*\d+\s*,\s*"version"\s*:\s*\d+\s*,\s*"localStorage"\s*:\s*\{'
)
_CHERRY_DATABASES = re.compile(rb'\s*\{\s*"version"\s*:[^{}]*"appName"\s*:\s*"Cherry Studio"')
_DATABASES = (
    "Cherry Studio has put its own databases into this backup, which cannot be read. "
    "Its export for the phone, as a file, can: Settings, Data, in versions that have it."
)
_UNNAMED = ("New Topic", "新话题", "默认话题")
_TOOL = "rawMcpToolResponse"
_MISSING: p.Json = {"type": "missing"}


class CherryStudio(Backup):
    """Cherry Studio, whose messages name their blocks; before version 4 they had texts themselves.

    The shape is taken from its public code, not from a backup. The names of topics are in its
    settings, of which nothing else is looked at. Since version 6 a backup has LevelDB databases.
    """

    program, title = "cherry-studio", "Cherry Studio"
    name = ("name",)
    said_by = ("model.id", "modelId")
    finish = ("status",)
    statuses = {
        "error": "failed",
        **dict.fromkeys(("paused", "pending", "processing", "searching", "sending"), "interrupted"),
    }
    sent = ("usage.prompt_tokens", "usage.inputTokens")
    received = ("usage.completion_tokens", "usage.outputTokens")
    thoughts = ("reasoning_content",)
    file_names = ("origin_name", "file.origin_name", "name", "metadata.name")
    kinds = {
        **dict.fromkeys(("main_text", "code", "compact"), "text"),
        **dict.fromkeys(("unknown", "error"), "silent"),
    }

    def recognises(self, path: Path, head: bytes) -> bool:
        return bool(_CHERRY.match(head) or _CHERRY_DATABASES.match(head))

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        if _CHERRY_DATABASES.match(beginning(source.path, b"{")):
            raise UnfitFile(errno.ENOTSUP, _DATABASES, str(source.path))
        yield from super().talks(source, ledger)

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        tables = object_at(record, "indexedDB")
        settings = object_of(value_at(record, "localStorage.persist:cherry-studio"))
        state = object_of(settings.get("assistants"))
        kept = [*objects_at(state, "assistants"), object_at(state, "defaultAssistant")]
        topics = [topic for each in kept for topic in objects_at(each, "topics")]
        facts = {text_at(each, "id"): each for each in topics}
        found = {text_at(each, "id"): each for each in objects_at(tables, "message_blocks")}
        for topic in objects_at(tables, "topics"):
            about = facts.get(text_at(topic, "id"), {})
            name = "" if about.get("name") in _UNNAMED else about.get("name")
            yield {**about, **topic, "name": name, "blocks": found}

    def messages_of(self, record: p.Json) -> list[p.Json]:
        """The messages; of several answers to one prompt, the one that was selected goes on."""
        found, known, before, group, is_selected = list[p.Json](), {""}, "", "", False
        for number, message in enumerate(super().messages_of(record)):
            own, prompt = text_at(message, "id"), text_at(message, "askId")
            facts = {"own_id": own or f"{record.get('id')}/{number}", "above": before}
            if prompt and prompt in known:
                facts["above"] = prompt
            found.append({**message, **facts, **_content(message, record["blocks"])})
            known.add(own)
            if not prompt or prompt != group or not is_selected:
                before = facts["own_id"]
            is_selected &= prompt == group
            is_selected |= message.get("foldSelected") is True
            group = prompt
        record["shown"] = before
        return found

    def words(self, block: p.Json, ledger: p.Ledger) -> str | Unknown | None:
        """The words of a block; those of a translation stand behind its name."""
        if block is _MISSING:
            ledger.skipped["block that is not there"] += 1
            return None
        if block.get("type") == "translation":
            return Unknown("translation", text_at(block, "content"))
        return super().words(block, ledger)


def _content(message: p.Json, known: dict[str, p.Json]) -> p.Json:
    """What a message of Cherry Studio says, and its error."""
    names = map(text_in, items_in(message.get("blocks")))
    # Each is one message's, and is given once.
    kept = [known.pop(name, _MISSING) for name in names]
    failed = [each.get("error") for each in kept if each.get("type") == "error"]
    facts = object_at(message, "metadata")
    tools = objects_at(facts, "mcpTools")
    kept += [{"type": "tool", "id": each.get("id"), "metadata": {_TOOL: each}} for each in tools]
    kept += blocks(message.get("content"))
    cited = [each for name, each in facts.items() if name != "mcpTools"]
    kept.append({"type": "citation", "response": cited})
    content = [each for block in kept for each in _blocks(block)]
    return {"content": content, "error": next(iter(failed), message.get("error"))}


def _blocks(block: p.Json) -> Iterator[p.Json]:
    """A block of Cherry Studio under the names that others have for the same."""
    raw = object_at(block, f"metadata.{_TOOL}")
    match block.get("type"):
        case "tool":
            output, given = block.get("content"), value_at(block, "arguments")
            yield {
                "type": "tool_call",
                "id": text_at(block, "toolId", "id"),
                "name": text_at(block, "toolName") or text_at(raw, "tool.name"),
                "arguments": raw.get("arguments") if given is None else given,
                "output": raw.get("response") if output is None else output,
            }
        case "citation":
            yield from _sources([block.get("response"), block.get("knowledge")])
        case _:
            yield block


def _sources(value: object) -> Iterator[p.Json]:
    """What a search has found: objects with an address, each service has them elsewhere."""
    facts = object_in(value)
    if address := text_at(facts, "url", "uri", "sourceUrl"):
        yield {"type": "search_result", "title": facts.get("title"), "url": address}
        return
    for each in (*facts.values(), *items_in(value)):
        yield from _sources(each)


def _follow(found: list[p.Json], messages: Iterable[object], before: str, chat: str) -> str:
    """Add messages that follow each other to those that were found; gives the last one's id."""
    for each in messages:
        message = object_in(each)
        own = text_at(message, "id", "uuid") or f"{chat}/{len(found)}"
        found.append({**message, "own_id": own, "above": before})
        before = own
    return before
