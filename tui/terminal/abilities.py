"""The terminal as the program sees it, for a bug report."""

import os
import sys
from collections.abc import Mapping

from tui.terminal.multiplexers import in_multiplexer, in_screen

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
    named = {name: environment[name] for name in _VARIABLES if name in environment}
    return {
        "size": _size(),
        "colours": _colours(),
        "multiplexer": _multiplexer(environment),
        "remote": "SSH" if "SSH_CONNECTION" in environment else "no",
        "encoding": sys.stderr.encoding if sys.stderr is not None else "none",
        **named,
    }


def _size() -> str:
    try:
        size = os.get_terminal_size(_OUTPUT)
    except OSError:
        return "no terminal"
    return f"{size.columns}x{size.lines}"


def _colours() -> str:
    from rich.console import Console

    return Console(stderr=True).color_system or "none"


def _multiplexer(environment: Mapping[str, str]) -> str:
    if in_screen(environment):
        return "screen"
    return "tmux" if in_multiplexer(environment) else "no"
