"""The shim strikes exactly where it was told to, and nothing else changes."""

import errno
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import shim
from tests.faults.shim import (
    NO_FAULT,
    Fault,
    Kind,
    Outcome,
    run,
)

KILLED = -signal.SIGKILL

# Every operation that is watched, one a line, each of which also works if those before it failed:
# so that one that fails is told apart from one that suffers from it.
EACH_OPERATION = """
import os, errno
top = os.open(".", os.O_RDONLY)
def attempt(name, call, *arguments, **options):
    try:
        call(*arguments, **options)
        print(name, "done", flush=True)
    except OSError as error:
        print(name, errno.errorcode[error.errno], flush=True)
attempt("open", os.open, "new", os.O_WRONLY | os.O_CREAT)
attempt("write", os.write, data, b"first\\n")
attempt("pwrite", os.pwrite, data, b"second", 6)
attempt("writev", os.writev, data, [b"th", b"", b"ird"])
attempt("pwritev", os.pwritev, data, [b"fourth"], 100)
attempt("fsync", os.fsync, data)
attempt("fdatasync", os.fdatasync, data)
attempt("ftruncate", os.ftruncate, data, 3)
attempt("truncate", os.truncate, "a", 2)
attempt("mkdir", os.mkdir, "directory")
attempt("link", os.link, "a", "linked")
attempt("linkat", os.link, "a", "linked too", follow_symlinks=False)
attempt("rename", os.replace, "b", "renamed")
attempt("renameat", os.rename, "c", "renamed too", src_dir_fd=top, dst_dir_fd=top)
attempt("unlink", os.unlink, "d")
attempt("unlinkat", os.unlink, "e", dir_fd=top)
attempt("rmdir", os.rmdir, "empty")
attempt("unlinkat of a directory", os.rmdir, "empty too", dir_fd=top)
attempt("utimensat", os.utime, "a", (1, 1))
attempt("futimens", os.utime, data, (1, 1))
attempt("fsync of a directory", os.fsync, top)
"""
EACH_KIND: list[Kind] = [
    *["open"],
    *["write"] * 4,
    *["sync"] * 2,
    *["truncate"] * 2,
    "mkdir",
    *["link"] * 2,
    *["rename"] * 2,
    *["unlink"] * 2,
    *["rmdir"] * 2,
    *["utime"] * 2,
    "sync",
]
# The file that is written to is there before the counting starts, so that no fault hits it.
PREAMBLE = "import os; data = os.open('data', os.O_RDWR)\n"
FIRST = 2  # the number of EACH_OPERATION's first one; the preamble has one before it


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory with a few files, for the operations that need one."""
    directory = tmp_path / "root"
    for name in ("empty", "empty too"):
        (directory / name).mkdir(parents=True)
    for name in ("a", "b", "c", "d", "e", "data"):
        (directory / name).write_bytes(b"12345")
    return directory


@pytest.fixture
def python(root: Path) -> Callable[..., Outcome]:
    """Runs a script in the root, watched there."""

    def run_script(script: str, fault: Fault = NO_FAULT) -> Outcome:
        return run(command(script, root), root, fault)

    return run_script


def command(script: str, directory: Path) -> list[str]:
    # Without site, and with nothing of the environment, Python starts in a few milliseconds.
    return [sys.executable, "-I", "-S", "-c", f"import os; os.chdir({str(directory)!r})\n{script}"]


def kinds(outcome: Outcome) -> list[str]:
    return [one.kind for one in outcome.points]


def test_each_operation_is_in_the_trace_once_in_order_with_its_names_bytes_and_places(python):
    outcome = python(PREAMBLE + EACH_OPERATION)
    assert kinds(outcome) == ["open", *EACH_KIND]
    assert [one.number for one in outcome.points] == list(range(1, len(EACH_KIND) + 2))
    assert all(one.succeeded and not one.fault for one in outcome.operations)
    assert outcome.stdout.count(b" done\n") == len(EACH_KIND)
    by_number = {one.number: one for one in outcome.points}
    write, pwrite, writev, pwritev = (by_number[FIRST + step] for step in (1, 2, 3, 4))
    assert (write.path, write.offset, write.data, write.length) == ("data", 0, b"first\n", 6)
    assert (pwrite.offset, pwrite.data) == (6, b"second")
    assert (writev.offset, writev.data) == (6, b"third")
    assert (pwritev.offset, pwritev.data) == (100, b"fourth")
    assert (by_number[FIRST + 7].path, by_number[FIRST + 7].length) == ("data", 3)
    assert (by_number[FIRST + 8].path, by_number[FIRST + 8].length) == ("a", 2)
    assert (by_number[FIRST + 11].path, by_number[FIRST + 11].target) == ("a", "linked too")
    assert (by_number[FIRST + 13].path, by_number[FIRST + 13].target) == ("c", "renamed too")
    assert by_number[FIRST + 20].path == "."


def test_any_bytes_and_any_names_come_back_unchanged(python, root):
    data = bytes(range(256)) + b"\n\n7 write - 1 0\n"
    name = b"two\nlines \xff (deleted)"
    script = f"f = os.open({name!r}, os.O_CREAT | os.O_WRONLY); os.write(f, {data!r})"
    opened, written = python(script).points
    assert opened.path == written.path == os.fsdecode(name)
    assert written.data == data
    assert opened.inode == written.inode == (root / os.fsdecode(name)).stat().st_ino


def test_an_appended_write_has_the_place_where_it_landed(python):
    script = """
f = os.open("a", os.O_WRONLY | os.O_APPEND)
os.write(f, b"67")
os.pwrite(f, b"8", 0)
"""
    assert [one.offset for one in python(script).points[1:]] == [5, 7]


def test_reading_and_what_is_said_stand_in_the_trace_without_a_number(python):
    outcome = python("open('a', 'rb').read(); os.mkdir('first')")
    assert [(one.kind, one.number) for one in outcome.operations] == [
        ("open-read", 0),
        ("mkdir", 1),
    ]
    outcome = python("os.mkdir('x'); os.write(1, b'saved \\xff\\n'); os.mkdir('y'); print('end')")
    assert [(one.kind, one.number, one.data) for one in outcome.operations] == [
        ("mkdir", 1, b""),
        ("stdout", 0, b"saved \xff\n"),
        ("mkdir", 2, b""),
        ("stdout", 0, b"end\n"),
    ]
    assert outcome.stdout == b"saved \xff\nend\n"


def test_other_directories_are_left_alone(python, tmp_path):
    (tmp_path / "root beside").mkdir()
    script = f"""
os.chdir({str(tmp_path)!r})
f = os.open("root beside/file", os.O_CREAT | os.O_WRONLY)
os.write(f, b"x"); os.fsync(f); os.rename("root beside/file", "elsewhere")
os.mkdir("root/inside")
"""
    outcome = python(script, Fault.fail_from(1, errno.EIO))
    assert kinds(outcome) == ["mkdir"]
    assert outcome.returncode == 1
    assert (tmp_path / "elsewhere").read_bytes() == b"x"


@pytest.mark.parametrize(
    "call",
    [
        "os.mkdir('x')",
        "os.mkdir('./empty/../x/')",
        "os.mkdir(os.getcwd() + '//x')",
        "os.mkdir('x', dir_fd=os.open('.', os.O_RDONLY))",
        "os.mkdir('../x', dir_fd=os.open('empty', os.O_RDONLY))",
        "os.open('x', os.O_CREAT | os.O_WRONLY, dir_fd=os.open('.', os.O_RDONLY))",
        "os.chdir('empty'); os.mkdir('../x')",
        "os.chdir('/'); os.mkdir(ALIAS + '/x')",
    ],
)
def test_a_file_is_recognised_whatever_it_is_called(python, root, call):
    alias = root.parent / "alias"
    alias.symlink_to(root)
    outcome = python(call.replace("ALIAS", repr(str(alias))))
    assert [one.path for one in outcome.points] == ["x"]
    assert (root / "x").exists()


def test_an_open_file_is_known_by_its_inode_when_its_name_is_gone(python, root):
    script = """
f = os.open("temporary", os.O_CREAT | os.O_WRONLY)
os.link("temporary", "final"); os.unlink("temporary")
os.write(f, b"x")
"""
    opened, _, _, written = python(script).points
    assert written.path == "temporary"
    assert written.inode == opened.inode == (root / "final").stat().st_ino


@pytest.mark.parametrize("number", range(len(EACH_KIND)))
def test_exactly_the_chosen_operation_fails(python, number):
    outcome = python(PREAMBLE + EACH_OPERATION, Fault.fail(FIRST + number, errno.EDQUOT))
    answers = [line.rpartition(b" ")[2] for line in outcome.stdout.splitlines()]
    expected = [b"done"] * len(EACH_KIND)
    expected[number] = b"EDQUOT"
    assert answers == expected
    assert [(one.number, one.error, one.fault) for one in outcome.struck] == [
        (FIRST + number, errno.EDQUOT, "fail")
    ]


@pytest.mark.parametrize("number", range(0, len(EACH_KIND), 5))
def test_everything_fails_from_the_chosen_operation_on_and_has_done_nothing(python, root, number):
    before = sorted(os.listdir(root))
    outcome = python(PREAMBLE + EACH_OPERATION, Fault.fail_from(FIRST + number, errno.EACCES))
    answers = [line.rpartition(b" ")[2] for line in outcome.stdout.splitlines()]
    assert answers == [b"done"] * number + [b"EACCES"] * (len(EACH_KIND) - number)
    assert (root / "new").exists() == (number > 0)
    if not number:
        assert sorted(os.listdir(root)) == before
        assert {path.read_bytes() for path in root.iterdir() if path.is_file()} == {b"12345"}


def test_a_fault_may_count_some_kinds_only(python):
    outcome = python(PREAMBLE + EACH_OPERATION, Fault.fail(4, errno.EIO, kinds={"sync", "open"}))
    assert [line for line in outcome.stdout.splitlines() if not line.endswith(b" done")] == [
        b"fdatasync EIO"
    ]


def test_reading_and_saying_fail_where_they_are_named(python):
    script = """
for name in "ab":
    try: os.open(name, os.O_RDONLY); print(name)
    except OSError as error: print(error.errno)
os.mkdir("x")
"""
    outcome = python(script, Fault.fail(2, errno.EACCES, kinds={"open-read"}))
    assert outcome.stdout.split() == [b"a", str(errno.EACCES).encode()]
    assert kinds(outcome) == ["mkdir"]
    outcome = python("os.write(1, b'x')", Fault.fail(1, errno.EPIPE, kinds={"stdout"}))
    assert outcome.stdout == b""
    assert b"BrokenPipeError" in outcome.stderr


WRITES = """
f = os.open("written", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
for text in [b"abcdef", b"ghijkl", b"mnopqr"]:
    try: print(os.write(f, text), flush=True)
    except OSError as error: print(error.errno, flush=True)
"""


def test_a_short_write_writes_half_and_the_next_one_finds_the_disk_full(python, root):
    outcome = python(WRITES, Fault.short(2))
    assert outcome.stdout.split() == [b"3", str(errno.ENOSPC).encode(), b"6"]
    assert (root / "written").read_bytes() == b"abcmnopqr"
    assert [(one.number, one.fault, one.data) for one in outcome.struck] == [
        (2, "short", b"abc"),
        (3, "full", b""),
    ]


MAKE_FIVE = "for n in range(1, 6): os.mkdir(str(n)); print(n, flush=True)"


def made(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.name.isdecimal())


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("done", [0, 1])
def test_a_kill_before_or_after_an_operation_comes_before_anything_is_said(
    python, root, number, done
):
    fault = Fault.kill_after(number) if done else Fault.kill_before(number)
    outcome = python(MAKE_FIVE, fault)
    assert outcome.returncode == KILLED
    assert made(root) == ["1", "2", "3", "4", "5"][: number - 1 + done]
    assert len(outcome.stdout.split()) == number - 1
    assert [(one.number, one.succeeded) for one in outcome.struck] == [(number, bool(done))]


def test_a_kill_within_a_write_leaves_half_of_it(python, root):
    outcome = python(WRITES, Fault.kill_half(3))
    assert outcome.returncode == KILLED
    assert (root / "written").read_bytes() == b"abcdefghi"
    assert outcome.operations[-1].data == b"ghi"


def test_a_program_that_never_comes_so_far_is_not_struck(python, root):
    outcome = python(MAKE_FIVE, Fault.kill_before(6))
    assert (outcome.returncode, outcome.struck, len(made(root))) == (0, (), 5)


def test_one_operation_fails_and_a_later_one_is_the_last(python, root):
    script = (
        "f = os.open('a', os.O_WRONLY)\ntry: os.fsync(f)\nexcept OSError: print('!', flush=True)"
    )
    fault = Fault.fail(1, errno.EIO, kinds={"sync"}).and_kill(4)
    outcome = python(f"{script}\n{MAKE_FIVE}", fault)
    assert (outcome.returncode, outcome.stdout) == (KILLED, b"!\n1\n")
    assert made(root) == ["1"]


def test_where_two_faults_meet_it_fails_and_is_killed_then(python, root):
    fault = Fault.kill_after(2).also(Fault.fail(2, errno.EIO))
    outcome = python(MAKE_FIVE, fault)
    assert outcome.returncode == KILLED
    assert made(root) == ["1"]
    assert outcome.operations[-1].error == errno.EIO


THREADS = """
import threading
def work(name):
    for n in range(50):
        os.mkdir(f"{name} {n}")
        f = os.open(f"{name} {n}/file", os.O_CREAT | os.O_WRONLY)
        os.write(f, b"x"); os.fsync(f); os.close(f)
threads = [threading.Thread(target=work, args=[name]) for name in "wxyz"]
for thread in threads: thread.start()
for thread in threads: thread.join()
"""


def test_threads_share_one_count(python):
    points = python(THREADS).points
    assert [one.number for one in points] == list(range(1, 801))
    assert {one.kind for one in points} == {"mkdir", "open", "write", "sync"}


def test_children_are_not_watched_and_know_nothing(python, root):
    script = """
import subprocess, sys
child = "import os; os.mkdir('by a child'); print(*os.environ)"
told = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout
print([name for name in told.split() if "SHIM" in name or name == "LD_PRELOAD"])
if (pid := os.fork()) == 0:
    os.mkdir("by a fork")
    os._exit(0)
os.waitpid(pid, 0)
os.mkdir("by itself")
"""
    outcome = python(script)
    assert outcome.stdout == b"[]\n"
    assert [one.path for one in outcome.points] == ["by itself"]
    assert (root / "by a child").is_dir()
    assert (root / "by a fork").is_dir()


def test_a_program_that_is_not_watched_is_an_error(monkeypatch, root):
    monkeypatch.setattr(shim, "library", lambda: Path("/nowhere/shim.so"))
    with pytest.raises(RuntimeError, match="not watched"):
        run(command("", root), root)
