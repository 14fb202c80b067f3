"""256 colours that look like a theme's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color as RichColor
from rich.color import ColorType
from rich.color_triplet import ColorTriplet
from rich.palette import Palette
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tui.app.theme_contrast import legible
from tui.terminal.colours import palette_filters
from tui.terminal.colours_256 import LEAST_CONTRAST, _distance, nearest, triplet
from tui.terminal.contrast import contrast

(FILTER,) = palette_filters("256")
BLACK = Color(0, 0, 0)
colours = st.builds(ColorTriplet, *[st.integers(0, 255)] * 3)


def shown(color, ground, background=BLACK):
    """The colours that a text and what is behind it get."""
    style = Style(color=RichColor.from_triplet(color), italic=True)
    if ground is not None:
        style += Style(bgcolor=RichColor.from_triplet(ground))
    (segment,) = FILTER.apply([Segment("text", style)], background)
    assert segment.style.italic
    return segment.style.color, segment.style.bgcolor


def test_numbers_are_those_that_terminals_have():
    from rich.color import EIGHT_BIT_PALETTE

    assert isinstance(EIGHT_BIT_PALETTE, Palette)
    assert all(triplet(number) == EIGHT_BIT_PALETTE[number] for number in range(16, 256))


@given(st.integers(16, 255))
def test_a_colour_that_is_there_is_shown_as_it_is(number):
    assert triplet(nearest(triplet(number))) == triplet(number)


@given(colours)
def test_no_colour_of_the_cube_or_the_greys_is_nearer(color):
    distances = [_distance(color, triplet(number)) for number in range(16, 256)]
    assert _distance(color, triplet(nearest(color))) == min(distances)


@given(colours, colours)
def test_a_text_is_as_legible_as_it_was_or_as_it_has_to_be(color, ground):
    number, behind = (each.number for each in shown(color, ground))
    least = min(LEAST_CONTRAST, contrast(color, ground))
    ends = max(contrast(ColorTriplet(*[each] * 3), triplet(behind)) for each in (0, 255))
    assert contrast(triplet(number), triplet(behind)) >= min(least, ends)


@pytest.mark.parametrize(
    "theme", [each for each in BUILTIN_THEMES.values() if not each.ansi], ids=lambda each: each.name
)
@pytest.mark.parametrize("ground", ["background", "surface", "panel"])
def test_dark_grounds_of_a_theme_are_not_of_a_loud_colour(theme, ground):
    made = legible({**theme.to_color_system().generate(), **theme.variables})
    own = Color.parse(made[ground]).rich_color.triplet
    spread = max(own) - min(own)
    seen = triplet(nearest(own))
    assert max(seen) - min(seen) <= spread + 24


def test_a_text_without_a_ground_of_its_own_is_fitted_to_what_it_stands_on():
    grey = ColorTriplet(130, 130, 130)
    color, ground = shown(grey, None, Color(18, 18, 18))
    assert ground is None
    assert contrast(triplet(color.number), ColorTriplet(18, 18, 18)) >= LEAST_CONTRAST


def test_what_has_no_colour_of_its_own_stays_as_it_is():
    styles = [None, Style(bold=True), Style.parse("default"), Style.parse("red on blue")]
    segments = [Segment("a", style) for style in styles]
    assert FILTER.apply(segments, BLACK) == segments


def test_all_is_of_256_colours():
    color, ground = shown(ColorTriplet(1, 2, 3), ColorTriplet(250, 250, 250))
    assert (color.type, ground.type) == (ColorType.EIGHT_BIT, ColorType.EIGHT_BIT)


@pytest.mark.parametrize("color_system", ["truecolor", None])
def test_a_terminal_that_has_all_colours_needs_no_filter(color_system):
    assert palette_filters(color_system) == ()
