"""What every way out of the screen has in common."""

import re
import signal
from collections.abc import Sequence

from tests.terminal.program import Program

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
_SET_BY_DEFAULT = {"7", "25"}


def quit_at_once(program: Program) -> int:
    """Leave by Ctrl+Q; the second one means yes, where an answer in progress makes it ask."""
    program.type("\x11\x11")
    return program.wait()


def leave(program: Program, way: str | int) -> None:
    """Let it end by a key, a command, a signal or a closed terminal, which is whole then."""
    status = 0
    if way == "ctrl+q":
        program.type("\x11\x11")
    elif way == "/quit":
        program.type("/quit\r")
    elif way == "closed":
        program.hang_up()
        status = 128 + signal.SIGHUP
    else:
        program.signal(int(way))
        status = 128 + int(way)
    assert program.wait() == status
    if way != "closed":
        assert_whole(program)


def assert_whole(program: Program) -> None:
    """The terminal is as the program found it, with no mode left on."""
    assert program.attributes() == program.found
    assert not program.is_alternate
    assert program.is_cursor_visible
    assert program.modes <= _SET_BY_DEFAULT
    # Not a mode, but a stack: kitty's keys.
    assert program.raw.count(b"\x1b[>") <= program.raw.count(b"\x1b[<u") + 1


def is_whole(program: Program) -> bool:
    """Whether it is so by now: what a program writes last comes in pieces."""
    try:
        assert_whole(program)
    except AssertionError:
        return False
    return True


def told(program: Program) -> list[str]:
    """The lines that were printed on the normal screen, in one piece however long they are."""
    after = program.raw.rpartition(b"\x1b[?1049l")[2].decode()
    plain = re.sub(r"\x1b\[[0-9;?<>]*[A-Za-z]", "", after)
    return [line for line in plain.splitlines() if line]


def assert_resumable(program: Program, session_id: str, options: Sequence[str] = ()):
    """One line says how to go on with the session that was on screen."""
    (line,) = told(program)
    # It stands in a directory that may not be among those that a shell looks into.
    assert line.startswith("Resume with: ")
    assert line.endswith(" ".join(["sibyl-tui --session", session_id, *options]))
