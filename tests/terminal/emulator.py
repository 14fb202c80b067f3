"""A plain terminal: takes in what a program writes, answers its questions, gives what it shows.

pyte knows neither the alternate screen nor most of the sequences that begin with a private mark,
and prints what it does not know: those are taken out here. Nothing inside a synchronized update
is seen before the update ends.
"""

import codecs
import re
from collections.abc import Callable

import pyte
from pyte.screens import Char

# Control sequence: mark, parameters, intermediates, final; or a string up to its end.
_SEQUENCE = re.compile(
    r"\x1b\[(?P<mark>[<=>?]?)(?P<parameters>[0-9;:]*)(?P<between>[ -/]*)(?P<final>[@-~])"
    r"|\x1b\](?P<command>(?:[^\x07\x1b]|\x1b(?!\\))*)(?:\x07|\x1b\\)"
    r"|\x1b[PX^_](?:[^\x1b]|\x1b(?!\\))*\x1b\\"
)
_UNFINISHED = re.compile(
    r"\x1b(?:\[[<=>?]?[0-9;:]*[ -/]*|[]PX^_](?:[^\x07\x1b]|\x1b(?!\\))*\x1b?|[()*+#%])?\Z"
)
_ALTERNATE = {"47", "1047", "1049"}
_SYNCHRONIZED = "2026"
_CURSOR_VISIBLE = "25"
_OF_PYTE = {"3", "5", "6", "7", _CURSOR_VISIBLE}
COLOURS = {"10": "e6e6/e6e6/e6e6", "11": "1010/1010/1010", "12": "e6e6/e6e6/e6e6"}


class Emulator:
    """The screen of a terminal of some columns and rows; ``answer`` takes what it replies."""

    def __init__(self, columns: int, rows: int, answer: Callable[[bytes], None]) -> None:
        self._shown = [""] * rows
        self._main = pyte.Screen(columns, rows)
        self._alternate = pyte.Screen(columns, rows)
        self._screen = self._main
        self._answer = answer
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._rest = ""
        self._is_held = False
        self.modes: set[str] = set()

    @property
    def is_alternate(self) -> bool:
        return self._screen is self._alternate

    @property
    def is_cursor_visible(self) -> bool:
        return not self._screen.cursor.hidden

    @property
    def cursor(self) -> tuple[int, int]:
        """Column and row, from 0."""
        return self._screen.cursor.x, self._screen.cursor.y

    @property
    def lines(self) -> list[str]:
        """The rows as last shown, without the blanks at their ends."""
        if not self._is_held:
            self._shown = [line.rstrip() for line in self._screen.display]
        return self._shown

    @property
    def cells(self) -> list[tuple[Char, ...]]:
        """The rows as they are now, with their looks; the cursor is a cell in reverse."""
        screen, cursor = self._screen, self._screen.cursor
        rows = [[screen.buffer[y][x] for x in range(screen.columns)] for y in range(screen.lines)]
        if not cursor.hidden and cursor.x < screen.columns:
            under = rows[cursor.y][cursor.x]
            rows[cursor.y][cursor.x] = under._replace(reverse=not under.reverse)
        return [tuple(row) for row in rows]

    def resize(self, columns: int, rows: int) -> None:
        for screen in (self._main, self._alternate):
            screen.resize(rows, columns)

    def feed(self, data: bytes) -> None:
        """Take in what a program wrote, in pieces of any size."""
        text = self._rest + self._decode(data)
        at = 0
        for found in _SEQUENCE.finditer(text):
            self._put(text[at : found.start()])
            self._take(found)
            at = found.end()
        unfinished = _UNFINISHED.search(text, at)
        end = unfinished.start() if unfinished else len(text)
        self._put(text[at:end])
        self._rest = text[end:]

    def _put(self, text: str) -> None:
        if text:
            pyte.Stream(self._screen).feed(text)

    def _take(self, found: re.Match[str]) -> None:
        final = found["final"]
        if found["command"] is not None:
            self._tell_colour(found["command"])
        elif final is None:
            return
        elif found["mark"] or found["between"]:
            self._take_private(found["mark"], found["parameters"], found["between"] + final)
        elif final == "n":
            self._tell_state(found["parameters"])
        elif final == "c":
            self._say("\x1b[?62;22c")
        elif final == "t" and found["parameters"] == "18":
            self._say(f"\x1b[8;{self._screen.lines};{self._screen.columns}t")
        elif final not in "qtu" and ":" not in found["parameters"]:
            self._put(found[0])

    def _take_private(self, mark: str, parameters: str, final: str) -> None:
        if (mark, final) == ("?", "$p"):
            known = 2 if parameters == _SYNCHRONIZED else 0
            self._say(f"\x1b[?{parameters};{known}$y")
        elif mark == "?" and final in ("h", "l"):
            for mode in parameters.split(";"):
                self._set(mode, final)
        elif (mark, final) == (">", "c"):
            self._say("\x1b[>41;380;0c")

    def _set(self, mode: str, final: str) -> None:
        is_on = final == "h"
        (self.modes.add if is_on else self.modes.discard)(mode)
        if mode in _ALTERNATE:
            self._switch(is_on=is_on)
        elif mode == _SYNCHRONIZED:
            _ = self.lines
            self._is_held = is_on
        elif mode in _OF_PYTE:
            self._put(f"\x1b[?{mode}{final}")

    def _switch(self, *, is_on: bool) -> None:
        """As xterm does: entering clears, even once more; whether the cursor shows is one state."""
        is_hidden = self._screen.cursor.hidden
        if is_on:
            self._alternate.reset()
        self._screen = self._alternate if is_on else self._main
        self._screen.cursor.hidden = is_hidden

    def _tell_state(self, parameters: str) -> None:
        if parameters == "5":
            self._say("\x1b[0n")
        elif parameters == "6":
            column, row = self.cursor
            self._say(f"\x1b[{row + 1};{column + 1}R")

    def _tell_colour(self, command: str) -> None:
        number, _, asked = command.partition(";")
        if asked.startswith("?") and number in COLOURS:
            self._say(f"\x1b]{number};rgb:{COLOURS[number]}\x1b\\")

    def _say(self, text: str) -> None:
        self._answer(text.encode())
