"""Keywords of a question, for the search in the user's own sessions."""

from unicodedata import normalize

from tui.domain.text.patterns import late_pattern
from tui.domain.text.tokens import cut

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
