"""The terminal's driver: goes on where the first frame is, and ends when the terminal has gone."""

import codecs
import os
import select
import sys
import time
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TextIO, cast

from textual import events
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver

from tui import first_frame
from tui.columns import hold_columns
from tui.pacing import PacedApp, Pacing
from tui.pasting import Pastes
from tui.relaying import is_relayed, is_within_screen, through_screen
from tui.sparing import spared

HUNG_UP = 129
"""The exit code where the terminal went: as if SIGHUP, which not everybody gets, had told it."""
SECONDS_TO_TAKE = 2.0
"""A terminal that takes nothing for so long is not waited for."""

_ENTER_ALTERNATE_SCREEN = "\x1b[?1049h"
_SECONDS_PER_LOOK = 0.1
_BYTES = 4096
_CLIPBOARD = "\x1b]52;"
# An escape sequence that was cut off is given up, and a look; what is drawn at once may be shown.
_AFTER_LOSS = b"\x18\x1b[?2026l\x1b[0m"
# What Textual switches on, for a terminal that may not have heard that it is over.
_OFF = "".join(f"\x1b[?{mode}l" for mode in (1000, 1003, 1015, 1006, 1016, 1004, 2048))
_LAST_WORDS = f"{_OFF}\x1b[?7h\x1b[<u{first_frame.LEAVE}"


class _Keys(Enum):
    """Keys that Textual's own list lacks."""

    ALT_BACKSPACE = "alt+backspace"


# Textual takes Alt and a digit for what a Mac's keyboard writes with them: ™ for Alt+2.
_sequences = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
for _digit in "123456789":
    _sequences.pop(f"\x1b{_digit}", None)
# And one form of Alt+Backspace for Ctrl+W, the other for Backspace alone.
for _backspace in "\x7f\x08":
    _sequences[f"\x1b{_backspace}"] = (_Keys.ALT_BACKSPACE,)


class KeyParser(XTermParser):
    """Takes Escape and a slash that come as one for two keys.

    Who leaves something and begins a command types them fast, and over a line they come together.
    Textual makes of them a slash alone.
    """

    def _sequence_to_key_events(
        self,
        sequence: str,
        alt: bool = False,  # noqa: FBT001, FBT002 - the signature is Textual's
    ) -> Iterable[events.Key]:
        if sequence != "\x1b/":
            yield from super()._sequence_to_key_events(sequence, alt)
            return
        yield events.Key("escape", "\x1b")
        yield events.Key("slash", "/")


class TakeoverDriver(LinuxDriver):
    """Keeps the raw terminal, the alternate screen and what the first frame shows on it."""

    _is_entered = False
    _is_relayed = is_relayed(os.environ)
    _is_within_screen = is_within_screen(os.environ)
    _output: "Output | None" = None
    _pacing: Pacing | None = None

    def start_application_mode(self) -> None:
        if sys.__stderr__ is not None:
            self._pacing = self._new_pace()
            self._output = Output(sys.__stderr__, self._paint_again, self._pacing.note_taken)
            # All that the thread that writes asks of a file.
            self._file = cast("TextIO", self._output)
        original = first_frame.hand_over()
        self._is_entered = original is not None
        super().start_application_mode()
        self._fit_colours()
        # Textual has read what the first frame has set: not what is to be put back.
        self.attrs_before = original or self.attrs_before

    def _new_pace(self) -> Pacing:
        app = self._app
        pacing = app.pacing if isinstance(app, PacedApp) else Pacing(app)
        pacing.begin(self._loop.call_soon_threadsafe)
        return pacing

    def _fit_colours(self) -> None:
        filters = self._app._filters  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
        match self._app.console.color_system:
            case "standard":
                from tui.few_colours import FewColours as Fitting
            case "256":
                from tui.many_colours import ManyColours as Fitting
            case _:
                return
        if not any(isinstance(each, Fitting) for each in filters):
            filters.append(Fitting())

    def write(self, data: str) -> None:
        if self._is_entered and data == _ENTER_ALTERNATE_SCREEN:
            # Entering it again would clear what is there.
            self._is_entered = False
            return
        if self._is_within_screen and data.startswith(_CLIPBOARD):
            data = through_screen(data)
        if self._writer_thread is not None and self._writer_thread.is_alive():
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

    # Both only once the loop has its turn: a signal may come while the queue of what is to be
    # written is locked, and would wait for itself.

    def _sigtstp_application(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop)

    def _stop(self) -> None:
        super()._sigtstp_application()  # pyright: ignore[reportUnknownMemberType]

    def _sigcont_application(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._go_on)

    def _go_on(self) -> None:
        """Take the terminal again, from a shell or from where we were stopped without notice.

        To Textual each SIGCONT is the first: it would start what runs, and take raw attributes
        for those to be put back.
        """
        if self._auto_restart and not self._must_signal_resume:
            self.suspend_application_mode()
            self._must_signal_resume = True
        super()._sigcont_application()  # pyright: ignore[reportUnknownMemberType]

    def run_input_thread(self) -> None:
        """Read keys until the end; a terminal that has gone is the end, too.

        Only who leads the terminal's session gets SIGHUP, and it may be ignored. Textual's own
        loop reads nothing from then on, as fast as it can; and bytes that are no UTF-8 end it.
        """
        parser, pastes = KeyParser(self._debug), Pastes()
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        while not self.exit_event.is_set():
            data = self._read()
            arrived = time.monotonic()
            if data == b"":
                self._loop.call_soon_threadsafe(self._app.exit, None, HUNG_UP)
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
        ready, _, _ = select.select([self.fileno], [], [], _SECONDS_PER_LOOK)
        if not ready:
            return None
        try:
            return os.read(self.fileno, _BYTES)
        except OSError:
            return b""

    def _paint_again(self) -> None:
        self._loop.call_soon_threadsafe(lambda: self._app.refresh(layout=True))


class Output:
    """Where frames are written, for the thread that writes them.

    That thread must neither end nor wait for long: the screen waits for it, and with it all
    sessions would. A terminal that has gone takes everything. One that takes nothing for
    ``SECONDS_TO_TAKE``, as over a line that hangs, loses what is drawn until it takes something
    again; then ``lost`` is called in the thread that writes. So is ``taken``, with how many texts
    have gone.
    """

    def __init__(
        self, file: TextIO, lost: Callable[[], None], taken: Callable[[int], None]
    ) -> None:
        self._encoding = file.encoding
        self._descriptor = file.fileno()
        self._own = _opened_again(self._descriptor)
        self._lost, self._taken = lost, taken
        self._waiting: list[bytes] = []
        self._size = 0
        self._is_stuck = False
        self._has_gone = False

    def fileno(self) -> int:
        return self._descriptor

    def write(self, text: str) -> None:
        """Write it soon; at the latest when ``flush`` is called."""
        data = text.encode(self._encoding, "replace")
        self._waiting.append(data)
        self._size += len(data)
        if self._size >= _BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what waits, or lose it."""
        count, data = len(self._waiting), b"".join(self._waiting)
        self._waiting, self._size = [], 0
        self._write(data)
        self._taken(count)

    def _write(self, data: bytes) -> None:
        if self._has_gone or not data:
            return
        if self._is_stuck:
            if not self._takes(0):
                return
            self._is_stuck = False
            self._lost()
            data = _AFTER_LOSS + data
        self._send(data)

    def close(self, last: str) -> None:
        """Write nothing more; ``last`` is for a terminal that has lost what came before."""
        if self._is_stuck and not self._has_gone:
            self._send(_AFTER_LOSS + last.encode())
        if self._own is not None:
            os.close(self._own)
            self._own = None

    def _send(self, data: bytes) -> None:
        target = self._descriptor if self._own is None else self._own
        try:
            while data:
                if not self._takes(SECONDS_TO_TAKE):
                    self._is_stuck = True
                    return
                try:
                    data = data[os.write(target, data) :]
                except BlockingIOError:
                    # Room for some bytes, not for a character.
                    time.sleep(_SECONDS_PER_LOOK)
        except OSError:
            self._has_gone = True

    def _takes(self, seconds: float) -> bool:
        """Whether the terminal takes something within this time."""
        target = self._descriptor if self._own is None else self._own
        _, ready, _ = select.select([], [target], [], seconds)
        return bool(ready)


def _opened_again(descriptor: int) -> int | None:
    """The same terminal by a descriptor that never blocks; the shell's own is left as it is.

    ``None`` where its name leads nowhere, as in some containers.
    """
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(os.ttyname(descriptor), flags)
    except OSError:
        return None
