"""Long files that are read twice: all lines for facts, places and links, then those with words.

Nothing that is said in a long file stays in memory between the two.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from tui.files import open_regular
from tui.importers import protocol as p
from tui.importers.contents import title
from tui.importers.json_lines import RawLine, SourceChanged, decode, raw_lines
from tui.importers.times import utc
from tui.importers.trees import AGAIN, Order

OBJECTS = msgspec.json.Decoder(p.Json)
KEPT_BYTES = 2 * 1024 * 1024
"""Of the beginning of a file, which is the whole of most: it is not decoded twice."""
_Line = TypeVar("_Line")


class Place(NamedTuple):
    """The place of a line: offset and length in bytes, and a number of its own."""

    offset: int
    length: int = 0
    number: int = -1


class TwoPass(ABC, Generic[_Line]):
    """A file whose lines are added one after the other; then its messages are made."""

    def __init__(self, path: Path, decoder: msgspec.json.Decoder[Any]) -> None:
        self.path = path
        self._decoder = decoder
        self.facts = p.Heading(path.stem)
        """As they are found; times are converted once, at the end."""
        self.ledger = p.Ledger()
        self.left_out = ""
        """The reason to leave it out, such as ``sub-agent``."""

    def read(self, ledger: p.Ledger) -> Iterator[p.Conversation]:
        """Look through the file, and give what reads it. Raises ``OSError``."""
        for raw, line in self.lines():
            reason = self.damage(raw) if line is None else self.add(line, raw)
            self.ledger.count(not reason, reason)
        self.link()
        if self.left_out:
            ledger.skipped[self.left_out] += self.ledger.total
        elif self.has_words():
            yield p.Conversation(self.heading(), self.items, self.ledger)
        else:
            ledger.add(self.ledger)

    def lines(self) -> Iterator[tuple[RawLine, _Line | None]]:
        """The lines of the file; ``None`` for one that is none."""
        for raw in self.raw():
            yield raw, self.decoded(raw)

    def decoded(self, raw: RawLine) -> _Line | None:
        """Decode a line; ``None`` for one that is none."""
        return decode(raw.data, self._decoder) if raw.is_whole else None

    def raw(self) -> Iterator[RawLine]:
        return raw_lines(self.path, wanted=self.is_wanted)

    def is_wanted(self, start: bytes) -> bool:
        """Tell by its beginning whether a long line is wanted."""
        return True

    def damage(self, raw: RawLine) -> str:
        """The reason to skip a line that is none."""
        return raw.damage

    @abstractmethod
    def add(self, line: _Line, raw: RawLine) -> str:
        """Add a line; gives the reason if it is skipped."""

    def link(self) -> None:
        """Put together what only all lines tell, and the order of a tree."""

    def has_words(self) -> bool:
        """Tell whether there is a conversation in it."""
        return True

    def add_time(self, time: Any) -> None:
        """Add the time of a record, if it is one."""
        if utc(time):
            self.facts.created_at = self.facts.created_at or time
            self.facts.updated_at = time

    def heading(self) -> p.Heading:
        facts = self.facts
        created, updated = utc(facts.created_at), utc(facts.updated_at)
        return replace(facts, name=title(facts.name), created_at=created, updated_at=updated)

    @abstractmethod
    def items(self) -> Iterator[p.Item]:
        """Make the messages. Raises ``OSError``, ``SourceChanged``."""


class Log(TwoPass[_Line]):
    """A file whose records follow each other."""

    @abstractmethod
    def said(self, lines: Iterator[_Line]) -> Iterator[p.Item]:
        """Make messages of the records, and count these."""

    def items(self) -> Iterator[p.Item]:
        self.ledger.read = 0
        self.ledger.skipped.clear()
        yield from self.said(self._readable())

    def _readable(self) -> Iterator[_Line]:
        for raw, line in self.lines():
            if line is None:
                self.ledger.skipped[self.damage(raw)] += 1
            else:
                yield line


class Tree(TwoPass[_Line]):
    """A file whose records form a tree."""

    def __init__(self, path: Path, decoder: msgspec.json.Decoder[_Line]) -> None:
        super().__init__(path, decoder)
        self.kept: dict[int, _Line] = {}
        """Lines by their offsets."""
        self._room = KEPT_BYTES
        self._read_again: Callable[[Place], _Line]
        self.order = Order([], {})
        """The records with words and links between them, such that the shown branch comes last."""
        self.ends: dict[str, str] = {}
        """The ids of the last messages of records, by the keys of these."""

    def keep(self, line: _Line, raw: RawLine, number: int = -1) -> Place:
        """Remember where a line is, and the line itself while there is room."""
        self._room -= raw.length
        if self._room >= 0:
            self.kept[raw.offset] = line
        return Place(raw.offset, raw.length, number)

    def at(self, place: Place) -> _Line:
        """A line, decoded again where it was not kept. Raises ``OSError``, ``SourceChanged``."""
        if (kept := self.kept.get(place.offset)) is not None:
            return kept
        return self._read_again(place)

    def has_words(self) -> bool:
        return bool(self.order.ids)

    @abstractmethod
    def said(self, key: str, ending: str) -> Iterator[p.Item]:
        """The messages of a record, one after the other; ``ending`` ends their ids."""

    def ending(self) -> Iterator[p.Item]:
        """Whatever the conversation has besides messages."""
        return iter(())

    def items(self) -> Iterator[p.Item]:
        """Make the messages, and link them. Raises ``OSError``, ``SourceChanged``."""
        ends = self.ends = {"": ""}
        with read_again(self.path, self._decoder) as self._read_again:
            for node in self.order:
                key = node.id.removesuffix(AGAIN)
                end = ends[node.parent]
                for item in self.said(key, node.id[len(key) :]):
                    match item:
                        case p.ForeignMessage():
                            yield replace(item, parent=end)
                            end = item.id
                        case p.ForeignSummary(through=""):
                            if end:
                                yield replace(item, through=end)
                        case _:
                            yield item
                # The same text once, for most.
                ends[node.id] = node.id if end == node.id else end
            yield from self.ending()


@contextmanager
def read_again(
    path: Path, decoder: msgspec.json.Decoder[_Line]
) -> Generator[Callable[[Place], _Line]]:
    """Open a file whose lines are read by their places. Raises ``OSError``, ``SourceChanged``."""
    descriptor = open_regular(path, follow=True)
    try:

        def line_at(place: Place) -> _Line:
            line = decode(os.pread(descriptor, place.length, place.offset), decoder)
            if line is None:
                raise SourceChanged
            return line

        yield line_at
    finally:
        os.close(descriptor)
