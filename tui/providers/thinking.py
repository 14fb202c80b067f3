"""The filter for thinking that a model writes into its answer, which is no part of the text."""

from typing import Literal, NamedTuple

_START, _END = "<think>", "</think>"


class Filtered(NamedTuple):
    """The part of a piece that is thinking, and the part that is answer; each may be empty."""

    thinking: str
    text: str


class ThinkingFilter:
    """Separates ``<think>...</think>`` from the beginning of a text that arrives in pieces.

    Only there: further on, the tags are part of the answer. Some servers leave out the start tag:
    the template of their model has it already. Nothing tells so before the end tag, and unless
    the text comes whole, that before it has been given as the answer by then. The tag itself is
    dropped, and ``lacked_start`` is set for the next answer of that model, which is filtered with
    ``inside=True``.
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
        if self._place == "past":
            return Filtered("", self._without_end_tag(piece))
        self._held += piece
        if self._place == "before":
            self._begin()
        thinking = self._end() if self._place == "inside" else ""
        if self._place == "after":
            self._held = self._held.lstrip()
            self._place = "past" if self._held else "after"
        is_past = self._place == "past"
        return Filtered(thinking, self._without_end_tag(self._release()) if is_past else "")

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
            self._begins_inside = self._begins_inside or _place_of_end(text) >= 0
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

    def _without_end_tag(self, text: str) -> str:
        if self._end_tag is None:
            return text
        text = self._end_tag.dropped(text)
        self.lacked_start = self._end_tag.was_found
        return text

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held


class _EndTag:
    """Drops the first end tag of a text, if it begins a line and no start tag comes before it."""

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        self._begins_line = True
        self._is_over = False
        self.was_found = False

    def dropped(self, piece: str) -> str:
        """Give a piece without the tag; the beginning of a line that may become it is held back."""
        if self._is_over or not piece:
            return piece
        text = self.rest() + piece
        place = _place_of_end(text, begins_line=self._begins_line)
        self.was_found = place >= 0 and _START not in self._before
        self._is_over = self.was_found or _START in self._before + text
        if not self._is_over:
            return self._without_beginning(text)
        return text[:place] + text[place + len(_END) :] if self.was_found else text

    def rest(self) -> str:
        """Give what was held back."""
        held, self._held = self._held, ""
        return held

    def _without_beginning(self, text: str) -> str:
        """Hold back the last line of a text if it may become the tag."""
        self._before = (self._before + text)[-len(_START) :]
        _, is_line, line = text.rpartition("\n")
        may_become = bool(is_line or self._begins_line) and _END.startswith(line)
        self._begins_line = may_become
        self._held = line if may_become else ""
        return text.removesuffix(self._held)


def _place_of_end(text: str, *, begins_line: bool = True) -> int:
    """The place of an end tag that begins a line, before any start tag; -1 if there is none."""
    if begins_line and text.startswith(_END):
        return 0
    before = text.find(f"\n{_END}")
    return before + 1 if before >= 0 and _START not in text[:before] else -1
