"""The colours of a theme on a terminal that has only 16 or 256 of them.

Rich takes the nearest, which may be of another hue, or the same as the background.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from colorsys import rgb_to_hls
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import product

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.message import Message

from tui.domain.text import late_pattern

Restyle = Callable[[Style, RichColor], Style]
"""Gives a style colours that the terminal has; the second argument is the background."""


class PaletteFilter(LineFilter):
    """Draws each text in colours of a palette."""

    def __init__(self, restyle: Restyle) -> None:
        super().__init__()
        self._restyle = restyle

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        behind = background.rich_color
        return [
            Segment(text, self._restyle(style, behind) if style else None, control)
            for text, style, control in segments
        ]


Rgb = tuple[int, int, int]
"""Red, green and blue, from 0 to 255 each."""


def contrast(one: Rgb, other: Rgb) -> float:
    """The contrast ratio: from 1, the same colour, to 21, black on white."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: Rgb) -> float:
    """The relative luminance, from 0 to 1, as WCAG 2 defines it."""
    shares = (value / 255 for value in color)
    red, green, blue = (
        share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


LEAST_CONTRAST_16 = 3.0

# xterm's palette; in a darker one the contrasts are about the same.
_PALETTE = (
    *("000000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5"),
    *("7f7f7f", "ff0000", "00ff00", "ffff00", "5c5cff", "ff00ff", "00ffff", "ffffff"),
)
_BLACK, _GREY, _WHITE, _BRIGHT = 0, 8, 15, 8
_GREYS_16 = (0, 7, 8, 15)
# Red, yellow, green, cyan, blue, magenta: a sixth of the hue circle each.
_HUES = (1, 3, 2, 6, 4, 5)
_LEAST_SATURATION = 0.35
# A pale colour with less difference between its parts looks white, whatever its saturation.
_PALE, _LEAST_DIFFERENCE = 0.7, 0.22


_COLORS: list[Rgb] = [tuple(bytes.fromhex(code)) for code in _PALETTE]  # pyright: ignore[reportAssignmentType]


@lru_cache(2048)
def restyle_16(style: Style, background: RichColor) -> Style:
    """Give a style one of the sixteen colours, near to its own, that its background shows.

    The nearest colour may be of another hue, as grey is to a soft red, or the same as the
    background: yellow keys on white, which nobody can read.
    """
    if style.color is None or style.color.is_default:
        return style
    behind = _nearest_16(style.bgcolor or background)
    colour = _readable(_near_16(style.color), behind, bold=bool(style.bold))
    bold = bool(style.bold) and is_legible(colour, behind, bold=True)
    return style + Style(color=RichColor.from_ansi(colour), bold=bold)


def _readable(colour: int, behind: int, *, bold: bool) -> int:
    others = (_GREY,) if colour in _GREYS_16 else (colour ^ _BRIGHT,)
    for candidate in (colour, *others):
        if is_legible(candidate, behind, bold=bold):
            return candidate
    return max((_BLACK, _WHITE), key=lambda last: contrast_of(last, behind))


def is_legible(colour: int, behind: int, *, bold: bool) -> bool:
    """Check whether a text can be read; many terminals show bold text in the brighter colour."""
    if bold and colour < _BRIGHT and contrast_of(colour + _BRIGHT, behind) < LEAST_CONTRAST_16:
        return False
    return contrast_of(colour, behind) >= LEAST_CONTRAST_16


def contrast_of(one: int, other: int) -> float:
    """The contrast of two colours by their numbers."""
    return contrast(_COLORS[one], _COLORS[other])


def _near_16(colour: RichColor) -> int:
    """The colour of the same hue, if the hue is visible at all."""
    red, green, blue = (value / 255 for value in colour.get_truecolor())
    hue, lightness, saturation = rgb_to_hls(red, green, blue)
    difference = max(red, green, blue) - min(red, green, blue)
    is_white = lightness > _PALE and difference < _LEAST_DIFFERENCE
    if saturation < _LEAST_SATURATION or is_white or not 0.15 < lightness < 0.9:
        return _nearest_16(colour)
    number = _HUES[round(hue * len(_HUES)) % len(_HUES)]
    return number + _BRIGHT if lightness > 0.5 else number


def _nearest_16(colour: RichColor) -> int:
    return colour.downgrade(ColorSystem.STANDARD).number or 0


LEAST_CONTRAST_256 = 4.5
_LEVELS = (0, 95, 135, 175, 215, 255)
_CUBE, _GREYS, _GREYS_COUNT = 16, 232, 24
_STEPS = 10


@lru_cache(2048)
def restyle_256(style: Style, background: RichColor) -> Style:
    """Give a style the nearest of 256 colours; its text stays as legible as it was.

    Rich takes any tint of a dark colour for the first step of the cube: Nord's dark grey ground
    became teal, and a bar of dark grey navy blue.
    """
    color, ground = style.color, style.bgcolor
    behind = _nearest(ground.triplet) if ground and ground.triplet else None
    if color and color.triplet:
        own = (ground or background).triplet
        color = RichColor.from_ansi(_legible(color.triplet, own) if own else nearest(color.triplet))
    return style + Style(color=color, bgcolor=RichColor.from_ansi(behind) if behind else ground)


def nearest(color: ColorTriplet) -> int:
    """The number of the colour that looks most alike."""
    return min(_near(color), key=lambda number: _distance(color, triplet(number)))


_nearest = lru_cache(256)(nearest)


def triplet(number: int) -> ColorTriplet:
    """The red, green and blue of a number from 16 to 255."""
    if number >= _GREYS:
        grey = 8 + 10 * (number - _GREYS)
        return ColorTriplet(grey, grey, grey)
    red, rest = divmod(number - _CUBE, 36)
    green, blue = divmod(rest, 6)
    return ColorTriplet(_LEVELS[red], _LEVELS[green], _LEVELS[blue])


def _legible(color: ColorTriplet, ground: ColorTriplet) -> int:
    """The nearest colour, or one nearer to black or white if the nearest has less contrast."""
    behind = triplet(_nearest(ground))
    least = min(LEAST_CONTRAST_256, contrast(color, ground))
    end = max((0, 255), key=lambda each: contrast(ColorTriplet(each, each, each), behind))
    for step in range(_STEPS + 1):
        shade = ColorTriplet(*(part + (end - part) * step // _STEPS for part in color))
        if contrast(triplet(number := nearest(shade)), behind) >= least:
            return number
    return nearest(ColorTriplet(end, end, end))


def _near(color: ColorTriplet) -> Iterator[int]:
    """The colours around it in the cube, and the greys of about the same lightness."""
    sides = [
        {max(0, place - 1), place}
        for place in (sum(level < part for level in _LEVELS) for part in color)
    ]
    for red, green, blue in product(*sides):
        yield _CUBE + 36 * red + 6 * green + blue
    grey = (sum(color) // 3 - 8) // 10
    for place in (grey, grey + 1):
        yield _GREYS + max(0, min(place, _GREYS_COUNT - 1))


def _distance(one: ColorTriplet, other: ColorTriplet) -> float:
    """The perceived difference: red weighs more in light colours, blue in dark ones."""
    red = (one.red + other.red) / 512
    weights = (2 + red, 4, 3 - red)
    return sum(
        weight * (part - other_part) ** 2
        for weight, part, other_part in zip(weights, one, other, strict=True)
    )


@cache
def palette_filters(color_system: str | None) -> Sequence[LineFilter]:
    """Return the filter for a colour system as Rich names it; none where it has all colours."""
    match color_system:
        case "standard":
            return (PaletteFilter(restyle_16),)
        case "256":
            return (PaletteFilter(restyle_256),)
        case _:
            return ()


ASK = "\x1b]11;?\x1b\\"
"""Ask for the colour. Many terminals answer at once, some late, and some never."""

SECONDS = 0.1
"""The time in which an answer counts: later a change of colours would startle."""

_PART = "([0-9a-f]{1,4})"
_ANSWER = late_pattern(rf"\x1b\]11;rgba?:{_PART}/{_PART}/{_PART}(?:/[0-9a-f]*)?", re.IGNORECASE)
_LIGHT = 0.18
"""The luminance on which black and white can be read equally well."""


@dataclass(eq=False, repr=False)
class BackgroundReported(Message):
    """The terminal has answered; ``time`` is when."""

    light: bool


def reported(string: str) -> BackgroundReported | None:
    """Read the answer, without its end; ``None`` for any other string of a terminal."""
    found = _ANSWER.fullmatch(string)
    if found is None:
        return None
    red, green, blue = (255 * int(part, 16) // (16 ** len(part) - 1) for part in found.groups())
    return BackgroundReported(light=luminance((red, green, blue)) > _LIGHT)
