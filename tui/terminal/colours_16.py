"""Sixteen colours: text keeps its hue, and differs from its background.

The nearest colour may be of another hue, as grey is to a soft red, or the same as the
background: yellow keys on white, which nobody can read.
"""

from colorsys import rgb_to_hls
from functools import lru_cache

from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.style import Style

from tui.terminal.contrast import Rgb, contrast

LEAST_CONTRAST = 3.0

# xterm's palette; in a darker one the contrasts are about the same.
_PALETTE = (
    *("000000", "cd0000", "00cd00", "cdcd00", "0000ee", "cd00cd", "00cdcd", "e5e5e5"),
    *("7f7f7f", "ff0000", "00ff00", "ffff00", "5c5cff", "ff00ff", "00ffff", "ffffff"),
)
_BLACK, _GREY, _WHITE, _BRIGHT = 0, 8, 15, 8
_GREYS = (0, 7, 8, 15)
# Red, yellow, green, cyan, blue, magenta: a sixth of the hue circle each.
_HUES = (1, 3, 2, 6, 4, 5)
_LEAST_SATURATION = 0.35
# A pale colour with less difference between its parts looks white, whatever its saturation.
_PALE, _LEAST_DIFFERENCE = 0.7, 0.22


_COLORS: list[Rgb] = [tuple(bytes.fromhex(code)) for code in _PALETTE]  # pyright: ignore[reportAssignmentType]


@lru_cache(2048)
def restyle(style: Style, background: RichColor) -> Style:
    """Give a style one of the sixteen colours, near to its own, that its background shows."""
    if style.color is None or style.color.is_default:
        return style
    behind = _nearest(style.bgcolor or background)
    colour = _readable(_near(style.color), behind, bold=bool(style.bold))
    bold = bool(style.bold) and is_legible(colour, behind, bold=True)
    return style + Style(color=RichColor.from_ansi(colour), bold=bold)


def _readable(colour: int, behind: int, *, bold: bool) -> int:
    others = (_GREY,) if colour in _GREYS else (colour ^ _BRIGHT,)
    for candidate in (colour, *others):
        if is_legible(candidate, behind, bold=bold):
            return candidate
    return max((_BLACK, _WHITE), key=lambda last: contrast_of(last, behind))


def is_legible(colour: int, behind: int, *, bold: bool) -> bool:
    """Check whether a text can be read; many terminals show bold text in the brighter colour."""
    if bold and colour < _BRIGHT and contrast_of(colour + _BRIGHT, behind) < LEAST_CONTRAST:
        return False
    return contrast_of(colour, behind) >= LEAST_CONTRAST


def contrast_of(one: int, other: int) -> float:
    """The contrast of two colours by their numbers."""
    return contrast(_COLORS[one], _COLORS[other])


def _near(colour: RichColor) -> int:
    """The colour of the same hue, if the hue is visible at all."""
    red, green, blue = (value / 255 for value in colour.get_truecolor())
    hue, lightness, saturation = rgb_to_hls(red, green, blue)
    difference = max(red, green, blue) - min(red, green, blue)
    is_white = lightness > _PALE and difference < _LEAST_DIFFERENCE
    if saturation < _LEAST_SATURATION or is_white or not 0.15 < lightness < 0.9:
        return _nearest(colour)
    number = _HUES[round(hue * len(_HUES)) % len(_HUES)]
    return number + _BRIGHT if lightness > 0.5 else number


def _nearest(colour: RichColor) -> int:
    return colour.downgrade(ColorSystem.STANDARD).number or 0
