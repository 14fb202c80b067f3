"""A film of a terminal as one SVG that moves by itself, without a script.

Each row is drawn once, however many frames show it; the frames lie below each other, and a
window of one frame's height jumps from one to the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from pyte.screens import Char

FONT, CELL, ROW = 15, 9.0, 18
MARGIN, BAR = 12, 44
BACKGROUND, FOREGROUND = "0c0c0c", "e6e6e6"
_ANSI = {
    "black": "1d1f21", "red": "cc6666", "green": "8fb573", "brown": "d9a860", "blue": "6f9fcf",
    "magenta": "b08fc4", "cyan": "70b5ac", "white": "d0d0d0",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """The cells of a screen, how long they are shown, and what is written above them."""

    rows: Sequence[tuple[Char, ...]]
    seconds: float
    caption: str
    key: str = ""


def film(frames: Sequence[Frame]) -> str:
    """Draw the frames; they begin again after the last one."""
    columns, height = len(frames[0].rows[0]), len(frames[0].rows) * ROW
    width, step = round(columns * CELL) + 2 * MARGIN, height + BAR + MARGIN
    rows: dict[tuple[Char, ...], str] = {}
    drawn: list[str] = []
    times: list[str] = []
    passed, whole = 0.0, sum(frame.seconds for frame in frames)
    for number, frame in enumerate(frames):
        top = number * step
        times.append(f"{100 * passed / whole:.3f}%{{transform:translateY({-top}px)}}")
        passed += frame.seconds
        drawn.append(_heading(frame, top, width))
        for at, row in enumerate(frame.rows):
            if _drawing(row):
                name = rows.setdefault(row, f"r{len(rows)}")
                drawn.append(f'<use href="#{name}" x="{MARGIN}" y="{top + BAR + at * ROW}"/>')
    defined = "".join(f'<g id="{name}">{_drawing(row)}</g>' for row, name in rows.items())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {step}" width="{width}">'
        "<style>text{white-space:pre;font:"
        f"{FONT}px ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',Consolas,monospace;"
        f"fill:#{FOREGROUND}}}.b{{font-weight:700}}.i{{font-style:italic}}"
        ".u{text-decoration:underline}.s{text-decoration:line-through}"
        ".c{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;font-size:17px}"
        f"#film{{animation:film {whole:g}s step-end infinite}}"
        f"@keyframes film{{{''.join(times)}}}"
        "@media(prefers-reduced-motion:reduce){#film{animation:none}}"
        f"</style><defs>{defined}</defs>"
        f'<rect width="{width}" height="{step}" rx="8" fill="#{BACKGROUND}"/>'
        # Where nothing moves, the last frame is shown.
        f'<g id="film" transform="translate(0 {-top})">{"".join(drawn)}</g></svg>\n'
    )


def _heading(frame: Frame, top: int, width: int) -> str:
    """The caption, and at the right the key that is being pressed."""
    text = f'<text class="c" x="{MARGIN + 4}" y="{top + 29}">{escape(frame.caption)}</text>'
    if not frame.key:
        return text
    wide = round(len(frame.key) * CELL) + 20
    left, colour = width - MARGIN - wide, "ff6b6b" if frame.key.startswith("kill") else "ffd166"
    return (
        f'{text}<rect x="{left}" y="{top + 9}" width="{wide}" height="28" rx="6" '
        f'fill="#{colour}"/>'
        f'<text class="b" x="{left + 10}" y="{top + 28}" style="fill:#1d1f21">'
        f"{escape(frame.key)}</text>"
    )


def _drawing(row: tuple[Char, ...]) -> str:
    """Backgrounds first, then the words; a stretch of one look is one element."""
    drawn, begin = [], 0
    for colour, run in groupby(row, key=lambda cell: _colours(cell)[1]):
        length = len(list(run))
        if colour != BACKGROUND:
            place = f'x="{begin * CELL:g}" width="{length * CELL:g}" height="{ROW}"'
            drawn.append(f'<rect {place} fill="#{colour}"/>')
        begin += length
    at = 0
    for style, run in groupby(row, key=lambda cell: cell._replace(data="")):
        text = "".join(cell.data for cell in run)
        begin, shown = at + len(text) - len(text.lstrip()), text.strip()
        at += len(text)
        if not shown:
            continue
        marks = (("b", style.bold), ("i", style.italics), ("u", style.underscore))
        look = " ".join(name for name, is_on in (*marks, ("s", style.strikethrough)) if is_on)
        front, _ = _colours(style)
        drawn.append(
            f'<text x="{begin * CELL:g}" y="{ROW - 5}" textLength="{len(shown) * CELL:g}"'
            + (f' class="{look}"' if look else "")
            + (f' style="fill:#{front}"' if front != FOREGROUND else "")
            + f">{escape(shown, quote=False)}</text>"
        )
    return "".join(drawn)


def _colours(cell: Char) -> tuple[str, str]:
    """Of the words and behind them."""
    front, back = _named(cell.fg, FOREGROUND), _named(cell.bg, BACKGROUND)
    return (back, front) if cell.reverse else (front, back)


def _named(name: str, default: str) -> str:
    return default if name == "default" else _ANSI.get(name.removeprefix("bright"), name)
