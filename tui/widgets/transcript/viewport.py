"""The viewport, of which only the reader moves the top row, and the heights of all items."""

from collections.abc import Callable, Iterator, Sequence

import msgspec
from textual.strip import Strip

from tui.widgets.transcript.items import Item
from tui.widgets.transcript.row_blocks import RowBlock

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
        self.first_order = 0
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
        return item.order - self.first_order

    def extend(self, items: Sequence[Item]) -> None:
        """Add items at the end."""
        for place, item in enumerate(items, self.first_order + self._count):
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
        self.first_order -= len(items)
        for place, item in enumerate(items, self.first_order):
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


class Spot(msgspec.Struct, frozen=True):
    """One row of a block of an item."""

    item: Item
    block: int
    row: int


class DocumentRow(msgspec.Struct, frozen=True):
    """A drawn row and its spot in the document."""

    strip: Strip
    spot: Spot

    @property
    def block(self) -> RowBlock:
        return self.spot.item.blocks()[self.spot.block]

    @property
    def is_before(self) -> bool:
        """True for the blank row before an item."""
        return self.spot.block == self.spot.row == 0 and self.block.spaced


class Viewport(msgspec.Struct, eq=False):
    """Knows the rows on screen; ``_measure`` gives the exact number of rows of a block.

    ``following``: the end stays in sight. Otherwise ``top`` stays at the top, whatever changes
    above it; where the document ends early, rows below stay blank. ``first`` is an item that is
    read from its beginning: following the end stops there.
    """

    layout: Layout
    _measure: Callable[[Item, int], int]
    height: int = 0
    following: bool = True
    top: Spot | None = None
    first: Item | None = None

    def settle(self) -> list[Spot]:
        """The rows on screen, from the top: at most ``height``."""
        if self.following or self.top is None:
            last = self._seen(len(self.layout), -1)
            end = Spot(last, len(last.blocks()), 0) if last else None
            self.top = top = self._up(end, self.height) if end else None
            if (
                top
                and self.first
                and (top.item.order, top.block, top.row) > (self.first.order, 0, 0)
            ):
                self._go(Spot(self.first, 0, 0))
        if self.top is None:
            return []
        self.top = self._existing(self.top)
        return self._below(self.top, self.height)

    def move(self, rows: int) -> None:
        """Scroll down by rows, or up if negative."""
        if self.top is None or not rows:
            return
        if rows < 0:
            self._go(self._up(self.top, -rows))
        elif not self.following:
            seen = self._below(self.top, self.height + rows)
            if len(seen) < self.height + rows:
                self.to_end()
            else:
                self._go(seen[rows])

    def stay(self, top: Spot | None) -> None:
        """Keep a row at the top after a change of size, also instead of following the end."""
        self.top = top
        if top is not None and self.following:
            self._go(top)

    def to_end(self) -> None:
        """Go to the end and follow it."""
        self.following, self.first = True, None

    def go_to(self, item: Item, row: int = 0, block: int = 0) -> None:
        """Put a row of an item at the top; negative rows are above the item."""
        above = row < 0
        spot = self._up(Spot(item, block, 0), -row) if above else Spot(item, block, row)
        self._go(spot if above else self._existing(spot))

    def reveal(self, item: Item) -> None:
        """Bring an item into sight with the least movement."""
        top, count = self.top, len(item.blocks())
        if top is None or not count:
            return
        rows = self._below(Spot(item, 0, 0), self.height + 1)
        fits = len(rows) <= self.height or rows[-1].item is not item
        above = (item.order, 0, 0) < (top.item.order, top.block, top.row)
        if above or not fits:
            self._go(Spot(item, 0, 0))
            return
        seen = self._below(top, self.height)
        if (
            not seen
            or (seen[-1].item.order, seen[-1].block) < (item.order, count - 1)
            or (seen[-1].item is item and seen[-1].row + 1 < self._measure(item, count - 1))
        ):
            self._go(self._up(Spot(item, count, 0), self.height))

    def show(self, spot: Spot) -> None:
        """Bring a row into sight; from out of sight, to a third of the screen."""
        seen = self._below(self.top, self.height) if self.top else []
        if spot not in seen:
            self._go(self._up(spot, self.height // 3))

    def scroll_to(self, row: int) -> None:
        """Go to a row of the document, by the present heights."""
        if not len(self.layout):
            return
        item, inside = self.layout.at(max(0, row))
        place = 0
        for block in item.blocks():
            height = block.height(self.layout.width)
            if inside < height:
                break
            place, inside = place + 1, inside - height
        place = max(0, min(place, len(item.blocks()) - 1))
        self._go(self._existing(Spot(item, place, inside), clamp=True))

    def rows_above(self) -> int:
        """The number of rows above the viewport, exact or estimated."""
        if self.top is None:
            return 0
        top, width = self.top, self.layout.width
        above = sum(block.height(width) for block in top.item.blocks()[: top.block])
        return self.layout.top_of(self.layout.index(top.item)) + above + top.row

    def is_at_end(self) -> bool:
        """True if the last row of the document is on screen."""
        if self.following or self.top is None:
            return True
        return len(self._below(self.top, self.height + 1)) <= self.height

    def _go(self, spot: Spot) -> None:
        self.top, self.first = spot, None
        seen = self._below(spot, self.height + 1)
        self.following = len(seen) <= self.height

    def _up(self, spot: Spot, rows: int) -> Spot:
        """The spot some rows above another, or the first of the document."""
        item, block, row = spot.item, spot.block, spot.row
        while rows > row:
            rows -= row
            row = 0
            if block == 0:
                above = self._seen(self.layout.index(item), -1)
                if above is None:
                    return Spot(item, 0, 0)
                item, block = above, len(above.blocks())
            block -= 1
            row = self._measure(item, block)
        return Spot(item, block, row - rows)

    def _existing(self, spot: Spot, *, clamp: bool = False) -> Spot:
        """The same row; the next one if its block has become shorter, or the last of all."""
        item, block, row = spot.item, spot.block, spot.row
        while True:
            if block < len(item.blocks()):
                height = self._measure(item, block)
                if row < height:
                    return Spot(item, block, row)
                if clamp and height:
                    return Spot(item, block, height - 1)
                block, row = block + 1, row - height
                continue
            below = self._seen(self.layout.index(item), 1)
            if below is None:
                last = self._seen(len(self.layout), -1)
                if last is None:
                    return Spot(self.layout[0], 0, 0)
                return self._up(Spot(last, len(last.blocks()), 0), 1)
            item, block = below, 0

    def _below(self, spot: Spot, count: int) -> list[Spot]:
        """The spots from one downwards."""
        rows: list[Spot] = []
        item, block, row = spot.item, spot.block, spot.row
        while len(rows) < count:
            if block < len(item.blocks()):
                height = self._measure(item, block)
                end = min(height, row + count - len(rows))
                rows.extend(Spot(item, block, place) for place in range(row, end))
                block, row = block + 1, 0
                continue
            below = self._seen(self.layout.index(item), 1)
            if below is None:
                break
            item, block = below, 0
        return rows

    def _seen(self, index: int, step: int) -> Item | None:
        """The nearest item with rows below (1) or above (-1) a place of the layout."""
        places = range(index + 1, len(self.layout)) if step > 0 else range(index - 1, -1, -1)
        items = (self.layout[place] for place in places)
        return next((item for item in items if item.blocks()), None)
