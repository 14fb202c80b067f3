"""The message cursor: the message that the keys act on."""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from tui.domain.journal.message import Message, Role
from tui.widgets.transcript.items import Item
from tui.widgets.transcript.row_blocks import Code, code_of
from tui.widgets.transcript.viewport import DocumentRow, Layout


class MessageCursor(msgspec.Struct, eq=False):
    """Points to a message of a document, or to none yet; ``_rows`` are those on screen."""

    _layout: Layout
    _items: Mapping[str, Item]
    _rows: Callable[[], Sequence[DocumentRow]]
    _key: str | None = None
    _last_then: Item | None = None
    _copied: tuple[str, int, int] = ("", 0, 0)

    @property
    def item(self) -> Item | None:
        """The item of the message; none once it is hidden."""
        item = self._items.get(self._key or "")
        return item if item and not item.hidden else None

    @property
    def message(self) -> Message | None:
        """The message at the cursor."""
        return self.item.message if self.item else None

    @property
    def message_or_last(self) -> Message | None:
        """The message at the cursor, or the last one of all."""
        item = self.item or self.last()
        return item.message if item else None

    def stand_on(self, message_id: str) -> Item | None:
        """Go to a message if it is loaded and not hidden; gives the item at the cursor."""
        item = self._items.get(message_id)
        if item and not item.hidden:
            self._key = item.key
            self._last_then = self.last()
        return self.item

    def step(self, count: int, role: Role | None = None) -> None:
        """Go to the next message of a role, or the one before; at first to a message in sight."""
        layout, rows, found = self._layout, self._rows(), None
        edge, before = (0, -1) if count > 0 else (-1, 1)
        if self.item:
            found = self._next(count, layout.index(self.item), role)
        elif role is None:
            found = next(iter(self._in_sight()[edge:]), None)
        elif rows:
            found = self._next(count, layout.index(rows[edge].spot.item) + before, role)
        if found:
            self._key = found.key

    def go_to_end(self, step: int) -> None:
        """Go to the first message (1) or the last one (-1), if the cursor is on a message."""
        item = self._next(step, -1 if step > 0 else len(self._layout), None)
        if item and self.item:
            self._key = item.key

    def go_into_sight(self, *, following: bool = False) -> None:
        """Go to the last message in sight, unless the cursor is in sight.

        A reader who is ``following`` goes there also if messages came after it was put there.
        """
        seen = self._in_sight()
        before, self._last_then = self._last_then, self.last()
        if seen and (self.item not in seen or (following and before is not self._last_then)):
            self._key = seen[-1].key

    def come_along(self) -> bool:
        """Go to the nearest message in sight if the cursor is out of sight; true if it moved."""
        seen = self._in_sight()
        item = self.item
        if item is None or not seen or item in seen:
            return False
        self._key = seen[0 if item.order < seen[0].order else -1].key
        return True

    def last(self) -> Item | None:
        """The last message of all."""
        return self._next(-1, len(self._layout), None)

    def next_code(self) -> tuple[str, str]:
        """A code block to copy, and its number in words if there are several.

        The first block in sight, then the next one each time; without a cursor the last of all.
        """
        item = self.item
        if item is None or item.message is None:
            with_code = (each.codes for each in reversed(self._layout) if not each.hidden)
            last = next(filter(None, with_code), [""])
            return last[-1], ""
        blocks = item.codes
        if not blocks:
            return "", ""
        seen = self._first_in_sight(blocks)
        key, seen_before, place = self._copied
        place = (place + 1) % len(blocks) if (key, seen_before) == (item.key, seen) else seen
        self._copied = item.key, seen, place
        return blocks[place], f"Code {place + 1} of {len(blocks)}" if len(blocks) > 1 else ""

    def _first_in_sight(self, blocks: Sequence[str]) -> int:
        """The number of the first code block that begins on screen, else of the first in sight."""
        mine = [row for row in self._rows() if row.spot.item is self.item]
        seen = [(block, row.spot.row) for row in mine if isinstance(block := row.block, Code)]
        begun = [(block, row) for block, row in seen if block.titled and row == block.spaced]
        for block, _ in begun or seen:
            code = code_of(block, mine[0].spot.item.blocks(), blocks)
            return blocks.index(code) if code in blocks else 0
        return 0

    def foldable(self) -> Item | None:
        """The item to fold: the one at the cursor, else the last foldable one in sight.

        With a cursor on a message that cannot be folded, only items without a message count, as
        the cursor never reaches them.
        """
        if self.item and self.item.foldable:
            return self.item
        seen = [row.spot.item for row in self._rows() if row.spot.item.foldable]
        if self.item:
            seen = [item for item in seen if not item.message]
        return seen[-1] if seen else None

    def _next(self, count: int, place: int, role: Role | None) -> Item | None:
        place += count
        while 0 <= place < len(self._layout):
            item = self._layout[place]
            wanted = item.message
            if wanted and not item.hidden and role in (None, wanted.role):
                return item
            place += count
        return None

    def _in_sight(self) -> list[Item]:
        """The messages in sight with more than the blank row before them."""
        said = (row.spot for row in self._rows() if not row.is_before)
        return [spot.item for spot in said if spot.item.message]
