"""``sibyl-tui completion``: completion scripts for shells."""

from argparse import Namespace

from tui.cli import output
from tui.cli.parser import build


def run(chosen: Namespace) -> int:
    """Print the completion script of a shell."""
    import shtab

    output.put_line(shtab.complete(build(), chosen.shell))
    return 0
