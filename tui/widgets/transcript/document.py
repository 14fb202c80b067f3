"""The document: all entries of a transcript, the viewport on them and the cursor; no widget."""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, count
from typing import Literal

import msgspec
from textual.strip import Strip

from tui.domain.journal.message import Message
from tui.domain.journal.session import Entry, Version
from tui.domain.providers import is_guide
from tui.domain.views.costs import AnswerCost
from tui.widgets.transcript.canvas import Canvas, joint
from tui.widgets.transcript.foldable import Thought
from tui.widgets.transcript.items import AnswerItem, Item, QuestionItem, Queued
from tui.widgets.transcript.message_cursor import MessageCursor
from tui.widgets.transcript.row_blocks import Code, FoldLine, RowBlock, Sideways
from tui.widgets.transcript.viewport import DocumentRow, Layout, Spot, Viewport

NO_VERSIONS: Mapping[str, Version] = {}

ROWS = 1000
"""The size of the cache: some 25 screens. A row takes some 3 KB, with what Textual keeps of it."""

LEAST_BLOCKS = 4
"""Blocks that are kept however many rows they have: those on screen are drawn at each frame."""

THOUGHTS = 100
"""The latest answers whose thinking is kept."""


class ScrollPosition(msgspec.Struct, frozen=True):
    """The row at the top of the viewport.

    ``row`` counts from the beginning of the block number ``block`` of the message ``key``; rows
    above the message are negative. ``key`` is ``None`` in an empty session.
    """

    key: str | None
    row: int
    following: bool
    block: int = 0


class ScrollPositions(msgspec.Struct, eq=False):
    """The scroll positions of sessions that are not on screen."""

    _places: dict[str, ScrollPosition] = msgspec.field(default_factory=dict[str, ScrollPosition])

    def note(self, session_id: str, place: ScrollPosition | None) -> None:
        """Keep the position before a command that may lead elsewhere and answers at the end."""
        self._places.pop(session_id, None)
        if place is not None:
            self._places[session_id] = place

    def leave(self, session_id: str, place: ScrollPosition) -> None:
        """Keep the position of a session that is left; at the end, a noted one stays."""
        if not (place.following and session_id in self._places):
            self._places[session_id] = place

    def pop(self, session_id: str) -> ScrollPosition | None:
        """Remove and return the position of a session."""
        return self._places.pop(session_id, None)


class StripCache(msgspec.Struct, eq=False):
    """Draws blocks on a canvas, and keeps the strips used last, up to ``ROWS`` rows."""

    canvas: Canvas
    rows: int = 0
    _strips: OrderedDict[RowBlock, list[Strip]] = msgspec.field(
        default_factory=OrderedDict[RowBlock, list[Strip]]
    )

    def strips(self, block: RowBlock) -> list[Strip]:
        found = self._strips.get(block)
        if found is not None:
            self._strips.move_to_end(block)
            return found
        drawn = self._strips[block] = block.strips(self.canvas)
        self.rows += len(drawn)
        while self.rows > ROWS and len(self._strips) > LEAST_BLOCKS:
            _, dropped = self._strips.popitem(last=False)
            self.rows -= len(dropped)
        return drawn

    def forget(self, block: RowBlock) -> None:
        """Drop the rows of a block."""
        self.rows -= len(self._strips.pop(block, ()))


class HistoryEnds(msgspec.Struct):
    """Flags for messages before and after the loaded ones; each page is asked for once."""

    earlier: bool = False
    later: bool = False
    _earlier_asked: bool = False
    _later_asked: bool = False

    def neared(self, above: int, below: int, height: int) -> Iterator[Literal["earlier", "later"]]:
        """The ends to load, by the rows left above and below the viewport."""
        if self.earlier and not self._earlier_asked and above < height:
            self._earlier_asked = True
            yield "earlier"
        if self.later and not self._later_asked and below < height:
            self._later_asked = True
            yield "later"


class Document:
    """The entries on screen, their layout and the viewport; drawn on a canvas once there is one.

    ``draw`` paints the rows that have changed, ``draw_soon`` does so with the next frame, and
    ``draw_all`` paints all rows.
    """

    def __init__(
        self,
        draw: Callable[[], None] = lambda: None,
        draw_soon: Callable[[], None] = lambda: None,
        draw_all: Callable[[], None] = lambda: None,
    ) -> None:
        self.draw = draw
        self.draw_soon = draw_soon
        self.draw_all = draw_all
        self.costs: dict[str, AnswerCost] = {}
        self.thoughts: dict[str, Thought] = {}
        self.unseen: set[str] = set()
        """The ids of messages that arrived below the viewport."""
        self.replace(())
        self.is_loaded = False

    def replace(
        self,
        entries: Sequence[Entry],
        ends: HistoryEnds | None = None,
        arriving: Collection[str] = (),
        versions: Mapping[str, Version] = NO_VERSIONS,
    ) -> None:
        """Show the entries of another session, from their end."""
        self.is_loaded = True
        self.ends = ends or HistoryEnds()
        self.versions = versions
        self.unseen.clear()
        self.seen: list[DocumentRow] = []
        """The rows on screen, as they were painted last."""
        self._numbers = count(1)
        self.items: dict[str, Item] = {}
        """By the ids of their messages, or keys of their own."""
        self._replaced: set[str] = set()
        self._called: dict[str, str] = {}
        self._queue: Item | None = None
        self._drawn = StripCache(Canvas(0, {}))
        self._measured: set[Item] = set()
        self._wanted: ScrollPosition | None = None
        self._informed = False
        self._words: tuple[Spot, int] | None = None
        items = self._make_items(entries, arriving)
        self._join(items)
        self.layout: Layout = Layout(items)
        self.reader: Viewport = Viewport(self.layout, self._measure)
        self.cursor = MessageCursor(self.layout, self.items, lambda: self.seen)

    def draw_on(self, canvas: Canvas, height: int) -> None:
        """Draw on another canvas, or with another height, from now on."""
        before = self._drawn.canvas
        if (before.width, before.wraps) != (canvas.width, canvas.wraps):
            self.reader.top = self._same_words(canvas)
            self.layout.resize(canvas.width)
        if before is not canvas:
            self._drawn = StripCache(canvas)
        self.reader.height = height
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        item = self.items.get(wanted.key) if wanted.key else None
        if wanted.following or item is None or item.hidden:
            self.reader.to_end()
        else:
            block = min(wanted.block, len(item.blocks()) - 1)
            self.reader.go_to(item, wanted.row, max(0, block))

    def rows(self) -> list[DocumentRow]:
        """The rows on screen."""
        spots = self.reader.settle()
        self._measured.update(spot.item for spot in spots)
        for item in self._measured:
            for block in item.pop_dropped():
                self._drawn.forget(block)
            self.layout.changed(item)
        self._measured.clear()
        return [
            DocumentRow(self.strips_of(spot.item, spot.block)[spot.row], spot) for spot in spots
        ]

    def rows_between(self, first: Spot, last: Spot) -> Iterator[DocumentRow]:
        """The rows between two spots, on screen or not."""
        item: Item = first.item
        while True:
            for place, _ in enumerate(item.blocks()):
                for number, strip in enumerate(self.strips_of(item, place)):
                    at = (item.order, place, number)
                    if at > (last.item.order, last.block, last.row):
                        return
                    if at >= (first.item.order, first.block, first.row):
                        yield DocumentRow(strip, Spot(item, place, number))
            if self.layout.index(item) + 1 >= len(self.layout):
                return
            item = self.layout[self.layout.index(item) + 1]

    def prepend(self, entries: Sequence[Entry], *, earlier: bool = False) -> None:
        """Put earlier entries before all others; nothing on screen moves."""
        new = [e for e in entries if not (isinstance(e, Message) and e.id in self.items)]
        items = self._make_items(new)
        answer = self._join(items)
        for item in self.layout:
            call_id = item.entry.tool_call_id if isinstance(item.entry, Message) else None
            if not item.called and (called := self._called.get(call_id or "")):
                item.called = called
                self._remake(item)
            answer = self._join([item], answer)
            if answer is None or answer is item:
                break
        self.layout.prepend(items)
        self.ends = HistoryEnds(earlier, self.ends.later)
        self.draw()

    def append(self, entries: Sequence[Entry], *, later: bool, arriving: Collection[str]) -> None:
        """Put the entries after the last message that is there already at the end.

        The viewport stays, also at what was the end.
        """
        self.reader.following = False
        known = [p for p, e in enumerate(entries) if isinstance(e, Message) and e.id in self.items]
        self._append(self._make_items(entries[known[-1] + 1 if known else 0 :], arriving))
        self.ends = HistoryEnds(self.ends.earlier, later)
        self.draw()

    def put(self, entry: Entry) -> None:
        """Add an entry at the end, or replace the message with its id."""
        old = self.items.get(entry.id) if isinstance(entry, Message) else None
        if old is not None and isinstance(entry, Message):
            self._register(entry)
            old.replace(entry)
            self.layout.changed(old)
        else:
            if isinstance(entry, Message) and not self.following:
                self.unseen.add(entry.id)
            if not self.ends.later:
                self._append(self._make_items([entry]))
        self.draw()

    def add_text(self, message_id: str, text: str, model: str | None = None) -> None:
        """Add to an answer that is arriving, which the first piece makes; drawn next frame."""
        item = self.items.get(message_id)
        if item is None and not self.ends.later:
            entry = Message(message_id, "assistant", "", "", model=model)
            self._append(self._make_items([entry], {message_id}))
            item = self.items[message_id]
            # Its answer is there at once, and is read from its beginning.
            self.reader.first = item if is_guide(model) else None
        if isinstance(item, AnswerItem) and not self.ends.later:
            if not item.arriving:
                item.replace(item.message, arriving=True)
            item.add(text)
            self.layout.changed(item)
        if not self.following:
            self.unseen.add(message_id)
        self.draw_soon()

    def add_thinking(self, message_id: str, text: str) -> None:
        """Add to the thinking before an answer, of whichever session it is."""
        self.thoughts.setdefault(message_id, Thought()).add(text)
        if len(self.thoughts) > THOUGHTS:
            del self.thoughts[next(iter(self.thoughts))]
        self._show_thought(message_id)

    def end_thinking(self, message_id: str, seconds: float) -> None:
        """Fold the thinking before an answer: that begins, or has ended."""
        if thought := self.thoughts.get(message_id):
            thought.end(seconds)
            self._show_thought(message_id)

    def _show_thought(self, message_id: str) -> None:
        item = self.items.get(message_id)
        if isinstance(item, AnswerItem):
            item.think(self.thoughts[message_id])
            self.layout.changed(item)
            self.draw_soon()

    def show_cost(self, message_id: str, cost: AnswerCost) -> None:
        """Add time and tokens to the details of an answer, of whichever session it is."""
        self.costs[message_id] = cost
        if item := self.items.get(message_id):
            item.cost = cost
            self._remake(item)
            if isinstance(item, AnswerItem) and item.after:
                self._remake(item.whole[-1])
        self.draw_soon()

    def show_versions(self, versions: Mapping[str, Version]) -> None:
        """Show which messages have other versions; the viewport stays."""
        changed = {key for key, _ in self.versions.items() ^ versions.items()}
        self.versions = versions
        for item in filter(None, map(self.items.get, changed)):
            item.version = versions.get(item.key)
            self._remake(item.whole[-1] if isinstance(item, AnswerItem) else item)
        self.draw()

    def with_versions(self, item: Item | None) -> str:
        """The id of the message whose versions are those of an item, with its whole answer.

        Without an item that of the last one that has some; empty if none has.
        """
        items = self.answer_with(item.key) if item else self.layout
        found = next((each.key for each in reversed(items) if each.version), "")
        return found or (item.key if item else "")

    def show_queued(self, prompts: Sequence[str]) -> None:
        """Show prompts that wait to be sent, after everything else."""
        old, self._queue = self._queue, Item(Queued(tuple(prompts)), "") if prompts else None
        if old:
            self.layout.pop()
            # It has left the layout: its height would be taken for another's.
            self._measured.discard(old)
            for block in (*old.blocks(), *old.pop_dropped()):
                self._drawn.forget(block)
            if self.reader.top and self.reader.top.item is old:
                self.reader.top = None
                self.reader.to_end()
        if self._queue:
            self.layout.extend([self._queue])
        self.draw()

    def fold(self, item: Item, block: int | None = None) -> None:
        """Unfold an item, or fold it; ``block`` is the line of the one part that is meant."""
        top = self.reader.top
        nearest = _folds(item, top.block) if top and top.item is item else []
        was_folded = bool(nearest) and item.is_folded(nearest[-1])
        item.fold(block)
        if top and nearest:
            line = _folds(item, len(item.blocks()))[len(nearest) - 1]
            below = top.block - nearest[-1]
            # In rows below the line, which may have gone away.
            gone = below and item.is_folded(line) != was_folded
            top = Spot(item, line, 0) if gone else Spot(item, line + below, top.row)
        self.layout.changed(item)
        self.reader.stay(top)

    def inform(self, item: Item, *, shown: bool) -> None:
        """Show the details of a message, or hide them; the viewport stays."""
        top, known = self.reader.top, item.informed
        if not item.inform(shown=shown):
            return
        if top and top.item is item and known != shown:
            top = _same_row(top, item.details_at, 1 if shown else -1)
        self.layout.changed(item)
        self.reader.top = top

    def inform_all(self) -> None:
        """Show the details of all messages, or hide them."""
        self._informed = not self._informed
        for item in self.layout:
            self.inform(item, shown=self._informed)

    @property
    def following(self) -> bool:
        """True while the end is in sight; new rows then scroll into view."""
        return self.reader.following and not self.ends.later

    @property
    def is_blank(self) -> bool:
        """True without any message, unless there is a notice longer than the screen."""
        reader = self.reader
        return self.cursor.last() is None and reader.following and not reader.rows_above()

    @property
    def place(self) -> ScrollPosition:
        """The scroll position; by the next message if the row at the top is of no message."""
        if self._wanted:
            return self._wanted
        top, following = self.reader.top, self.reader.following
        if top is None:
            return ScrollPosition(None, 0, following)
        if top.item.message:
            return ScrollPosition(top.item.key, top.row, following, top.block)
        below = -top.row - sum(self._measure(top.item, block) for block in range(top.block))
        for index in range(self.layout.index(top.item), len(self.layout)):
            item = self.layout[index]
            if item.message and not item.hidden:
                return ScrollPosition(item.key, -below, following)
            below += sum(self._measure(item, block) for block in range(len(item.blocks())))
        return ScrollPosition(None, 0, following)

    def go_to(self, place: ScrollPosition) -> None:
        """Go to a scroll position; to the end if its message is gone."""
        self._wanted = place
        self.draw()

    def scroll_code(self, rows: Sequence[DocumentRow], item: Item | None, cells: int) -> bool:
        """Move the code of an item among the rows, or else all, to the right or left."""
        codes = [(block, row.spot.item) for row in rows if isinstance(block := row.block, Code)]
        own = [each for each in codes if each[1] is item] or codes
        fences = {code.sideways: (code.room, owner) for code, owner in own}
        moved = [each for each, (room, _) in fences.items() if each.move(cells, room)]
        for sideways in moved:
            self.redraw_fence(fences[sideways][1], sideways)
        return bool(moved)

    def redraw_fence(self, item: Item, sideways: Sideways) -> None:
        """Draw the rows of a code fence anew, as it has been moved."""
        for block in item.blocks():
            if isinstance(block, Code) and block.sideways is sideways:
                self._drawn.forget(block)

    def strips_of(self, item: Item, block: int) -> list[Strip]:
        """The rows of a block of an item; the same list while the rows are the same."""
        return self._drawn.strips(item.blocks()[block])

    def show_message(self, message_id: str) -> None:
        """Put the cursor on a message and scroll to it, with a quarter of a screen before it."""
        if item := self.cursor.stand_on(message_id):
            if self.reader.height:
                self.reader.go_to(item, -(self.reader.height // 4))
            else:
                self._wanted = ScrollPosition(item.key, -1, following=False)
            self.draw_all()

    def answer_with(self, message_id: str) -> Sequence[AnswerItem]:
        """The messages of the answer that a message or a result of a tool belongs to."""
        item = self.items.get(message_id)
        if item is None or (not isinstance(item, AnswerItem) and not _is_result(item)):
            return ()
        answer = self._answer_before(self.layout.index(item) + 1)
        return answer.whole if answer else ()

    def _make_items(self, entries: Sequence[Entry], arriving: Collection[str] = ()) -> list[Item]:
        """Make items for entries; hide the messages that they replace."""
        items: list[Item] = []
        for entry in entries:
            called = self._register(entry)
            if not isinstance(entry, Message):
                item = Item(entry, f"{type(entry).__name__} {next(self._numbers)}")
            elif entry.role == "assistant":
                item = AnswerItem(entry, entry.id, arriving=entry.id in arriving)
                item.thought = self.thoughts.get(entry.id)
            else:
                item = (QuestionItem if entry.role == "user" else Item)(entry, entry.id)
            item.called = called
            item.informed = self._informed
            item.cost = self.costs.get(item.key)
            item.version = self.versions.get(item.key)
            items.append(item)
        self.items.update((item.key, item) for item in items)
        for item in items:
            item.hidden = item.key in self._replaced
        return items

    def _register(self, entry: Entry) -> str:
        """Hide the message that an entry replaces; the name of the tool that a result is of."""
        if not isinstance(entry, Message):
            return ""
        if entry.replaces:
            self._replaced.add(entry.replaces)
            item = self.items.get(entry.replaces)
            if item and not item.hidden:
                item.hidden = True
                self.layout.changed(item)
                for neighbour in item.leave() if isinstance(item, AnswerItem) else ():
                    self._remake(neighbour)
        # For the results of these calls.
        self._called.update((call.id, call.name) for call in entry.tool_calls)
        return self._called.get(entry.tool_call_id or "", "")

    def _join(self, items: Iterable[Item], answer: AnswerItem | None = None) -> AnswerItem | None:
        """Join the messages of each answer, the first to ``answer``; gives the one at the end."""
        for item in items:
            if item.hidden:
                continue
            if not isinstance(item, AnswerItem):
                answer = answer if _is_result(item) else None
                continue
            if answer is not None and item.entry.model in (None, answer.entry.model):
                item.join(answer, item.after)
                self._remake(answer)
                self._remake(item)
            answer = item
        return answer

    def _answer_before(self, place: int) -> AnswerItem | None:
        """The last message of the answer that is not ended before a place of the layout."""
        for index in range(place - 1, -1, -1):
            item = self.layout[index]
            if not item.hidden and not _is_result(item):
                return item if isinstance(item, AnswerItem) else None
        return None

    def _remake(self, item: Item) -> None:
        if item.remake():
            self.layout.changed(item)

    def _append(self, items: Sequence[Item]) -> None:
        if self._queue:
            self.layout.pop()
        self._join(items, self._answer_before(len(self.layout)))
        self.layout.extend(items)
        if self._queue:
            self.layout.extend([self._queue])

    def _same_words(self, canvas: Canvas) -> Spot | None:
        """The row of another canvas with the words that are at the top now."""
        top = self.reader.top
        if self.reader.following or top is None or not top.row:
            return top
        block = top.item.blocks()[top.block]
        if isinstance(block, Code):
            # The row of code, wrapped otherwise, that shows the same line.
            above, rows = self._drawn.strips(block)[: top.row + 1], block.strips(canvas)
            lines = [place for place, strip in enumerate(rows) if joint(strip) is None]
            passed = sum(joint(strip) is None for strip in above)
            return Spot(top.item, top.block, lines[min(passed, len(lines)) - 1])
        before = sum(map(_letters, self._drawn.strips(block)[: top.row]))
        if self._words and self._words[0] == top:
            # Counting from this row's beginning would add up over many small steps.
            before = self._words[1]
        passed = list(accumulate(map(_letters, block.strips(canvas))))
        row = min(bisect_right(passed, before), len(passed) - 1)
        spot = Spot(top.item, top.block, row)
        self._words = spot, before
        return spot

    def _measure(self, item: Item, place: int) -> int:
        self._measured.add(item)
        return len(self._drawn.strips(item.blocks()[place]))


def _same_row(top: Spot, place: int, more: int) -> Spot:
    """The spot of a row after a block came before ``place``, or went; its blank row moves along."""
    if place == 0 and more > 0 and top.block == 0:
        return Spot(top.item, 1, top.row - 1) if top.row else top
    if place == 0 and more < 0 and top.block == 1:
        return Spot(top.item, 0, top.row + 1)
    moves = top.block >= place if more > 0 else top.block > place
    return Spot(top.item, top.block + more, top.row) if moves else top


def _is_result(item: Item) -> bool:
    """True for what stands between two messages of an answer."""
    return isinstance(item.entry, Message) and item.entry.role == "tool"


def _letters(strip: Strip) -> int:
    """The number of letters and digits of a row; spaces and rules vary with the width."""
    return sum(map(str.isalnum, strip.text))


def _folds(item: Item, last: int) -> list[int]:
    """The blocks of an item that fold the blocks below them, up to the block ``last``."""
    blocks = item.blocks()[: last + 1]
    return [place for place, block in enumerate(blocks) if isinstance(block, FoldLine)]
