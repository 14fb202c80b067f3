"""The lines of version 1 that are kept for ever, and helpers for the tests of records."""

from pathlib import Path

from tui.domain.journal.message import Message
from tui.domain.journal.records import encode

FIXTURES = Path(__file__).parent / "fixtures"
LINES = (FIXTURES / "journal-v1.jsonl").read_bytes().split(b"\n")[:-1]
BLOCK_LINES = (FIXTURES / "journal-v1-blocks.jsonl").read_bytes().split(b"\n")[:-1]
FORK_LINES = (FIXTURES / "journal-v1-fork.jsonl").read_bytes().split(b"\n")[:-1]


def line_of(record):
    return encode(record).removesuffix(b"\n")


def saying(content, **fields):
    return Message(id="m", role="user", content=content, timestamp="t", **fields)


def nested(depth, inside=None):
    """A list in a list in a list …"""
    for _ in range(depth):
        inside = [inside]
    return inside
