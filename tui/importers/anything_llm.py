"""Chats of AnythingLLM: a database whose rows are a prompt and its answer each."""

from collections.abc import Iterator
from functools import partial

from tui.importers import protocol as p
from tui.importers.contents import attachment, placeholder, without_thinking
from tui.importers.databases import DatabaseCopy, Row, found, opened
from tui.importers.formats import Database, Talk
from tui.importers.json_lines import object_in, parse_text
from tui.importers.json_paths import objects_at, text_at

_CHATS = "workspace_chats"
_TALK = ("workspaceId", "thread_id", "user_id", "api_session_id")
_ABOUT = ("id", "name", "slug", "createdAt", "chatModel")
_ROW = ("id", "prompt", "response", "createdAt")


class AnythingLlm(Database):
    """AnythingLLM, whose workspaces have a chat of their own and threads."""

    program, title = "anything-llm", "AnythingLLM"
    known_by = {_CHATS: ("prompt", "response"), "workspaces": ("slug",)}
    source_id = ()
    name = ("name",)
    created = time = ("createdAt",)
    updated = ()
    model = ("chatModel",)
    message_id = ("id",)
    said_by = ("metrics.model",)
    sent = ("metrics.prompt_tokens",)
    received = ("metrics.completion_tokens",)

    def find(self, places: p.Places) -> Iterator[p.Source]:
        folders = [base / "anythingllm-desktop" for base in (places.config, places.app_support)]
        return found(*(folder / "storage" / "anythingllm.db" for folder in folders))

    def talks(self, source: p.Source, ledger: p.Ledger) -> Iterator[Talk]:
        with opened(source.path) as database:
            workspaces, threads = (
                {row.get("id"): row for row in database.rows(table, _ABOUT, ledger)}
                for table in ("workspaces", "workspace_threads")
            )
            rows = database.rows(_CHATS, _TALK, ledger, order=["id"])
            for key in dict.fromkeys(tuple(row.items()) for row in rows):
                talk = dict(key)
                about = threads.get(talk.get("thread_id")) or workspaces.get(talk["workspaceId"])
                facts = about or {}
                # Numbers begin again in another database.
                names = (facts.get("slug"), facts.get("createdAt"), *talk.values())
                name = "-".join(str(each) for each in names if each is not None)
                read = partial(_records, database, talk)
                yield Talk(path=source.path, facts=facts, records=read, name=name)

    def text(self, text: str) -> str:
        return without_thinking(text)


def _records(database: DatabaseCopy, talk: Row, ledger: p.Ledger) -> Iterator[p.Json]:
    """The prompts of a chat, each with its answer."""
    for row in database.rows(_CHATS, _ROW, ledger, equal=talk, order=["id"]):
        answer = object_in(parse_text(row.get("response"))) or {"text": row.get("response")}
        files = objects_at(answer, "attachments")
        marks = [attachment(text_at(file, "name"), text_at(file, "mime")) for file in files]
        titles = dict.fromkeys(text_at(each, "title") for each in objects_at(answer, "sources"))
        sources = [placeholder("source", title) for title in titles]
        name, asked = str(row.get("id")), [row.get("prompt"), *marks]
        said = [answer.get("text"), *sources]
        yield {**row, "role": "user", "id": f"{name}-prompt", "content": asked}
        yield {**answer, **row, "role": "assistant", "id": name, "content": said}


READER = AnythingLlm().reader()
