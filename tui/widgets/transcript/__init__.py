"""The conversation pane: a list of rows, of which only those on screen are ever drawn."""

from tui.widgets.transcript.place import Place, Places
from tui.widgets.transcript.transcript import Transcript

__all__ = ["Place", "Places", "Transcript", "warm_up"]


def warm_up() -> None:
    """Import what the first Markdown and the first code need; for a thread after the start."""
    from tui.widgets.transcript.code import highlight
    from tui.widgets.transcript.prose import prose

    prose("*text*", 80)
    highlight("x = 1", "python")
