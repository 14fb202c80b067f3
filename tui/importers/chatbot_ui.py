"""Conversations of Chatbot UI's export; it has no times."""

from collections.abc import Iterator
from pathlib import Path

from tui.importers.export_files import beginning, nowhere, records
from tui.importers.plain_messages import conversation
from tui.importers.protocol import Conversation, Ledger, Reader, Source

WITHIN = ("history",)


def _recognises(path: Path, head: bytes) -> bool:
    start = beginning(path, head)
    has_history = b'"history"' in start and b'"messages"' in start
    return has_history and b'"role"' in start and b'"currentId"' not in start


def _read(source: Source, ledger: Ledger) -> Iterator[Conversation]:
    for record in records(source, ledger, WITHIN):
        if isinstance(record.get("messages"), list):
            yield conversation(record)
        else:
            ledger.skipped["conversation without messages"] += 1


READER = Reader(
    "chatbot-ui", "Chatbot UI", nowhere, _recognises, _read, several=True, archives=True
)
