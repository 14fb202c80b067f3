"""The filter of thinking that a model writes into its answer: neither shown nor stored."""

from typing import Literal

_START, _END = "<think>", "</think>"


class ThinkingFilter:
    """Removes ``<think>...</think>`` from the beginning of a text that arrives in pieces.

    Only there: further on, the tags are part of the answer.
    """

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["before", "inside", "after", "past"] = "before"

    def take(self, piece: str) -> str:
        """Filter a piece; returns the text of the answer, including text held back before."""
        if self._place == "past":
            return piece
        self._held += piece
        if self._place == "before":
            self._begin()
        if self._place == "inside":
            self._end()
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "past" if self._held else "after"
        return self._release() if self._place == "past" else ""

    def rest(self) -> str:
        """Return the held-back text at the end of the stream; unfinished thinking is dropped."""
        return self._release() if self._place == "before" else ""

    def _begin(self) -> None:
        text = self._held.lstrip()
        if text.startswith(_START):
            self._held = text.removeprefix(_START)
            self._place = "inside"
        elif not _START.startswith(text):
            self._place = "past"

    def _end(self) -> None:
        _, end, answer = self._held.partition(_END)
        if end:
            self._held = answer
            self._place = "after"
        else:
            # The longest beginning of an end tag that is split over two pieces.
            self._held = self._held[1 - len(_END) :]

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held
