"""The thinking before an answer: its last rows while it arrives, one line afterwards."""

from collections import deque

from textual.strip import Strip

from tui.domain.views.activity_view import seconds_words
from tui.widgets.transcript.canvas import Canvas
from tui.widgets.transcript.row_blocks import FoldLine, Plain, RowBlock, plain_blocks
from tui.widgets.wrapping import clean

ROWS = 4
"""The rows that are shown of thinking while it arrives."""
MOST_KEPT = 32_000
"""Limit of the end of a thought that is kept, in characters."""
_MOST_SHOWN = 2_000


class Thought:
    """The end of what a model thought, and for how long; kept in memory only."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._size = 0
        self._seconds: float | None = None
        self._made: tuple[object, list[RowBlock]] | None = None
        self._version = 0

    @property
    def ended(self) -> bool:
        return self._seconds is not None

    def add(self, piece: str) -> None:
        """Add a piece, and forget the oldest ones beyond the limit."""
        self._pieces.append(piece[-MOST_KEPT:])
        self._size += len(self._pieces[-1])
        while self._size - len(self._pieces[0]) >= MOST_KEPT:
            self._size -= len(self._pieces.popleft())
        self._version += 1

    def end(self, seconds: float) -> None:
        """Note that thinking has ended, after so many seconds."""
        self._seconds = (self._seconds or 0.0) + seconds
        self._version += 1

    def blocks(self, *, unfolded: bool) -> list[RowBlock]:
        """The blocks to draw; the same ones while nothing has changed."""
        state = (self._version, unfolded)
        if self._made is not None and self._made[0] == state:
            return self._made[1]
        blocks: list[RowBlock]
        if not self.ended:
            blocks = [LastRows(clean(self._end(_MOST_SHOWN)).strip(), "thinking")]
        else:
            time = seconds_words(self._seconds or 0.0)
            words = f"thought for {time}" if time else "thought"
            blocks = [FoldLine(words, "thinking", unfolded=unfolded)]
        if self.ended and unfolded:
            blocks += plain_blocks(clean(self._end(MOST_KEPT)).strip(), "thinking")
        self._made = state, blocks
        return blocks

    def _end(self, most: int) -> str:
        """The last ``most`` characters of the text; joins no more pieces than needed."""
        pieces: list[str] = []
        size = 0
        for piece in reversed(self._pieces):
            pieces.append(piece)
            size += len(piece)
            if size >= most:
                break
        return "".join(reversed(pieces))[-most:]


class LastRows(Plain):
    """The last rows of a text that grows."""

    def guess(self, width: int) -> int:
        return min(ROWS, super().guess(width))

    def draw(self, canvas: Canvas) -> list[Strip]:
        return super().draw(canvas)[-ROWS:]
