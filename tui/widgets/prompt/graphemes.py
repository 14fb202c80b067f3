"""Where a character begins and ends as a reader sees it: a family is one, and a flag."""

from itertools import accumulate

_NEAR = 64
"""No grapheme in use is longer; the line of a paste may have millions of characters."""


def before(line: str, column: int) -> int:
    """The column of the character that ends at a column; the line's beginning has none."""
    start = max(0, column - _NEAR)
    return max((each for each in _columns(line, start, column) if each < column), default=0)


def after(line: str, column: int) -> int:
    """The column behind the character that begins at a column; the line's end has none."""
    end = min(len(line), column + _NEAR)
    return next((each for each in _columns(line, column, end) if each > column), len(line))


def _columns(line: str, start: int, end: int) -> list[int]:
    piece = line[start:end]
    if piece.isascii():
        return list(range(start, end + 1))
    # Not at the top: it takes 10 ms, and most prompts never need it.
    from wcwidth import iter_graphemes

    return list(accumulate(map(len, iter_graphemes(piece)), initial=start))
