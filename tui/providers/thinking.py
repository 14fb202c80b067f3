"""Thinking that a model writes into its answer is neither shown nor kept."""

from typing import Literal

_START, _END = "<think>", "</think>"


class ThinkingFilter:
    """Takes ``<think>...</think>`` from the beginning of a text that comes in pieces.

    Only from there: further on, the same letters are part of what is being said.
    """

    def __init__(self) -> None:
        self._held = ""
        self._place: Literal["before", "inside", "after", "past"] = "before"

    def take(self, piece: str) -> str:
        """What of a piece, and of what was held back before it, belongs to the answer."""
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
        """What was still held back when the text ended; unfinished thinking is not given."""
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
            # All that an end which is split over two pieces can have left here.
            self._held = self._held[1 - len(_END) :]

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held
