"""What the environment says of the terminal: sequences for it, and facts for a bug report.

tmux and GNU screen are terminals within a terminal, which draw every frame again.
"""

import os
import sys
from collections.abc import Mapping

from tui.domain.text import make_visible_line, without_surrogates

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


SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""Push the title onto the terminal's own stack, and pop it."""

_END = "\x1b\\"
_CHARACTERS = 200


def notification(text: str, environment: Mapping[str, str]) -> str:
    """Make the sequence of a desktop notification, or an empty one for terminals that lack them.

    The text is untrusted: control characters in it become visible marks, as in a title.
    """
    if is_console(environment):
        return ""
    words = _safe(text)
    # Terminals of rxvt's and VTE's families know OSC 777 only; there a semicolon separates fields.
    by_fields = environment.get("TERM", "").startswith("rxvt") or environment.get("VTE_VERSION")
    body = f"777;notify;sibyl-tui;{words.replace(';', ',')}" if by_fields else f"9;{words}"
    sequence = f"\x1b]{body}{_END}"
    if environment.get("TMUX"):
        # Only doubled does tmux pass it on, if that is allowed.
        doubled = sequence.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\"
    return through_screen(sequence) if in_screen(environment) else sequence


def title(text: str, environment: Mapping[str, str]) -> str:
    """Make the sequence that changes the title."""
    return "" if is_console(environment) else f"\x1b]2;{_safe(text)}{_END}"


def _safe(text: str) -> str:
    return make_visible_line(without_surrogates(text[:_CHARACTERS]))


def is_console(environment: Mapping[str, str]) -> bool:
    """Check whether this is the Linux console, which shows what it does not know."""
    return environment.get("TERM") == "linux"


_OUTPUT = 2  # that of the screen
_VARIABLES = (
    "TERM",
    "COLORTERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "LC_ALL",
    "LC_CTYPE",
    "LANG",
    "NO_COLOR",
)


def describe(environment: Mapping[str, str]) -> dict[str, str]:
    """Describe the terminal on standard error; works without one."""
    from rich.console import Console

    try:
        columns, rows = os.get_terminal_size(_OUTPUT)
        size = f"{columns}x{rows}"
    except OSError:
        size = "no terminal"
    multiplexer = "tmux" if in_multiplexer(environment) else "no"
    named = {name: environment[name] for name in _VARIABLES if name in environment}
    return {
        "size": size,
        "colours": Console(stderr=True).color_system or "none",
        "multiplexer": "screen" if in_screen(environment) else multiplexer,
        "remote": "SSH" if "SSH_CONNECTION" in environment else "no",
        "encoding": sys.stderr.encoding if sys.stderr is not None else "none",
        **named,
    }
