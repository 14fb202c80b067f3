"""Steps of writing: what is durable when, and what a failure leaves behind."""

import errno
import os
import stat
from functools import partial

import pytest

from tests.tables import each_row
from tui.errors import StorageError, StorageFull
from tui.storage import disk
from tui.storage.disk import (
    make_directory,
    move,
    open_to_read,
    publish,
    replace,
    storage_errors,
)


class Fails:
    """A function of ``os`` that fails once, from its ``first`` call on or only then."""

    def __init__(self, monkeypatch, name, error=errno.EIO, first=1, *, forever=False):
        self.calls = 0
        real = getattr(os, name)

        def call(*arguments, **named):
            self.calls += 1
            if self.calls == first or (forever and self.calls > first):
                raise OSError(error, os.strerror(error))
            return real(*arguments, **named)

        monkeypatch.setattr(os, name, call)


def recorded(monkeypatch, *functions):
    """The functions of ``os`` that are called from now on, in order, with their first arguments."""
    done = []

    def call(name, real, first, *arguments, **named):
        done.append((name, first))
        return real(first, *arguments, **named)

    for name in functions:
        monkeypatch.setattr(os, name, partial(call, name, getattr(os, name)))
    return done


def cut_writes(monkeypatch, size):
    """Let each write end after so many bytes."""
    write = os.write
    monkeypatch.setattr(os, "write", lambda descriptor, data: write(descriptor, data[:size]))


def names(path):
    return sorted(os.listdir(path))


# --- errors


@each_row(
    "error, kind, words",
    [
        *((OSError(code, "x"), StorageFull, "") for code in (errno.ENOSPC, errno.EDQUOT)),
        (OSError(errno.EFBIG, "x"), StorageFull, ""),
        (OSError(errno.EIO, "x"), StorageError, "Input/output error"),
        (OSError("short"), StorageError, "short"),
    ],
)
def test_errors_are_told_with_what_was_being_done_and_a_full_disk_apart(error, kind, words):
    expected = pytest.raises(StorageError, match=f"Cannot save it: {words}")
    with expected as told, storage_errors("Cannot save it"):
        raise error
    assert type(told.value) is kind


# --- opening


def test_only_plain_files_are_opened(tmp_path):
    plain = tmp_path / "plain"
    plain.write_bytes(b"text")
    os.close(open_to_read(plain))
    (tmp_path / "link").symlink_to(plain)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "folder", "pipe"):
        with pytest.raises(OSError, match=name) as told:
            open_to_read(tmp_path / name)
        assert told.value.errno in disk.NOT_PLAIN
    with pytest.raises(FileNotFoundError):
        open_to_read(tmp_path / "nothing")


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_nothing_stays_open_after_what_was_not_a_plain_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    before = names("/proc/self/fd")
    for _ in range(5):
        with pytest.raises(OSError, match="pipe"):
            open_to_read(tmp_path / "pipe")
    assert names("/proc/self/fd") == before


def test_nothing_is_written_to_a_pipe_in_the_place_of_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match=r".") as told:
        disk.open_to_make(tmp_path / "pipe", os.O_WRONLY | os.O_TRUNC)
    assert told.value.errno in disk.NOT_PLAIN


# --- modes


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o277, 0o777])
def test_what_is_made_is_private_and_its_owner_can_use_it_whatever_the_umask(tmp_path, umask):
    old = os.umask(umask)
    try:
        make_directory(tmp_path / "folder")
        publish(tmp_path / "folder" / "new", b"text")
        replace(tmp_path / "folder" / "other", b"text")
    finally:
        os.umask(old)
    assert stat.S_IMODE(os.stat(tmp_path / "folder").st_mode) == 0o700
    for name in ("new", "other"):
        assert stat.S_IMODE(os.stat(tmp_path / "folder" / name).st_mode) == 0o600


def test_a_directory_that_is_there_is_left_as_it_is(tmp_path):
    make_directory(tmp_path / "a" / "b")
    (tmp_path / "a" / "b").chmod(0o750)
    make_directory(tmp_path / "a" / "b")
    assert stat.S_IMODE(os.stat(tmp_path / "a" / "b").st_mode) == 0o750


# --- publish


@pytest.mark.parametrize("code", [None, *sorted(disk._NO_LINKS)])
def test_a_file_is_published_whole_and_over_no_other_also_where_links_are_refused(
    tmp_path, monkeypatch, code
):
    if code:
        Fails(monkeypatch, "link", code, forever=True)
    publish(tmp_path / "new", b"text")
    with pytest.raises(FileExistsError):
        publish(tmp_path / "new", b"other")
    assert names(tmp_path) == ["new"]
    assert (tmp_path / "new").read_bytes() == b"text"


@pytest.mark.parametrize(
    ("name", "first"),
    [("open", 1), ("write", 1), ("fdatasync", 1), ("link", 1), ("fsync", 1), ("open", 2)],
)
def test_a_publishing_that_failed_leaves_nothing(tmp_path, monkeypatch, name, first):
    Fails(monkeypatch, name, errno.EIO, first)
    with pytest.raises(OSError, match="Input/output"):
        publish(tmp_path / "new", b"text")
    monkeypatch.undo()
    assert names(tmp_path) == []
    publish(tmp_path / "new", b"text")
    assert names(tmp_path) == ["new"]


@pytest.mark.parametrize("name", ["write", "fdatasync"])
def test_a_publishing_without_links_that_failed_leaves_nothing(tmp_path, monkeypatch, name):
    Fails(monkeypatch, "link", errno.EPERM, forever=True)
    Fails(monkeypatch, name, errno.EIO, first=2)
    with pytest.raises(OSError, match="Input/output"):
        publish(tmp_path / "new", b"text")
    assert names(tmp_path) == []


def test_a_file_is_durable_before_its_name_is(tmp_path, monkeypatch):
    done = recorded(monkeypatch, "write", "fdatasync", "link", "fsync", "unlink")
    publish(tmp_path / "new", b"text")
    assert [name for name, _ in done] == ["write", "fdatasync", "link", "unlink", "fsync"]


def test_a_short_write_is_an_error(tmp_path, monkeypatch):
    cut_writes(monkeypatch, 2)
    with pytest.raises(OSError, match="short write") as told:
        publish(tmp_path / "new", b"text")
    assert told.value.errno == errno.ENOSPC
    assert names(tmp_path) == []


@pytest.fixture
def on_macos(monkeypatch):
    """The platform without ``fdatasync``, with a flush that may fail; gives what was asked."""

    def sits(code=0):
        import fcntl

        asked = []

        def flush(descriptor, what):
            asked.append(what)
            if code:
                raise OSError(code, os.strerror(code))

        monkeypatch.setattr(disk.sys, "platform", "darwin")
        monkeypatch.delattr(os, "fdatasync")
        monkeypatch.setattr(os, "fsync", lambda descriptor: asked.append("fsync"))
        monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
        monkeypatch.setattr(fcntl, "fcntl", flush)
        return asked

    return sits


@pytest.mark.parametrize(
    ("code", "done"),
    [
        (0, [51]),
        *((code, [51, "fsync"]) for code in (errno.ENOTSUP, errno.EINVAL, errno.ENOTTY)),
    ],
)
def test_on_macos_files_and_their_names_reach_the_disk_itself_if_it_can_be_flushed(
    tmp_path, on_macos, code, done
):
    asked = on_macos(code)
    publish(tmp_path / "new", b"text")
    assert asked == done * 2


def test_on_macos_a_flush_that_failed_is_an_error(tmp_path, on_macos):
    on_macos(errno.EIO)
    with pytest.raises(OSError, match="Input/output"):
        publish(tmp_path / "new", b"text")
    assert names(tmp_path) == []


# --- replace


def test_a_file_is_replaced_in_one_step_by_itself_and_more(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"x" * 3_000_000 + b"tail")
    descriptor = os.open(path, os.O_RDONLY)
    replace(path, b"more", after=descriptor, length=3_000_000)
    os.close(descriptor)
    assert path.read_bytes() == b"x" * 3_000_000 + b"more"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("name", ["open", "write", "fdatasync", "rename"])
def test_a_replacing_that_failed_changes_nothing(tmp_path, monkeypatch, name):
    (tmp_path / "file").write_bytes(b"old")
    Fails(monkeypatch, name)
    with pytest.raises(OSError, match="Input/output"):
        replace(tmp_path / "file", b"new")
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_a_file_that_became_shorter_is_not_replaced_by_less(tmp_path):
    (tmp_path / "file").write_bytes(b"short")
    descriptor = os.open(tmp_path / "file", os.O_RDONLY)
    with pytest.raises(OSError, match="shorter"):
        replace(tmp_path / "file", b"more", after=descriptor, length=10)
    os.close(descriptor)
    assert (tmp_path / "file").read_bytes() == b"short"


# --- move


@pytest.fixture
def folders(tmp_path):
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    (tmp_path / "here" / "file").write_bytes(b"text")
    return tmp_path / "here" / "file", tmp_path / "there" / "file"


@pytest.mark.parametrize("way", ["plain", "killed half way", "without links"])
def test_a_move_leaves_one_name_and_is_made_over_no_other_file(folders, monkeypatch, way):
    source, target = folders
    if way == "without links":
        Fails(monkeypatch, "link", errno.EPERM, forever=True)
    target.write_bytes(b"other")
    with pytest.raises(FileExistsError):
        move(source, target)
    assert (source.read_bytes(), target.read_bytes()) == (b"text", b"other")
    target.unlink()
    if way == "killed half way":
        os.link(source, target)
    move(source, target)
    assert (names(source.parent), target.read_bytes()) == ([], b"text")


def test_a_file_is_not_moved_away_when_both_folders_are_one(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").symlink_to(tmp_path / "here")
    (tmp_path / "here" / "file").write_bytes(b"text")
    for target in (tmp_path / "there" / "file", tmp_path / "here" / "file"):
        with pytest.raises(FileExistsError):
            move(tmp_path / "here" / "file", target)
    assert (tmp_path / "here" / "file").read_bytes() == b"text"


@pytest.mark.parametrize("name", ["link", "open", "fsync", "unlink"])
@pytest.mark.parametrize("first", [1, 2])
def test_a_move_that_failed_is_not_begun_or_can_be_finished(folders, monkeypatch, name, first):
    source, target = folders
    with monkeypatch.context() as patch:
        fails = Fails(patch, name, errno.EIO, first)
        try:
            move(source, target)
        except OSError:
            assert fails.calls >= first
            assert first > 1 or (source.exists(), target.exists()) == (True, False)
        else:
            assert 0 < fails.calls < first
    assert {path.read_bytes() for path in (source, target) if path.exists()} == {b"text"}
    if source.exists():
        move(source, target)
    assert (names(source.parent), target.read_bytes()) == ([], b"text")
