"""The model of the disk: what it takes from careless programs, and leaves to a careful one."""

import errno
import json
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.examples import examples
from tests.faults.power_cut import (
    CONTENTS_FIRST,
    METADATA_FIRST,
    OPTIMISTIC,
    PESSIMISTIC,
    REMOVALS_FIRST,
    WORLDS,
    ZEROS,
    Cut,
    Disk,
    Snapshot,
    TraceMismatchError,
    World,
    acknowledged_by,
    acknowledgements,
)
from tests.faults.shim import NO_FAULT, Fault, Kind, Operation, Outcome, run

# ---- Programs that save, and a checker that believes what they say ----

# Saves three versions of one file, each under a number that it says when it is safe. Every step
# that makes it safe is named, and left out or done otherwise if the name is among the arguments.
SAVER = """
import os, sys
careless = set(sys.argv[2:])
os.chdir(sys.argv[1])

def sync(descriptor, step):
    if step in careless:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        if "retries a failed sync" not in careless:
            raise
        os.fsync(descriptor)

def say(version):
    os.write(1, b"saved %d\\n" % version)

def publish(version):
    text = b"version %d" % version
    if "says so first" in careless:
        say(version)
    if "truncates in place" in careless:
        target, flags = "notes/file", os.O_CREAT | os.O_TRUNC | os.O_WRONLY
    else:
        target, flags = "notes/.temporary", os.O_CREAT | os.O_EXCL | os.O_WRONLY
    descriptor = os.open(target, flags)
    os.write(descriptor, text)
    sync(descriptor, "no sync of the file")
    os.close(descriptor)
    if "truncates in place" not in careless:
        if version == 1:
            os.link("notes/.temporary", "notes/file")
            os.unlink("notes/.temporary")
        elif "removes the old one first" in careless:
            os.unlink("notes/file")
            os.rename("notes/.temporary", "notes/file")
        else:
            os.rename("notes/.temporary", "notes/file")
    directory = os.open("notes", os.O_RDONLY)
    sync(directory, "no sync of the directory")
    os.close(directory)
    if "says so first" not in careless:
        say(version)

os.mkdir("notes")
top = os.open(".", os.O_RDONLY)
sync(top, "no sync of the directory above")
for version in 1, 2, 3:
    publish(version)
"""

# Moves an acknowledged file to another folder, with or without a sync between the two steps.
MOVER = """
import os, sys
careless = set(sys.argv[2:])
os.chdir(sys.argv[1])
descriptors = {name: os.open(name, os.O_RDONLY) for name in ("archive", "notes")}
if "copies without a sync" in careless:
    descriptor = os.open("archive/file", os.O_CREAT | os.O_WRONLY)
    os.write(descriptor, b"version 3")
else:
    os.link("notes/file", "archive/file")
if "no sync between" not in careless:
    os.fsync(descriptors["archive"])
os.unlink("notes/file")
os.fsync(descriptors["notes"])
"""

CARELESS = [
    "no sync of the file",
    "no sync of the directory",
    "no sync of the directory above",
    "truncates in place",
    "removes the old one first",
    "says so first",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "root"
    directory.mkdir()
    return directory


@pytest.fixture
def python(root: Path) -> Callable[..., Outcome]:
    """Runs a script with the root and further words as its arguments."""

    def run_script(script: str, *words: str, fault: Fault = NO_FAULT) -> Outcome:
        command = [sys.executable, "-I", "-S", "-c", script, str(root), *words]
        return run(command, root, fault)

    return run_script


def last_saved(acknowledged: bytes) -> int:
    return int(acknowledged.split()[-1]) if acknowledged else 0


def is_lost(files: Iterable[bytes], version: int) -> bool:
    """Whether none of the files has a whole version that is at least the one that was promised."""
    whole = [int(text.split()[1]) for text in files if text.startswith(b"version ")]
    return max(whole, default=0) < version


def losses(cuts: Iterable[Cut], promised: int = 0) -> list[Cut]:
    """The cuts after which something is gone that was promised or acknowledged."""
    return [
        cut
        for cut in cuts
        if is_lost(cut.left.files.values(), max(promised, last_saved(cut.acknowledged)))
    ]


def test_a_careful_program_loses_nothing_whenever_the_power_goes(python, root):
    before = Snapshot.of(root)
    outcome = python(SAVER)
    assert outcome.stdout == b"saved 1\nsaved 2\nsaved 3\n"
    disk = Disk(before, outcome.operations)
    disk.verify(root)
    assert losses(disk.cuts()) == []
    assert disk.left().files == {"notes/file": b"version 3"}


@pytest.mark.parametrize("carelessness", CARELESS)
def test_a_careless_program_is_caught(python, root, carelessness):
    before = Snapshot.of(root)
    outcome = python(SAVER, carelessness)
    # It works as well as the careful one, as long as the power stays.
    assert (root / "notes/file").read_bytes() == b"version 3"
    assert outcome.stdout == b"saved 1\nsaved 2\nsaved 3\n"
    assert losses(Disk(before, outcome.operations).cuts())


@pytest.mark.parametrize(
    ("carelessness", "saved", "caught"), [("", 1, False), ("retries a failed sync", 3, True)]
)
def test_who_gives_up_after_a_failed_sync_has_promised_nothing_and_who_tries_again_is_caught(
    python, root, carelessness, saved, caught
):
    before = Snapshot.of(root)
    fault = Fault.fail(4, errno.EIO, kinds={"sync"})  # the file of the second version
    outcome = python(SAVER, carelessness, fault=fault)
    assert last_saved(outcome.stdout) == saved
    assert bool(losses(Disk(before, outcome.operations).cuts())) == caught


@pytest.mark.parametrize(
    ("carelessness", "caught"),
    [("", False), ("no sync between", True), ("copies without a sync", True)],
)
def test_a_move_is_safe_only_if_the_new_name_is_there_first(python, root, carelessness, caught):
    for name in ("archive", "notes"):
        (root / name).mkdir()
    (root / "notes/file").write_bytes(b"version 3")
    before = Snapshot.of(root)
    cuts = Disk(before, python(MOVER, carelessness).operations).cuts()
    assert bool(losses(cuts, promised=3)) == caught


def test_killed_anywhere_a_program_leaves_what_the_model_says(python, root):
    """The model of a disk that keeps everything, at each prefix, against the real thing."""
    whole = Disk(Snapshot(), python(SAVER).operations)
    points = [one for one in whole.operations if one.number]
    assert {one.kind for one in points} >= {"open", "write", "sync", "link", "unlink", "rename"}
    for point in points:
        empty(root)
        python(SAVER, fault=Fault.kill_before(point.number))
        assert Snapshot.of(root) == whole.left(point.number - 1, OPTIMISTIC), str(point)


def test_killed_within_a_write_a_program_leaves_what_the_trace_says(python, root):
    outcome = python(SAVER, fault=Fault.kill_half(2, kinds={"write"}))
    assert (root / "notes/.temporary").read_bytes() == b"vers"
    Disk(Snapshot(), outcome.operations).verify(root)


def empty(root: Path) -> None:
    for path in sorted(root.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()


# ---- The rules of the model, one by one ----


class Story:
    """Operations made by hand, numbered as they come."""

    def __init__(self, **before: bytes) -> None:
        self.before = Snapshot(before)
        self.operations: list[Operation] = []
        self._inodes: dict[str, int] = {}

    def add(self, kind: Kind, path: str = "", **fields: object) -> "Story":
        number = 0 if kind in {"stdout", "open-read"} else len(self.numbered) + 1
        self.operations.append(Operation(number, kind, path, **fields))  # type: ignore[arg-type]
        return self

    @property
    def numbered(self) -> list[Operation]:
        return [one for one in self.operations if one.number]

    def create(self, path: str, flags: int = os.O_CREAT) -> "Story":
        return self.add("open", path, flags=flags, inode=self._inode(path))

    def write(self, path: str, data: bytes, offset: int = 0) -> "Story":
        inode = self._inode(path)
        return self.add("write", path, data=data, offset=offset, inode=inode, result=len(data))

    def truncate(self, path: str, length: int) -> "Story":
        return self.add("truncate", path, length=length)

    def sync(self, path: str) -> "Story":
        return self.add("sync", path, inode=self._inode(path))

    def fail_to_sync(self, path: str) -> "Story":
        return self.add("sync", path, inode=self._inode(path), result=-1, error=errno.EIO)

    def rename(self, path: str, target: str) -> "Story":
        return self.add("rename", path, target=target)

    def link(self, path: str, target: str) -> "Story":
        return self.add("link", path, target=target)

    def left(self, world: World = PESSIMISTIC) -> dict[str, bytes]:
        return dict(Disk(self.before, self.operations).left(world=world).files)

    def _inode(self, path: str) -> int:
        return 0 if path == "." else self._inodes.setdefault(path, len(self._inodes) + 1)


def everywhere(story: Story) -> dict[str, dict[str, bytes]]:
    return {str(world): story.left(world) for world in WORLDS}


def in_all_worlds(files: dict[str, bytes]) -> dict[str, dict[str, bytes]]:
    return {str(world): files for world in WORLDS}


def test_a_new_file_needs_a_sync_of_its_own_and_one_of_its_directory():
    assert everywhere(Story(a=b"x")) == in_all_worlds({"a": b"x"})
    story = Story().create("a").write("a", b"x").sync("a").sync(".")
    assert everywhere(story) == in_all_worlds({"a": b"x"})
    story = Story().create("a").write("a", b"x").sync("a")
    assert story.left() == {}
    assert story.left(METADATA_FIRST) == {"a": b"x"}
    story = Story().create("a").write("a", b"x").sync(".")
    assert story.left() == story.left(METADATA_FIRST) == {"a": b""}
    assert story.left(ZEROS) == {"a": b"\0"}
    assert story.left(CONTENTS_FIRST) == story.left(OPTIMISTIC) == {"a": b"x"}


def test_a_sync_is_of_one_file_and_of_the_writes_before_it():
    story = Story().create("a").write("a", b"one").sync("a").write("a", b"two", 3).sync(".")
    assert story.left() == {"a": b"one"}
    assert story.left(ZEROS) == {"a": b"one\0\0\0"}
    story = Story(a=b"", b=b"").create("a").create("b")
    assert story.write("a", b"x").write("b", b"y").sync("b").left() == {"a": b"", "b": b"y"}


def test_a_write_goes_to_its_place_and_one_of_nothing_changes_nothing():
    story = Story(a=b"12345").create("a").write("a", b"67", 3).write("a", b"8", 7).sync("a")
    assert story.left() == {"a": b"12367\0\x008"}
    story = Story(a=b"1").create("a").write("a", b"", 9)
    assert everywhere(story) == everywhere(story.sync("a")) == in_all_worlds({"a": b"1"})


def test_a_rename_needs_a_sync_of_its_directory_and_the_file_one_of_its_own_by_any_name():
    story = Story(a=b"old", b=b"new").rename("b", "a")
    both = {"a": b"old", "b": b"new"}
    assert story.left() == story.left(REMOVALS_FIRST) == story.left(CONTENTS_FIRST) == both
    assert story.left(METADATA_FIRST) == story.left(OPTIMISTIC) == {"a": b"new"}
    assert everywhere(story.sync(".")) == in_all_worlds({"a": b"new"})
    story = Story(a=b"old").create("b").write("b", b"new").rename("b", "a")
    assert story.left(METADATA_FIRST) == {"a": b""}
    assert story.sync(".").left() == {"a": b""}
    story = Story().create("b").rename("b", "a").write("b", b"x").sync("b").sync(".")
    assert everywhere(story) == in_all_worlds({"a": b"x"})


def test_two_names_are_one_file_and_a_rename_of_one_onto_the_other_does_nothing():
    story = Story().create("a").link("a", "b").add("unlink", "a").write("a", b"x").sync("a")
    assert everywhere(story.sync(".")) == in_all_worlds({"b": b"x"})
    story = Story(a=b"x").link("a", "b").rename("a", "b").sync(".")
    assert everywhere(story) == in_all_worlds({"a": b"x", "b": b"x"})


def test_a_removal_needs_a_sync_and_may_come_before_what_was_added_earlier():
    story = Story(a=b"x").add("unlink", "a")
    assert story.left() == story.left(CONTENTS_FIRST) == {"a": b"x"}
    assert story.left(REMOVALS_FIRST) == story.left(METADATA_FIRST) == {}
    assert everywhere(story.sync(".")) == in_all_worlds({})
    story = Story(a=b"x").link("a", "b").add("unlink", "a")
    assert story.left(REMOVALS_FIRST) == {}
    assert story.left(METADATA_FIRST) == {"b": b"x"}


def test_a_truncation_may_come_first_takes_away_what_waits_and_can_make_a_file_longer():
    story = Story(a=b"old").create("a", os.O_TRUNC).write("a", b"newer")
    assert story.left() == {"a": b"old"}
    assert story.left(METADATA_FIRST) == {"a": b""}
    assert story.left(ZEROS) == {"a": b"\0" * 5}
    assert story.left(OPTIMISTIC) == {"a": b"newer"}
    assert everywhere(story.sync("a")) == in_all_worlds({"a": b"newer"})
    story = Story(a=b"12345").create("a").write("a", b"678", 5).truncate("a", 6).sync("a")
    assert everywhere(story) == in_all_worlds({"a": b"123456"})
    assert everywhere(Story(a=b"1").truncate("a", 3).sync("a")) == in_all_worlds({"a": b"1\0\0"})


def test_what_a_failed_sync_threw_away_is_safe_only_once_it_is_written_again():
    story = Story(a=b"1").create("a").write("a", b"2", 1).fail_to_sync("a").sync("a")
    assert story.left() == {"a": b"1"}
    assert story.write("a", b"3", 2).sync("a").left() == {"a": b"1\x003"}
    assert story.left(OPTIMISTIC) == {"a": b"123"}
    story = Story(a=b"1").create("a").write("a", b"2", 1).fail_to_sync("a").truncate("a", 1)
    assert everywhere(story.write("a", b"2", 1).sync("a")) == in_all_worlds({"a": b"12"})
    story = Story(a=b"123").truncate("a", 1).fail_to_sync("a").sync("a")
    assert everywhere(story) == in_all_worlds({"a": b"1"})


def test_an_operation_that_failed_and_a_kill_before_a_sync_change_nothing():
    story = Story(a=b"x").add("unlink", "a", result=-1, error=errno.EIO).sync(".")
    assert everywhere(story) == in_all_worlds({"a": b"x"})
    story = Story(a=b"").create("a").write("a", b"x")
    story.add("sync", "a", inode=1, result=-1, fault="kill-before").sync("a")
    assert story.left() == {"a": b"x"}


def test_a_file_is_there_only_with_the_directories_above_it_which_take_it_along():
    story = Story().add("mkdir", "d").create("d/a").write("d/a", b"x").sync("d/a").sync("d")
    assert story.left() == {}
    assert Disk(story.before, story.operations).left().directories == frozenset()
    assert everywhere(story.sync(".")) == in_all_worlds({"d/a": b"x"})
    story = Story().add("mkdir", "d").create("d/a").sync("d").sync(".").rename("d", "e").sync(".")
    assert everywhere(story.write("d/a", b"x").sync("d/a")) == in_all_worlds({"e/a": b"x"})


def test_a_new_file_with_an_old_inode_is_a_new_file():
    story = Story(a=b"x", b=b"").create("a").sync(".")
    story.add("unlink", "a").add("open", "b", flags=0, inode=1).add(
        "write", "b", data=b"y", inode=1, result=1
    )
    assert story.add("sync", "b", inode=1).sync(".").left() == {"b": b"y"}


def test_the_power_may_go_at_any_operation():
    story = Story().create("a").write("a", b"x").sync("a").sync(".").add("unlink", "a").sync(".")
    disk = Disk(story.before, story.operations)
    assert [disk.left(upto).files for upto in range(8)] == [
        *[{}] * 4,
        *[{"a": b"x"}] * 2,
        *[{}] * 2,
    ]
    assert [disk.left(upto, OPTIMISTIC).files for upto in range(7)] == [
        {},
        {"a": b""},
        *[{"a": b"x"}] * 3,
        *[{}] * 2,
    ]


def test_a_story_that_cannot_be_true_is_refused():
    for story in (
        Story().write("a", b"x"),
        Story().rename("a", "b"),
        Story(a=b"").create("a/b"),
        Story(a=b"").rename("/elsewhere", "a"),
        Story().create("a", flags=0).write("a", b"x"),
        Story().create("a").add("unlink", "a").add("open", "b", inode=1).add("sync", "b", inode=1),
        Story().add("mkdir", "d").add("write", "d", data=b"x", result=1),
        Story(a=b"", b=b"").add("rename", "a", target="b", flags=2),
    ):
        with pytest.raises(TraceMismatchError):
            story.left()


# ---- What was said, and when ----


def test_what_is_said_belongs_to_the_operation_before_it():
    story = Story().add("stdout", data=b"0").create("a").sync("a").add("stdout", data=b"2")
    story.add("stdout", data=b"!").sync(".").add("stdout", data=b"")
    said = acknowledgements(story.operations)
    assert said == [(0, b"0"), (2, b"02"), (2, b"02!")]
    assert [acknowledged_by(said, number) for number in range(4)] == [b"0", b"0", b"02!", b"02!"]
    assert acknowledged_by([], 3) == b""


def test_a_cut_knows_what_had_been_said_and_what_looks_the_same_is_given_once():
    story = Story().create("a").add("stdout", data=b"!").sync(".")
    cuts = list(Disk(story.before, story.operations).cuts([PESSIMISTIC]))
    assert [(cut.number, cut.acknowledged, cut.left.files) for cut in cuts] == [
        (0, b"", {}),
        (1, b"!", {}),
        (2, b"!", {"a": b""}),
    ]
    assert str(cuts[1]) == "power cut after operation 1 (nothing without a sync)"
    story = Story(a=b"x").sync("a").sync(".")
    assert len(list(Disk(story.before, story.operations).cuts())) == 1


# ---- Directories: as they are, and made again ----


def test_a_directory_is_made_again_as_it_was(root, tmp_path):
    (root / "d/e").mkdir(parents=True)
    (root / "d/a").write_bytes(b"x\0")
    (root / "b").hardlink_to(root / "d/a")
    (root / "link").symlink_to("d")
    snapshot = Snapshot.of(root)
    snapshot.materialise(tmp_path / "copy")
    assert Snapshot.of(tmp_path / "copy") == snapshot
    assert snapshot.files == {"b": b"x\0", "d/a": b"x\0"}
    assert snapshot.directories == {"d", "d/e"}
    assert (tmp_path / "copy/b").samefile(tmp_path / "copy/d/a")
    assert (tmp_path / "copy/b").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "copy/d/e").stat().st_mode & 0o777 == 0o700


UNSEEN = [
    "os.mkdir('d'); os.posix_fallocate(f, 0, 9)",
    "import subprocess; subprocess.run(['touch', 'b'])",
    "os.sendfile(f, os.open('a', os.O_RDONLY), 0, 1); os.mkdir('d')",
]


@pytest.mark.parametrize("script", UNSEEN)
def test_what_was_done_unseen_is_found_out(python, root, script):
    (root / "a").write_bytes(b"x")
    before = Snapshot.of(root)
    opening = "import os, sys; os.chdir(sys.argv[1]); f = os.open('c', os.O_CREAT | os.O_RDWR)\n"
    outcome = python(opening + script)
    assert outcome.returncode == 0
    with pytest.raises(TraceMismatchError, match=r"not as the trace says: [bc]"):
        Disk(before, outcome.operations).verify(root)


# ---- The model against the file system ----

# Does what it is told, whether that works or not.
OBEDIENT = """
import json, os, sys
os.chdir(sys.argv[1])
opened = []
for name, *arguments in json.loads(sys.argv[2]):
    try:
        if name == "open":
            opened.append(os.open(arguments[0], os.O_CREAT | os.O_RDWR | arguments[1]))
        elif name in ("write", "fsync", "ftruncate", "pwrite"):
            if opened:
                arguments = [a.encode() if isinstance(a, str) else a for a in arguments]
                getattr(os, name)(opened[-1], *arguments)
        elif name == "close":
            os.close(opened.pop())
        else:
            getattr(os, name)(*arguments)
    except (OSError, IndexError):
        pass

def sync(path):
    descriptor = os.open(path, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)

for above, directories, files in os.walk("."):
    for name in [".", *files]:
        sync(os.path.join(above, name))
"""

names = st.sampled_from(["a", "b", "d", "d/a", "d/b", "d/e", "e", "e/a"])
flags = st.sampled_from([0, 0, os.O_TRUNC, os.O_APPEND, os.O_EXCL])
steps = st.one_of(
    st.tuples(st.just("open"), names, flags),
    st.tuples(st.just("write"), st.text("xyz", max_size=9)),
    st.tuples(st.just("pwrite"), st.text("uvw", max_size=9), st.integers(0, 12)),
    st.tuples(st.just("ftruncate"), st.integers(0, 9)),
    st.tuples(st.sampled_from(["fsync", "close"])),
    st.tuples(st.sampled_from(["mkdir", "rmdir", "unlink"]), names),
    st.tuples(st.sampled_from(["rename", "link"]), names, names),
    st.tuples(st.just("truncate"), names, st.integers(0, 9)),
)


# Each example is a process: few and long ones. Another choice of them is no business of whoever
# changes the program, so they stay the same.
@settings(
    examples(0.6),
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(steps, min_size=10, max_size=60))
def test_whatever_a_program_does_the_model_ends_where_the_file_system_does(python, root, told):
    empty(root)
    (root / "d").mkdir()
    (root / "d/a").write_bytes(b"12345")
    (root / "b").hardlink_to(root / "d/a")
    before = Snapshot.of(root)
    disk = Disk(before, python(OBEDIENT, json.dumps(told)).operations)
    disk.verify(root)
    # At the end it has synced whatever it finds: then all worlds are one.
    assert [disk.left(world=world) for world in WORLDS] == [Snapshot.of(root)] * len(WORLDS)
    assert disk.left(0) == before
    # And before that, with no sync at all, the hardest has changed nothing.
    unsynced = [one for one in disk.operations if one.kind != "sync"]
    assert Disk(before, unsynced).left() == before
