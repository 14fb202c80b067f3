"""The file of the debug log: private, bounded, and no link."""

import os
import stat

import pytest

from tui.files import UnfitFile
from tui.storage.log_file import LogFile


@pytest.fixture
def path(tmp_path):
    return tmp_path / "debug.log"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_it_is_private_from_the_first_open_whatever_the_umask_or_the_file(path):
    earlier = os.umask(0)
    try:
        LogFile(path).close()
    finally:
        os.umask(earlier)
    assert mode(path) == 0o600
    path.write_bytes(b"one\n")
    path.chmod(0o644)
    file = LogFile(path)
    file.write(b"two\n")
    file.close()
    assert mode(path) == 0o600
    assert path.read_bytes() == b"one\ntwo\n"


def test_a_link_is_not_followed_and_a_pipe_refused_at_once(path, tmp_path):
    path.symlink_to(tmp_path / "other")
    with pytest.raises(OSError, match="symbolic"):
        LogFile(path)
    assert not (tmp_path / "other").exists()
    path.unlink()
    os.mkfifo(path)
    with pytest.raises((UnfitFile, OSError)):
        LogFile(path)


def test_a_full_file_is_renamed_and_the_one_before_it_replaced(path):
    file = LogFile(path, most=20)
    for number in range(7):
        file.write(b"entry %03d\n" % number)
    file.close()
    assert path.read_bytes() == b"entry 006\n"
    earlier = path.with_name("debug.log.1")
    assert earlier.read_bytes() == b"entry 004\nentry 005\n"
    assert mode(earlier) == mode(path) == 0o600


def test_two_programs_share_it_and_neither_renames_what_the_other_has_begun(path):
    one, other = LogFile(path, most=20), LogFile(path, most=20)
    one.write(b"one  0001\n")
    other.write(b"other 001\n")
    one.write(b"one  0002\n")
    other.write(b"other 002\n")
    one.close()
    other.close()
    assert path.with_name("debug.log.1").read_bytes() == b"one  0001\nother 001\n"
    assert path.read_bytes() == b"one  0002\nother 002\n"
