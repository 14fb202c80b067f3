"""Text for people: sanitised, cut to terminal cells, titles and counts, and fenced code."""

import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any, AnyStr, cast

from tui.domain.timestamps import parse_utc


class _LatePattern:
    """Stands for a ``re.Pattern``; once used, its methods are those of the compiled one."""

    def __init__(self, compiled: Callable[[], re.Pattern[Any]]) -> None:
        self._compiled = compiled

    def __getattr__(self, name: str) -> Any:
        # Compiled once: ``re`` keeps what it has compiled, and each method is kept here.
        found = getattr(self._compiled(), name)
        setattr(self, name, found)
        return found


def late_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern that is compiled when it is first used; compiling takes up to 1 ms."""
    return cast("re.Pattern[AnyStr]", _LatePattern(partial(re.compile, pattern, flags)))


_CONTROLS = "\x00-\x08\x0b-\x1f\x7f\x80-\x9f"
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_TAGS = "\U000e0000-\U000e007f"
_SURROGATES = "\ud800-\udfff"
_UNSAFE = re.compile(f"[{_CONTROLS}{_BIDI}{_TAGS}{_SURROGATES}]")
_LONE = late_pattern(f"[{_SURROGATES}]")
_CONTROL = late_pattern(f"[{_CONTROLS}]")
_NAME_MARKS = str.maketrans(
    {"\n": "\u240a", "\t": "\u2409", "\u2028": "<U+2028>", "\u2029": "<U+2029>"}
)
# Anchored at the first blank: starting at each would take quadratic time on long runs.
_LINE_BREAKS = re.compile(r"(?<!\s)\s*[\r\n\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+\s*")


def make_visible(text: str) -> str:
    """Replace control characters with visible marks.

    These are C0 except newline and tab, DEL, C1, bidirectional controls and tag characters; lone
    surrogates become U+FFFD. Each code point is replaced by itself, so that an escape sequence
    split over two pieces of text is as harmless as a whole one.
    """
    return _UNSAFE.sub(_mark, text)


def as_bytes(text: str) -> bytes:
    """Encode any text, also one with lone surrogates, as a path may have."""
    return text.encode("utf-8", "surrogatepass")


def as_text(data: bytes) -> str:
    """Decode the bytes that ``as_bytes`` makes."""
    return data.decode("utf-8", "surrogatepass")


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot encode, with U+FFFD."""
    return _LONE.sub("\ufffd", text)


def without_controls(text: str) -> str:
    """Leave out control characters but newline and tab, for a program that might obey them."""
    return _CONTROL.sub("", without_surrogates(text.replace("\r\n", "\n").replace("\r", "\n")))


def make_visible_line(text: str) -> str:
    """Sanitise as one line: line breaks and tabs become spaces."""
    return make_visible(_LINE_BREAKS.sub(" ", text).replace("\t", " "))


def make_visible_name(name: str) -> str:
    """Sanitise the name of a file or folder: line breaks and tabs become marks, too."""
    return make_visible(name.translate(_NAME_MARKS))


def _mark(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"<U+{code:04X}>"


LABEL_CELLS = 80
"""Limit of a title; a list cuts it to the width that is there."""
NAME_CHARACTERS = 200
"""Limit of a name that the user gives."""
FOLD_LINES = 10
"""A paste of more lines is called by their number, another one by that of its characters."""
EMPTY = "(empty)"
UNREADABLE = "(unreadable)"
_EXCERPT_CHARACTERS = 400
# Characters of one cell in any context: Latin, Greek, Cyrillic, punctuation, and the markers of
# groups.
_PLAIN = re.compile(
    "[ -~\xa1-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u0482\u2010-\u2027\u2030-\u205e\u25b8\u25be]*"
)


def label(name: str, summary: str, first_prompt: str, otherwise: str = EMPTY) -> str:
    """The title of a session: its name, else the beginning of its first prompt or summary."""
    for text in (name, first_prompt, summary):
        words = " ".join(make_visible_line(text.lstrip()[:_EXCERPT_CHARACTERS]).split())
        # Zero-width characters alone would be an invisible title.
        if cell_width(words) > 0:
            return cut_at_word(words, LABEL_CELLS)
    return otherwise


def whole_label(name: str, label: str) -> str:
    """The uncut title where there is room: all of the name, if the label is its beginning."""
    if not label.endswith("…"):
        return label
    words = " ".join(make_visible_line(name).split())
    return words if words.startswith(label[:-1]) else label


def cut_middle(text: str, most: int) -> str:
    """Cut the middle of a text that is longer than ``most`` characters."""
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-(most // 2) :]}"


def plural(count: int, noun: str) -> str:
    """A number and its noun: ``1 message``, ``3 messages``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def paste_label(text: str) -> str:
    """The line in the place of a long paste."""
    lines = text.rstrip("\n").count("\n") + 1
    if lines > FOLD_LINES:
        return f"[pasted {lines:,} lines]"
    return f"[pasted {len(text):,} characters]"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """A series of words: ``temperature, max_tokens and effort``."""
    *first, last = words or ("",)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


def local_minute(time: str) -> str:
    """Format a time of a file as local time, to the minute."""
    moment = parse_utc(time)
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else "unknown"


def scope_name(scope: str) -> str:
    """The short form of a scope: the directory name of a project."""
    path = scope.removeprefix("project:")
    if path == scope:
        return scope
    return path.rstrip("/").rpartition("/")[2] or path


def cell_width(text: str) -> int:
    """The width of a line in terminal cells."""
    if _PLAIN.fullmatch(text):
        return len(text)
    # Imported here: it takes 15 ms, and most starts show only plain text.
    from wcwidth import wcswidth

    return wcswidth(text)


def cut_to_cells(text: str, cells: int) -> str:
    """Cut a line to ``cells``, ending in an ellipsis if it was longer."""
    if cell_width(text) <= cells:
        return text
    if _PLAIN.fullmatch(text):
        return text[: max(0, cells - 1)].rstrip() + "…"
    from wcwidth import iter_graphemes

    kept = ""
    for grapheme in iter_graphemes(text):
        # Measured as a whole: some characters change the width of their neighbours.
        if cell_width(kept + grapheme + "…") > cells:
            break
        kept += grapheme
    return kept.rstrip() + "…"


def cut_at_word(text: str, cells: int) -> str:
    """Cut a line to ``cells``, behind a word unless that takes a third of it."""
    shorter = cut_to_cells(text, cells)
    kept = shorter.removesuffix("…")
    if shorter == text or text[len(kept) : len(kept) + 1].isspace():
        return shorter
    words = kept.rpartition(" ")[0].rstrip()
    return f"{words}…" if 3 * cell_width(words) >= 2 * cell_width(kept) else shorter


def pad_to_cells(text: str, cells: int) -> str:
    """Pad a line with spaces to ``cells``."""
    return text + " " * (cells - cell_width(text))


def age(then: datetime | None, now: datetime) -> str:
    """Format an age: ``5 min ago``; the local date from a week on."""
    if then is None:
        return "unknown"
    # In UTC: subtracting local times is wrong by an hour across a clock change.
    seconds = (now.astimezone(UTC) - then).total_seconds()
    if seconds < 60:
        return "just now"
    if seconds < 3600:
        return f"{int(seconds // 60)} min ago"
    if seconds < 86400:
        return f"{plural(int(seconds // 3600), 'hour')} ago"
    if seconds < 7 * 86400:
        return f"{plural(int(seconds // 86400), 'day')} ago"
    # By the zone's rules: today's offset is wrong for half of the year.
    return then.astimezone().date().isoformat()


def damage_words(damaged: int, place: str) -> str:
    """Count the records that could not be read; ``place`` is a title, an id or a file."""
    return f"{plural(damaged, 'damaged record')} skipped in {place}; the file is unchanged"


FENCE = late_pattern(r"( {0,3})(`{3,}|~{3,})[ \t]*([^`\n]*|(?<=~)[^\n]*)$")
"""An opening fence; groups: margin, mark, language."""
_MARKS = late_pattern("`+")


def closes(line: str, fence: str) -> bool:
    """True if a line closes the block that the mark ``fence`` opened."""
    mark = line.strip()
    return len(mark) >= len(fence) and not mark.strip(fence[0])


def codes(text: str) -> list[str]:
    """Extract the contents of all fenced blocks, also those indented in lists."""
    found: list[str] = []
    fence, margin = "", 0
    lines: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        inner = line.lstrip(" ")
        if not fence:
            if opened := FENCE.match(inner):
                fence, margin, lines = opened[2], len(line) - len(inner), []
        elif closes(line, fence):
            found.append("\n".join(lines))
            fence = ""
        else:
            lines.append(line[min(margin, len(line) - len(inner)) :])
    return [*found, "\n".join(lines)] if fence else found


def closed(text: str) -> str:
    """The text, with a last line that closes the fenced block which it leaves open.

    What follows an answer that was cut off in a block is then no part of that block.
    """
    fence = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if fence and closes(line, fence):
            fence = ""
        elif not fence and (opened := FENCE.match(line)):
            fence = opened[2]
    return f"{text}\n{fence}" if fence else text


def fenced(text: str, language: str = "") -> str:
    """A fenced block with any text; its fence is longer than every one in the text."""
    longest = max((len(mark) for mark in _MARKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}{language}\n{text}\n{fence}"


def code_span(text: str) -> str:
    """A line of code within a sentence, with any text."""
    longest = max((len(mark) for mark in _MARKS.findall(text)), default=0)
    mark = "`" * (longest + 1)
    margin = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{mark}{margin}{text}{margin}{mark}"
