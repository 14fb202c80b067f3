"""Pastes as a terminal sends them, kept whole: an escape within one is text and no key."""

from collections.abc import Iterator

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""What a terminal puts around a paste."""


class PasteFilter:
    """Keeps what is pasted away from the parser of keys.

    That one takes an escape within a paste for the beginning of a key, and what follows for keys:
    a line's end sends, a bell opens the search. It is given the marks alone; ``text`` is what was
    between the last two.
    """

    def __init__(self) -> None:
        self.text = ""
        self._pieces: list[str] | None = None
        # As much of what came last as may be the beginning of a mark.
        self._before = ""

    def keys(self, text: str) -> Iterator[str]:
        """What the parser is to be given of what came; ``text`` is there when a paste has ended."""
        while text:
            mark = BEGIN if self._pieces is None else END
            place = (self._before + text).find(mark)
            if place < 0:
                self._before = (self._before + text)[1 - len(mark) :]
                yield from self._taken(text)
                return
            end = place + len(mark) - len(self._before)
            self._before = ""
            yield from self._taken(text[:end])
            yield from self._passed()
            text = text[end:]

    def _taken(self, text: str) -> Iterator[str]:
        if self._pieces is None:
            yield text
        else:
            self._pieces.append(text)

    def _passed(self) -> Iterator[str]:
        """A mark has been passed: a paste begins, or ends."""
        if self._pieces is None:
            self._pieces = []
            return
        self.text = "".join(self._pieces).removesuffix(END)
        self._pieces = None
        yield END
