"""Conversations of Chatbot UI's export; it has no times."""

from collections.abc import Iterator
from pathlib import Path

from tui.importers.export_files import beginning, has_key, nowhere, records
from tui.importers.plain_messages import conversation
from tui.importers.protocol import Conversation, Ledger, Reader, Source

WITHIN = ("history",)


def _recognises(path: Path, head: bytes) -> bool:
    start = beginning(path, head)
    return has_key(start, b"history", b"messages", b"role") and not has_key(start, b"currentId")


def _read(source: Source, ledger: Ledger) -> Iterator[Conversation]:
    for record in records(source, ledger, WITHIN):
        if isinstance(record.get("messages"), list):
            yield conversation(record)
        else:
            ledger.skipped["conversation without messages"] += 1


READER = Reader(
    "chatbot-ui", "Chatbot UI", nowhere, _recognises, _read, several=True, archives=True
)
