"""The program, counting what it runs and loads, with whatever arguments it takes.

Lists its functions that run between SIGUSR1 and the first connection made then. Writes to the file
that the variable ``SIBYL_TRACE`` names: how many modules of ours were loaded before the prompt took
keys, how many functions ran, in how many files, and the functions.
"""

import os
import signal
import sys
import threading
from inspect import CO_NEWLOCALS
from pathlib import Path
from types import CodeType, FrameType

_OURS = str(Path(__file__).parent.parent.parent / "tui") + os.sep


class _Trace:
    def __init__(self) -> None:
        self._ran: set[CodeType] = set()
        self._is_listing = False
        self._modules = 0

    def count_modules(self) -> None:
        self._modules = sum(name.partition(".")[0] == "tui" for name in sys.modules)

    def begin(self, *_: object) -> None:
        self._is_listing = True

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        if self._is_listing and event == "call":
            self._ran.add(frame.f_code)

    def audit(self, event: str, _: object) -> None:
        if event == "socket.connect" and self._is_listing:
            self._is_listing = False
            self._write(Path(os.environ["SIBYL_TRACE"]))

    def _write(self, file: Path) -> None:
        named = [
            (code.co_filename.removeprefix(_OURS), code.co_qualname)
            for code in self._ran
            # Comprehensions and lambdas are parts of a function, and a class's body is none.
            if code.co_filename.startswith(_OURS)
            and not code.co_name.startswith("<")
            and code.co_flags & CO_NEWLOCALS
        ]
        files = {name for name, _ in named}
        lines = [" ".join(each) for each in sorted(named)]
        head = f"{self._modules} {len(named)} {len(files)}"
        file.write_text("\n".join([head, *lines]), "utf-8")


def main() -> None:
    """Run it, counting."""
    trace = _Trace()
    signal.signal(signal.SIGUSR1, trace.begin)
    threading.setprofile(trace.profile)
    sys.setprofile(trace.profile)
    sys.addaudithook(trace.audit)
    from tui.app import app

    begin = app.SibylApp._begin_what_is_slow

    def first_screen_is_there(self: app.SibylApp) -> None:
        trace.count_modules()
        begin(self)

    app.SibylApp._begin_what_is_slow = first_screen_is_there
    from tui.__main__ import main as run

    run()


if __name__ == "__main__":
    main()
