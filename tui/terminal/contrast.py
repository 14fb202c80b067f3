"""Contrast of two colours, as WCAG 2 defines it."""

Rgb = tuple[int, int, int]
"""Red, green and blue, from 0 to 255 each."""


def contrast(one: Rgb, other: Rgb) -> float:
    """The contrast ratio: from 1, the same colour, to 21, black on white."""
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def luminance(color: Rgb) -> float:
    """The relative luminance, from 0 to 1."""
    red, green, blue = map(_linear, color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: int) -> float:
    share = value / 255
    return share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4
