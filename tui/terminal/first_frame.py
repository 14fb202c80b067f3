"""The first frame: an outline of the screen, drawn before anything slow is imported.

``begin`` makes the terminal raw, so that keys wait in its queue until Textual reads them, and
draws lines and a name. It ends in one of two ways; both may be called at any time and again.

``hand_over`` leaves everything to Textual's driver. The terminal stays raw all the while, and the
driver gets the attributes to restore when it stops. If they were restored before it starts, for
a moment Enter would become a line feed, Ctrl+S and Ctrl+V would be swallowed and Ctrl+C would be
a signal (11 of 80 starts lost a key that way).

``end`` restores the terminal for a start that ends early, so that its message is printed on a
normal screen. SIGINT, SIGTERM and SIGHUP do so as well, and end the process, until the application
sets its own handlers, which it does before the driver takes over. (A KeyboardInterrupt that
hits an import may leave it as another error: one in 50 was a RuntimeError of ``__set_name__``.)

Imports nothing but what Python has loaded already, small modules in C, and constants.
"""

import atexit
import gc
import os
import sys
import termios

from tui.domain import screen_sizes as sizes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
else:
    # The built-in part of signal: the rest takes 4 ms, for enum.
    import _signal as signal

NAME = "sibyl-tui"
PROMPT_ROWS = 3

# Alternate screen, cleared; cursor hidden; bracketed paste, since a paste must never send.
ENTER = "\x1b[?1049h\x1b[2J\x1b[?25l\x1b[?2004h"
LEAVE = "\x1b[?2004l\x1b[?1049l\x1b[?25h"

_SESSION = frozenset({"-r", "--session"})  # its value may be missing
_CONTINUE = frozenset({"-c", "--continue"})
_PRIVATE = frozenset({"--private"})
_DEBUG = "--debug"  # its value is attached, or there is none
WITH_VALUE = _SESSION | {"--auto-save-interval", "--data-dir", "--model", "--scope", "--store"}
_FLAGS = _CONTINUE | _PRIVATE | {_DEBUG}
KNOWN = WITH_VALUE | _FLAGS
_INPUT, _OUTPUT = 0, 2  # those of Textual's driver, which writes to standard error

_STATE_BYTES = 4096
_WIDTH_KEY = b'"sidebar_width"'
_MOST_DIGITS = 4

_Attributes = list[int | list[bytes | int]]


class _Terminal:
    """The terminal's original attributes, and the changes made to it."""

    original: _Attributes | None = None
    is_drawn = False
    is_handed_over = False


_terminal = _Terminal()


def begin(arguments: list[str]) -> None:
    """Draw the outline, if ``arguments`` ask for the full screen and a terminal can draw it."""
    if _terminal.original is not None or not asks_for_screen(arguments) or not _has_terminal():
        return
    try:
        _terminal.original = termios.tcgetattr(_INPUT)
        atexit.register(end)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # A signal that is ignored (nohup) stays ignored.
            if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(number, _die)
        termios.tcsetattr(_INPUT, termios.TCSANOW, _raw(_INPUT))
        size = os.get_terminal_size(_OUTPUT)
    except (OSError, termios.error):
        end()
        return
    # Collecting garbage among imported objects takes 5 % of the start, and frees nothing.
    gc.disable()
    _terminal.is_drawn = True
    _write(ENTER + outline(size.columns, size.lines, sidebar_columns(size.columns)))


def is_drawn() -> bool:
    """True while the outline is there, and nothing else yet."""
    return _terminal.is_drawn and not _terminal.is_handed_over


def hand_over() -> _Attributes | None:
    """Leave the terminal, raw and on the alternate screen, to the driver of the screen.

    Returns the terminal's attributes from before the start, which the driver restores when it
    stops; None if nothing was begun, or it was handed over before. Garbage is collected again once
    the application calls ``gc.enable``.
    """
    if not _terminal.is_drawn or _terminal.is_handed_over:
        return None
    _terminal.is_handed_over = True
    gc.freeze()
    return _terminal.original


def end() -> None:
    """Restore the terminal, unless a driver has it.

    Keys typed meanwhile are discarded: they are no commands for a shell.
    """
    if _terminal.original is None or _terminal.is_handed_over:
        return
    _restore()
    # Last: a signal may come in between, and then all of it has to be done again.
    _terminal.original = None
    _terminal.is_drawn = False
    gc.enable()


def asks_for_screen(arguments: list[str]) -> bool:
    """Check whether the command line asks for the full screen only, and names no command.

    Agrees with ``tui.cli.parser`` without its 7 ms, except for values that begin with a dash:
    argparse's reading of them depends on Python's version; here they mean no frame.
    """
    rest = arguments[::-1]
    seen: set[str] = set()
    while rest:
        option, equals, _ = (argument := rest.pop()).partition("=")
        seen.add(option)
        if argument in _FLAGS or option == _DEBUG:
            continue
        if option not in WITH_VALUE:
            return False
        if not equals and rest and (rest[-1] == "-" or not rest[-1].startswith("-")):
            rest.pop()
        elif not equals and option not in _SESSION:
            return False
    # Each of these says which session: one at most.
    return sum(not seen.isdisjoint(each) for each in (_SESSION, _CONTINUE, _PRIVATE)) <= 1


def outline(columns: int, rows: int, sidebar: int) -> str:
    """The lines of the screen as text and control sequences; empty on a very small screen."""
    is_small = columns < sizes.LEAST_COLUMNS or rows < sizes.LEAST_ROWS
    if is_small or sys.__stderr__ is None or sys.__stderr__.encoding.lower() != "utf-8":
        return ""
    left = sidebar if columns >= sizes.SIDEBAR_FROM_COLUMNS else 0
    # Below the prompt: the line of keys, on a screen that has one, and the status bar.
    end = rows - 1 if rows >= sizes.KEY_LINE_FROM_ROWS else rows
    sides = "".join(f"\x1b[{row};{left}H│" for row in range(1, end)) if left else ""
    return f"{sides}{_prompt(left + 1, end - PROMPT_ROWS, columns)}\x1b[{rows};2H{NAME}"


def sidebar_columns(columns: int) -> int:
    """The width of the sidebar: the one that was saved, else the usual one."""
    usual = columns * sizes.USUAL_SIDEBAR_PERCENT // 100
    bounded = max(sizes.LEAST_USUAL_SIDEBAR, min(usual, sizes.MOST_USUAL_SIDEBAR))
    return _saved_width() or bounded


def _saved_width() -> int:
    """The width in ``ui.json``, read without a parser; 0 if there is none."""
    try:
        # Non-blocking: a pipe in its place must not stop the start.
        file = os.open(ui_state_file(), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        _, key, rest = os.read(file, _STATE_BYTES).partition(_WIDTH_KEY)
    except OSError:
        return 0
    finally:
        os.close(file)
    digits = rest.lstrip(b" :").partition(b",")[0].partition(b"}")[0].strip()
    if not key or not digits.isdigit() or len(digits) > _MOST_DIGITS:
        return 0
    return max(sizes.LEAST_SIDEBAR, min(int(digits), sizes.MOST_SIDEBAR))


def ui_state_file() -> str:
    """The file in ``tui.config.paths.state_directory``, without its 5 ms."""
    usual = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
    home = os.environ.get("HOME", "")
    return f"{os.environ.get('XDG_STATE_HOME', '').strip() or f'{home}/{usual}'}/sibyl/ui.json"


def _prompt(left: int, top: int, right: int) -> str:
    """A box from column ``left`` to ``right``; ``top`` is its first row."""
    edge = "─" * (right - left - 1)
    bottom = top + PROMPT_ROWS - 1
    between = range(top + 1, bottom)
    return (
        f"\x1b[{top};{left}H╭{edge}╮"
        + "".join(f"\x1b[{row};{left}H│\x1b[{row};{right}H│" for row in between)
        + f"\x1b[{bottom};{left}H╰{edge}╯"
    )


def _has_terminal() -> bool:
    """Check that standard input and error are a terminal that can draw, in the foreground."""
    if os.environ.get("TERM", "dumb") in ("", "dumb"):
        return False
    if not os.isatty(_INPUT) or not os.isatty(_OUTPUT):
        return False
    try:
        # A background job would save the attributes of the shell's editor.
        return os.tcgetpgrp(_INPUT) == os.getpgrp()
    except OSError:
        return True  # no job control here


def _raw(terminal: int) -> _Attributes:
    """The attributes that Textual sets: it then changes nothing when it takes over."""
    iflag, oflag, cflag, lflag, ispeed, ospeed, characters = termios.tcgetattr(terminal)
    iflag &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR)
    lflag &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
    characters[termios.VMIN] = 1
    return [iflag, oflag, cflag, lflag, ispeed, ospeed, characters]


def _die(number: int, _: object) -> None:
    """Restore the terminal, then die by the signal, as a shell expects."""
    _restore()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _restore() -> None:
    if _terminal.original is None:
        return
    if _terminal.is_drawn:
        _write(LEAVE)
    try:
        termios.tcflush(_INPUT, termios.TCIFLUSH)
        termios.tcsetattr(_INPUT, termios.TCSANOW, _terminal.original)
    except termios.error:
        pass  # the terminal was closed


def _write(text: str) -> None:
    data = text.encode()
    try:
        while data:
            data = data[os.write(_OUTPUT, data) :]
    except OSError:
        pass  # the terminal accepts nothing
