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

from tui.domain.text import late_pattern

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


MOST_WORDS = 8
"""Limit of keywords; the first of the question are taken."""

_WORD = late_pattern(
    "[\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9f]+"  # Katakana: names and things, mostly
    "|[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
    "|[\uac00-\ud7a3]+"
    "|[\u0e01-\u0e4e]+"
    "|[^\\W\u3041-\u3096\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\u0e01-\u0e4e_][\\w.-]*"
)
# Hiragana is left out: it is endings, particles and stop words.
_HAN = late_pattern("[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_HANGUL = late_pattern("[\uac00-\ud7a3]+")
_ASIDE = late_pattern(
    "我们|什么|怎么|怎样|为什么|关于|哪里|哪个|时候|说过|讨论|一下|可以|请问"
    "|的|了|是|在|有|和|吗|呢|说|我|你|他|她|它|这|那|与|都|就"
)
LITTLE_WORDS = frozenset(
    """
    a about after again all also am an and any anything are as ask asked at be because been
    before but by can could did do does doing done earlier ever find for from get give go had
    has have he hello help her here hey hi him his how i if in into is it its just know last let
    like look made make many may me mean mention mentioned might more most much my need no not
    now of off on once one only or other our out over please put recall remember said same say
    says see session sessions she should show so some something still such talk talked tell than
    thank thanks that the their them then there these they thing things think this those time to
    told too up us use used very want was we were what when where which while who whom whose why
    will with word words would write wrote yes yesterday yet you your 何 誰 話 言 教 件 事 前 時
    時間 方 私 今 昨日 先日 以前 会話 그 이 저 것 무엇 어떻게 우리 우리가 대해 뭐 언제
    """.split()  # noqa: SIM905 - a list would be five times as long
)
"""Stop words."""


def search_words(question: str, most: int = MOST_WORDS) -> tuple[str, ...]:
    """The keywords as search queries, in the order of the question."""
    found: dict[str, None] = {}
    for word in _WORD.findall(normalize("NFKC", question)):
        for piece in _ASIDE.split(word) if _HAN.fullmatch(word) else [word]:
            if cut(piece) and piece.casefold() not in LITTLE_WORDS:
                found[_query(piece)] = None
    return tuple(found)[:most]


def _query(word: str) -> str:
    """The query for a word, without its ending."""
    if _HANGUL.fullmatch(word):
        # The last syllable is often a particle.
        return f'"{word[:-1] if len(word) > 2 else word}"'
    if word.isascii() and word.isalpha() and len(word) > 3:
        return f"{word.lower().removesuffix('s')}*"
    return f'"{word}"'
