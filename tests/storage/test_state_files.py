"""What the program remembers beside the sessions, and what becomes of it when its files are bad."""

import json
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.failing import raiser
from tui.domain.tool_servers import ToolApproval
from tui.errors import StorageError
from tui.storage.state_files import (
    CachedList,
    UiState,
    allow,
    change_lists,
    change_ui_state,
    read_approvals,
    read_lists,
    read_ui_state,
    withdraw,
    withdraw_all,
)

LIST = CachedList("http://127.0.0.1/v1", "2026-01-11T14:30:23.456Z", ("a", "b"))
READ = ToolApproval("files", "read_file", "1")
WRITE = ToolApproval("files", "write_file", "1")
BAD = [
    *(b"", b"{", b"[]", b"null", b"\xff", b'{"version": 1, "theme": "\xff"}', b"[" * 5000),
    b'{"sidebar_width": 40, "lists": {"a": 3}}',
    b" " * 2_000_000,
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "sibyl" / "tool-approvals.json"


@pytest.fixture
def written(path):
    """Writes the file as another program would."""

    def write(data):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o600)

    return write


# --- each of them


@pytest.mark.parametrize(
    "write",
    [
        lambda path: change_ui_state(path, {"sidebar_width": 40}),
        lambda path: change_lists(path, {"local": LIST}),
        lambda path: allow(path, READ),
    ],
)
def test_a_file_is_private_and_one_that_cannot_be_written_an_error(path, write, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("tui.storage.disk.os.rename", raiser(OSError(30, "Read-only file system")))
        with pytest.raises(StorageError, match="Read-only"):
            write(path)
    assert [each.name for each in path.parent.iterdir() if not each.name.endswith(".lock")] == []
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("write", "read"),
    [
        (lambda path, name: change_lists(path, {name: LIST}), read_lists),
        (
            lambda path, name: allow(path, ToolApproval("files", name, "1")),
            lambda path: [each.tool for each in read_approvals(path)],
        ),
    ],
)
def test_programs_that_write_at_once_all_count(path, write, read):
    names = {f"name_{number}" for number in range(20)}
    with ThreadPoolExecutor(4) as programs:
        list(programs.map(partial(write, path), names))
    assert {*read(path)} == names


# --- choices on screen


def test_what_was_changed_is_read_again_and_none_forgets_it(path):
    change_ui_state(path, {"sidebar_width": 40})
    change_ui_state(path, {"theme": "nord"})
    assert read_ui_state(path) == UiState(theme="nord", sidebar_width=40)
    change_ui_state(path, {"theme": None})
    assert read_ui_state(path) == UiState(sidebar_width=40)


def test_keys_that_are_not_known_stay_and_another_version_is_neither_believed_nor_changed(
    path, written
):
    written(b'{"version": 1, "sidebar_width": 40, "later": [1]}')
    change_ui_state(path, {"sidebar_width": 44})
    assert json.loads(path.read_text()) == {"version": 1, "sidebar_width": 44, "later": [1]}
    later = b'{"version": 2, "sidebar_width": 40}'
    written(later)
    assert read_ui_state(path) == UiState()
    change_ui_state(path, {"sidebar_width": 44})
    assert path.read_bytes() == later


@pytest.mark.parametrize("data", BAD)
def test_damaged_choices_say_nothing_and_are_replaced(path, written, data):
    written(data)
    assert read_ui_state(path) == UiState()
    change_ui_state(path, {"sidebar_width": 44})
    assert read_ui_state(path).sidebar_width == 44


def test_one_value_of_a_wrong_type_spoils_no_other(path, written):
    written(b'{"version": 1, "sidebar_width": true, "theme": "nord"}')
    assert read_ui_state(path) == UiState(theme="nord")
    written(b'{"version": 1, "sidebar_width": 40, "theme": 3}')
    assert read_ui_state(path) == UiState(sidebar_width=40)


def test_a_missing_file_and_one_that_is_none_say_nothing(path):
    assert read_ui_state(path) == UiState()
    assert read_lists(path) == {}
    assert read_approvals(path) == ()
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    assert read_ui_state(path) == UiState()


# --- lists of models


def test_lists_are_there_after_the_next_start(path):
    change_lists(path, {"local": LIST})
    change_lists(path, {"other": LIST})
    assert read_lists(path) == {"local": LIST, "other": LIST}
    change_lists(path, {"local": None})
    assert read_lists(path) == {"other": LIST}


@pytest.mark.parametrize("data", [*BAD, b'{"version": 2, "lists": {}}'])
def test_damaged_lists_or_another_version_count_as_empty(path, written, data):
    written(data)
    assert read_lists(path) == {}
    change_lists(path, {"local": LIST})
    assert read_lists(path) == {"local": LIST}


def test_lists_that_are_too_large_are_not_written(path):
    large = CachedList("", "", ("x" * 1000,) * 2000)
    change_lists(path, {"local": LIST})
    change_lists(path, {"large": large})
    assert json.loads(path.read_text())["lists"].keys() == {"local"}


# --- tools that are allowed


def test_a_changed_tool_takes_the_place_of_what_it_was_and_is_withdrawn_like_it(path):
    changed = ToolApproval("files", "read_file", "2")
    for tool in (READ, changed, WRITE):
        allow(path, tool)
    assert read_approvals(path) == (changed, WRITE)
    withdraw(path, [READ])
    assert read_approvals(path) == (WRITE,)
    for _ in range(2):
        withdraw_all(path)
        assert read_approvals(path) == ()


@pytest.mark.parametrize(
    "data",
    [
        *(b"", b"{", b"[]", b"null", b'{"version": 1}', b'{"version": 2, "allowed": []}'),
        b'{"version": 1, "allowed": [{"server": "files"}]}',
        b'{"version": 1, "allowed": [{"server": 1, "tool": 2, "fingerprint": 3}]}',
    ],
)
def test_a_damaged_file_allows_nothing_and_is_not_written_over(path, written, data):
    written(data)
    for use in (read_approvals, partial(allow, tool=READ), partial(withdraw, tools=[READ])):
        with pytest.raises(StorageError, match=r"tool-approvals\.json"):
            use(path)
    assert path.read_bytes() == data
    withdraw_all(path)
    allow(path, READ)
    assert read_approvals(path) == (READ,)


@pytest.mark.parametrize(
    "spoil",
    [
        *(partial(Path.chmod, mode=mode) for mode in (0o620, 0o602, 0o666)),
        lambda path: path.rename(path.with_name("x")) and path.symlink_to("x"),
        lambda path: path.unlink() or os.mkfifo(path, 0o600),
    ],
)
def test_a_link_a_pipe_or_a_file_that_others_can_change_allows_nothing(path, spoil):
    allow(path, READ)
    spoil(path)
    words = "open to other users" if path.is_file() and not path.is_symlink() else None
    with pytest.raises(StorageError, match=words):
        read_approvals(path)
