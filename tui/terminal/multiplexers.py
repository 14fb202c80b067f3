"""tmux and GNU screen: terminals within a terminal, which draw every frame again."""

from collections.abc import Mapping

_PIECE = 250
"""Characters of a sequence that GNU screen passes on in one piece."""


def in_multiplexer(environment: Mapping[str, str]) -> bool:
    """Check whether a multiplexer draws the frames again, by its own table of cell widths."""
    within = environment.get("TMUX") or environment.get("STY")
    return bool(within) or environment.get("TERM", "").startswith(("tmux", "screen"))


def in_screen(environment: Mapping[str, str]) -> bool:
    """Check whether the terminal is GNU screen, without a tmux inside or around it."""
    return bool(environment.get("STY")) and not environment.get("TMUX")


def through_screen(sequence: str) -> str:
    """Wrap a sequence for the terminal around GNU screen, which swallows it otherwise."""
    pieces = (sequence[start : start + _PIECE] for start in range(0, len(sequence), _PIECE))
    return "".join(f"\x1bP{piece}\x1b\\" for piece in pieces)


def through_tmux(sequence: str) -> str:
    """Wrap a sequence for the terminal around tmux, which drops it unless that is allowed."""
    doubled = sequence.replace("\x1b", "\x1b\x1b")
    return f"\x1bPtmux;{doubled}\x1b\\"
