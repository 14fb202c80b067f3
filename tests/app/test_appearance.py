"""Any theme is legible; keys that a user chose are taken, or refused with a reason."""

import pytest
from textual.binding import Binding
from textual.color import Color
from textual.theme import BUILTIN_THEMES

from tests.tables import each_row
from tui.app.appearance import (
    CODE_GROUND,
    EVERYWHERE,
    KEYWORD,
    LEAST,
    LEAST_TURN,
    OF_CODE,
    OF_CODE_LEAST,
    check_keymap,
    hue_apart,
    legible,
)
from tui.errors import ConfigError
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


@each_row("theme", THEMES)
def test_every_text_of_a_theme_is_legible_wherever_it_stands(theme):
    made = legible(variables(theme))
    for ground in (Color.parse(made[name]) for name in GROUNDS):
        for text in TEXTS:
            assert contrast(on(ground, made[text]).rgb, ground.rgb) >= LEAST
        assert contrast((ground + Color.parse(made["border"])).rgb, ground.rgb) >= 3
    for cursor in ("block-cursor", "block-cursor-blurred"):
        ground = Color.parse(made["surface"]) + Color.parse(made[f"{cursor}-background"])
        assert contrast(on(ground, made[f"{cursor}-foreground"]).rgb, ground.rgb) >= LEAST
    # What is legible already is left as it is.
    assert legible(made) == made
    assert made["background"] == variables(theme)["background"]


def test_the_colours_of_a_terminal_are_its_own_affair():
    theme = variables(BUILTIN_THEMES["ansi-dark"])
    made = legible(theme)
    assert made.pop(CODE_GROUND) == theme["surface"]
    code = {name: made.pop(name) for name in (*OF_CODE, KEYWORD)}
    assert made == theme
    assert len({Color.parse(color).ansi for color in code.values()} - {None}) == len(code)


@each_row("theme", THEMES)
def test_code_stands_on_a_ground_of_its_own_in_legible_colours_that_differ(theme):
    made = legible(variables(theme))
    ground, around = Color.parse(made[CODE_GROUND]), Color.parse(made["background"])
    assert contrast(ground.rgb, around.rgb) >= 1.08
    for text in ("foreground", "text-muted"):
        assert contrast(on(ground, made[text]).rgb, ground.rgb) >= LEAST
    for name in (*OF_CODE, KEYWORD):
        for behind in (around, ground):
            assert contrast(Color.parse(made[name]).rgb, behind.rgb) >= OF_CODE_LEAST
    for name in OF_CODE:
        apart = hue_apart(Color.parse(made[KEYWORD]), Color.parse(made[name]))
        assert apart >= LEAST_TURN - 0.01


@pytest.mark.parametrize(
    ("theme", "own"), [("nord", "accent"), ("catppuccin-mocha", "secondary"), ("dracula", "accent")]
)
def test_keywords_have_a_colour_of_the_theme_where_one_is_apart(theme, own):
    made = legible(variables(BUILTIN_THEMES[theme]))
    assert hue_apart(Color.parse(made[KEYWORD]), Color.parse(made[own])) < 0.01


PLACES = {
    EVERYWHERE: [
        Binding("ctrl+n", "new", "New", id="new", priority=True),
        Binding("ctrl+s", "save", "Save", id="save", priority=True),
        Binding("escape", "stop", "Stop", id="stop"),
    ],
    "In the list": [
        Binding("slash", "filter", "Filter", id="list-filter"),
        Binding("escape", "clear", "Clear", id="list-clear"),
        Binding("d", "delete", "Delete"),
    ],
    "In the conversation": [Binding("slash", "find", "Find", id="find")],
    "In the prompt": [
        Binding("ctrl+j", "type", "Break the line"),
        Binding("ctrl+o", "unfold", "Show it", id="prompt-unfold"),
    ],
    "While searching": [
        Binding("enter", "choose", "Go there", id="search-choose", priority=True),
        Binding("down", "move(1)", "Next", id="search-next", priority=True),
    ],
}
LINES = {"In the prompt", "While searching"}


@each_row(
    "chosen",
    [
        *({"new": key} for key in ("ctrl+t", "f5", "alt+left", "shift+f3", "ctrl+/")),
        {"new": "ctrl+s,f2", "save": "f12"},
        {"new": "ctrl+s", "save": "ctrl+n"},
        # The same key, which is a letter where nothing is typed, at different places.
        {"list-filter": "f", "find": "f"},
        {"list-filter": "f"},
        # What the action has already, though it clashed before.
        {"new": "ctrl+n"},
        {"stop": "escape"},
        {"list-clear": "escape,f5"},
        # Nothing is typed by them in a line.
        *({"search-next": key, "search-choose": "f5"} for key in ("tab", "alt+x", "enter,f9")),
    ],
)
def test_a_key_of_ones_own_is_taken(chosen):
    check_keymap(chosen, PLACES, LINES, "config.toml")


def test_a_letter_may_be_bound_everywhere_to_what_is_done_at_one_place_only():
    here = Binding("slash", "find_here", "Find", id="find", priority=True)
    places = {**PLACES, EVERYWHERE: [*PLACES[EVERYWHERE], here]}
    check_keymap({"find": "f"}, places, LINES, "config.toml")


@each_row(
    "chosen, key, words",
    [
        ({"nwe": "ctrl+t"}, "keys.nwe", "unknown action; the actions are find, list-clear,"),
        ({"new": "crtl+t"}, "keys.new", 'expected a key, such as "f9" or "alt+n", not "crtl+t"'),
        ({"new": ""}, "keys.new", "expected a key"),
        ({"new": "ctrl+"}, "keys.new", "expected a key"),
        ({"new": "f5,,f6"}, "keys.new", "expected a key"),
        ({"new": "ctrl+n ctrl+t"}, "keys.new", "expected a key"),
        ({"new": "\x1b"}, "keys.new", "expected a key"),
        ({"new": "a"}, "keys.new", "a could not be typed any more"),
        ({"new": "/"}, "keys.new", "slash could not be typed any more"),
        ({"new": "会"}, "keys.new", "会 could not be typed any more"),
        ({"new": "enter"}, "keys.new", "enter could not be typed any more"),
        ({"search-next": "x"}, "keys.search-next", "where search-next works, x could not be typed"),
        ({"search-next": "f5,X"}, "keys.search-next", "X could not be typed any more"),
        ({"search-next": "?"}, "keys.search-next", "question_mark could not be typed any more"),
        ({"search-next": "space"}, "keys.search-next", "space could not be typed any more"),
        ({"search-next": "backspace"}, "keys.search-next", "backspace could not be typed any more"),
        ({"prompt-unfold": "ß"}, "keys.prompt-unfold", "ß could not be typed any more"),
        ({"list-filter": "shift+n"}, "keys.list-filter", 'not "shift+n"; write "N"'),
        ({"new": "ctrl+j"}, "keys.new", 'ctrl+j is the key of "Break the line" already'),
        ({"new": "ctrl+s"}, "keys.new", "ctrl+s is the key of save already"),
        ({"new": "ctrl+s", "save": "ctrl+s"}, "keys.new", "ctrl+s is the key of save already"),
        ({"list-filter": "ctrl+s"}, "keys.list-filter", "ctrl+s is the key of save already"),
        ({"list-filter": "f5", "save": "f5"}, "keys.list-filter", "f5 is the key of save already"),
        ({"save": "escape"}, "keys.save", "escape is the key of stop already"),
    ],
)
def test_what_cannot_be_is_said_with_its_key(chosen, key, words):
    with pytest.raises(ConfigError) as raised:
        check_keymap(chosen, PLACES, LINES, "config.toml")
    assert str(raised.value).startswith(f"config.toml: {key}: ")
    assert words in str(raised.value)
