"""The command line and composition root.

Exit codes: 0 success, 1 failure, 2 usage or not found, 128 plus the number of a signal that ended
the program. Data go to standard output, everything else to standard error.
"""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tui.cli import output
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

if TYPE_CHECKING:
    from pathlib import Path

Command = Callable[[Namespace], int]
FINE, FAILED, USAGE = 0, 1, 2
_INTERRUPTED = 130
_CANDIDATES = 20
_LOCALLY = 'To use the files of this machine, add --store ""'


def run(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code."""
    output.prepare()
    try:
        return _dispatch(parse(arguments))
    except SibylError as error:
        for line in error.lines(_CANDIDATES):
            output.tell(line)
        if isinstance(error, ServerRefused | ServerUnreachable):
            output.tell(_LOCALLY)
        return _exit_code(error)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the output is gone: there is nobody to tell.
        output.discard(sys.stdout)
        return FAILED


def _dispatch(chosen: Namespace) -> int:
    command = _command(str(chosen.command))
    from tui.config import paths

    log_file = paths.debug_log(os.environ, chosen.debug)
    return command(chosen) if log_file is None else _logged(command, chosen, log_file)


def _logged(command: Command, chosen: Namespace, log_file: "Path") -> int:
    from tui.cli.debug_log import DebugLog

    log = DebugLog(log_file)
    try:
        with log.collecting():
            chosen.debug_failure = log.failure
            return command(chosen)
    finally:
        output.tell(log.words)


def _command(verb: str) -> Command:
    """Find the function of a command, importing only its module."""
    if not verb:
        from tui.cli import screen

        return screen.run
    if verb == "ask":
        from tui.cli import ask

        return ask.run
    if verb.startswith("sessions "):
        return _sessions_command(verb)
    if verb == "import":
        from tui.cli import imports

        return imports.run
    if verb == "index rebuild":
        from tui.cli import index

        return index.run
    if verb == "doctor":
        from tui.cli import doctor

        return doctor.run
    if verb.startswith("config "):
        from tui.cli import config

        return config.run
    if verb == "completion":
        from tui.cli import completion

        return completion.run
    raise UsageError(build().format_usage().rstrip())


def _sessions_command(verb: str) -> Command:
    if verb == "sessions search":
        from tui.cli import search

        return search.run
    if verb == "sessions export":
        from tui.cli import export

        return export.run
    if verb == "sessions copy":
        from tui.cli import copying

        return copying.run
    from tui.cli import sessions

    return sessions.run


def _exit_code(error: SibylError) -> int:
    usage = (UsageError, ConfigError, SessionNotFound, AmbiguousSession)
    return USAGE if isinstance(error, usage) else FAILED
