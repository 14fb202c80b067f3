"""The command line and composition root.

Data go to standard output, everything else to standard error.
"""

import gc
import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from importlib import import_module

from tui.cli import console
from tui.cli.parser import build, parse
from tui.errors import (
    AmbiguousSession,
    ConfigError,
    ServerRefused,
    ServerUnreachable,
    SessionNotFound,
    SibylError,
    UsageError,
)
from tui.terminal import first_frame

Command = Callable[[Namespace], int]
_MODULES = {
    "": "screen",
    "ask": "ask",
    "sessions": "sessions",
    "sessions search": "search",
    "sessions export": "export",
    "sessions copy": "copying",
    "import": "imports",
    "mcp": "mcp",
    "index rebuild": "indexing",
    "doctor": "report",
    "config": "config",
    "completion": "config",
}
"""By commands, or their first words; each has a function ``run``."""
FINE, FAILED, USAGE = 0, 1, 2
EXIT_CODES = {
    FINE: "all went well",
    FAILED: "it failed: no answer, the disk, a session that another program holds",
    USAGE: "usage, configuration, or no such session",
}
"""Beside these, 128 plus the number of a signal that ended the program."""
_INTERRUPTED = 130
_CANDIDATES = 20
_LOCALLY = 'To use the files of this machine, add --store ""'


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    console.prepare()
    try:
        return _dispatch(parse(arguments))
    except SibylError as error:
        for line in error.lines(_CANDIDATES):
            console.tell(line)
        if isinstance(error, ServerRefused | ServerUnreachable):
            console.tell(_LOCALLY)
        usage = (UsageError, ConfigError, SessionNotFound, AmbiguousSession)
        return USAGE if isinstance(error, usage) else FAILED
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone: there is nobody to tell.
        console.discard(sys.stdout)
        return FAILED


def _dispatch(chosen: Namespace) -> int:
    command = _command(str(chosen.command))
    from tui.config import paths

    log_file = paths.debug_log(os.environ, chosen.debug)
    if log_file is None:
        return command(chosen)
    from tui.cli.debug_log import DebugLog

    log = DebugLog(log_file)
    try:
        with log.collecting():
            chosen.debug_failure = log.failure
            return command(chosen)
    finally:
        console.tell(log.failure or f"Debug log: {log_file}")


def _command(verb: str) -> Command:
    """Find the function of a command, importing only its module."""
    module = _MODULES.get(verb) or _MODULES.get(verb.partition(" ")[0])
    if module is None:
        raise UsageError(build().format_usage().rstrip())
    found: Command = import_module(f"tui.cli.{module}").run
    # What the screen needs is imported later, and its first frame sees to that.
    if not (gc.isenabled() or first_frame.is_drawn()):
        gc.freeze()
        gc.enable()
    return found
