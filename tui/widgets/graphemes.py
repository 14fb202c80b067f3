"""Where a character begins and ends as a reader sees it, a family or a flag, and where a word."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, groupby, pairwise

JOINERS = frozenset("\u200c\u200d")
"""What is typed within emoji and words of Persian or Hindi, and is not printable by itself."""

_NEAR = 64
"""No grapheme in use is longer; the line of a paste may have millions of characters."""

# Of the kind of what it makes longer.
_LENGTHENING = "\u30fc"


def before(line: str, column: int) -> int:
    """The column of the character that ends at a column; the line's beginning has none."""
    start = max(0, column - _NEAR)
    return max((each for each in _columns(line, start, column) if each < column), default=0)


def after(line: str, column: int) -> int:
    """The column behind the character that begins at a column; the line's end has none."""
    end = min(len(line), column + _NEAR)
    return next((each for each in _columns(line, column, end) if each > column), len(line))


def begin(line: str, column: int) -> int:
    """The column of the character that a column is within; its own if one begins there."""
    start, end = max(0, column - _NEAR), min(len(line), column + _NEAR)
    return max((each for each in _columns(line, start, end) if each <= column), default=0)


def graphemes(text: str) -> Sequence[str]:
    """A text in its characters."""
    return [text[start:end] for start, end in pairwise(_columns(text, 0, len(text)))]


def word_before(line: str, column: int) -> int:
    """Where the word begins that ends at a column, or before blanks that end there."""
    return column - _first_word(reversed(_runs(line[:column])))


def word_after(line: str, column: int) -> int:
    """Where the word ends that begins at a column, or behind blanks that begin there."""
    return column + _first_word(iter(_runs(line[column:])))


def word_around(line: str, column: int) -> tuple[int, int]:
    """Where the word, the blanks or the signs begin and end that a column is in."""
    start = end = 0
    for _, length in _runs(line):
        start, end = end, end + length
        if end > column:
            break
    return start, end


def _first_word(runs: Iterator[tuple[str, int]]) -> int:
    """How many characters to the far side of the first word, or all if there is none."""
    length = 0
    for kind, characters in runs:
        length += characters
        if kind != "blank":
            break
    return length


def _runs(text: str) -> list[tuple[str, int]]:
    """Words, blanks, and signs side by side: the kind of each and how long it is."""
    kinds: list[tuple[str, int]] = []
    for grapheme in graphemes(text):
        found = _kinds().match(grapheme)
        kind = (found.lastgroup if found else None) or "sign"
        if grapheme[0] == _LENGTHENING and kinds:
            kind = kinds[-1][0]
        kinds.append((kind, len(grapheme)))
    return [
        (kind, sum(length for _, length in each))
        for kind, each in groupby(kinds, key=lambda kind: kind[0])
    ]


@cache
def _kinds() -> re.Pattern[str]:
    # No blanks part the words of Japanese: mostly one ends where another script begins.
    # Not at the top: it takes 1 ms, and is for a key that many never press.
    return re.compile(
        r"(?P<blank>\s)|(?P<hiragana>[\u3041-\u309f])"
        r"|(?P<katakana>[\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9f])"
        r"|(?P<kanji>[\u2e80-\u2fdf\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
        r"|(?P<word>\w)"
    )


def _columns(line: str, start: int, end: int) -> list[int]:
    piece = line[start:end]
    if piece.isascii():
        return list(range(start, end + 1))
    # Not at the top: it takes 10 ms, and most prompts never need it.
    from wcwidth import iter_graphemes

    return list(accumulate(map(len, iter_graphemes(piece)), initial=start))
