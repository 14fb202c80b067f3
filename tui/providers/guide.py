"""The built-in guide: answers from the manual when no model is connected."""

import asyncio
import math
import re
import unicodedata
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate

import msgspec

from tui.config import paths
from tui.domain.providers import GUIDE, OFFLINE
from tui.domain.search.query_words import LITTLE_WORDS
from tui.providers.protocol import AnswerEnded, ModelEvent, ModelRequest, TextReceived

_WORDS_PER_PIECE = 4
_MOST_HITS = 3
_COMMAND_WEIGHT = 0.4
_ENOUGH = 1.2
_LENGTH_WEIGHT = 0.75
_TOPICS = frozenset({"session", "find", "new", "show", "help", "word"})
_PIECES = re.compile(rf"(?:\S+\s*|\s+){{1,{_WORDS_PER_PIECE}}}")
_SENTENCE = re.compile(r".*?(?:[.!?](?=\s|$)|[\u3002\uff01\uff1f])")
_SENTENCE_CHARACTERS = 200
_SUMMARY_CHARACTERS = 6000
_INDENTED = {"assistant": "  ", "call": "  ", "tool": "    "}
_WORD = re.compile(r"\w+")
_COMMAND = re.compile(r"^ +/(\w+)", re.MULTILINE)
_TICKS = re.compile(r"`+")
_IN_SESSIONS = "In your own sessions:"

_NOT_A_MODEL = (
    "I am the built-in guide, not a language model: no model is connected, and I use no network."
    " To connect a model, press F5 or type /connect in `sibyl-tui`. Your messages are kept all the"
    " same."
)
_AGAIN = "(The built-in guide, not a model.)"
_NOTHING = "The manual has nothing on that. Its topics:"


class PastHit(msgspec.Struct, frozen=True):
    """A message of the user's own sessions that matches a question."""

    session_id: str
    text: str
    """One sanitised line."""
    said: str = ""
    """The time and the speaker."""


Search = Callable[[str], Sequence[PastHit]]
"""Find past messages for a question, best first; blocks."""


class OfflineGuide:
    """A model that answers from the manual, and from the user's own sessions."""

    name = f"{OFFLINE}:{GUIDE}"
    context_window = known_window = 1_000_000
    sees_images = False

    def __init__(self, search: Search | None = None) -> None:
        self._search = search

    async def window(self) -> int:
        """Return the limit of a request; hardly any reaches it."""
        return self.context_window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent]:
        """Yield the answer in pieces of a few words, as a model would."""
        summary = request.task == "summary"
        answer = _summary(request) if summary else await self._answer(request)
        for piece in _PIECES.findall(answer):
            yield TextReceived(piece)
            # Yield to the event loop, so that the pieces are shown and the answer can be stopped.
            await asyncio.sleep(0)
        yield AnswerEnded("stop")

    async def _answer(self, request: ModelRequest) -> str:
        asked = [message.typed_text for message in request.messages if message.role == "user"]
        question = asked[-1] if asked else ""
        first = all(message.role == "user" for message in request.messages)
        hits = await asyncio.to_thread(self._search, question) if self._search else ()
        manual = _from_manual(question)
        parts = [
            _NOT_A_MODEL if first else _AGAIN,
            manual or ("" if hits else _contents()),
            _quoted(hits[:_MOST_HITS]),
        ]
        return "\n\n".join(filter(None, parts)) + "\n"


def _summary(request: ModelRequest) -> str:
    """Summarise by the first sentence of each message; the newest if there is not room for all."""
    earlier, sentences = "", list[str]()
    for block in _blocks_of(request):
        said = block["text"].partition(":")[2].strip()
        if block["role"] == "summary":
            earlier = said[: _SUMMARY_CHARACTERS // 2]
        else:
            sentences.append(_INDENTED.get(block["role"], "") + _first_sentence(said))
    room = _SUMMARY_CHARACTERS - len(earlier)
    sizes = accumulate(len(sentence) for sentence in reversed(sentences))
    count = sum(size <= room for size in sizes)
    return "\n".join(filter(None, [earlier, *sentences[len(sentences) - count :]]))


def _blocks_of(request: ModelRequest) -> list[dict[str, str]]:
    content = request.messages[-1].content if request.messages else None
    return msgspec.convert(content, list[dict[str, str]]) if isinstance(content, list) else []


def _first_sentence(text: str) -> str:
    line = text.partition("\n")[0]
    found = _SENTENCE.match(line)
    return (found[0] if found else line)[:_SENTENCE_CHARACTERS].strip()


class _Section(msgspec.Struct, frozen=True):
    title: str
    text: str
    words: Counter[str]

    def score(self, wanted: set[str], rarity: dict[str, float], usual: float) -> float:
        """Score by BM25: rare words count more, words of the title most.

        Words of a section longer than ``usual`` (the mean) count less.
        """
        titled, commands = set(_words(self.title)), set(_COMMAND.findall(self.text))
        ease = _ENOUGH * (1 - _LENGTH_WEIGHT * (1 - self.words.total() / usual))
        return sum(
            rarity[word]
            * (count / (count + ease) + (word in titled) + _COMMAND_WEIGHT * (word in commands))
            for word in wanted
            if (count := self.words[word])
        )


def _from_manual(question: str) -> str:
    sections = _sections()
    spread = Counter(word for section in sections for word in section.words)
    rarity = {word: math.log(len(sections) / count) for word, count in spread.items()}
    usual = sum(section.words.total() for section in sections) / len(sections)
    wanted = set(_words(question)) - (LITTLE_WORDS - _TOPICS)
    best = max(sections, key=lambda section: section.score(wanted, rarity, usual))
    if best.score(wanted, rarity, usual) > 0:
        return f"From the manual:\n\n## {best.title}\n\n{best.text}"
    return ""


def _contents() -> str:
    sections = _sections()
    return f"{_NOTHING} {' · '.join(section.title for section in sections)}"


def _quoted(hits: Sequence[PastHit]) -> str:
    """Format past messages with their sessions."""
    if not hits:
        return ""
    lines = [_quote(hit) for hit in hits]
    return "\n".join([_IN_SESSIONS, "", *lines, "", "`/load` and the id opens a session."])


def _quote(hit: PastHit) -> str:
    said = f" ({hit.said})" if hit.said else ""
    # As code, so that it is not rendered as Markdown.
    ticks = "`" * (max(map(len, _TICKS.findall(hit.text)), default=0) + 1)
    pad = " " if hit.text.startswith("`") or hit.text.endswith("`") else ""
    return f"- {hit.session_id}{said}: {ticks}{pad}{hit.text}{pad}{ticks}"


@cache
def _sections() -> tuple[_Section, ...]:
    """The sections of the manual, one for each ``##``."""
    _, *sections = paths.manual().read_text("utf-8").split("\n## ")
    return tuple(
        _Section(title.strip(), text.strip("\n"), Counter(_words(f"{title} {text}")))
        for title, _, text in (section.partition("\n") for section in sections)
    )


def _words(text: str) -> Iterator[str]:
    """Normalise the words of a text: case, width, and the plural's s removed."""
    for word in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        yield word.removesuffix("s") if len(word) > 3 else word
