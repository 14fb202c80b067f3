"""What the program remembers of itself, and what becomes of it when its file is bad."""

import json
import os
import stat

import pytest

from tests.failing import raiser
from tui.errors import StorageError
from tui.storage import ui_state
from tui.storage.ui_state import UiState


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "sibyl" / "ui.json"


def test_what_was_changed_is_read_again(path):
    ui_state.change(path, {"sidebar_width": 40})
    ui_state.change(path, {"theme": "nord"})
    assert ui_state.read(path) == UiState(theme="nord", sidebar_width=40)


def test_a_change_to_none_forgets(path):
    ui_state.change(path, {"sidebar_width": 40, "theme": "nord"})
    ui_state.change(path, {"theme": None})
    assert ui_state.read(path) == UiState(sidebar_width=40)


def test_the_file_is_private(path):
    ui_state.change(path, {"sidebar_width": 40})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_keys_that_are_not_known_stay(path):
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1, "sidebar_width": 40, "later": [1]}')
    ui_state.change(path, {"sidebar_width": 44})
    assert json.loads(path.read_text()) == {"version": 1, "sidebar_width": 44, "later": [1]}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff",
        b'{"version": 1, "theme": "\xff"}',
        b"[" * 5000,
        b'{"sidebar_width": 40}',
        b" " * 100_000,
    ],
    ids=["empty", "torn", "list", "null", "bytes", "text", "deep", "no version", "large"],
)
def test_a_damaged_file_says_nothing_and_is_replaced(path, data):
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    assert ui_state.read(path) == UiState()
    ui_state.change(path, {"sidebar_width": 44})
    assert ui_state.read(path).sidebar_width == 44


def test_one_value_of_a_wrong_type_spoils_no_other(path):
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1, "sidebar_width": true, "theme": "nord"}')
    assert ui_state.read(path) == UiState(theme="nord")
    path.write_text('{"version": 1, "sidebar_width": 40, "theme": 3}')
    assert ui_state.read(path) == UiState(sidebar_width=40)


def test_a_file_of_another_version_is_neither_believed_nor_changed(path):
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 2, "sidebar_width": 40}')
    assert ui_state.read(path) == UiState()
    ui_state.change(path, {"sidebar_width": 44})
    assert path.read_text() == '{"version": 2, "sidebar_width": 40}'


def test_a_missing_file_and_one_that_is_none_say_nothing(path):
    assert ui_state.read(path) == UiState()
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert ui_state.read(path) == UiState()


def test_a_place_that_cannot_be_written_is_a_storage_error(path, monkeypatch):
    monkeypatch.setattr("tui.storage.disk.os.rename", raiser(OSError(30, "Read-only file system")))
    with pytest.raises(StorageError, match="Read-only"):
        ui_state.change(path, {"sidebar_width": 40})
    assert list(path.parent.iterdir()) == []
