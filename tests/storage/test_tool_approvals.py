"""What is allowed for good, and what becomes of it when its file is bad."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tui.domain.tool_servers import ToolApproval
from tui.errors import StorageError
from tui.storage import tool_approvals

READ = ToolApproval("files", "read_file", "1")
WRITE = ToolApproval("files", "write_file", "1")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "tool-approvals.json"


def test_without_a_file_nothing_is_allowed(path):
    assert tool_approvals.read(path) == ()


def test_what_was_allowed_is_read_again(path):
    tool_approvals.allow(path, READ)
    tool_approvals.allow(path, WRITE)
    assert tool_approvals.read(path) == (READ, WRITE)


def test_the_file_is_private(path):
    tool_approvals.allow(path, READ)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_changed_tool_takes_the_place_of_what_it_was(path):
    tool_approvals.allow(path, READ)
    changed = ToolApproval("files", "read_file", "2")
    tool_approvals.allow(path, changed)
    assert tool_approvals.read(path) == (changed,)


def test_one_is_withdrawn_however_it_has_changed_or_all_are(path):
    tool_approvals.allow(path, READ)
    tool_approvals.allow(path, WRITE)
    tool_approvals.withdraw(path, [ToolApproval("files", "read_file", "2")])
    assert tool_approvals.read(path) == (WRITE,)
    tool_approvals.withdraw_all(path)
    assert tool_approvals.read(path) == ()
    tool_approvals.withdraw_all(path)


def test_two_programs_at_once_both_keep_theirs(path):
    tools = [ToolApproval("files", f"tool_{number}", "1") for number in range(20)]
    with ThreadPoolExecutor(4) as programs:
        list(programs.map(partial(tool_approvals.allow, path), tools))
    assert set(tool_approvals.read(path)) == set(tools)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 1}',
        '{"version": 2, "allowed": []}',
        '{"version": 1, "allowed": [{"server": "files"}]}',
        '{"version": 1, "allowed": [{"server": 1, "tool": 2, "fingerprint": 3}]}',
    ],
)
def test_a_damaged_file_allows_nothing_and_is_not_written_over(path, text):
    path.parent.mkdir()
    path.write_text(text)
    path.chmod(0o600)
    for use in (
        partial(tool_approvals.read, path),
        partial(tool_approvals.allow, path, READ),
        partial(tool_approvals.withdraw, path, [READ]),
    ):
        with pytest.raises(StorageError, match=r"tool-approvals\.json"):
            use()
    assert path.read_text() == text
    tool_approvals.withdraw_all(path)
    tool_approvals.allow(path, READ)
    assert tool_approvals.read(path) == (READ,)


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_can_change_allows_nothing(path, mode):
    tool_approvals.allow(path, READ)
    path.chmod(mode)
    with pytest.raises(StorageError, match="open to other users"):
        tool_approvals.read(path)


def test_a_link_or_a_pipe_in_its_place_allows_nothing(path):
    path.parent.mkdir()
    elsewhere = path.with_name("elsewhere.json")
    tool_approvals.allow(elsewhere, READ)
    path.symlink_to(elsewhere)
    with pytest.raises(StorageError):
        tool_approvals.read(path)
    path.unlink()
    os.mkfifo(path, 0o600)
    with pytest.raises(StorageError):
        tool_approvals.read(path)
