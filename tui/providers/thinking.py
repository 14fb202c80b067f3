"""The filter for thinking that a model writes into its answer, which is no part of the text."""

from typing import Literal, NamedTuple

_START, _END = "<think>", "</think>"


class Filtered(NamedTuple):
    """The part of a piece that is thinking, and the part that is answer; each may be empty."""

    thinking: str
    text: str


class ThinkingFilter:
    """Separates ``<think>...</think>`` from the beginning of a text that arrives in pieces.

    Only there: further on, the tags are part of the answer.
    """

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["before", "inside", "after", "past"] = "before"

    def take(self, piece: str) -> Filtered:
        """Filter a piece; gives what is known by now, including text held back before."""
        if self._place == "past":
            return Filtered("", piece)
        self._held += piece
        if self._place == "before":
            self._begin()
        thinking = self._end() if self._place == "inside" else ""
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "past" if self._held else "after"
        return Filtered(thinking, self._release() if self._place == "past" else "")

    def rest(self) -> Filtered:
        """Give what was held back at the end of the stream, also of unfinished thinking."""
        inside, held = self._place == "inside", self._release()
        return Filtered(held, "") if inside else Filtered("", held)

    def _begin(self) -> None:
        text = self._held.lstrip()
        if text.startswith(_START):
            self._held = text.removeprefix(_START)
            self._place = "inside"
        elif not _START.startswith(text):
            self._place = "past"

    def _end(self) -> str:
        thinking, end, answer = self._held.partition(_END)
        if end:
            self._held = answer
            self._place = "after"
            return thinking
        # All but the longest beginning of an end tag that is split over two pieces.
        known = max(0, len(self._held) - len(_END) + 1)
        thinking, self._held = self._held[:known], self._held[known:]
        return thinking

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held
