"""Bracketed pastes, kept whole: an escape character within one is text."""

from collections.abc import Iterator

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""The marks that a terminal puts around a paste."""


class PasteFilter:
    """Hides pasted text from the key parser.

    The parser takes an escape character within a paste for the beginning of a key, and reads the
    rest as keys: a line break sends, a bell opens the search. It gets the marks only; ``text`` is
    the text between the last two.
    """

    def __init__(self) -> None:
        self.text = ""
        self._pieces: list[str] | None = None
        # The end of the input so far, which may be the beginning of a mark.
        self._before = ""

    def keys(self, text: str) -> Iterator[str]:
        """Yield input for the key parser; ``text`` is set when the end of a paste is yielded."""
        while text:
            mark = BEGIN if self._pieces is None else END
            place = (self._before + text).find(mark)
            if place < 0:
                self._before = (self._before + text)[1 - len(mark) :]
                yield from self._take(text)
                return
            end = place + len(mark) - len(self._before)
            self._before = ""
            yield from self._take(text[:end])
            yield from self._pass_mark()
            text = text[end:]

    def _take(self, text: str) -> Iterator[str]:
        if self._pieces is None:
            yield text
        else:
            self._pieces.append(text)

    def _pass_mark(self) -> Iterator[str]:
        """Begin a paste, or end it."""
        if self._pieces is None:
            self._pieces = []
            return
        self.text = "".join(self._pieces).removesuffix(END)
        self._pieces = None
        yield END
