"""The terminal's driver: goes on where the first frame is."""

from textual.drivers.linux_driver import LinuxDriver

from tui import first_frame

_ENTER_ALTERNATE_SCREEN = "\x1b[?1049h"


class TakeoverDriver(LinuxDriver):
    """Keeps the raw terminal, the alternate screen and what the first frame shows on it."""

    _is_entered = False

    def start_application_mode(self) -> None:
        original = first_frame.hand_over()
        self._is_entered = original is not None
        super().start_application_mode()
        # Textual has read what the first frame has set: not what is to be put back.
        self.attrs_before = original or self.attrs_before

    def write(self, data: str) -> None:
        if self._is_entered and data == _ENTER_ALTERNATE_SCREEN:
            # Entering it again would clear what is there.
            self._is_entered = False
            return
        super().write(data)
