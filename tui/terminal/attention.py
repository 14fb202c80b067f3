"""Sequences that draw the user's attention: desktop notification and title of the terminal.

The texts are untrusted: control characters in them become visible marks.
"""

from collections.abc import Mapping

from tui.domain.text.safe_text import make_visible_line, without_surrogates
from tui.terminal.multiplexers import in_screen, through_screen, through_tmux

SAVE_TITLE, RESTORE_TITLE = "\x1b[22;2t", "\x1b[23;2t"
"""Push the title onto the terminal's own stack, and pop it."""

_END = "\x1b\\"
_CHARACTERS = 200


def notification(text: str, environment: Mapping[str, str]) -> str:
    """Make the sequence of a desktop notification, or an empty one for terminals that lack them."""
    if _is_console(environment):
        return ""
    words = _safe(text)
    # Terminals of rxvt's and VTE's families know OSC 777 only; there a semicolon separates fields.
    by_fields = environment.get("TERM", "").startswith("rxvt") or environment.get("VTE_VERSION")
    body = f"777;notify;sibyl-tui;{words.replace(';', ',')}" if by_fields else f"9;{words}"
    sequence = f"\x1b]{body}{_END}"
    if environment.get("TMUX"):
        return through_tmux(sequence)
    return through_screen(sequence) if in_screen(environment) else sequence


def title(text: str, environment: Mapping[str, str]) -> str:
    """Make the sequence that changes the title."""
    return "" if _is_console(environment) else f"\x1b]2;{_safe(text)}{_END}"


def _safe(text: str) -> str:
    return make_visible_line(without_surrogates(text[:_CHARACTERS]))


def _is_console(environment: Mapping[str, str]) -> bool:
    return environment.get("TERM") == "linux"
