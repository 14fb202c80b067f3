"""Chat apps that save all of their chats as one object."""

from collections.abc import Iterable, Iterator

from tui.importers import protocol as p
from tui.importers.contents import placeholder
from tui.importers.formats import Export, Reading, Talk
from tui.importers.json_elements import records
from tui.importers.json_lines import items_in, object_in
from tui.importers.json_paths import object_at, objects_at, text_at, time_at, value_at
from tui.importers.message_blocks import CALL, MARK, RESULT, SILENT, Piece, Result, call_in
from tui.importers.trees import TreeTurn
from tui.importers.vendor_messages import link

_FILES = ("name", "origin_name", "file.origin_name", "metadata.name")


class Backup(Export):
    """An app; of its messages, each says in ``above`` which one it follows."""

    message_id = ("own_id",)
    parent = ("above",)
    created = time = ("createdAt",)
    updated = ("updatedAt",)

    def chats(self, record: p.Json) -> Iterable[p.Json]:
        """The chats of the object; each names in ``shown`` the end of the branch that was shown."""
        raise NotImplementedError

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        for record in records(source, ledger):
            for chat in self.chats(record):
                yield from self.talks_of(source.path, chat, ledger)

    def leaf(self, reading: Reading, turns: list[TreeTurn]) -> str:
        return text_at(reading.talk.facts, "shown")

    def end(self, record: p.Json) -> tuple[str | None, str | None]:
        if error := text_at(record, "error", "error.message", "error.type"):
            return "failed", error
        return ("interrupted", None) if record.get("generating") is True else super().end(record)

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

    def reason_without_words(self, record: p.Json) -> str:
        return "thinking" if record.get("reasoning") else super().reason_without_words(record)

    def mark(self, name: str, block: p.Json) -> str:
        if address := text_at(block, "url", "image_url.url", "image_url"):
            return link(address)
        return placeholder("image" if "image" in name else "file", text_at(block, *_FILES))


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
    kinds = {
        "tm_provider_tool_call": CALL,
        "tm_provider_tool_call_result": RESULT,
        **dict.fromkeys(("tm_image_file", "tm_text_file", "tm_blob_file"), MARK),
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

    def sums_up(self, record: p.Json, reading: Reading) -> bool:
        return record.get("type") == "tm_context_summary"


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
    kinds = {"info": SILENT}

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

    def sums_up(self, record: p.Json, reading: Reading) -> bool:
        return record.get("isSummary") is True


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


def _follow(found: list[p.Json], messages: Iterable[object], before: str, chat: str) -> str:
    """Add messages that follow each other to those that were found; gives the last one's id."""
    for each in messages:
        message = object_in(each)
        own = text_at(message, "id", "uuid") or f"{chat}/{len(found)}"
        found.append({**message, "own_id": own, "above": before})
        before = own
    return before
