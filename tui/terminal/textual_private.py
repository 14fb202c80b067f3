"""The private members of Textual that the terminal needs, under public names.

Each has its reason here, and a test that fails by its name when Textual changes it.
"""

from collections.abc import Callable, Iterable
from typing import Any, TextIO, cast

from textual import _keyboard_protocol, events, message_pump
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.keys import Keys
from textual.timer import Timer

KEY_SEQUENCES = cast("dict[str, object]", ANSI_SEQUENCES_KEYS)
"""Keys by their escape sequences. Textual has no way to change an entry."""
FUNCTIONAL_KEYS = _keyboard_protocol.FUNCTIONAL_KEYS
"""Names of the kitty protocol's keys that type nothing, by number and final letter."""


class _CertainTimer(Timer):
    """A timer that fires once does so, however late.

    Textual skips what is late when the timer begins, as it is after a stall of a few milliseconds:
    a size of the terminal, or all later frames of a throttle, would never come.
    """

    def __init__(self, *arguments: Any, repeat: int | None = None, **options: Any) -> None:
        super().__init__(*arguments, repeat=repeat, skip=repeat != 0, **options)


# ``set_timer`` of whatever has messages makes it, which nothing else can reach.
message_pump.Timer = _CertainTimer  # pyright: ignore[reportPrivateImportUsage]


class KeyParserBase(XTermParser):
    """Translates whole sequences; a subclass cuts the input into them."""

    def key_events(self, sequence: str, *, alt: bool = False) -> Iterable[events.Key]:
        """Translate a character or a sequence; ``alt`` if an Escape came before it."""
        found = self._sequence_to_key_events(sequence, alt)
        return [event for event in found if event.key != Keys.Ignore]


class DriverBase(LinuxDriver):
    """A Linux driver whose output can be replaced, and that can be stopped and continued.

    A subclass that reads input itself needs the application and its loop as well.
    """

    @property
    def app(self) -> App[Any]:
        return self._app

    @property
    def has_writer(self) -> bool:
        """Check whether the writer thread runs: without it ``write`` fails."""
        return self._writer_thread is not None and self._writer_thread.is_alive()

    def _run_input_thread(self) -> None:
        """End the application by an error: Textual ends it with exit code 0."""
        try:
            self.run_input_thread()
        except Exception as error:  # noqa: BLE001 - a thread's last line
            self.call_in_loop(self._app._handle_exception, error)  # pyright: ignore[reportPrivateUsage]

    def _get_terminal_size(self) -> tuple[int, int]:
        # What the application asks before the first message of a size.
        self._size = self.terminal_size()
        return self._size

    def terminal_size(self) -> tuple[int, int]:
        """Return columns and rows: of COLUMNS and LINES, else of the terminal."""
        return super()._get_terminal_size()

    def call_in_loop(self, callback: Callable[..., object], *args: object) -> None:
        """Call something in the application's loop, from any thread or signal handler."""
        self._loop.call_soon_threadsafe(callback, *args)

    def replace_file(self, file: object) -> None:
        """Write to this instead of standard error.

        The writer thread calls nothing but ``write``, ``flush`` and ``fileno``.
        """
        self._file = cast("TextIO", file)

    # Both signal handlers wait for the loop: a signal may come while the writer's queue is
    # locked, and the handler would wait for a lock that its own thread holds.

    def _sigtstp_application(self, *_: object) -> None:
        self.call_in_loop(super()._sigtstp_application)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]

    def _sigcont_application(self, *_: object) -> None:
        self.call_in_loop(self.take_terminal_again)

    def take_terminal_again(self) -> None:
        """Continue after a shell had the terminal, or after a SIGSTOP without notice.

        Textual takes each SIGCONT for the first: it would start application mode twice, and
        keep the raw attributes as those to restore.
        """
        if self._auto_restart and not self._must_signal_resume:
            self.suspend_application_mode()
            self._must_signal_resume = True
        super()._sigcont_application()  # pyright: ignore[reportUnknownMemberType]


class AppBase(App[None]):
    """Lets a subclass decide on unexpected errors.

    Textual prints a traceback with local variables: messages and API keys among them.
    """

    def _handle_exception(self, error: Exception) -> None:
        if not self.take_error(error):
            super()._handle_exception(error)

    def take_error(self, error: Exception) -> bool:  # noqa: ARG002 - for subclasses
        """Handle an error that nobody expected; false lets it end the application."""
        return False

    def write_to_terminal(self, sequence: str) -> None:
        """Write a sequence between two frames; Textual has this for the bell only."""
        if sequence and self._driver is not None:
            self._driver.write(sequence)

    def close_terminal(self) -> None:
        """Wait until all output is written, also where an error has ended the application.

        Textual leaves its writer thread running then, and what others print comes in between.
        """
        if self._driver is not None:
            self._driver.close()

    def _fatal_error(self) -> None:
        self._close_messages_no_wait()
