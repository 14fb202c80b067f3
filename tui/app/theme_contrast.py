"""The colours of a theme, changed as little as makes every text of them legible."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from textual.app import App
from textual.color import Color
from textual.filter import LineFilter

from tui.terminal.colours import contrast, luminance, palette_filters

LEAST = 4.5
"""The contrast of text that WCAG 2 asks for."""

OF_CODE_LEAST = 5.5
"""That of code, which is read letter by letter; a violet of less is dim on black."""

OF_BORDER_LEAST = 3.0
"""That of what shows the focus, by WCAG 2 too."""

_GROUNDS = ("background", "surface", "panel")
_TEXTS = (
    "foreground",
    *(f"text-{name}" for name in ("primary", "secondary", "accent", "warning", "error", "success")),
)
_CURSORS = (
    ("block-cursor-foreground", "block-cursor-background"),
    ("block-cursor-blurred-foreground", "block-cursor-blurred-background"),
)
OF_CODE = {"code-name": "primary", "code-string": "success", "code-number": "warning"}
"""The colours of names, strings and numbers: full ones, paled no more than they must be."""

KEYWORD = "code-keyword"
_OF_KEYWORDS, _ANSI_KEYWORD = ("accent", "secondary"), "ansi_magenta"
LEAST_TURN = 40 / 360
"""The least distance of a keyword's hue from theirs, as a part of the circle."""

CODE_GROUND = "code-ground"
"""The background of code: the next ground of a theme that is told from the conversation."""

_TOLD_FROM = 1.08

_ENDS = _BLACK, _WHITE = Color(0, 0, 0), Color(255, 255, 255)
_STEPS = 25
_AUTO = "auto"


class ThemeContrastApp(App[None]):
    """An application with legible colours, whatever its theme and its terminal."""

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Add the filter for a terminal of few colours."""
        filters = super().get_line_filters()
        if self.is_headless:
            return filters
        return [*filters, *palette_filters(self.console.color_system)]

    def get_css_variables(self) -> dict[str, str]:
        """Return the theme's variables with enough contrast."""
        return legible(super().get_css_variables())


def legible(variables: Mapping[str, str]) -> dict[str, str]:
    """A theme's variables; those of a terminal's own colours are left as they are."""
    made = dict(variables)
    made.update(_code(made))
    grounds = [Color.parse(made[name]) for name in _GROUNDS]
    if any(ground.ansi is not None or ground.a < 1 for ground in grounds):
        return made
    for name in _TEXTS:
        made[name] = _shifted(Color.parse(made[name]), grounds).hex
    made["border"] = _shifted(Color.parse(made["border"]), grounds, OF_BORDER_LEAST).hex
    made["text-muted"] = _muted(made["text-muted"], grounds)
    for text, ground in _CURSORS:
        made[text], made[ground] = _cursor(made[text], made[ground], grounds)
    return made


def hue_apart(one: Color, other: Color) -> float:
    """The way between two hues, of a circle: up to a half."""
    way = (one.hsl.h - other.hsl.h) % 1
    return min(way, 1 - way)


def _least(text: Color, grounds: Iterable[Color]) -> float:
    return min(contrast((ground + text).rgb, ground.rgb) for ground in grounds)


def _shifted(text: Color, grounds: Sequence[Color], least: float = LEAST) -> Color:
    """A text's colour, nearer to black or to white if it has to be."""
    end = max(_ENDS, key=lambda each: _least(each, grounds))
    shades = (text.blend(end, step / _STEPS, alpha=1) for step in range(_STEPS + 1))
    return next((shade for shade in shades if _least(shade, grounds) >= least), end)


def _code(made: Mapping[str, str]) -> dict[str, str]:
    """The colours of code, over the ground of a conversation."""
    if Color.parse(made["accent"]).ansi is not None:
        return {
            CODE_GROUND: made["surface"],
            **{name: made[own] for name, own in OF_CODE.items()},
            KEYWORD: _ANSI_KEYWORD,
        }
    colors = {name: Color.parse(made[own]) for name, own in OF_CODE.items()}
    colors[KEYWORD] = _keyword(made, list(colors.values()))
    background, *others = [Color.parse(made[name]) for name in _GROUNDS]
    told = (each for each in others if contrast(each.rgb, background.rgb) >= _TOLD_FROM)
    grounds = [Color.parse(made["background"]), next(told, others[-1])]
    legible = {name: _shifted(color, grounds, OF_CODE_LEAST) for name, color in colors.items()}
    return {CODE_GROUND: grounds[1].hex, **{name: color.hex for name, color in legible.items()}}


def _keyword(made: Mapping[str, str], beside: Sequence[Color]) -> Color:
    """A colour of the theme, or its accent turned to where no other colour of code is near.

    In many themes the accent is the orange of numbers.
    """
    for color in (Color.parse(made[name]) for name in _OF_KEYWORDS):
        if all(hue_apart(color, other) >= LEAST_TURN for other in beside):
            return color
    hues = sorted(color.hsl.h for color in (*beside, Color.parse(made["error"])))
    wide, begin = max((after - hue, hue) for hue, after in pairwise([*hues, hues[0] + 1]))
    _, saturation, lightness = Color.parse(made["accent"]).hsl
    return Color.from_hsl((begin + wide / 2) % 1, saturation, lightness)


def _muted(text: str, grounds: Sequence[Color]) -> str:
    """Find the share of black or white that is legible on each background."""
    if not text.startswith(_AUTO):
        return _shifted(Color.parse(text), grounds).hex
    for percent in range(_percent(text), 100):
        shades = ((ground.get_contrast_text(percent / 100), ground) for ground in grounds)
        if all(_least(shade, [ground]) >= LEAST for shade, ground in shades):
            return f"auto {percent}%"
    return text


def _percent(text: str) -> int:
    return int(text.removeprefix(_AUTO).strip(" %") or 100)


def _cursor(text: str, ground: str, grounds: Sequence[Color]) -> tuple[str, str]:
    """A highlighted row: its own ground moves a little, before its text becomes another."""
    over = [each + Color.parse(ground) for each in grounds]
    is_auto = text.startswith(_AUTO)
    color = over[0].get_contrast_text(_percent(text) / 100) if is_auto else Color.parse(text)
    if _least(color, over) >= LEAST:
        return text, ground
    if len(set(over)) == 1:
        away = _BLACK if luminance(color.rgb) > luminance(over[0].rgb) else _WHITE
        for step in range(1, _STEPS // 5):
            nearer = over[0].blend(away, step / _STEPS)
            if _least(color, [nearer]) >= LEAST:
                return text, nearer.hex
    own = (grounds[0], *_ENDS)
    return next((each.hex for each in own if _least(each, over) >= LEAST), text), ground
