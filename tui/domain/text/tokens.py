"""The tokeniser of search: the same for the index, queries and the scan of files.

A token is a run of letters and digits, folded: case and width ignored, accents and vowel points
removed. Everything else separates. Scripts without spaces between words (Han, Hiragana, Katakana,
Hangul; Thai, Lao, Burmese, Khmer) give one token per character, so that any part of a sentence is
found as a sequence of tokens.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

from tui.domain.text.patterns import late_pattern

TOKEN_CHARACTERS = 64
"""Limit of a token; a longer run, such as base64, becomes several."""

Span = tuple[int, int]

# Accents, Hebrew and Arabic points, the Arabic line filler, joiners, soft hyphens, selectors.
_DROPPED = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\xad\u200d"
)
# Vowel signs and the like: parts of a word that ``isalpha`` rejects.
_SIGNS = "\u0711\u0730-\u074a\u0900-\u0963\u0966-\u0dff\u0f18\u0f19\u0f35\u0f37\u0f39\u0f71-\u0fbc"
_VOICED = "\u3099\u309a\uff9e\uff9f"
_JAMO = "\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb"
_ALONE = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u103f\u1050-\u109d\u1780-\u17d3"
    "\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\uffa0-\uffdc"
    "\U00016fe0-\U00018cff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_RUN = late_pattern(
    f"[{_ALONE}][{_VOICED}{_DROPPED}]*|[{_JAMO}]+"
    f"|(?:(?![{_ALONE}{_JAMO}])[^\\W_][{_DROPPED}{_SIGNS}]*){{1,{TOKEN_CHARACTERS}}}"
)
_ALONE_ONE = late_pattern(f"[{_ALONE}{_JAMO}]")
_ASCII_RUN = re.compile(f"[0-9A-Za-z]{{1,{TOKEN_CHARACTERS}}}")
_DROPPED_ONES = late_pattern(f"[{_DROPPED}]+")

BELONGS_TO_LETTER = f"{_DROPPED}{_SIGNS}{_VOICED}\u1160-\u11ff\ud7b0-\ud7fb"
"""Characters that combine with the letter before them, for a class of a regular expression."""


def cut(text: str) -> list[str]:
    """Tokenise a text."""
    if text.isascii():
        # A fast path for nine texts of ten in code and English.
        return _ASCII_RUN.findall(text.lower())
    tokens: list[str] = []
    for run in _RUN.findall(text):
        tokens += _folded(run)
    return tokens


def cut_with_spans(text: str) -> Iterator[tuple[str, Span]]:
    """Tokenise a text, each token with the span of its characters."""
    for found in (_ASCII_RUN if text.isascii() else _RUN).finditer(text):
        for token in _folded(found[0]):
            yield token, found.span()


def without_points(text: str) -> str:
    """Remove accents, vowel points and invisible characters; the result is composed (NFC)."""
    return normalize("NFC", _DROPPED_ONES.sub("", normalize("NFD", text)))


def stands_alone(token: str) -> bool:
    """True for a character of a script without spaces, which no longer word begins with."""
    return _ALONE_ONE.match(token) is not None


@lru_cache(maxsize=50_000)
def _folded(run: str) -> tuple[str, ...]:
    """Fold a run into its tokens; a few characters, such as one half, give several."""
    if run.isascii():
        return (run.lower(),)
    plain = _DROPPED_ONES.sub("", normalize("NFKD", run.casefold()))
    # Composed again: Hangul and voiced kana would stay decomposed.
    whole = normalize("NFC", plain.casefold())
    return tuple(_RUN.findall(whole))
