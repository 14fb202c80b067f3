"""The real program with one thing altered, which nobody outside of it could bring about.

    python -m tests.terminal.altered NAME[,NAME...] [ARGUMENT...]

Its model is there at once and says a word every few milliseconds, without end; ``NAME`` is what
else is different, see ``ALTERATIONS``.
"""

import asyncio
import itertools
import os
import sys
import threading
import time
from pathlib import Path

from tui.__main__ import main
from tui.errors import StorageFull
from tui.providers.protocol import TextReceived
from tui.providers.source import ModelSource

SECRET = "the secret that a local variable holds"
DEFECT = "broken \x1b]0;BADTITLE\x07\x9b31m \x1b]52;c;QkFE\x1b\\ [@click=app.quit]here[/]"
PACE = 0.003
FOREVER = 600


class Talkative:
    """Says ``w0 w1 w2 ...``."""

    name = "local:talkative"
    context_window = known_window = 100_000
    sees_images = None

    def prepare(self):
        """There is nothing to load."""

    async def window(self):
        return self.context_window

    async def stream(self, request):
        for number in itertools.count():
            await asyncio.sleep(PACE)
            yield TextReceived(f"w{number} ")


def _raise(*_, **__):
    secret = SECRET  # noqa: F841 - what a traceback with local variables would show
    raise RuntimeError(DEFECT)


async def _fail(*_):
    _raise()


def defect_in_command():
    """Help, by key or by name."""
    from tui.commands import registry

    registry.FUNCTIONS["help"] = _fail


def _at_break(defect):
    from tui.screens.chat import ChatScreen

    original = ChatScreen.set_timer

    def set_timer(self, *given):
        # That of the draft.
        if self.prompt.text.endswith("break"):
            defect()
        return original(self, *given)

    ChatScreen.set_timer = set_timer


def defect_in_handler():
    """A prompt that ends with break."""
    _at_break(_raise)


def defect_in_thread():
    """The same, in a thread that nobody waits for."""
    _at_break(lambda: threading.Thread(target=_raise, name="spare work").start())


def defect_in_callback():
    """The same, in a callback of the event loop."""
    _at_break(lambda: asyncio.get_running_loop().call_soon(_raise))


def defect_while_drawing():
    """A line of the conversation that says w20."""
    from tui.widgets.transcript.transcript import Transcript

    original = Transcript.render_line

    def fail(self, y):
        strip = original(self, y)
        if "w20 " in strip.text:
            _raise()
        return strip

    Transcript.render_line = fail


def defect_in_worker():
    """A switch to another session."""
    from tui.engine.sessions.switching import Switcher

    Switcher.look_at = _fail


def defect_in_key_parser():
    """The key Up."""
    from tui.terminal import key_parser

    key_parser.plain_key = _raise


def defect_at_the_end():
    """The end of the final save, behind the last session."""
    from tui.engine.sessions.switching import Switcher

    Switcher.settle = _fail


def defect_while_closing():
    """Closing a session, in the final save."""
    from tui.engine.sessions.open_sessions import OpenSessions

    OpenSessions.close = _fail


def full_disk():
    """No room for journals and drafts, from when there is a file named FULL."""
    from tui.storage.drafts import Drafts
    from tui.storage.file_store import FileStore

    full = Path(os.environ["FULL"])

    def until_full(original):
        def write(*arguments, **options):
            if full.exists():
                raise StorageFull("No space left on device")
            return original(*arguments, **options)

        return write

    FileStore.append = until_full(FileStore.append)
    Drafts.save = until_full(Drafts.save)


def slow_threads():
    """Reading the list of sessions takes for ever, in one of asyncio's threads."""
    from tui.storage.file_store import FileStore

    def wait(*_, **__):
        time.sleep(FOREVER)

    FileStore.list = wait


def slow_import():
    """A library that takes for ever to import, and never lets go of the interpreter for long."""
    from tui.app import app

    def load():
        end = time.monotonic() + FOREVER
        while time.monotonic() < end:
            compile("\n".join(f"x{n} = [{n}, {n}]" for n in range(300)), "library", "exec")

    app.warm_up = load


def slow_saves():
    """Each write to a journal takes a while."""
    from tui.storage.file_store import FileStore

    original = FileStore.append

    def append(*arguments):
        time.sleep(0.05)
        return original(*arguments)

    FileStore.append = append


def finite():
    """The answer ends after thirty words."""

    async def stream(self, request):
        for number in range(30):
            await asyncio.sleep(PACE)
            yield TextReceived(f"w{number} ")

    Talkative.stream = stream


ALTERATIONS = {
    each.__name__: each
    for each in (
        defect_in_command,
        defect_in_handler,
        defect_while_drawing,
        defect_in_worker,
        defect_in_thread,
        defect_in_callback,
        defect_in_key_parser,
        defect_at_the_end,
        defect_while_closing,
        finite,
        full_disk,
        slow_threads,
        slow_import,
        slow_saves,
    )
}


def _alter(names):
    model = Talkative()
    ModelSource.proposed = lambda *_: (model, ())
    ModelSource.look_for_ollama = lambda *_: None
    for name in filter(None, names):
        ALTERATIONS[name]()


if __name__ == "__main__":
    names, *arguments = sys.argv[1:]
    sys.argv[:] = ["sibyl-tui", *arguments]
    from tui.terminal import first_frame

    first_frame.begin(arguments)
    _alter(names.split(","))
    main()
