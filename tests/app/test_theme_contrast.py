"""What is written is legible, whichever theme is chosen."""

import pytest
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tui.app.theme_contrast import (
    CODE_GROUND,
    KEYWORD,
    LEAST,
    LEAST_TURN,
    OF_CODE,
    OF_CODE_LEAST,
    hue_apart,
    legible,
)
from tui.terminal.colours import contrast

THEMES = [theme for theme in BUILTIN_THEMES.values() if not theme.ansi]
GROUNDS = ("background", "surface", "panel")
TEXTS = (
    "foreground",
    "text-muted",
    "text-primary",
    "text-accent",
    "text-warning",
    "text-success",
)


def variables(theme):
    return {**theme.to_color_system().generate(), **theme.variables}


def on(ground, text):
    """A text's colour as it is drawn there."""
    if text.startswith("auto"):
        percent = text.removeprefix("auto").strip(" %") or "100"
        return ground + ground.get_contrast_text(int(percent) / 100)
    return ground + Color.parse(text)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_every_text_of_a_theme_is_legible_wherever_it_stands(theme):
    made = legible(variables(theme))
    for ground in (Color.parse(made[name]) for name in GROUNDS):
        for text in TEXTS:
            assert contrast(on(ground, made[text]).rgb, ground.rgb) >= LEAST
    for cursor in ("block-cursor", "block-cursor-blurred"):
        ground = Color.parse(made["surface"]) + Color.parse(made[f"{cursor}-background"])
        assert contrast(on(ground, made[f"{cursor}-foreground"]).rgb, ground.rgb) >= LEAST


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_the_border_that_shows_the_focus_stands_out_from_every_ground(theme):
    made = legible(variables(theme))
    for ground in (Color.parse(made[name]) for name in GROUNDS):
        assert contrast((ground + Color.parse(made["border"])).rgb, ground.rgb) >= 3


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_what_is_legible_already_is_left_as_it_is(theme):
    made = legible(variables(theme))
    assert legible(made) == made
    assert made["background"] == variables(theme)["background"]


def test_the_colours_of_a_terminal_are_its_own_affair():
    theme = variables(BUILTIN_THEMES["ansi-dark"])
    made = legible(theme)
    assert made.pop(CODE_GROUND) == theme["surface"]
    code = {name: made.pop(name) for name in (*OF_CODE, KEYWORD)}
    assert made == theme
    assert len({Color.parse(color).ansi for color in code.values()} - {None}) == len(code)


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_colours_of_code_are_legible_in_a_conversation(theme):
    made = legible(variables(theme))
    for ground in (Color.parse(made[name]) for name in ("background", CODE_GROUND)):
        for name in (*OF_CODE, KEYWORD):
            assert contrast(Color.parse(made[name]).rgb, ground.rgb) >= OF_CODE_LEAST


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_code_stands_on_a_ground_of_its_own_on_which_all_text_is_legible(theme):
    made = legible(variables(theme))
    ground = Color.parse(made[CODE_GROUND])
    assert contrast(ground.rgb, Color.parse(made["background"]).rgb) >= 1.08
    for text in ("foreground", "text-muted"):
        assert contrast(on(ground, made[text]).rgb, ground.rgb) >= LEAST


@pytest.mark.parametrize("theme", THEMES, ids=lambda theme: theme.name)
def test_keywords_are_of_another_hue_than_all_else_in_code(theme):
    made = legible(variables(theme))
    for name in OF_CODE:
        apart = hue_apart(Color.parse(made[KEYWORD]), Color.parse(made[name]))
        assert apart >= LEAST_TURN - 0.01


@pytest.mark.parametrize(
    ("theme", "own"), [("nord", "accent"), ("catppuccin-mocha", "secondary"), ("dracula", "accent")]
)
def test_keywords_have_a_colour_of_the_theme_where_one_is_apart(theme, own):
    made = legible(variables(BUILTIN_THEMES[theme]))
    assert hue_apart(Color.parse(made[KEYWORD]), Color.parse(made[own])) < 0.01
