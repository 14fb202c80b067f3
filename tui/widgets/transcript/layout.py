"""The heights of all items: exact once drawn, estimated before."""

from collections.abc import Iterator, Sequence

import msgspec

from tui.widgets.transcript.items import Item

CHUNK = 256
"""The number of items whose heights are estimated together."""

_ROUGH = 8


class _Chunk(msgspec.Struct):
    items: list[Item]
    heights: list[int] | None = None

    def total(self) -> int:
        if self.heights is None:
            return _ROUGH * len(self.items)
        return sum(self.heights)

    def known(self, width: int) -> list[int]:
        if self.heights is None:
            self.heights = [item.height(width) for item in self.items]
        return self.heights


class Layout:
    """Items one below the other, in chunks; the heights of a chunk are computed when needed."""

    def __init__(self, items: Sequence[Item] = (), width: int = 80) -> None:
        self.width = width
        self._chunks: list[_Chunk] = []
        self._first = 0
        self._count = 0
        self.extend(items)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> Item:
        chunk, place = self._find(index)
        return chunk.items[place]

    def __iter__(self) -> Iterator[Item]:
        for chunk in self._chunks:
            yield from chunk.items

    def index(self, item: Item) -> int:
        return item.order - self._first

    def ordered(self, order: int) -> Item:
        return self[order - self._first]

    def extend(self, items: Sequence[Item]) -> None:
        """Add items at the end."""
        for place, item in enumerate(items, self._first + self._count):
            item.order = place
        self._count += len(items)
        start = 0
        if self._chunks and items and len(self._chunks[-1].items) < CHUNK:
            last = self._chunks[-1]
            start = CHUNK - len(last.items)
            last.items.extend(items[:start])
            if last.heights is not None:
                last.heights.extend(item.height(self.width) for item in items[:start])
        self._chunks.extend(_chunks(items[start:]))

    def prepend(self, items: Sequence[Item]) -> None:
        """Add items before the first one."""
        self._first -= len(items)
        for place, item in enumerate(items, self._first):
            item.order = place
        self._count += len(items)
        chunks = _chunks(items)
        if chunks and self._chunks and len(items) + len(self._chunks[0].items) <= CHUNK:
            first = self._chunks.pop(0)
            chunks = [_Chunk([*items, *first.items])]
        self._chunks[:0] = chunks

    def pop(self) -> Item:
        """Remove the last item."""
        last = self._chunks[-1]
        if last.heights is not None:
            last.heights.pop()
        item = last.items.pop()
        if not last.items:
            self._chunks.pop()
        self._count -= 1
        return item

    def changed(self, item: Item) -> None:
        """Update the height of an item."""
        chunk, place = self._find(self.index(item))
        chunk.known(self.width)[place] = item.height(self.width)

    def resize(self, width: int) -> None:
        """Take another width, and forget all heights."""
        self.width = width
        for chunk in self._chunks:
            chunk.heights = None

    @property
    def total(self) -> int:
        """The number of all rows."""
        return sum(chunk.total() for chunk in self._chunks)

    def top_of(self, index: int) -> int:
        """The number of rows above an item."""
        above = 0
        for chunk in self._chunks:
            if index < len(chunk.items):
                return above + sum(chunk.known(self.width)[:index])
            above += chunk.total()
            index -= len(chunk.items)
        return above

    def at(self, row: int) -> tuple[Item, int]:
        """The item at a row of the document, and the row within the item."""
        for chunk in self._chunks:
            # Exact heights first: with an estimated total the search may pass the row.
            heights = chunk.heights
            if heights is None and row < chunk.total():
                heights = chunk.known(self.width)
            if heights is None:
                row -= chunk.total()
                continue
            for item, height in zip(chunk.items, heights, strict=True):
                if row < height:
                    return item, row
                row -= height
        last = self[self._count - 1]
        return last, max(0, last.height(self.width) - 1)

    def _find(self, index: int) -> tuple[_Chunk, int]:
        if index < 0:
            raise IndexError(index)
        for chunk in self._chunks:
            if index < len(chunk.items):
                return chunk, index
            index -= len(chunk.items)
        raise IndexError(index)


def _chunks(items: Sequence[Item]) -> list[_Chunk]:
    return [_Chunk(list(items[start : start + CHUNK])) for start in range(0, len(items), CHUNK)]
