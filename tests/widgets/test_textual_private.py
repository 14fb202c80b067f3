"""Textual and Rich still have what the modules of private members rely on.

Fails by the name of a member that a release has removed, renamed or given other parameters.
"""

import itertools
from pathlib import Path

import pytest
import rich._wrap
import rich.cells
import textual.timer
from textual import _xterm_parser
from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.document import _wrapped_document
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.timer import Timer
from textual.widgets import Input, TextArea
from textual.widgets.text_area import Document, WrappedDocument

from tests.private_members import is_there, touched
from tests.tables import each_row
from tests.waiting import until
from tui.terminal import textual_private
from tui.widgets import textual_bases

SIZES = "(self, size, virtual_size, container_size, layout=True)"
WIDGETS = [
    (Input, "_cell_offset_to_index(self, offset)"),
    (Input, "_value"),
    (Screen, "_check_auto_scroll(self, select_widget, mouse_coordinate, delta_y)"),
    (Screen, "_select_state"),
    (Screen, "_watch__select_state(self, select_state)"),
    (ScrollView, f"_size_updated{SIZES}"),
    (TextArea, "_build_highlight_map(self)"),
    (TextArea, "_refresh_size(self)"),
    (TextArea, "_replace_via_keyboard(self, insert, start, end)"),
    (TextArea, "_restart_blink(self)"),
    (TextArea, "_rewrap_and_refresh_virtual_size(self)"),
    (TextArea, "_set_document(self, text, language)"),
    (TextArea, f"_size_updated{SIZES}"),
]
TERMINAL = [
    (XTermParser, "_sequence_to_key_events(self, sequence, alt=False)"),
    (LinuxDriver, "_app"),
    (LinuxDriver, "_run_input_thread(self)"),
    (LinuxDriver, "_get_terminal_size(self)"),
    (LinuxDriver, "_size"),
    (LinuxDriver, "_auto_restart"),
    (LinuxDriver, "_file"),
    (LinuxDriver, "_loop"),
    (LinuxDriver, "_must_signal_resume"),
    (LinuxDriver, "_writer_thread"),
    (LinuxDriver, "_sigtstp_application(self, *_)"),
    (LinuxDriver, "_sigcont_application(self, *_)"),
    (App, "_handle_exception(self, error)"),
    (App, "_driver"),
    (App, "_fatal_error(self)"),
    (App, "_close_messages_no_wait(self)"),
]
FUNCTIONS = {"_cell_len", "_wrap", "_wrapped_document"}
MODULES = {"_ansi_sequences", "_keyboard_protocol", "_xterm_parser"}
OWN = {"_place_terminal_cursor", "_wrapped"}


@each_row(
    "owner, member",
    [*WIDGETS, *TERMINAL],
)
def test_textual_still_has(owner: type, member: str):
    assert is_there(owner, member), f"Textual no longer has {owner.__name__}.{member}"


def test_textual_still_wraps_by_compute_wrap_offsets_of_wrapped_document(monkeypatch):
    monkeypatch.setattr(_wrapped_document, "compute_wrap_offsets", lambda *_, **__: [2])
    assert WrappedDocument(Document("one two"), width=5).get_sections(0) == ["on", "e two"]


def test_textual_still_gives_the_lines_of_a_document_to_be_changed():
    document = Document("one")
    document.lines[:] = ["two", "three"]
    assert document.text == "two\nthree"


def test_textual_still_reads_keys_from_ansi_sequences_keys():
    assert _xterm_parser.ANSI_SEQUENCES_KEYS is ANSI_SEQUENCES_KEYS
    assert textual_private.KEY_SEQUENCES is ANSI_SEQUENCES_KEYS
    assert [key.value for key in ANSI_SEQUENCES_KEYS["\x1b[A"]] == ["up"]


async def test_textual_still_drops_a_late_timer_and_none_of_ours_is(monkeypatch):
    app = App()
    async with app.run_test():
        moments = itertools.count()
        # Between any two looks at the clock the process stalls for a second.
        monkeypatch.setattr(textual.timer._time, "get_time", lambda: float(next(moments)))
        fired = []
        plain = Timer(app, 0.01, callback=lambda: fired.append("Textual's"), repeat=0)
        plain._start()
        await plain._task
        app.set_timer(0.01, lambda: fired.append("ours"))
        app.set_timer(0, lambda: fired.append("at once"))
        await until(lambda: len(fired) > 1)
        assert sorted(fired) == ["at once", "ours"]


def test_rich_still_counts_cells_by_cell_len_of_its_module(monkeypatch):
    monkeypatch.setattr(rich.cells, "_cell_len", lambda *_: 7)
    assert rich.cells.cell_len("\u200d, not asked for anywhere else") == 7


def test_rich_still_wraps_by_chop_cells_of_its_module(monkeypatch):
    monkeypatch.setattr(rich._wrap, "chop_cells", lambda *_, **__: ["o", "ne"])
    assert rich._wrap.divide_line("one", 2) == [1]


def test_rich_still_cuts_by_split_graphemes_of_its_module(monkeypatch):
    monkeypatch.setattr(rich.cells, "split_graphemes", lambda *_: ([(0, 2, 2), (2, 3, 1)], 3))
    assert rich.cells.chop_cells("\u200dab", 2) == ["\u200da", "b"]


@pytest.mark.parametrize(
    ("module", "members", "others"),
    [
        (textual_bases, WIDGETS, FUNCTIONS | OWN),
        (textual_private, TERMINAL, MODULES),
    ],
)
def test_every_private_member_that_is_used_is_listed_here(module, members, others):
    listed = {member.partition("(")[0] for _, member in members}
    assert touched(Path(module.__file__)) == listed | others
