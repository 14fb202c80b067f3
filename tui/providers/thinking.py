"""The filter for thinking that a model writes into its answer, which is no part of the text."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from tui.providers.protocol import TextReceived, TextTakenBack, ThinkingReceived

_TAGS: Sequence[tuple[str, Sequence[str]]] = (
    ("<think>", ("</think>",)),
    ("<thinking>", ("</thinking>",)),
    ("<thought>", ("</thought>",)),
    ("<seed:think>", ("</seed:think>",)),
    ("[THINK]", ("[/THINK]",)),
    ("◁think▷", ("◁/think▷",)),
    # The channels of gpt-oss; servers leave out some of the marks between two.
    *(
        (
            f"{begin}<|channel|>analysis<|message|>",
            (
                "<|end|><|start|>assistant<|channel|>final<|message|>",
                "<|start|>assistant<|channel|>final<|message|>",
                "<|channel|>final<|message|>",
            ),
        )
        for begin in ("", "<|start|>assistant")
    ),
    ("<|channel|>final<|message|>", ("",)),
)
"""How thinking begins and ends, at the beginning of an answer."""
_ENDS = ("</think>", "</thinking>", "</thought>", "[/THINK]")
"""The ends of thinking whose beginning a template may have."""
_END = re.compile("|".join(map(re.escape, _ENDS)))
_STARTS = re.compile(r"<(?:think|thinking|thought)>|\[THINK\]")
_BEGINNING = re.compile(r"[<\[◁]")
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


class ThinkingFilter:
    """Separates ``<think>...</think>`` from the beginning of a text that arrives in pieces.

    Only there: further on, the tags are part of the answer. Some servers leave out the start tag:
    the template of their model has it already. Nothing tells so before the end tag, and unless
    the text comes whole, that before it has been given as the answer by then: it is taken back
    once more text follows. ``lacked_start`` is set for the next answer of that model, which is
    filtered with ``inside=True``.
    """

    def __init__(self, *, inside: bool = False) -> None:
        self._held: str = ""
        self._place: Literal["before", "inside", "after", "text", "past"] = "before"
        self._start = ""
        self._ends: Sequence[str] = _ENDS
        self._begins_inside = inside
        self._given: list[str] = []
        """The thinking, or the text that may turn out to be thinking."""
        self.lacked_start = False
        """True if the text began with thinking, and without a start tag."""

    @property
    def unclosed(self) -> str:
        """The tag of thinking that has begun and not ended."""
        return self._start if self._place == "inside" else ""

    def receive(self, piece: str) -> Iterator[TextReceived | ThinkingReceived | TextTakenBack]:
        """Give what is known of the text by now, also of that held back before."""
        self._held += piece
        if self._place == "before":
            self._begin()
        if self._place == "inside" and (thinking := self._inside()):
            yield ThinkingReceived(thinking)
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "past" if self._held else "after"
        if self._place == "text":
            yield from self._looked_through()
        elif self._place == "past" and (text := self._release()):
            yield TextReceived(text)

    def rest(self) -> str:
        """Give the text that was held back at the end of the stream.

        Thinking that has not ended was the answer, or is all that there is of it.
        """
        held = self._release()
        if self._place == "inside":
            return "".join(self._given) + held
        tag = _END.match(held) if self._place == "text" else None
        return held[tag.end() :] if tag else held

    def _begin(self) -> None:
        text = self._held.lstrip()
        if any(start != text and start.startswith(text) for start, _ in _TAGS):
            return
        if found := next((tag for tag in _TAGS if text.startswith(tag[0])), None):
            self._start, self._ends = found
            self._held = text.removeprefix(self._start)
            self._begins_inside = False
        elif not self._begins_inside:
            place, _ = _end_in(text)
            self._begins_inside = place >= 0 and _may_be_thinking(text[:place])
        self._place = "inside" if found or self._begins_inside else "text"

    def _inside(self) -> str:
        places = ((self._held.find(end), -len(end), end) for end in self._ends)
        if found := min((each for each in places if each[0] >= 0), default=None):
            place, _, end = found
            thinking, self._held = self._held[:place], self._held[place + len(end) :]
            self._place = "after"
            self.lacked_start = self._begins_inside
            return thinking
        thinking, self._held = _without_beginning(self._held, self._ends)
        self._given.append(thinking)
        return thinking

    def _looked_through(self) -> Iterator[TextReceived | ThinkingReceived | TextTakenBack]:
        """Give a text of the answer, unless an end tag in it says that it was none.

        The beginning of a tag is held back where one counts, and so is a tag with nothing after it.
        """
        text = self._release()
        place, tag = _end_in(text, self._given)
        before, answer = text[:place], text[place + len(tag) :].lstrip()
        if place < 0:
            before, held = _without_beginning(text, _ENDS)
            if held and not _counts_behind("".join([*self._given, before])):
                before, held = text, ""
        elif not _may_be_thinking("".join([*self._given, before])):
            self._place = "past"
            before, held = text, ""
        elif answer:
            self._place, self.lacked_start = "past", True
            yield TextTakenBack()
            if before:
                yield ThinkingReceived(before)
            yield TextReceived(answer)
            return
        else:
            held = text[place:]
        self._held = held
        self._given.append(before)
        if before:
            yield TextReceived(before)

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held


def _end_in(text: str, before: Sequence[str] = ()) -> tuple[int, str]:
    """The first end tag that counts as one; -1 if there is none."""
    if not _END.search(text):
        return -1, ""
    earlier = "".join(before)
    whole = earlier + text
    for tag in _END.finditer(whole, len(earlier)):
        if _counts_behind(whole[: tag.start()]):
            return tag.start() - len(earlier), tag[0]
    return -1, ""


def _counts_behind(before: str) -> bool:
    """True for an end tag that begins a line, or is in the first one and is not quoted there."""
    first_line = before.lstrip()
    return before[-1:] in {"", "\n"} or ("\n" not in first_line and first_line.count("`") % 2 == 0)


def _without_beginning(text: str, tags: Sequence[str]) -> tuple[str, str]:
    """Split off the longest end of a text that may be the beginning of a tag."""
    longest = max(map(len, tags))
    begun = _BEGINNING.search(text, max(0, len(text) - longest))
    for size in range(len(text) - begun.start() if begun else 0, 0, -1):
        end = text[-size:]
        # A bracket by itself begins too much else.
        if end != "[" and any(tag.startswith(end) for tag in tags):
            return text[:-size], end
    return text, ""


def _may_be_thinking(text: str) -> bool:
    """False for a text with a start tag, or one that ends within a block of code."""
    return not _STARTS.search(text) and len(_FENCE.findall(text)) % 2 == 0
