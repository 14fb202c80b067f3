"""Terminals within a terminal: tmux and GNU screen, which draw again what we draw."""

from collections.abc import Mapping

_PIECE = 250
"""Characters that GNU screen surely passes on at once."""


def is_relayed(environment: Mapping[str, str]) -> bool:
    """Whether another program draws what we draw: by its own opinion of widths, not by ours."""
    within = environment.get("TMUX") or environment.get("STY")
    return bool(within) or environment.get("TERM", "").startswith(("tmux", "screen"))


def is_within_screen(environment: Mapping[str, str]) -> bool:
    """Whether GNU screen is what we run in, and not a tmux within it or around it."""
    return bool(environment.get("STY")) and not environment.get("TMUX")


def through_screen(sequence: str) -> str:
    """A sequence for the terminal around GNU screen, which keeps to itself what is not marked."""
    pieces = (sequence[start : start + _PIECE] for start in range(0, len(sequence), _PIECE))
    return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)
