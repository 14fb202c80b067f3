"""The driver of the terminal: takes over from the first frame, and notices a closed terminal."""

import codecs
import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import TextIO

from textual import events
from textual.geometry import Size

from tui.terminal import first_frame
from tui.terminal.cell_width import fix_columns
from tui.terminal.colours import ASK
from tui.terminal.environment import (
    RESTORE_TITLE,
    SAVE_TITLE,
    in_multiplexer,
    in_screen,
    through_screen,
)
from tui.terminal.flow_control import FlowControl, FlowControlledApp
from tui.terminal.key_parser import KeyParser, seconds_until_whole
from tui.terminal.textual_private import DriverBase

SECONDS_TO_TAKE = 2.0
"""The time after which a terminal that accepts nothing loses frames."""
SECONDS_PER_LOOK = 0.1
"""The interval at which a descriptor is looked at again."""
BYTES_PER_READ = 4096
# Cancels a sequence that was cut off, ends a synchronised update, and resets the style.
_AFTER_LOSS = b"\x18\x1b[?2026l\x1b[0m"


class Output:
    """The file that the writer thread writes frames to.

    That thread must neither end nor block for long: the screen waits for it, and all sessions
    with the screen. Output for a closed terminal is dropped. A terminal that accepts nothing for
    ``SECONDS_TO_TAKE``, as over a line that hangs, loses frames until it accepts something again;
    then ``lost`` is called. ``taken`` is called after each write with the number of texts in it.
    Both are called in the writer thread.
    """

    def __init__(
        self, file: TextIO, lost: Callable[[], None], taken: Callable[[int], None]
    ) -> None:
        self._encoding = file.encoding
        self._descriptor = file.fileno()
        self._own = _opened_again(self._descriptor)
        self._lost, self._taken = lost, taken
        self._queued: list[bytes] = []
        self._size = 0
        self._is_stuck = False
        self._is_closed = False

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> None:
        """Queue a text; it is written by ``flush`` at the latest."""
        data = text.encode(self._encoding, "replace")
        self._queued.append(data)
        self._size += len(data)
        if self._size >= BYTES_PER_READ:
            self.flush()

    def flush(self) -> None:
        """Write the queued texts, or lose them."""
        count, data = len(self._queued), b"".join(self._queued)
        self._queued, self._size = [], 0
        if data and self._is_stuck and not self._is_closed and self._accepts(0):
            self._is_stuck = False
            self._lost()
            data = _AFTER_LOSS + data
        if data and not self._is_stuck and not self._is_closed:
            self._send(data)
        self._taken(count)

    def close(self, last: str) -> None:
        """Stop writing; a terminal that has lost frames gets ``last``."""
        if self._is_stuck and not self._is_closed:
            self._send(_AFTER_LOSS + last.encode())
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def _send(self, data: bytes) -> None:
        target = self._descriptor if self._own is None else self._own
        try:
            while data:
                if not self._accepts(SECONDS_TO_TAKE):
                    self._is_stuck = True
                    return
                try:
                    data = data[os.write(target, data) :]
                except BlockingIOError:
                    # There is room for some bytes, but not for a character.
                    time.sleep(SECONDS_PER_LOOK)
        except OSError:
            self._is_closed = True

    def _accepts(self, seconds: float) -> bool:
        """Check whether the terminal accepts output within this time."""
        target = self._descriptor if self._own is None else self._own
        _, ready, _ = select.select([], [target], [], seconds)
        return bool(ready)


def _opened_again(descriptor: int) -> int | None:
    """Open the terminal again without blocking: the flag would change the shell's descriptor too.

    ``None`` where the terminal's name cannot be opened, as in some containers.
    """
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(descriptor), flags)
    except OSError:
        return None


HUNG_UP = 129
"""The exit code after the terminal was closed: that of SIGHUP, which not every process gets."""

_ENTER_ALTERNATE_SCREEN = "\x1b[?1049h"
_CLIPBOARD = "\x1b]52;"
# Textual's flags of the kitty protocol, and with alternate keys: the key of the base layout.
_KITTY, _KITTY_WITH_BASE = "\x1b[>25u", "\x1b[>29u"
_OUTPUT = 2
_MOST_CELLS = 1000
_LONGEST_READ = 1024 * 1024
# Modes that Textual sets: a terminal that lost output may not have seen them reset.
_OFF = "".join(f"\x1b[?{mode}l" for mode in (1000, 1003, 1015, 1006, 1016, 1004, 2048))
_RESET = f"{_OFF}\x1b[?7h\x1b[<u{first_frame.LEAVE}"

_PLAIN = "\x1b[0m"
# The beginning of a run of text: a cursor position, if it is elsewhere, and its style.
_BEGINNING = re.compile(r"(?P<place>\n?(?:\x1b\[\d+;\d+H)?)(?P<style>\x1b\[[\d;]+m)")
_PLACE = re.compile(r"\x1b\[[\d;]*[GH]")


def drop_repeated(frame: str) -> str:
    """Leave out each reset of the style that is followed by the same style again."""
    first, *others = frame.split(_PLAIN)
    kept, style = [first], _style_at_end(first, _BEGINNING.match(first))
    for text in others:
        beginning = _BEGINNING.match(text)
        if beginning and style == beginning["style"]:
            kept += (beginning["place"], text[beginning.end() :])
        else:
            kept += (_PLAIN, text)
        style = _style_at_end(text, beginning)
    return "".join(kept)


def _style_at_end(text: str, beginning: re.Match[str] | None) -> str | None:
    """The style at the end of a run of text; ``None`` if the text may change it."""
    if beginning is None:
        return None
    rest = text[beginning.end() :]
    others = rest.count("\x1b") - len(_PLACE.findall(rest)) if "\x1b" in rest else 0
    return None if others else beginning["style"]


class TakeoverDriver(DriverBase):
    """Keeps the raw mode, the alternate screen and the outline of the first frame."""

    _is_entered = False
    _is_title_saved = False
    _in_multiplexer = in_multiplexer(os.environ)
    _in_screen = in_screen(os.environ)
    _output: "Output | None" = None
    _flow_control: FlowControl | None = None
    _parser: KeyParser

    def start_application_mode(self) -> None:
        self._parser = KeyParser()
        if sys.__stderr__ is not None:
            app = self.app
            has_own = isinstance(app, FlowControlledApp)
            self._flow_control = app.flow_control if has_own else FlowControl(app)
            self._flow_control.begin(self.call_in_loop)
            paint_again = partial(self.call_in_loop, partial(app.refresh, layout=True))
            self._output = Output(sys.__stderr__, paint_again, self._flow_control.note_taken)
            self.replace_file(self._output)
        original = first_frame.hand_over()
        self._is_entered = original is not None
        super().start_application_mode()
        # Textual has read the raw attributes of the first frame; these are to be restored.
        self.attrs_before = original or self.attrs_before
        # Textual ignores it once the terminal has reported a size on its own.
        signal.signal(signal.SIGWINCH, self._report_size)

    def write(self, data: str) -> None:
        if self._is_entered and data == _ENTER_ALTERNATE_SCREEN:
            # Entering it again would clear the outline.
            self._is_entered = False
            return
        if data == _KITTY:
            data = _KITTY_WITH_BASE
        if data == ASK:
            self._parser.await_answer()
        if SAVE_TITLE in data or RESTORE_TITLE in data:
            self._is_title_saved = SAVE_TITLE in data
        if self._in_screen and data.startswith(_CLIPBOARD):
            data = through_screen(data)
        if self.has_writer:
            if self._flow_control is not None:
                self._flow_control.note_given()
            super().write(drop_repeated(fix_columns(data, multiplexed=self._in_multiplexer)))

    def stop_application_mode(self) -> None:
        if self._is_title_saved:
            self.write(RESTORE_TITLE)
        super().stop_application_mode()

    def flush(self) -> None:
        # Textual calls this after each frame.
        super().flush()
        if self._flow_control is not None:
            self._flow_control.end_frame()

    def close(self) -> None:
        super().close()
        if self._flow_control is not None:
            self._flow_control.end()
            self._flow_control = None
        if self._output is not None:
            self._output.close(_RESET)
            self._output = None

    def run_input_thread(self) -> None:
        """Read keys until the application ends, and end it when the terminal is closed.

        SIGHUP goes to the leader of the terminal's session only, and may be ignored. Textual's
        own loop then reads nothing without a pause; and bytes that are not UTF-8 end it.
        """
        parser = self._parser
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            data = self._read(SECONDS_PER_LOOK)
            arrived = time.monotonic()
            if data == b"":
                self.call_in_loop(self.app.exit, None, HUNG_UP)
                return
            text = decode(data or b"")
            while (pause := seconds_until_whole(text)) and len(text) < _LONGEST_READ:
                more = self._read(pause)
                if not more:
                    break  # the next look sees a terminal that was closed
                text += decode(more)
            for event in parser.feed(text) if text else ():
                # One time for a whole read: it tells which keys arrived together.
                event.time = arrived
                if isinstance(event, events.Resize):
                    self._report_size()
                else:
                    self.process_message(event)
            for event in parser.tick():
                self.process_message(event)

    def _read(self, seconds: float) -> bytes | None:
        """Read input; ``None`` if none comes, no bytes if the terminal was closed."""
        ready, _, _ = select.select([self.fileno], [], [], seconds)
        if not ready:
            return None
        try:
            return os.read(self.fileno, BYTES_PER_READ)
        except OSError:
            return b""

    def terminal_size(self) -> tuple[int, int]:
        """Ask the terminal: COLUMNS and LINES may be those of another one."""
        for terminal in (_OUTPUT, self.fileno):
            try:
                columns, rows = os.get_terminal_size(terminal)
            except OSError:
                continue
            if columns and rows:
                return min(columns, _MOST_CELLS), min(rows, _MOST_CELLS)
        return super().terminal_size()

    def _report_size(self, *_: object) -> None:
        size = Size(*self.terminal_size())
        self.process_message(events.Resize(size, size))
