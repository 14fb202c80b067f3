"""The bounds of graphemes, the characters that a reader sees, and of words."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise

from tui.domain.text import late_pattern

JOINERS = frozenset("\u200c\u200d")
"""Characters typed within emoji and words of Persian or Hindi; not printable by themselves."""

_NEAR = 64
"""The most code points of a grapheme in use; a pasted line may have millions."""

# The long vowel mark of Japanese belongs to the script before it.
_LENGTHENING = "\u30fc"

# Japanese has no blanks between words: most end where another script begins.
_KINDS = late_pattern(
    r"(?P<blank>\s)|(?P<hiragana>[\u3041-\u309f])"
    r"|(?P<katakana>[\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9f])"
    r"|(?P<kanji>[\u2e80-\u2fdf\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])"
    r"|(?P<word>\w)"
)


def before(line: str, column: int) -> int:
    """The beginning of the grapheme that ends at a column; 0 at the beginning of the line."""
    start = max(0, column - _NEAR)
    return max((each for each in _columns(line, start, column) if each < column), default=0)


def after(line: str, column: int) -> int:
    """The end of the grapheme that begins at a column, at most that of the line."""
    end = min(len(line), column + _NEAR)
    return next((each for each in _columns(line, column, end) if each > column), len(line))


def begin(line: str, column: int) -> int:
    """The beginning of the grapheme that a column is in."""
    start, end = max(0, column - _NEAR), min(len(line), column + _NEAR)
    return max((each for each in _columns(line, start, end) if each <= column), default=0)


def graphemes(text: str) -> Sequence[str]:
    """Split a text into its graphemes."""
    return [text[start:end] for start, end in pairwise(_columns(text, 0, len(text)))]


def word_before(line: str, column: int) -> int:
    """The beginning of the word before a column; blanks between are skipped."""
    return column - _first_word(reversed(_runs(line[:column])))


def word_after(line: str, column: int) -> int:
    """The end of the word after a column; blanks between are skipped."""
    return column + _first_word(iter(_runs(line[column:])))


def word_around(line: str, column: int) -> tuple[int, int]:
    """The bounds of the word, the blanks or the punctuation that a column is in."""
    start = end = 0
    for _, length in _runs(line):
        start, end = end, end + length
        if end > column:
            break
    return start, end


def _first_word(runs: Iterator[tuple[str, int]]) -> int:
    """The number of characters up to the far end of the first word, or all without one."""
    length = 0
    for kind, characters in runs:
        length += characters
        if kind != "blank":
            break
    return length


def _runs(text: str) -> list[tuple[str, int]]:
    """Split a text into words, blanks and punctuation: the kind and length of each."""
    kinds: list[tuple[str, int]] = []
    for grapheme in graphemes(text):
        found = _KINDS.match(grapheme)
        kind = (found.lastgroup if found else None) or "sign"
        if grapheme[0] == _LENGTHENING and kinds:
            kind = kinds[-1][0]
        kinds.append((kind, len(grapheme)))
    return [
        (kind, sum(length for _, length in each))
        for kind, each in groupby(kinds, key=lambda kind: kind[0])
    ]


def _columns(line: str, start: int, end: int) -> list[int]:
    piece = line[start:end]
    if piece.isascii():
        return list(range(start, end + 1))
    # Imported late: it takes 10 ms, and most prompts never need it.
    from wcwidth import iter_graphemes

    return list(accumulate(map(len, iter_graphemes(piece)), initial=start))
