"""Markdown split into blocks that are drawn independently, also while it arrives."""

from itertools import pairwise

import msgspec

from tui.domain.text import FENCE, closes, late_pattern
from tui.widgets.cells import PIECE

PROSE = 4 * 1024
"""The length of a paragraph or table, in characters, at which it is cut; ``LIST``: of a list."""

LIST = 1024
_CONTINUED = late_pattern(r"  |\t")
# The beginning of a line that may yet become a rule, an item, a title or a fence: or none of them.
_UNDECIDED = late_pattern(r"\s*(?:[-=*+_]+|#+|\d{1,9}[.)]?|[`~]{1,2}|`{3,}[^`]*|~{3,}.*)?\s*$")
_MARKER = late_pattern(r" {0,1}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")


class MarkdownBlock(msgspec.Struct, frozen=True):
    """Some lines of an answer.

    ``spaced``: a blank row goes before it. For code, ``language`` is the info string of the fence,
    ``first`` marks the piece right below the fence, and ``closed`` is false while the fence is
    open.
    """

    text: str
    spaced: bool = True
    code: bool = False
    language: str = ""
    first: bool = True
    closed: bool = True


class Splitter(msgspec.Struct, eq=False):
    """Splits an answer piece by piece; the cost of a piece does not grow with the answer.

    ``blocks`` are those that later text cannot change, but for the pieces of a fence that is
    still open: those are exchanged when it closes.
    """

    blocks: list[MarkdownBlock] = msgspec.field(default_factory=list[MarkdownBlock])
    _partial: str = ""
    _lines: list[str] = msgspec.field(default_factory=list[str])
    _size: int = 0
    _spaced: bool = False
    _gap: bool = False
    _list: bool = False
    _nested: str = ""
    _fence: str = ""
    _language: str = ""
    _margin: int = 0
    _fence_begins: int = 0

    def feed(self, text: str) -> None:
        """Take more of the answer, already cleaned."""
        *lines, self._partial = (self._partial + text).split("\n")
        for line in lines:
            self._add_line(line)
        if self._gap and not _UNDECIDED.match(self._partial) and not _goes_on(self._partial):
            # Before the line is complete: a paragraph may be one long line.
            self._close()
        while len(self._partial) > PROSE:
            # The beginning of an extremely long line is a block.
            space = self._partial.rfind(" ", 0, PROSE)
            cut = space + 1 if space > 0 else PROSE
            self._append(self._partial[:cut])
            self._partial = self._partial[cut:]
            self._close(spaced=False)

    def finish(self) -> None:
        """Close all open blocks: the answer is complete."""
        if self._partial:
            self._add_line(self._partial)
            self._partial = ""
        if self._fence:
            self._close_fence()
        self._close()

    def open_block(self) -> MarkdownBlock | None:
        """The block that later text may still change."""
        partial = self._partial
        if self._fence:
            hidden = not partial or closes(partial, self._fence)
        else:
            hidden = not self._nested and bool(_UNDECIDED.match(partial))
        gap = [""] if self._gap else []
        lines = self._lines if hidden else [*self._lines, *gap, partial]
        if not lines and not self._fence:
            return None
        if not self._lines and not self._fence:
            return MarkdownBlock(partial, bool(self.blocks) and self._spaced)
        return self._block("\n".join(lines))

    def _add_line(self, line: str) -> None:
        if self._fence and closes(line, self._fence):
            self._close_fence()
        elif self._fence:
            margin = min(self._margin, len(line) - len(line.lstrip(" ")))
            self._append(line[margin:])
            if self._size > PIECE:
                self._close(spaced=False)
        elif self._nested:
            self._append(line)
            if closes(line, self._nested):
                self._nested = ""
        elif line.strip():
            self._add_text(line)
        elif self._list:
            self._gap = True
        else:
            self._close()

    def _add_text(self, line: str) -> None:
        if self._gap and not _goes_on(line):
            self._close()
        fence = FENCE.match(line)
        if fence and not (self._list and len(fence[1]) > 1):
            self._close()
            self._fence, self._language = fence[2], fence[3].strip()
            self._margin = len(fence[1])
            self._fence_begins = len(self.blocks)
            return
        self._cut_if_long(line)
        if not self._lines:
            self._spaced = bool(self.blocks) and self._spaced
            self._list = bool(_MARKER.match(line))
        if self._gap:
            self._append("")
            self._gap = False
        self._append(line)
        if self._list and (nested := FENCE.match(line.lstrip())):
            self._nested = nested[2]

    def _cut_if_long(self, line: str) -> None:
        """Begin a new block at an item or a line, if the present one is long enough."""
        if self._list and _MARKER.match(line) and self._size > LIST:
            self._close(spaced=self._gap)
        elif self._size + len(line) > PROSE and self._lines:
            above = self._lines
            is_table = len(above) > 2 and "|" in above[0] and bool(_RULE.match(above[1]))
            heading = above[:2] if is_table else []
            self._close(spaced=False)
            for again in heading:
                self._append(again)

    def _append(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _close_fence(self) -> None:
        begins = self._fence_begins
        if self._lines or len(self.blocks) == begins:
            self.blocks.append(self._block("\n".join(self._lines)))
        self.blocks[begins:] = [
            msgspec.structs.replace(block, closed=True) for block in self.blocks[begins:]
        ]
        self._fence = ""
        self._clear(spaced=True)

    def _block(self, text: str) -> MarkdownBlock:
        if not self._fence:
            return MarkdownBlock(text, self._spaced and bool(self.blocks))
        first = len(self.blocks) == self._fence_begins
        spaced = first and bool(self.blocks)
        return MarkdownBlock(
            text, spaced, code=True, language=self._language, first=first, closed=False
        )

    def _close(self, *, spaced: bool = True) -> None:
        if self._lines:
            self.blocks.append(self._block("\n".join(self._lines)))
            self._clear(spaced=spaced)
        elif spaced:
            self._spaced = True

    def _clear(self, *, spaced: bool) -> None:
        self._lines = []
        self._size = 0
        self._spaced = spaced
        self._gap = self._list = False
        self._nested = ""


def _goes_on(line: str) -> bool:
    """True if a line after a blank one still belongs to the list above."""
    return bool(_CONTINUED.match(line) or _MARKER.match(line))


# --- tables that are still arriving

_HEADING = late_pattern(r"([ >]*)\|.*[^\s|]")
# Possessive: backtracking over a line of blanks would take quadratic time.
_RULE = late_pattern(r"[ \t>]*+\|?+[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?+[ \t]*+$")
_RULE_BEGUN = late_pattern(r"[ \t>]*+\|?+[ \t|:-]*+$")
_ROW_BEGUN = late_pattern(r"[ \t>]*+\|?+[ \t]*+$")
_CODE = late_pattern(r" {4}")
_STROKE = late_pattern(r"(?<!\\)\|")


def as_table(text: str) -> str:
    """Complete incomplete Markdown to a table if its last lines begin like one.

    Markdown has a table only once the rule below the heading is there: until then the reader
    would see raw strokes, and then columns at once.
    """
    *lines, last = text.split("\n")
    if any(_HEADING.match(above) and _RULE.match(below) for above, below in pairwise(lines)):
        return "\n".join(lines) if _ROW_BEGUN.match(last) else text
    if not _RULE_BEGUN.match(last):
        lines.append(last)
    heading = _HEADING.match(lines[-1]) if lines and not _CODE.match(lines[0]) else None
    if heading is None:
        return "\n".join(lines) if "|" in last and _ROW_BEGUN.match(last) else text
    columns = len(_STROKE.findall(lines[-1].strip("> |"))) + 1
    return "\n".join([*lines, heading[1] + "|---" * columns + "|"])
