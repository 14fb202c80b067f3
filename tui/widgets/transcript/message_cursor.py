"""The message that the keys are about."""

from collections.abc import Sequence

from tui.domain.journal.message import Message, Role
from tui.domain.text.fences import codes
from tui.widgets.transcript.document.document import Document, DocumentRow
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.rendering.code_blocks import Code, code_of


class MessageCursor:
    """Stands on a message of a conversation, or on none yet."""

    def __init__(self, conversation: Document) -> None:
        self._conversation = conversation
        self._key: str | None = None
        self._copied: tuple[str, int, int] = ("", 0, 0)

    @property
    def item(self) -> Item | None:
        """What it stands on; none if that is hidden by now."""
        item = self._conversation.item_of(self._key) if self._key else None
        return item if item and not item.hidden else None

    @property
    def message(self) -> Message | None:
        """The message it stands on."""
        return self.item.message if self.item else None

    def stand_on(self, message_id: str) -> Item | None:
        """Go to a message; gives what stands for it, if it is there and shows."""
        item = self._conversation.item_of(message_id)
        if item and not item.hidden:
            self._key = item.key
        return self.item

    def step(self, count: int, rows: Sequence[DocumentRow], role: Role | None = None) -> None:
        """Go to the next message of a role, or the one before; the first time to one in sight."""
        if self.item is None and role is None:
            seen = _in_sight(rows)
            found = seen[0 if count > 0 else -1] if seen else None
        else:
            found = self._next(count, self._start(rows, count), role)
        if found:
            self._key = found.key

    def go_to_first(self) -> None:
        """Go to the first message, from one."""
        self._go_to(self._next(1, -1, None))

    def go_to_last(self) -> None:
        """Go to the last message, from one."""
        self._go_to(self._next(-1, len(self._conversation.layout), None))

    def go_into_sight(self, rows: Sequence[DocumentRow]) -> None:
        """Stand on a message of which something is on screen: the last one, if on none yet."""
        seen = _in_sight(rows)
        if seen and self.item not in seen:
            self._key = seen[-1].key

    def come_along(self, rows: Sequence[DocumentRow]) -> bool:
        """Go to the nearest message in sight from one that is not; whether that is another."""
        seen = _in_sight(rows)
        item = self.item
        if item is None or not seen or item in seen:
            return False
        self._key = seen[0 if item.order < seen[0].order else -1].key
        return True

    def _go_to(self, item: Item | None) -> None:
        if item and self.item:
            self._key = item.key

    def last(self) -> Message | None:
        """The last message of all."""
        layout = self._conversation.layout
        found = self._next(-1, len(layout), None)
        return found.message if found else None

    def next_code(self, rows: Sequence[DocumentRow]) -> tuple[str, str]:
        """A block of code of the message, and which it is if there are more.

        The first one in sight, then each time the next one; without a message the last one of all.
        """
        message = self.message
        if message is None:
            return next(reversed(self._last_codes()), ""), ""
        blocks = codes(message.text)
        if not blocks:
            return "", ""
        seen = self._first_in_sight(rows, blocks)
        key, seen_before, place = self._copied
        place = (place + 1) % len(blocks) if (key, seen_before) == (message.id, seen) else seen
        self._copied = message.id, seen, place
        return blocks[place], f"Code {place + 1} of {len(blocks)}" if len(blocks) > 1 else ""

    def _first_in_sight(self, rows: Sequence[DocumentRow], blocks: Sequence[str]) -> int:
        """Which of the message's blocks of code begins on screen first, or goes on; else 0."""
        mine = [row for row in rows if row.spot.item is self.item]
        seen = [(part, row.spot.row) for row in mine if isinstance(part := row.part, Code)]
        begun = [(part, row) for part, row in seen if part.titled and row == part.spaced]
        for part, _ in begun or seen:
            code = code_of(part, mine[0].spot.item.parts(), blocks)
            return blocks.index(code) if code in blocks else 0
        return 0

    def _last_codes(self) -> list[str]:
        """The blocks of code of the last message that has any."""
        place = len(self._conversation.layout)
        while item := self._next(-1, place, None):
            if item.message and (found := codes(item.message.text)):
                return found
            place = self._conversation.layout.index(item)
        return []

    def foldable(self, rows: Sequence[DocumentRow]) -> Item | None:
        """What the fold key is about: the message at the cursor, else the last one in sight.

        The cursor never stands on what is no message: with nothing to fold at it, that is meant.
        """
        if self.item and self.item.foldable:
            return self.item
        seen = [row.spot.item for row in rows if row.spot.item.foldable]
        if self.item:
            seen = [item for item in seen if not item.message]
        return seen[-1] if seen else None

    def _start(self, rows: Sequence[DocumentRow], count: int) -> int:
        layout = self._conversation.layout
        if self.item:
            return layout.index(self.item)
        if not rows:
            return -1 if count > 0 else len(layout)
        return (
            layout.index(rows[0].spot.item) - 1
            if count > 0
            else layout.index(rows[-1].spot.item) + 1
        )

    def _next(self, count: int, place: int, role: Role | None) -> Item | None:
        layout = self._conversation.layout
        place += count
        while 0 <= place < len(layout):
            item = layout[place]
            wanted = item.message
            if wanted and not item.hidden and role in (None, wanted.role):
                return item
            place += count
        return None


def _in_sight(rows: Sequence[DocumentRow]) -> list[Item]:
    """The messages of which more is on screen than the blank row before them."""
    said = (row.spot for row in rows if not row.is_before)
    return [spot.item for spot in said if spot.item.message]
