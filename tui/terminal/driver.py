"""The terminal's driver: goes on where the first frame is, and ends when the terminal has gone."""

import codecs
import os
import select
import sys
import time

from textual import events

from tui.terminal import first_frame
from tui.terminal.cell_width import hold_columns
from tui.terminal.flow_control import FlowControl, FlowControlledApp
from tui.terminal.key_parser import KeyParser
from tui.terminal.multiplexers import is_relayed, is_within_screen, through_screen
from tui.terminal.output import BYTES_PER_READ, SECONDS_PER_LOOK, Output
from tui.terminal.paste import PasteFilter
from tui.terminal.sgr import spared
from tui.terminal.textual_private import DriverBase

HUNG_UP = 129
"""The exit code where the terminal went: as if SIGHUP, which not everybody gets, had told it."""

_ENTER_ALTERNATE_SCREEN = "\x1b[?1049h"
_CLIPBOARD = "\x1b]52;"
# What Textual switches on, for a terminal that may not have heard that it is over.
_OFF = "".join(f"\x1b[?{mode}l" for mode in (1000, 1003, 1015, 1006, 1016, 1004, 2048))
_LAST_WORDS = f"{_OFF}\x1b[?7h\x1b[<u{first_frame.LEAVE}"


class TakeoverDriver(DriverBase):
    """Keeps the raw terminal, the alternate screen and what the first frame shows on it."""

    _is_entered = False
    _is_relayed = is_relayed(os.environ)
    _is_within_screen = is_within_screen(os.environ)
    _output: "Output | None" = None
    _pacing: FlowControl | None = None

    def start_application_mode(self) -> None:
        if sys.__stderr__ is not None:
            self._pacing = self._new_pace()
            self._output = Output(sys.__stderr__, self._paint_again, self._pacing.note_taken)
            self.replace_file(self._output)
        original = first_frame.hand_over()
        self._is_entered = original is not None
        super().start_application_mode()
        # Textual has read what the first frame has set: not what is to be put back.
        self.attrs_before = original or self.attrs_before

    def _new_pace(self) -> FlowControl:
        app = self.app
        pacing = app.pacing if isinstance(app, FlowControlledApp) else FlowControl(app)
        pacing.begin(self.call_in_loop)
        return pacing

    def write(self, data: str) -> None:
        if self._is_entered and data == _ENTER_ALTERNATE_SCREEN:
            # Entering it again would clear what is there.
            self._is_entered = False
            return
        if self._is_within_screen and data.startswith(_CLIPBOARD):
            data = through_screen(data)
        if self.has_writer:
            if self._pacing is not None:
                self._pacing.note_given()
            super().write(spared(hold_columns(data, relayed=self._is_relayed)))

    def flush(self) -> None:
        # What Textual calls behind each frame.
        super().flush()
        if self._pacing is not None:
            self._pacing.end_frame()

    def close(self) -> None:
        super().close()
        if self._pacing is not None:
            self._pacing.end()
            self._pacing = None
        if self._output is not None:
            self._output.close(_LAST_WORDS)
            self._output = None

    def run_input_thread(self) -> None:
        """Read keys until the end; a terminal that has gone is the end, too.

        Only who leads the terminal's session gets SIGHUP, and it may be ignored. Textual's own
        loop reads nothing from then on, as fast as it can; and bytes that are no UTF-8 end it.
        """
        parser, pastes = KeyParser(self.is_debugging), PasteFilter()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            data = self._read()
            arrived = time.monotonic()
            if data == b"":
                self.call_in_loop(self.app.exit, None, HUNG_UP)
                return
            # To the parser an empty text is the end.
            for keys in pastes.keys(decode(data)) if data else ():
                for event in parser.feed(keys):
                    pasted = isinstance(event, events.Paste)
                    message = events.Paste(pastes.text) if pasted else event
                    # One time for all of a read: the keyboard knows by it what came together.
                    message.time = arrived
                    self.process_message(message)
            for event in parser.tick():
                self.process_message(event)

    def _read(self) -> bytes | None:
        """What was typed, ``None`` if nothing was, no bytes if the terminal has gone."""
        ready, _, _ = select.select([self.fileno], [], [], SECONDS_PER_LOOK)
        if not ready:
            return None
        try:
            return os.read(self.fileno, BYTES_PER_READ)
        except OSError:
            return b""

    def _paint_again(self) -> None:
        self.call_in_loop(lambda: self.app.refresh(layout=True))
