"""Reading what others may have put there: a regular file within its limit, or nothing."""

import os
import sys
from pathlib import Path

import pytest

from tui.files import UnfitFile, read_beginning, read_bounded, read_json


def a_link_to_a_device(path):
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize(
    ("make", "kind"),
    [(os.mkfifo, "a pipe"), (os.mkdir, "a directory"), (a_link_to_a_device, "a device")],
)
def test_what_is_no_regular_file_is_refused_at_once_and_named(tmp_path, make, kind):
    make(tmp_path / "file")
    with pytest.raises(UnfitFile, match=f"it is {kind}, not a regular file") as told:
        read_bounded(tmp_path / "file", 100, follow=True)
    assert told.value.filename == str(tmp_path / "file")


def test_a_link_to_a_regular_file_is_read_only_if_it_is_to_be_followed(tmp_path):
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    assert read_bounded(tmp_path / "link", 100, follow=True) == b"text"
    with pytest.raises(OSError, match="link"):
        read_bounded(tmp_path / "link", 100)


def test_a_file_is_read_up_to_its_limit_and_no_further(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 2048)
    assert read_bounded(path, 2048) == b"x" * 2048
    path.write_bytes(b"x" * 2049)
    with pytest.raises(UnfitFile, match="it is larger than 2 KiB"):
        read_bounded(path, 2048)


def test_the_beginning_of_a_regular_file_is_read_with_its_size(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 5000)
    assert read_beginning(path, 100) == (b"x" * 100, 5000)
    assert read_beginning(path, 6000) == (b"x" * 5000, 5000)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnfitFile, match="it is a pipe"):
        read_beginning(tmp_path / "pipe", 100)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has /proc")
def test_a_file_that_does_not_know_its_size_has_that_of_what_was_read():
    data, size = read_beginning(Path("/proc/self/status"), 100_000)
    assert size == len(data) > 0


@pytest.mark.parametrize("text", ["", "{", "[" * 1000 + "]" * 1000, "9" * 4300, "\udcff"])
def test_json_that_is_damaged_is_an_error_that_names_the_file(tmp_path, text):
    path = tmp_path / "file"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(UnfitFile, match="it is damaged") as told:
        read_json(path, 100_000)
    assert told.value.filename == str(path)
