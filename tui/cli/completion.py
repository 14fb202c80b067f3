"""``sibyl-tui completion``: scripts that shells complete the command line with."""

from argparse import Namespace

from tui.cli import output
from tui.cli.parser import build


def run(chosen: Namespace) -> int:
    """Print the script for a shell."""
    import shtab

    output.put_line(shtab.complete(build(), chosen.shell))
    return 0
