from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from rich.style import Style
from textual import on
from textual.pilot import Pilot
from textual.widgets import Input

from tui.app.appearance import ThemeContrastApp
from tui.domain.journal.message import Message, ToolCall
from tui.widgets.intents import PageWanted, VersionIntent
from tui.widgets.transcript import Transcript
from tui.widgets.transcript.canvas import NAMES, Canvas
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.markdown_blocks import Splitter

STYLES = Path(__file__).parents[3] / "styles" / "transcript.tcss"


class TranscriptApp(ThemeContrastApp):
    CSS_PATH = STYLES
    CSS = "Transcript {height: 1fr;}"

    def __init__(self):
        super().__init__()
        self.earlier_wanted = 0
        self.copied = []
        self.which = []
        self.hinted = []
        self.links = []
        self.pictures = []
        self.intents = []

    def compose(self):
        yield Transcript()
        yield Input()

    def on_mount(self):
        self.query_one(Transcript).focus()

    @on(PageWanted)
    def count_wanted(self, message):
        self.earlier_wanted += message.which == "earlier"

    def on_copy_requested(self, message):
        self.copied.append(message.text)
        self.which.append(message.what)

    @on(VersionIntent)
    def keep_intent(self, message):
        self.intents.append(message)

    def on_hint_given(self, message):
        self.hinted.append(message.words)

    def on_links_wanted(self, message):
        self.links.append(message.links)
        self.pictures.append(message.pictures)

    @property
    def transcript(self) -> Transcript:
        return self.query_one(Transcript)

    @property
    def conversation(self):
        return self.transcript.conversation


OpenTranscript = Callable[..., AbstractAsyncContextManager[tuple[TranscriptApp, Pilot[None]]]]


@pytest.fixture
def opened() -> OpenTranscript:
    """A program with nothing but a conversation and an input below; 3 rows go to the input."""

    @asynccontextmanager
    async def run(*entries, size=(60, 23), **options) -> AsyncIterator:
        app = TranscriptApp()
        async with app.run_test(size=size) as pilot:
            options.setdefault("earlier", False)
            app.transcript.show(entries, **options)
            await pilot.pause()
            yield app, pilot

    return run


@pytest.fixture
def page() -> Callable[..., Canvas]:
    def make(width=60):
        return Canvas(width, dict.fromkeys(NAMES, Style()))

    return make


def showing(entries):
    """A document of a session, not drawn yet."""
    document = Document()
    document.replace(entries)
    return document


def drawn_document(*entries, width=60, height=40):
    """A document on a canvas without colours."""
    document = showing(entries)
    document.draw_on(Canvas(width, dict.fromkeys(NAMES, Style())), height)
    return document


def asked(text, key=None):
    return Message(key or f"u-{text[:12]}", "user", text, "")


def answered(text, key=None, **fields):
    return Message(key or f"a-{text[:12]}", "assistant", text, "", **fields)


def calling(key="call", name="read_file", arguments=None):
    call = ToolCall("t1", name, {"path": "a.py"} if arguments is None else arguments)
    return Message(key, "assistant", None, "", tool_calls=(call,))


def result(text, key="result"):
    return Message(key, "tool", text, "", tool_call_id="t1")


def numbered(count, first=1):
    """Questions of one row each, with a blank row before."""
    return [asked(f"question {n}", f"q{n}") for n in range(first, first + count)]


def text_of(strip):
    return strip.text.rstrip()


def split(text):
    """The blocks of a whole answer."""
    splitter = Splitter()
    splitter.feed(text)
    splitter.finish()
    return splitter.blocks
