"""The items of a document: one for each entry, made of blocks that are drawn."""

from collections import deque
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from tui.domain.journal.message import Attachment, FileBlock, ImageBlock, Message
from tui.domain.journal.records import Reset, Summary
from tui.domain.journal.session import Entry
from tui.domain.providers import is_guide
from tui.domain.text import codes, make_visible_line
from tui.domain.views.costs import PARTED, cost_words, details
from tui.widgets.cells import PIECE, clean, guess_rows
from tui.widgets.transcript.canvas import GUTTER, MEASURE
from tui.widgets.transcript.foldable import (
    FIRST_LINES,
    PastedText,
    Thought,
    call_blocks,
    part_blocks,
    result_blocks,
    summary_blocks,
)
from tui.widgets.transcript.markdown_blocks import MarkdownBlock, Splitter
from tui.widgets.transcript.row_blocks import (
    Details,
    FoldLine,
    LineBlock,
    Plain,
    RowBlock,
    Sideways,
    join_fences,
    plain_blocks,
    row_block,
    rule,
)

if TYPE_CHECKING:
    from tui.domain.journal.session import Version
    from tui.domain.views.costs import AnswerCost

RESET = "started over here; earlier messages are kept"

_AGAIN = "/retry asks again, /edit edits the question"
_OTHERS = "[ and ] show the others"
_ENDINGS = {
    "interrupted": ("■ interrupted", "warning"),
    "truncated": ("■ truncated: the answer reached its length limit", "warning"),
}
_WAITING_LINES = 5
_SHORT_QUESTION = 160
"""The longest question, in characters, that is bold."""

ASKED = "\u203a"
"""The mark of a question that waits: a single angle quotation mark."""


class Queued(msgspec.Struct, frozen=True):
    """The prompts that wait to be sent, at the end of the document."""

    prompts: tuple[str, ...]


class Item(msgspec.Struct, eq=False):
    """One entry; its blocks are made when they come near the viewport.

    No lists before they are needed: ten thousand items are made at once, and each list is one more
    object for the garbage collector to visit.
    """

    entry: Entry | Queued
    key: str
    called: str = ""
    cost: "AnswerCost | None" = None
    version: "Version | None" = None
    order: int = 0
    hidden: bool = False
    unfolded: frozenset[int] = frozenset()
    """The parts that are unfolded; most items are one part."""
    informed: bool = False
    _dropped: tuple[RowBlock, ...] = ()
    _blocks: list[RowBlock] | None = None

    def blocks(self) -> Sequence[RowBlock]:
        """The blocks to draw; none if hidden."""
        if self.hidden:
            return ()
        if self._blocks is None:
            self._blocks = self._informed(self.make_blocks())
        return self._blocks

    def height(self, width: int) -> int:
        """The number of rows, exact once they were drawn; cheap."""
        if self.hidden:
            return 0
        if self._blocks is None:
            return self.guess(max(1, min(width - GUTTER - 1, MEASURE)))
        return sum(block.height(width) for block in self._blocks)

    def guess(self, width: int) -> int:
        """The estimated number of rows at a width of text, before there are blocks."""
        match self.entry:
            case Message(role="tool"):
                return 1 + min(FIRST_LINES, self.entry.text.count("\n"))
            case Message():
                return guess_rows(self.entry.text, width) + 2
            case Queued(prompts):
                return sum(guess_rows(each, width) + 2 for each in prompts)
            case Summary() | Reset():
                return 2

    def make_blocks(self) -> list[RowBlock]:
        match self.entry:
            case Message():
                return result_blocks(self.entry, self.called, unfolded=bool(self.unfolded))
            case Summary():
                return summary_blocks(self.entry, unfolded=bool(self.unfolded))
            case Reset():
                return [LineBlock(RESET, "divider", spaced=True, shorten=rule)]
            case Queued(prompts):
                blocks: list[RowBlock] = []
                for prompt in prompts:
                    lines = clean(prompt)[:PIECE].split("\n")
                    more = ["…"] if len(lines) > _WAITING_LINES else []
                    words = "\n".join([*lines[:_WAITING_LINES], *more])
                    blocks.append(Plain(words, "queued", ASKED, spaced=True))
                    blocks.append(LineBlock("queued", "quiet"))
                return blocks

    @property
    def foldable(self) -> bool:
        """True if the item can be folded."""
        entry = self.entry
        return isinstance(entry, Summary) or (isinstance(entry, Message) and entry.role == "tool")

    @property
    def codes(self) -> list[str]:
        """The code of the message, to be copied."""
        return codes(self.message.text) if self.message else []

    @property
    def has_code(self) -> bool:
        """True if the message seems to have code."""
        text = self.message.text if self.message else ""
        return "```" in text or "~~~" in text

    def is_folded(self, block: int) -> bool:
        """True if a block is the line of something that is folded."""
        line = self.blocks()[block]
        return isinstance(line, FoldLine) and not line.unfolded

    def fold(self, block: int | None = None) -> None:  # noqa: ARG002 - for those with several
        """Unfold, or fold; ``block`` is the line of what is meant, if not all."""
        self.unfolded ^= {0}
        self.remake()

    def replace(self, entry: Message) -> None:
        """Show the message as it is now."""
        self.entry = entry
        self.remake()

    def remake(self) -> bool:
        """Make the blocks anew when they are next drawn; false if there were none."""
        were_made = self._blocks is not None
        self._dropped = (*self._dropped, *(self._blocks or ()))
        self._blocks = None
        return were_made

    def inform(self, *, shown: bool) -> bool:
        """Show the details of the message, or hide them; true if that changes the height now."""
        is_other, self.informed = self.informed != shown, shown
        return is_other and self.remake()

    @property
    def details_at(self) -> int:
        """The block that the details stand before: below the head, or first without one."""
        return int(self.entry.role != "user") if isinstance(self.entry, Message) else 0

    def _informed(self, blocks: list[RowBlock]) -> list[RowBlock]:
        """Add the details of a message, and below it which of its versions it is."""
        if blocks:
            blocks = [*blocks, *self._footer()]
        if not self.informed or not self.message or not blocks:
            return blocks
        first = blocks[0]
        own = not self.details_at
        line = Details(details(self.message, self.cost), "quiet", spaced=own)
        line.asked, first.spaced = own, first.spaced and not own
        return [*blocks[: self.details_at], line, *blocks[self.details_at :]]

    def _footer(self) -> list[RowBlock]:
        if self.version is None:
            return []
        words = _version_words(self.version)
        return [LineBlock(words, "quiet", fuller=(f"{words}{PARTED}{_OTHERS}",))]

    def pop_dropped(self) -> Sequence[RowBlock]:
        """The blocks that were dropped since the last call."""
        dropped, self._dropped = self._dropped, ()
        return dropped

    @property
    def message(self) -> Message | None:
        """The message of the item, whole."""
        return self.entry if isinstance(self.entry, Message) else None


class AnswerItem(Item):
    """A message of the model, which may still be arriving.

    The messages between two questions are one answer, with the results of tools in between: the
    first has the heading, the last says what all of them took.
    """

    entry: Message
    arriving: bool = False
    thought: Thought | None = None
    before: "AnswerItem | None" = None
    after: "AnswerItem | None" = None
    _new: list[str] | None = None
    """Pieces that are not in the entry's text yet."""
    _size: int = 0
    _split_to: int = 0
    _splitter: Splitter | None = None
    _sources: Sequence[MarkdownBlock] = ()
    _body: Sequence[RowBlock] = ()
    _sideways: list[Sideways] | None = None
    _title: RowBlock | None = None
    _changed: bool = True

    def __post_init__(self) -> None:
        self._size = len(self.entry.text)

    @property
    def message(self) -> Message:
        """The message with all text that has arrived."""
        if self._new:
            text = "".join([self.entry.text, *self._new])
            self.entry = msgspec.structs.replace(self.entry, content=text)
            self._new = None
        return self.entry

    @property
    def whole(self) -> "Sequence[AnswerItem]":
        """All messages of the answer, in their order."""
        parts: deque[AnswerItem] = deque((self,))
        while before := parts[0].before:
            parts.appendleft(before)
        while after := parts[-1].after:
            parts.append(after)
        return parts

    def join(self, before: "AnswerItem | None", after: "AnswerItem | None") -> None:
        """Put this between two messages of the answer."""
        self.before, self.after = before, after
        if before is not None:
            before.after = self
        if after is not None:
            after.before = self

    def leave(self) -> "Sequence[AnswerItem]":
        """Take this out of the answer; gives the messages beside it."""
        before, after = self.before, self.after
        self.before = self.after = None
        if before is not None:
            before.after = after
        if after is not None:
            after.before = before
        return [each for each in (before, after) if each is not None]

    def add(self, text: str) -> None:
        """Add a piece of text that has arrived."""
        if self._new is None:
            self._new = []
        self._new.append(text)
        self._size += len(text)
        self._changed = True

    def think(self, thought: Thought) -> None:
        """Show how the thinking before the answer has changed."""
        self.thought = thought
        self._changed = True

    def replace(self, entry: Message, *, arriving: bool = False) -> None:
        """Show the message as it is now; what was split stays if its text is what has arrived."""
        if not self.arriving or entry.text != self.message.text:
            self._splitter, self._split_to = None, 0
            self._sources = self._body = ()
            self._sideways = None
            self._new, self._size = None, len(entry.text)
        self.entry = entry  # pyright: ignore[reportIncompatibleVariableOverride]
        self.arriving, self._changed = arriving, True

    def blocks(self) -> Sequence[RowBlock]:
        if self.hidden:
            return ()
        if self._changed or self._blocks is None:
            old = self._blocks or ()
            self._split()
            self._blocks = self._informed(self.make_blocks())
            self._changed = False
            kept = set(self._blocks)
            self._dropped = (*self._dropped, *(block for block in old if block not in kept))
        return self._blocks

    def height(self, width: int) -> int:
        # New text is not split for its height alone: the item may be off screen.
        if self._changed and not self.hidden:
            return self.guess(min(width, MEASURE))
        return super().height(width)

    def guess(self, width: int) -> int:
        lines = self.entry.text.count("\n") + self._size // max(1, width)
        return lines + 3 + len(self.entry.tool_calls)

    def make_blocks(self) -> list[RowBlock]:
        unfolded = bool(self.unfolded)
        thought = self.thought.blocks(unfolded=unfolded) if self.thought else ()
        body = [self._head(), *thought, *self._body]
        if self.arriving and not self._body and (not self.thought or self.thought.ended):
            body.append(LineBlock("…", "quiet"))
        for place, call in enumerate(self.entry.tool_calls):
            spaced = place == 0 and bool(self._body)
            body.extend(call_blocks(call, spaced=spaced, unfolded=unfolded))
        return [*body, *self._ending(bare=not self._body)]

    def _head(self) -> RowBlock:
        """The name of the model; a blank row where other messages of the answer are above."""
        name = "" if self.before else self._model
        title = self._title
        if title is None or (title.text if isinstance(title, LineBlock) else "") != name:
            title = LineBlock(name, "model", "●", spaced=True) if name else RowBlock(spaced=True)
            self._title = title
        return title

    @property
    def _model(self) -> str:
        return make_visible_line(self.entry.model or "answer")

    def _footer(self) -> list[RowBlock]:
        """What the whole answer took, and which of its versions it is, below its last message."""
        is_alone = self.before is None and self.version is None
        if self.after is not None or (self.arriving and is_alone):
            return []
        parts = self.whole
        version = next((each.version for each in parts if each.version), None)
        took: Sequence[str] = ()
        is_ended = not self.arriving and (self.entry.status or not self.entry.tool_calls)
        if is_ended and not is_guide(self.entry.model):
            took = cost_words([each.message for each in parts], [each.cost for each in parts])
        words = [*took, *([_version_words(version)] if version else [])]
        if not words:
            return []
        named = [self._model, *words] if took else words
        wordings = [[*named, _OTHERS], named] if version else [named]
        return [LineBlock(PARTED.join(words), "quiet", fuller=[*map(PARTED.join, wordings)])]

    def _ending(self, *, bare: bool) -> list[RowBlock]:
        status = self.entry.status
        if self.arriving or (status is None and not bare):
            return []
        if status == "failed":
            reason = clean(self.entry.error or "no reason given").strip()
            told = plain_blocks(f"✗ {reason}", "error")
            return [*told, LineBlock(_AGAIN, "quiet")]
        if status in _ENDINGS:
            again = [LineBlock(_AGAIN, "quiet")] if status == "interrupted" else []
            return [LineBlock(*_ENDINGS[status]), *again]
        if status is not None:
            return [LineBlock(f"■ {make_visible_line(status)}", "warning")]
        return [] if self.entry.tool_calls else [LineBlock("(no text)", "quiet")]

    def _split(self) -> None:
        splitter = self._splitter = self._splitter or Splitter()
        text = self.message.text[self._split_to :]
        if self.arriving:
            # It may be half of a line's end.
            text = text.removesuffix("\r")
        self._split_to += len(text)
        splitter.feed(clean(text))
        if not self.arriving:
            splitter.finish()
        # A fence that closes exchanges its pieces, the last ones: those before are the same.
        sources = list(splitter.blocks)
        same = min(len(self._sources), len(sources))
        while same and self._sources[same - 1] is not sources[same - 1]:
            same -= 1
        body = [*self._body[:same], *map(row_block, sources[same:])]
        if last := splitter.open_block():
            before = self._body[len(body)] if len(body) < len(self._body) else None
            body.append(row_block(last, before, growing=True))
        self._sideways = self._sideways or []
        join_fences(body, self._sideways)
        self._sources, self._body = sources, body

    @property
    def foldable(self) -> bool:
        return bool(self.entry.tool_calls) or (self.thought is not None and self.thought.ended)


def _version_words(version: "Version") -> str:
    return f"version {version.number}/{version.count}"


class QuestionItem(Item):
    """A question with a line for each long paste, file and picture; each folds on its own."""

    entry: Message  # pyright: ignore[reportIncompatibleVariableOverride]

    def guess(self, width: int) -> int:
        typed, folded = self.entry.typed_text, self.entry.folded
        if folded:
            typed = "\n".join(part for part in self._parts if isinstance(part, str))
        return guess_rows(typed, width) + 2 + len(self.entry.attachments) + len(folded or ())

    def make_blocks(self) -> list[RowBlock]:
        # Many bold lines in a row are hard to read.
        style = "user" if len(self.entry.typed_text) <= _SHORT_QUESTION else "text"
        blocks: list[RowBlock] = []
        numbers = count()
        for part in self._parts:
            if isinstance(part, str):
                blocks += plain_blocks(clean(part), style)
            else:
                blocks += part_blocks(part, unfolded=next(numbers) in self.unfolded)
        for block in blocks:
            block.asked = True
        blocks[0].spaced = True
        return blocks

    @property
    def foldable(self) -> bool:
        return bool(self.entry.folded) or any(
            isinstance(e, FileBlock) for e in self.entry.attachments
        )

    @property
    def codes(self) -> list[str]:
        """The code of the question, and the unfolded files."""
        parts = enumerate(self._folding)
        unfolded = (part for number, part in parts if number in self.unfolded)
        files = (part.text for part in unfolded if isinstance(part, FileBlock))
        return [*codes(self.entry.typed_text), *files]

    @property
    def has_code(self) -> bool:
        typed = self.entry.typed_text
        return bool(self.unfolded) or "```" in typed or "~~~" in typed

    def fold(self, block: int | None = None) -> None:
        """Fold all parts, or unfold all if none is; with a ``block`` only that of its line."""
        if block is None:
            parts = enumerate(self._folding)
            foldable = frozenset(n for n, part in parts if not isinstance(part, ImageBlock))
            self.unfolded = frozenset() if self.unfolded else foldable
        else:
            above = (each for each in self.blocks()[:block] if isinstance(each, LineBlock))
            self.unfolded ^= {sum(each.part is not None for each in above)}
        self.remake()

    @property
    def _parts(self) -> Sequence[str | PastedText | Attachment]:
        """What was typed, with the long pastes in it, then files and pictures."""
        typed, end = self.entry.typed_text, 0
        parts: list[str | PastedText] = []
        for start, stop in self.entry.folded or ():
            if end <= start < stop <= len(typed):
                parts += [typed[end:start].removesuffix("\n"), PastedText(typed[start:stop])]
                end = stop
        parts.append(typed[end:].removeprefix("\n") if parts else typed)
        shown = [part for part in parts if isinstance(part, PastedText) or part.strip()]
        return [*shown, *self.entry.attachments] or [typed]

    @property
    def _folding(self) -> Sequence[PastedText | Attachment]:
        return [part for part in self._parts if not isinstance(part, str)]
