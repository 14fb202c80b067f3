"""The colours that terminals of sixteen or 256 show: legible, and like a theme's own."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.color import EIGHT_BIT_PALETTE, ColorSystem, ColorType
from rich.color import Color as RichColor
from rich.color_triplet import ColorTriplet
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tests.tables import each_row
from tests.terminal import emulator
from tests.terminal.endings import quit_at_once
from tui.app.appearance import legible
from tui.terminal.colours import (
    LEAST_CONTRAST_16,
    LEAST_CONTRAST_256,
    _distance,
    contrast,
    contrast_of,
    is_legible,
    nearest,
    palette_filters,
    triplet,
)

RED, YELLOW, CYAN, BRIGHT = 1, 3, 6, 8
(FILTER_16,), (FILTER_256,) = palette_filters("standard"), palette_filters("256")
BLACK, WHITE = Color(0, 0, 0), Color(255, 255, 255)
colours = st.tuples(*[st.integers(0, 255)] * 3)
triplets = st.builds(ColorTriplet, *[st.integers(0, 255)] * 3)
themes = each_row("theme", [each for each in BUILTIN_THEMES.values() if not each.ansi])


def test_contrast_is_that_of_wcag():
    black, grey, white = (0, 0, 0), (119, 119, 119), (255, 255, 255)
    assert contrast(black, white) == contrast(white, black) == pytest.approx(21)
    assert contrast(grey, grey) == 1
    assert contrast(grey, white) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("palette", [FILTER_16, FILTER_256])
def test_what_has_no_colour_of_its_own_stays_as_it_is(palette):
    segments = [Segment("a", style) for style in (None, Style(bold=True), Style.parse("default"))]
    assert palette.apply(segments, WHITE) == segments


def shown_16(colour, background=WHITE, behind=None, *, bold=False):
    """The number of the colour that a text gets, and whether it is bold."""
    style = Style(color=RichColor.from_rgb(*colour), bgcolor=behind, bold=bold, italic=True)
    (segment,) = FILTER_16.apply([Segment("text", style)], background)
    assert segment.style.italic
    assert segment.style.bgcolor == behind
    return segment.style.color.number, bool(segment.style.bold)


@given(colours, colours, st.booleans())
def test_a_text_differs_from_what_is_behind_it(colour, behind, bold):
    behind = RichColor.from_rgb(*behind)
    behind_shown = behind.downgrade(ColorSystem.STANDARD).number
    number, bold = shown_16(colour, behind=behind, bold=bold)
    assert contrast_of(number, behind_shown) >= LEAST_CONTRAST_16
    # Many terminals show what is bold in the brighter colour.
    assert not bold or contrast_of(number | BRIGHT, behind_shown) >= LEAST_CONTRAST_16


def test_a_soft_colour_keeps_its_hue_and_is_bold_where_it_can_be_read():
    for colour, number in (((0xBA, 0x3C, 0x5B), RED), ((0xFF, 0xA6, 0x2B), YELLOW)):
        assert shown_16(colour, Color(18, 18, 18))[0] in (number, number + BRIGHT)
    assert shown_16((0x57, 0xA5, 0xE2), Color(18, 18, 18))[0] in (CYAN, CYAN + BRIGHT)
    # Yellow on white is neither.
    assert shown_16((255, 255, 0)) == (0, False)
    assert shown_16((0, 0, 0), bold=True) == (0, True)
    assert shown_16((0, 0, 0), Color(0, 255, 0), bold=True) == (0, False)


@themes
def test_what_is_said_is_black_white_or_grey_in_every_theme(theme):
    made = legible({**theme.to_color_system().generate(), **theme.variables})
    ground = Color.parse(made["background"])
    assert shown_16(Color.parse(made["foreground"]).rgb, ground)[0] in (0, 7, 8, 15)


def shown_256(color, ground, background=BLACK):
    """The colours that a text and what is behind it get."""
    style = Style(color=RichColor.from_triplet(color), italic=True)
    if ground is not None:
        style += Style(bgcolor=RichColor.from_triplet(ground))
    (segment,) = FILTER_256.apply([Segment("text", style)], background)
    assert segment.style.italic
    return segment.style.color, segment.style.bgcolor


def test_numbers_are_those_that_terminals_have():
    assert all(triplet(number) == EIGHT_BIT_PALETTE[number] for number in range(16, 256))


@given(st.integers(16, 255))
def test_a_colour_that_is_there_is_shown_as_it_is(number):
    assert triplet(nearest(triplet(number))) == triplet(number)


@given(triplets)
def test_no_colour_of_the_cube_or_the_greys_is_nearer(color):
    distances = [_distance(color, triplet(number)) for number in range(16, 256)]
    assert _distance(color, triplet(nearest(color))) == min(distances)


@given(triplets, triplets)
def test_a_text_is_as_legible_as_it_was_or_as_it_has_to_be(color, ground):
    number, behind = (each.number for each in shown_256(color, ground))
    least = min(LEAST_CONTRAST_256, contrast(color, ground))
    ends = max(contrast(ColorTriplet(*[each] * 3), triplet(behind)) for each in (0, 255))
    assert contrast(triplet(number), triplet(behind)) >= min(least, ends)


@themes
@each_row("ground", ["background", "surface", "panel"])
def test_dark_grounds_of_a_theme_are_not_of_a_loud_colour(theme, ground):
    made = legible({**theme.to_color_system().generate(), **theme.variables})
    own = Color.parse(made[ground]).rich_color.triplet
    spread = max(own) - min(own)
    seen = triplet(nearest(own))
    assert max(seen) - min(seen) <= spread + 24


def test_all_is_of_256_colours_and_a_text_without_a_ground_fitted_to_what_it_stands_on():
    color, ground = shown_256(ColorTriplet(1, 2, 3), ColorTriplet(250, 250, 250))
    assert (color.type, ground.type) == (ColorType.EIGHT_BIT, ColorType.EIGHT_BIT)
    color, ground = shown_256(ColorTriplet(130, 130, 130), None, Color(18, 18, 18))
    assert ground is None
    assert contrast(triplet(color.number), ColorTriplet(18, 18, 18)) >= LEAST_CONTRAST_256
    # A terminal that has all colours needs no filter.
    assert palette_filters("truecolor") == palette_filters(None) == ()


_PAIR = re.compile(rb"\x1b\[((?:\d;)*)(3|9)(\d);(4|10)(\d)m")


def _written(chats, theme, terminal):
    """All that the program writes to such a terminal in a theme, with a list over its prompt."""
    chats.config.write_text(f'theme = "{theme}"\n{chats.config.read_text("utf-8")}', "utf-8")
    program = chats(environment={"TERM": terminal, "COLORTERM": None})
    program.type("/theme")
    program.until("Help")
    assert quit_at_once(program) == 0
    return program.raw


@pytest.mark.full
@pytest.mark.parametrize("theme", ["textual-light", "solarized-light", "textual-dark"])
def test_whatever_is_written_there_can_be_told_from_what_is_behind_it(chats, theme):
    shown = {
        (int(colour) + 8 * (kind == b"9"), int(behind) + 8 * (back == b"10"), b"1;" in looks)
        for looks, kind, colour, back, behind in _PAIR.findall(_written(chats, theme, "xterm"))
    }
    assert any(bold for _, _, bold in shown)
    assert not {each for each in shown if not is_legible(each[0], each[1], bold=each[2])}


@pytest.mark.full
def test_a_terminal_of_256_is_given_the_nearest_and_no_teal_for_a_dark_grey(chats):
    raw = _written(chats, "nord", "screen-256color")
    behind = {int(number) for number in re.findall(rb"48;5;(\d+)m", raw)}
    assert nearest(ColorTriplet(0x2E, 0x34, 0x40)) in behind
    assert 23 not in behind


@pytest.mark.full
def test_on_a_light_terminal_the_first_screen_is_light_and_its_answer_is_not_typed(
    sibyl, monkeypatch
):
    monkeypatch.setitem(emulator.COLOURS, "11", "ffff/ffff/ffff")

    def is_light():
        program = sibyl(environment={"COLORTERM": None})
        program.until("Help")
        assert quit_at_once(program) == 0
        assert b"rgb" not in program.raw
        return b"48;5;254" in program.raw

    # A busy machine may answer too late.
    assert any(is_light() for _ in range(5))
