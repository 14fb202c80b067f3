"""The filter for thinking that a model writes into its answer, which is no part of the text."""

import re
from typing import Literal, NamedTuple

_START, _END = "<think>", "</think>"
_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)


class Filtered(NamedTuple):
    """The part of a piece that is thinking, and the part that is answer; each may be empty.

    ``taken_back`` says that all text before it was thinking, too.
    """

    thinking: str
    text: str
    taken_back: bool = False


class ThinkingFilter:
    """Separates ``<think>...</think>`` from the beginning of a text that arrives in pieces.

    Only there: further on, the tags are part of the answer. Some servers leave out the start tag:
    the template of their model has it already. Nothing tells so before the end tag, and unless
    the text comes whole, that before it has been given as the answer by then: it is taken back
    once more text follows. ``lacked_start`` is set for the next answer of that model, which is
    filtered with ``inside=True``.
    """

    def __init__(self, *, inside: bool = False) -> None:
        self._held = ""
        self._place: Literal["before", "inside", "after", "past"] = "before"
        self._begins_inside = inside
        self._supposed: list[str] = []
        self._end_tag: _EndTag | None = _EndTag()
        self.lacked_start = False
        """True if the text began with thinking, and without a start tag."""

    def take(self, piece: str) -> Filtered:
        """Filter a piece; gives what is known by now, including text held back before."""
        self._held += piece
        if self._place == "before":
            self._begin()
        thinking = self._end() if self._place == "inside" else ""
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "past" if self._held else "after"
        if self._place != "past":
            return Filtered(thinking, "")
        if self._end_tag is None:
            return Filtered(thinking, self._release())
        return self._looked_through(self._release(), self._end_tag)

    def rest(self) -> Filtered:
        """Give what was held back at the end of the stream, also of unfinished thinking."""
        held = self._release()
        if self._place != "inside":
            return Filtered("", held + (self._end_tag.rest() if self._end_tag else ""))
        if not self._begins_inside:
            return Filtered(held, "")
        # There was no end tag this time: all of it was the answer.
        return Filtered("", "".join(self._supposed) + held)

    def _begin(self) -> None:
        text = self._held.lstrip()
        if text.startswith(_START):
            self._held = text.removeprefix(_START)
            self._place = "inside"
            self._begins_inside = False
        elif not _START.startswith(text):
            place = _place_of_end(text)
            is_thinking = place >= 0 and _may_be_thinking(text[:place])
            self._begins_inside = self._begins_inside or is_thinking
            self._place = "inside" if self._begins_inside else "past"

    def _end(self) -> str:
        thinking, end, answer = self._held.partition(_END)
        if end:
            self._held = answer
            self._place = "after"
            self._end_tag = None
            self.lacked_start = self._begins_inside
            return thinking
        # All but the longest beginning of an end tag that is split over two pieces.
        known = max(0, len(self._held) - len(_END) + 1)
        thinking, self._held = self._held[:known], self._held[known:]
        if self._begins_inside:
            self._supposed.append(thinking)
        return thinking

    def _looked_through(self, text: str, end_tag: "_EndTag") -> Filtered:
        """Give a text of the answer, unless an end tag in it says that it was none."""
        before, answer = end_tag.split(text)
        if not answer:
            return Filtered("", before)
        self._end_tag = None
        self.lacked_start = True
        return Filtered(before, answer, taken_back=True)

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held


class _EndTag:
    """Finds the end tag of a text that begins with thinking, and more text behind it."""

    def __init__(self) -> None:
        self._held = ""
        self._before: list[str] = []
        self._begins_line = True
        self._is_over = False

    def split(self, piece: str) -> tuple[str, str]:
        """Give the text that is known to be no tag, and what follows the tag, if that is there.

        The beginning of a line that may become the tag is held back, and so is the tag.
        """
        if self._is_over or not piece:
            return piece, ""
        text = self._held + piece
        place = _place_of_end(text, begins_line=self._begins_line)
        if place < 0:
            return self._without_beginning(text), ""
        before, answer = text[:place], text[place + len(_END) :].lstrip()
        if not _may_be_thinking("".join([*self._before, before])):
            self._is_over, self._held = True, ""
            return text, ""
        if answer:
            return before, answer
        self._give(before, text[place:])
        self._begins_line = True
        return before, ""

    def rest(self) -> str:
        """Give what was held back, without the tag."""
        held, self._held = self._held, ""
        return held.removeprefix(_END)

    def _without_beginning(self, text: str) -> str:
        """Hold back the last line of a text if it may become the tag."""
        _, is_line, line = text.rpartition("\n")
        may_become = bool(is_line or self._begins_line) and _END.startswith(line)
        self._begins_line = may_become
        given = text.removesuffix(line) if may_become else text
        self._give(given, text[len(given) :])
        return given

    def _give(self, text: str, held: str) -> None:
        self._before.append(text)
        self._held = held


def _place_of_end(text: str, *, begins_line: bool = True) -> int:
    """The place of an end tag that begins a line; -1 if there is none."""
    if begins_line and text.startswith(_END):
        return 0
    before = text.find(f"\n{_END}")
    return before + 1 if before >= 0 else -1


def _may_be_thinking(text: str) -> bool:
    """False for a text with a start tag, or one that ends within a block of code."""
    return _START not in text and len(_FENCE.findall(text)) % 2 == 0
