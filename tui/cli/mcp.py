"""``sibyl-tui mcp``: the sessions for agents, by the Model Context Protocol."""

import signal
import sys
from argparse import Namespace

from tui.cli import console
from tui.cli.program import Program
from tui.engine.library.archive_tools import INSTRUCTIONS, ArchiveTools


def run(chosen: Namespace) -> int:
    """Serve until the client closes the standard input."""
    program = Program.from_arguments(chosen)
    archive = ArchiveTools(program.store, program.scope, program.narrowed)
    if console.is_terminal(sys.stdin):
        console.tell("This is a server for agents; the manual says how to add it. Ctrl+C ends it.")
    # Nothing is to be saved, and the library waits for its input.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Imported late: the library takes a second.
    from tui.tool_servers.serving import serve

    serve(archive.tools(), INSTRUCTIONS)
    return 0
