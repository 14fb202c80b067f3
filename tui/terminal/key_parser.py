"""The key parser: cuts what a terminal sends into keys, pastes and reports.

Textual's own ends on what it cannot read, types what it does not know, and finds keys within a
paste. Here only whole, known sequences are left to it, and all others are dropped.
"""

import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from enum import Enum

from textual import constants, events
from textual.message import Message

from tui.domain.text import late_pattern
from tui.terminal.colours import reported
from tui.terminal.textual_private import FUNCTIONAL_KEYS, KEY_SEQUENCES, KeyParserBase

BEGIN, END = "\x1b[200~", "\x1b[201~"
"""The marks that a terminal puts around a paste."""
SECONDS_UNTIL_LOST = 2.0
"""After so long a silence, the end of a paste or of a reply does not come any more."""
SECONDS_OF_PATIENCE = 10.0
"""The time after which no answer to a question of ours is expected any more."""

_CONTROLS = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f"  # but for line breaks and tabs, which pastes have
_RUN = re.compile(f"[^{_CONTROLS}]+")
_LINE_BREAK = re.compile(r"[\r\n]")
_WHOLE = re.compile(
    # Keys of the Linux console and of rxvt, X10's mouse, then the rule.
    r"\x1b(?:\[\[[ -~]|\[\d+\$|\[M[^\x00-\x1f]{3}|\[(?![\[M])[-0-?]*[ -/]*[@-~]|O\d*[!-/:-~]"
    r"|[\x08-\x0a\x0d\x7f]|[^\x00-\x1f\x7fO\[\]P_])",
    re.ASCII,
)
_PART = re.compile(r"\x1b(?:\[(?:\[|M[^\x00-\x1f]{0,2}|[-0-?]*[ -/]*)|O\d*|[\]P_])?", re.ASCII)
_LONGEST = 256
_STRING = re.compile(r"\x1b(?:\]\d|P[\d>!$+|]|_G)", re.ASCII)
_END_OF_STRING = late_pattern(r"\x1b\\|[\x07\x9c]|(?=[\x00-\x1f\x7f])")
_END_OF_SEQUENCE = late_pattern(r"[@-~]|(?=[^ -?])")
_PASSED = late_pattern(f"{_WHOLE.pattern}|[{_CONTROLS}]", re.ASCII)
# Focus, modes, and the mouse.
_REPORT = re.compile(r"\x1b\[(?:[IO]|\?\d{1,5};\d\$y|<\d{1,3};\d{1,5};\d{1,5}[Mm])", re.ASCII)
_SIZE = late_pattern(r"\x1b\[48((?:;\d{1,5}(?::[\d:]*)?){4})t", re.ASCII)


class _Keys(Enum):
    """Keys that Textual's own list lacks."""

    ALT_BACKSPACE = "alt+backspace"
    ALT_ENTER = "alt+enter"


# Textual reads Alt and a digit as the character that a Mac types with them: ™ for Alt+2.
for _digit in "123456789":
    KEY_SEQUENCES.pop(f"\x1b{_digit}", None)
# It reads one form of Alt+Backspace as Ctrl+W, the other as Backspace, and Alt+Enter as Enter.
for _character in "\x7f\x08":
    KEY_SEQUENCES[f"\x1b{_character}"] = (_Keys.ALT_BACKSPACE,)
for _character in "\r\n":
    KEY_SEQUENCES[f"\x1b{_character}"] = (_Keys.ALT_ENTER,)


def seconds_until_whole(text: str) -> float:
    """Say how long to wait for the rest of a read.

    Somebody who types sends one character at a time. A paste comes in pieces, and at the edge of
    one a line break would be taken for Enter.
    """
    run = _PASSED.split(text[-_LONGEST:])[-1] if len(text) > 1 else ""
    if len(run) < 2:
        return 0
    return 0.03 if _LINE_BREAK.search(run) else 0.005


class KeyParser(KeyParserBase):
    """Translates what a terminal sends, one read after another."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._came_at = 0.0
        self._rest = ""
        self._pasted: list[str] | None = None
        # The end of what is dropped, while something is.
        self._end: re.Pattern[str] | None = None
        self._string = ""
        self._awaits_until = 0.0
        self._may_begin_answer = False

    def await_answer(self) -> None:
        """Be ready for the terminal's answer to a question, though it comes late or in pieces."""
        self._awaits_until = self._clock() + SECONDS_OF_PATIENCE

    def feed(self, data: str) -> Iterable[Message]:
        """Translate one read.

        A line break with text before and after it is no key press: all that text is a paste,
        from a terminal that does not mark pastes.
        """
        self._came_at = self._clock()
        if self._may_begin_answer and data.startswith("]"):
            # The Escape was no key: what follows must not be typed.
            data = f"\x1b{data}"
        self._may_begin_answer = False
        typed, is_first = "", True
        for piece in self._pieces(data):
            if isinstance(piece, str):
                typed += piece
                continue
            # The mouse may move during a paste.
            if not isinstance(piece, events.MouseMove):
                yield from self._typed(typed, is_first=is_first)
                typed, is_first = "", False
            yield piece
        yield from self._typed(typed, is_first=is_first)

    def tick(self) -> Iterable[Message]:
        """Translate what has come once nothing follows it."""
        silence = self._clock() - self._came_at
        if silence >= SECONDS_UNTIL_LOST:
            self._end, self._string = None, ""
            if self._pasted is not None:
                yield self._end_paste(self._take_rest())
        awaits = self._clock() < self._awaits_until
        is_of_string = self._end is not None or (awaits and self._rest == "\x1b]")
        if is_of_string and silence < SECONDS_UNTIL_LOST:
            return
        if silence >= constants.ESCAPE_DELAY and self._pasted is None:
            self._may_begin_answer |= awaits and self._rest == "\x1b"
            yield from self._unfinished(self._take_rest())

    def _typed(self, text: str, *, is_first: bool) -> Iterator[Message]:
        if not _LINE_BREAK.search(text.strip("\r\n")):
            for character in text:
                yield from self.key_events(character)
            return
        # Directly behind another key, Enter was pressed.
        pasted = text if is_first else text.lstrip("\r\n")
        yield from self._typed(text.removesuffix(pasted), is_first=is_first)
        yield events.Paste(pasted)

    def _pieces(self, data: str) -> Iterator[Message | str]:
        is_between = self._pasted is None and self._end is None
        if is_between and self._rest == "\x1b" and data[:1] in ("\r", "\n"):
            # Alt+Enter comes in one read: these are two keys.
            yield from self._unfinished(self._take_rest())
        text = self._take_rest() + data
        at: int = 0
        while at < len(text):
            if self._pasted is not None:
                at = yield from self._paste(self._pasted, text, at)
            elif self._end is not None:
                at = yield from self._drop(self._end, text, at)
            elif run := _RUN.match(text, at):
                at = run.end()
                yield run[0]
            elif text[at] == "\x1b":
                at = yield from self._sequence(text, at)
            else:
                yield from self.key_events(text[at])
                at += 1

    def _paste(self, pasted: list[str], text: str, at: int) -> Generator[Message, None, int]:
        end = text.find(END, at)
        if end >= 0:
            yield self._end_paste(text[at:end])
            return end + len(END)
        # The end may be the beginning of the mark.
        keep = max(at, len(text) - len(END) + 1)
        pasted.append(text[at:keep])
        self._rest = text[keep:]
        return len(text)

    def _end_paste(self, text: str) -> events.Paste:
        pasted, self._pasted = self._pasted or [], None
        return events.Paste("".join((*pasted, text)))

    def _drop(self, end: re.Pattern[str], text: str, at: int) -> Generator[Message, None, int]:
        found = end.search(text, at)
        dropped = text[at:] if found is None else text[at : found.start()]
        self._string = (self._string + dropped)[:_LONGEST]
        if found is None:
            return len(text)
        if not found[0] and text[found.start() :] == "\x1b":
            # It may be the half of a string's end.
            self._rest = "\x1b"
            return len(text)
        answer = reported(self._string)
        self._end, self._string = None, ""
        if answer is not None:
            self._awaits_until = 0.0
            yield answer
        return found.end()

    def _sequence(self, text: str, at: int) -> Generator[Message, None, int]:
        if string := _STRING.match(text, at):
            self._end, self._string = _END_OF_STRING, string[0]
            return string.end()
        if whole := _WHOLE.match(text, at):
            yield from self._translated(whole[0])
            return whole.end()
        part = found[0] if (found := _PART.match(text, at)) else ""
        if at + len(part) < len(text):
            yield from self._unfinished(part)
        elif len(part) < _LONGEST:
            self._rest = part
        else:
            self._end = _END_OF_SEQUENCE
        return at + len(part)

    def _translated(self, sequence: str) -> Iterator[Message]:
        """Translate a whole sequence; one that is not known is dropped."""
        if sequence == BEGIN:
            self._pasted = []
        elif sequence == "\x1b/":
            # Over a slow line they come in one read when a user leaves something for a command.
            yield events.Key("escape", "\x1b")
            yield events.Key("slash", "/")
        elif _REPORT.fullmatch(sequence):
            yield from super().feed(sequence)
        elif size := _SIZE.fullmatch(sequence):
            fields = (field.partition(":")[0] for field in size[1].split(";"))
            rows, columns, height, width = (int(field) for field in fields if field)
            if rows and columns:
                # The mouse's place is divided by the size of a cell.
                pixels = f"{max(height, rows)};{max(width, columns)}"
                yield from super().feed(f"\x1b[48;{rows};{columns};{pixels}t")
        elif (key := plain_key(sequence)) is not None:
            yield from self.key_events(key)
        elif sequence in KEY_SEQUENCES:
            yield from self.key_events(sequence)
        elif len(sequence) == 2:
            yield from self.key_events(sequence[1], alt=True)

    def _unfinished(self, part: str) -> Iterator[Message]:
        """Translate the beginning of a sequence, which may be a key of its own."""
        if part == "\x1b":
            yield events.Key("escape", "\x1b")
        elif len(part) == 2:
            yield from self.key_events(part[1], alt=True)

    def _take_rest(self) -> str:
        rest, self._rest = self._rest, ""
        return rest


_FIELD = r"\d{0,7}(?::\d{0,7})*"
_KEY = late_pattern(rf"\x1b\[({_FIELD}(?:;{_FIELD}){{0,2}})([u~ABCDEFHPQRS])", re.ASCII)
_FORM = late_pattern(r"\x1b\[[\d:;]*[u~ABCDEFHPQRS]", re.ASCII)
_SHIFT, _ALT, _CTRL, _OTHERS, _LOCKS = 1, 2, 4, 8 | 16 | 32, 64 | 128
_PRESS, _REPEAT = 1, 2
_CODE_OF_XTERM = 27
_BACKSPACE, _DELETE = 8, 127


def plain_key(sequence: str) -> str | None:
    """Return the sequence of a pressed key, without what Textual does not know.

    A key with modifiers, as the kitty protocol and xterm send it, is
    ``code:shifted:base;modifiers:event;text`` and a final letter; fields may be missing.
    Empty if it cannot be read or the key was released; None if it is no such sequence.
    """
    if not _FORM.fullmatch(sequence):
        return None
    found = _KEY.fullmatch(sequence)
    if found is None:
        return ""
    fields = [[int(number or "0") for number in field.split(":")] for field in found[1].split(";")]
    (key, *others), (modifiers, *events), text = [*fields, [0], [0]][:3]
    end = found[2]
    if (key, end) == (_CODE_OF_XTERM, "~") and text[0]:
        # modifyOtherKeys: the key stands in the place of the text.
        key, others, text, end = text[0], [], [], "u"
    held = max(modifiers - 1, 0) & ~_LOCKS
    if held > _LOCKS or not {*events} <= {0, _PRESS, _REPEAT}:
        return ""
    if held & _OTHERS or held & (_ALT | _CTRL) == _CTRL:
        text = []
    text = [code for code in text if _is_text(code)]
    shifted, base, *_ = (*others, 0, 0)
    if end != "u" or _is_functional(key):
        key = key or 1
        if not _is_functional(key, end):
            return ""
    elif text:
        held &= _SHIFT
    elif held & ~_SHIFT:
        # On a Cyrillic or Greek layout only the base layout has the letter of the shortcut.
        key = base if key > _DELETE > base >= ord(" ") else key
    elif _is_text(key):
        # A terminal that leaves out the text.
        text = [shifted if held and _is_text(shifted) else key]
    key = _DELETE if key == _BACKSPACE else key
    if not text and not _is_functional(key, end) and not _is_text(key):
        return ""
    parts = str(key), str(held + 1) if held else "", ":".join(map(str, text))
    return f"\x1b[{';'.join(parts).rstrip(';')}{end}"


def _is_functional(key: int, end: str = "u") -> bool:
    return f"{key}{end}" in FUNCTIONAL_KEYS


def _is_text(code: int) -> bool:
    return 0 < code <= 0x10FFFF and chr(code).isprintable()
