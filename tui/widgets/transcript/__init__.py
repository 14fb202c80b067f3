"""The transcript of a session: a virtual list of rows."""

from tui.widgets.transcript.document import ScrollPosition, ScrollPositions
from tui.widgets.transcript.transcript import Transcript

__all__ = ["ScrollPosition", "ScrollPositions", "Transcript", "warm_up"]


def warm_up() -> None:
    """Import the Markdown parser and the highlighter, in a thread after the start."""
    from tui.widgets.transcript.rich_markdown import highlight, prose

    prose("*text*", 80)
    highlight("x = 1", "python")
