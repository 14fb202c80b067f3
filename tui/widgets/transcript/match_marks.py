"""Marks on the matches of a search, in drawn rows. Imported with the first search."""

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.strip import Strip

from tui.domain.journal.message import FileBlock, ImageBlock, ToolCall
from tui.domain.search.find import (
    Match,
    Needle,
    Piece,
    Place,
    ReadingPosition,
    arguments_text,
    count,
    places,
)
from tui.domain.tool_servers import tool_title
from tui.widgets.transcript.canvas import Canvas, joint, paint
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.foldable import PastedText
from tui.widgets.transcript.items import Item
from tui.widgets.transcript.row_blocks import (
    Code,
    Details,
    FoldLine,
    LineBlock,
    Plain,
    ProseBlock,
    RowBlock,
)
from tui.widgets.transcript.viewport import DocumentRow, Spot

_KNOWN = 200
_LEADING = " ▌"
_MATCH, _CURRENT = "match", "match-current"


class MatchMarks(msgspec.Struct, eq=False):
    """The matches that are marked, and the current one."""

    needle: Needle
    _document: Document
    _known: dict[RowBlock, tuple[Sequence[Strip], list[Place]]] = msgspec.field(
        default_factory=dict[RowBlock, tuple[Sequence[Strip], list[Place]]]
    )
    _files: WeakKeyDictionary[FoldLine, int] = msgspec.field(
        default_factory=WeakKeyDictionary[FoldLine, int]
    )
    _current: tuple[str, int, int] = ("", 0, 0)

    # --- finding

    def go_to(self, match: Match, *, unfold: bool) -> Spot | None:
        """Make a match the current one; gives its row, or ``None`` if it is not loaded."""
        item = self._document.items.get(match.message_id)
        if item is None or item.hidden:
            return None
        block, number = self._block_of(item, match.number)
        if unfold and item.is_folded(block):
            self._document.fold(item, block)
            block, number = self._block_of(item, match.number)
        found = self._places(item, block)
        number = min(number, len(found) - 1)
        self._current = item.key, block, number
        if found:
            self._uncover(item, block, found[number][0])
        row = found[number][0].row if found else int(item.blocks()[block].spaced)
        return Spot(item, block, row)

    def in_sight(self) -> Iterator[Match]:
        """The matches on screen, also those in part, from the top."""
        seen: dict[tuple[Item, int], list[int]] = {}
        for row in self._document.seen:
            seen.setdefault((row.spot.item, row.spot.block), []).append(row.spot.row)
        for (item, block), shown in seen.items():
            before = sum(self._count(item, place) for place in range(block))
            if item.is_folded(block):
                if self._count(item, block):
                    yield Match(item.key, before)
                continue
            for number, place in enumerate(self._places(item, block)):
                if any(piece.row in shown for piece in place):
                    yield Match(item.key, before + number)

    def reading(self) -> ReadingPosition:
        """The reader's place among the matches."""
        for row in self._document.seen:
            item, block = row.spot.item, row.spot.block
            if item.message is None:
                continue
            above = sum(self._count(item, place) for place in range(block))
            found = self._places(item, block)
            above += sum(place[0].row < row.spot.row for place in found)
            return ReadingPosition(item.key, above)
        return ReadingPosition(None)

    def _uncover(self, item: Item, number: int, piece: Piece) -> None:
        """Scroll code sideways so that its match is in view."""
        block = item.blocks()[number]
        cut = block.cut(piece.row)
        if cut is None or not isinstance(block, Code):
            return
        begin, end = piece.begin - block.margin, piece.end - block.margin
        if begin < cut.hidden or end > cut.hidden + cut.shown:
            before = cell_len(cut.text[:begin]) - block.room // 3
            if block.sideways.move(before - block.sideways.skipped(block.room), block.room):
                self._document.redraw_fence(item, block.sideways)

    def _block_of(self, item: Item, number: int) -> tuple[int, int]:
        """The block with a match, and the match's number in it."""
        last = 0
        for place, _ in enumerate(item.blocks()):
            found = self._count(item, place)
            if number < found:
                return place, number
            number -= found
            last = place if found else last
        # Drawn Markdown may have less text than its source.
        return last, self._count(item, last)

    def _count(self, item: Item, block: int) -> int:
        """The number of matches in a block as it was written, folded text included."""
        line = item.blocks()[block]
        if not isinstance(line, FoldLine) or not isinstance(line.part, FileBlock):
            return sum(count(self.needle, text) for text in _sources(item, block))
        if line not in self._files:
            self._files[line] = sum(count(self.needle, text) for text in _sources(item, block))
        return self._files[line]

    # --- marking

    def mark(self, row: DocumentRow, strip: Strip, canvas: Canvas) -> Strip:
        item, block = row.spot.item, row.spot.block
        for number, place in enumerate(self._places(item, block)):
            current = self._current == (item.key, block, number)
            for piece in place:
                if piece.row == row.spot.row:
                    style = canvas.palette[_CURRENT if current else _MATCH]
                    strip = paint(strip, *_on_row(row, piece), style)
        folded = item.is_folded(block) and row.spot.row == int(row.block.spaced)
        if folded and (hidden := self._count(item, block)):
            current = self._current[:2] == (item.key, block)
            words = Segment(f" {hidden} found ", canvas.palette[_CURRENT if current else _MATCH])
            room = canvas.width - cell_len(words.text)
            strip = Strip.join([strip.crop(0, room), Strip([words])])
        return strip

    def _places(self, item: Item, number: int) -> list[Place]:
        block = item.blocks()[number]
        strips = self._document.strips_of(item, number)
        known = self._known.get(block)
        if known is not None and known[0] is strips:
            return known[1]
        if len(self._known) > _KNOWN:
            self._known.clear()
        if not self._count(item, number) and not item.is_folded(number):
            self._known[block] = strips, []
            return []
        skipped = block.spaced + block.titled
        rows: list[tuple[str, bool]] = []
        """The text of each row with its margin, and true if it fills the row."""
        for place, strip in enumerate(strips):
            if cut := block.cut(place):
                # The whole line of a row that shows part of it.
                goes_on = place + 1 < len(strips) and joint(strips[place + 1]) is not None
                rows.append((" " * block.margin + cut.text, goes_on))
            elif place < skipped:
                rows.append(("", False))
            else:
                text = strip.text.rstrip()
                lead = len(text) - len(text[block.margin :].lstrip(_LEADING))
                rows.append((" " * lead + text[lead:], block.is_full(strip)))
        found = places(self.needle, rows)
        if isinstance(block, FoldLine):
            # An open call has only its name here: its arguments are below.
            found = found[: self._count(item, number)]
        self._known[block] = strips, found
        return found


def _on_row(row: DocumentRow, piece: Piece) -> tuple[int, int]:
    """The characters to mark for a piece of a match; if it is cut off, the sign of the cut."""
    cut, margin = row.block.cut(row.spot.row), row.block.margin
    if cut is None:
        return piece.begin, piece.end
    begin, end = piece.begin - margin - cut.hidden, piece.end - margin - cut.hidden
    if end <= 0:
        return margin - 2, margin - 1
    margin += cut.pad
    if begin >= cut.shown:
        more = margin + cut.shown + cut.fill
        return more, more + 1
    return margin + max(0, begin), margin + min(end, cut.shown)


def _sources(item: Item, number: int) -> Iterator[str]:
    """The searchable text of a block with what it folds, as written and not as it is wrapped."""
    message = item.message
    if message is None:
        return
    match item.blocks()[number]:
        case LineBlock(part=ImageBlock() as picture):
            yield picture.label
        case FoldLine(part=FileBlock() as file) as line:
            yield from (file.label,) if line.unfolded else (file.label, file.text)
        case FoldLine(part=PastedText() as paste) as line:
            yield from () if line.unfolded else (paste.text,)
        case FoldLine(part=ToolCall() as call) as line:
            yield tool_title(call.name)
            if not line.unfolded:
                yield arguments_text(call.arguments)
        case FoldLine(unfolded=False) if message.role == "tool":
            yield message.text
        case FoldLine() | Details():
            return
        case Plain(style=style, text=text) if style != "error":
            yield text
        case ProseBlock(text=text):
            yield text
        case Code(source=source):
            yield source.text
        case _:
            return
