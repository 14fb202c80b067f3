"""256 colours: each is the nearest to a theme's own.

Rich takes any tint of a dark colour for the first step of the cube: Nord's dark grey ground
became teal, and a bar of dark grey navy blue.
"""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from rich.color import Color as RichColor
from rich.color_triplet import ColorTriplet
from rich.style import Style

from tui.terminal.contrast import contrast

LEAST_CONTRAST = 4.5
_LEVELS = (0, 95, 135, 175, 215, 255)
_CUBE, _GREYS, _GREYS_COUNT = 16, 232, 24
_STEPS = 10


@lru_cache(2048)
def restyle(style: Style, background: RichColor) -> Style:
    """Give a style such colours; its text stays as legible as it was."""
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
    least = min(LEAST_CONTRAST, contrast(color, ground))
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
