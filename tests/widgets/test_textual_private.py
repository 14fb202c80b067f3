"""Textual and Rich still have what ``tui/widgets/textual_private`` relies on.

Fails by the name of a member that a release has removed, renamed or given other parameters.
"""

from pathlib import Path

import pytest
import rich._wrap
import rich.cells
from textual.document import _wrapped_document
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widgets import Input, TextArea
from textual.widgets.text_area import Document, WrappedDocument

from tests.private_members import is_there, touched
from tui.widgets import textual_private

SIZES = "(self, size, virtual_size, container_size, layout=True)"
MEMBERS = [
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
FUNCTIONS = {"_cell_len", "_wrap", "_wrapped_document"}
OWN = {"_place_terminal_cursor", "_wrapped"}


@pytest.mark.parametrize(
    ("owner", "member"), MEMBERS, ids=[f"{owner.__name__}.{member}" for owner, member in MEMBERS]
)
def test_textual_still_has(owner: type, member: str):
    assert is_there(owner, member), f"Textual no longer has {owner.__name__}.{member}"


def test_textual_still_wraps_by_compute_wrap_offsets_of_wrapped_document(monkeypatch):
    monkeypatch.setattr(_wrapped_document, "compute_wrap_offsets", lambda *_, **__: [2])
    assert WrappedDocument(Document("one two"), width=5).get_sections(0) == ["on", "e two"]


def test_rich_still_counts_cells_by_cell_len_of_its_module(monkeypatch):
    monkeypatch.setattr(rich.cells, "_cell_len", lambda *_: 7)
    assert rich.cells.cell_len("\u200d, not asked for anywhere else") == 7


def test_rich_still_wraps_by_chop_cells_of_its_module(monkeypatch):
    monkeypatch.setattr(rich._wrap, "chop_cells", lambda *_, **__: ["o", "ne"])
    assert rich._wrap.divide_line("one", 2) == [1]


def test_rich_still_cuts_by_split_graphemes_of_its_module(monkeypatch):
    monkeypatch.setattr(rich.cells, "split_graphemes", lambda *_: ([(0, 2, 2), (2, 3, 1)], 3))
    assert rich.cells.chop_cells("\u200dab", 2) == ["\u200da", "b"]


def test_textual_still_gives_the_lines_of_a_document_to_be_changed():
    document = Document("one")
    document.lines[:] = ["two", "three"]
    assert document.text == "two\nthree"


def test_every_private_member_that_is_used_is_listed_here():
    modules = Path(textual_private.__file__).parent.glob("*.py")
    listed = {member.partition("(")[0] for _, member in MEMBERS}
    assert touched(*modules) == listed | FUNCTIONS | OWN
