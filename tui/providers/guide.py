"""The built-in guide: answers from the manual when no model is connected."""

import asyncio
import math
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import cache

import msgspec

from tui.config import paths
from tui.domain.search.tokens import LITTLE_WORDS
from tui.providers.protocol import AnswerEnded, ModelEvent, ModelRequest, TextReceived

_MOST_HITS = 3
_MOST_ROWS = 12
_LEAST_SHARE = 3
_COMMAND_WEIGHT = 0.3
_ENOUGH = 1.2
_LENGTH_WEIGHT = 0.75
_TOPICS = frozenset({"session", "find", "new", "show", "help", "word"})
_PIECES = re.compile(r"(?:\S+\s*|\s+){1,4}")
# Without the s of "what's", and the t of "don't".
_WORD = re.compile(r"(?<!\w['\u2019])\b\w+")
_LINK = re.compile(r"\[([^]]+)\]\([^)\s]+\)")
_BETWEEN_PASSAGES = re.compile(r"\n\n(?![ |-])")
_BETWEEN_ROWS = re.compile(r"\n(?= {4}\S|\| )")
_COMMAND = re.compile(r"^(?: +|\| `)/(\w+)", re.MULTILINE)
_TICKS = re.compile(r"`+")

_NOT_A_MODEL = (
    "I am the built-in guide, not a language model. To connect one, press F5 or type /connect in"
    " `sibyl-tui`. My answers, and the questions to them, are never sent to it."
)
_NOTHING = (
    "The manual has nothing on that. /help lists the commands, F1 the keys;"
    " the manual: https://sibyl-tui.github.io/sibyl-tui/"
)


class PastHit(msgspec.Struct, frozen=True):
    """A message of the user's own sessions that matches a question."""

    session_id: str
    text: str
    """One sanitised line."""
    said: str = ""
    """The time and the speaker."""


Search = Callable[[str], Sequence[PastHit]]
"""Find past messages for a question, best first; blocks."""


class OfflineGuide(msgspec.Struct, eq=False):
    """A model that answers from the manual, and from the user's own sessions."""

    _search: Search | None = None

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the answer in pieces of a few words, as a model would."""
        for piece in _PIECES.findall(await self._answer(request)):
            yield TextReceived(piece)
            # Yield to the event loop, so that the pieces are shown and the answer can be stopped.
            await asyncio.sleep(0)
        yield AnswerEnded("stop")

    async def _answer(self, request: ModelRequest) -> str:
        asked = [message.typed_text for message in request.messages if message.role == "user"]
        question = asked[-1] if asked else ""
        hits = await asyncio.to_thread(self._search, question) if self._search else ()
        manual = _from_manual(question)
        if not (manual or hits):
            manual = _NOTHING
        is_known = any(_NOT_A_MODEL in message.text for message in request.messages)
        parts = ["" if is_known else _NOT_A_MODEL, manual, _quoted(hits[:_MOST_HITS])]
        return "\n\n".join(filter(None, parts)) + "\n"


class _Passage(msgspec.Struct, frozen=True):
    text: str
    words: Counter[str]
    title: str = ""

    @classmethod
    def of(cls, text: str, title: str = "") -> "_Passage":
        return cls(text, Counter(_words(f"{title} {text}")), title)


def _from_manual(question: str) -> str:
    """The passage that fits a question best, under the title of its section."""
    wanted = _keywords(question)
    sections = _sections()
    scores = _scores(sections, wanted)
    section = sections[scores.index(max(scores))]
    # One word in three may be there by accident.
    if len(wanted & section.words.keys()) * _LEAST_SHARE <= len(wanted):
        return ""
    asked = wanted - _keywords(section.title)
    passages = [_Passage.of(text) for text in _BETWEEN_PASSAGES.split(section.text)]
    scores = _scores(passages, asked)
    text = passages[scores.index(max(scores))].text
    if text.count("\n") >= _MOST_ROWS:
        text = _fitting_rows(text, asked)
    return f"From the manual:\n\n## {section.title}\n\n{text}"


def _fitting_rows(text: str, asked: set[str]) -> str:
    """The rows of a long table that fit a question, or all of the text if none does."""
    before, *parts = _BETWEEN_ROWS.split(text)
    # The first row of a Markdown table is its head.
    head = [before, parts.pop(0)] if parts and parts[0].startswith("|") else []
    rows = [_Passage.of(row) for row in parts]
    scores = _scores(rows, asked) if rows else [0.0]
    most = max(scores)
    found = (row.text for row, score in zip(rows, scores, strict=False) if score > most / 2)
    return "\n".join([*head, *found]) if most else text


def _scores(passages: Sequence[_Passage], wanted: set[str]) -> list[float]:
    """Score by BM25: rare words count more, words of a short title most.

    Words of a passage that is longer than the mean count less.
    """
    spread = Counter(word for each in passages for word in each.words)
    mean = sum(each.words.total() for each in passages) / len(passages)
    scores: list[float] = []
    for each in passages:
        titled, commands = _keywords(each.title), {*_COMMAND.findall(each.text)}
        ease = _ENOUGH * (1 - _LENGTH_WEIGHT * (1 - each.words.total() / mean))
        scores.append(
            sum(
                math.log(len(passages) / spread[word])
                * (
                    count / (count + ease)
                    + (word in titled) / max(len(titled), 1)
                    + _COMMAND_WEIGHT * (word in commands)
                )
                for word in wanted
                if (count := each.words[word])
            )
        )
    return scores


def _quoted(hits: Sequence[PastHit]) -> str:
    """Format past messages with their sessions, as code, so that they are not Markdown."""
    lines: list[str] = []
    for hit in hits:
        said = f" ({hit.said})" if hit.said else ""
        ticks = "`" * (max(map(len, _TICKS.findall(hit.text)), default=0) + 1)
        pad = " " if hit.text.startswith("`") or hit.text.endswith("`") else ""
        lines.append(f"- {hit.session_id}{said}: {ticks}{pad}{hit.text}{pad}{ticks}")
    if not lines:
        return ""
    return "\n".join(
        ["In your own sessions:", "", *lines, "", "`/load` and the id opens a session."]
    )


@cache
def _sections() -> tuple[_Passage, ...]:
    """The sections of the manual, one for each ``##`` of its pages."""
    pages = (page.read_text("utf-8").split("\n## ")[1:] for page in paths.manual())
    parts = (section.partition("\n") for page in pages for section in page)
    return tuple(
        _Passage.of(_LINK.sub(r"\1", text).strip("\n"), title.strip()) for title, _, text in parts
    )


def _keywords(text: str) -> set[str]:
    """The words of a text without stop words."""
    return set(_words(text)) - (set(_words(" ".join(LITTLE_WORDS))) - _TOPICS)


def _words(text: str) -> Iterator[str]:
    """Normalise the words of a text: case, width, and the plural's s removed."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield word.removesuffix("s") if len(word) > 3 else word
