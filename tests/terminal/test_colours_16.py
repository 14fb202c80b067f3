"""Sixteen colours that can be read on one another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import Color as RichColor
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tui.app.theme_contrast import legible
from tui.terminal.colours import palette_filters
from tui.terminal.colours_16 import LEAST_CONTRAST, contrast_of

RED, YELLOW, CYAN, BRIGHT = 1, 3, 6, 8
(FILTER,) = palette_filters("standard")
WHITE = Color(255, 255, 255)
colours = st.tuples(*[st.integers(0, 255)] * 3)


def shown(colour, background=WHITE, behind=None, *, bold=False):
    """The number of the colour that a text gets, and whether it is bold."""
    style = Style(color=RichColor.from_rgb(*colour), bgcolor=behind, bold=bold, italic=True)
    (segment,) = FILTER.apply([Segment("text", style)], background)
    assert segment.style.italic
    assert segment.style.bgcolor == behind
    return segment.style.color.number, bool(segment.style.bold)


@given(colours, colours, st.booleans())
def test_a_text_differs_from_what_is_behind_it(colour, behind, bold):
    behind = RichColor.from_rgb(*behind)
    behind_shown = behind.downgrade(ColorSystem.STANDARD).number
    number, bold = shown(colour, behind=behind, bold=bold)
    assert contrast_of(number, behind_shown) >= LEAST_CONTRAST
    # Many terminals show what is bold in the brighter colour.
    assert not bold or contrast_of(number | BRIGHT, behind_shown) >= LEAST_CONTRAST


@pytest.mark.parametrize(
    ("colour", "number"),
    [((0xBA, 0x3C, 0x5B), RED), ((0xFF, 0xA6, 0x2B), YELLOW), ((0x57, 0xA5, 0xE2), CYAN)],
)
def test_a_soft_colour_keeps_its_hue(colour, number):
    assert shown(colour, Color(18, 18, 18))[0] in (number, number + BRIGHT)


@pytest.mark.parametrize(
    "theme", [each for each in BUILTIN_THEMES.values() if not each.ansi], ids=lambda each: each.name
)
def test_what_is_said_is_black_white_or_grey_in_every_theme(theme):
    made = legible({**theme.to_color_system().generate(), **theme.variables})
    ground = Color.parse(made["background"])
    assert shown(Color.parse(made["foreground"]).rgb, ground)[0] in (0, 7, 8, 15)


def test_yellow_on_white_is_neither():
    assert shown((255, 255, 0)) == (0, False)


def test_what_is_bold_stays_so_where_it_can_be_read():
    assert shown((0, 0, 0), bold=True) == (0, True)
    assert shown((0, 0, 0), Color(0, 255, 0), bold=True) == (0, False)


def test_what_has_no_colour_of_its_own_stays_as_it_is():
    segments = [Segment("a"), Segment("b", Style(bold=True)), Segment("c", Style.parse("default"))]
    assert FILTER.apply(segments, WHITE) == segments
