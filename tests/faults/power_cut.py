"""What is left of a directory when the power goes, told from a trace of ``tests.faults.shim``.

::

    before = Snapshot.of(root)
    outcome = run(command, root)
    for cut in Disk(before, outcome.operations).cuts():
        ...  # cut.acknowledged, cut.left.files; or cut.left.materialise(empty) and a program

POSIX promises little: what was written is there after a sync of that file, and a name that was
made, changed or removed is so after a sync of its directory. What was not synced may be there or
not, in any combination; a ``World`` is one of the combinations that real disks have shown.
A sync that failed has thrown away what it should have written: no later one brings it back.

Not modelled: times and modes of files, symbolic links, writes torn within.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.faults.shim import Operation

_RENAME_EXCHANGE = 2  # of renameat2; Python has no name for it


@dataclass(frozen=True)
class World:
    """Which changes reach the disk by themselves, at once; the others wait for their sync."""

    name: str
    contents: bool = False
    """The bytes that were written."""
    lengths: bool = False
    """How long the file became by writing; with no bytes it is zeros from there on."""
    truncations: bool = False
    additions: bool = False
    """New names, and renames."""
    removals: bool = False

    def __str__(self) -> str:
        return self.name


PESSIMISTIC = World("nothing without a sync")
REMOVALS_FIRST = World("removals first", removals=True)
METADATA_FIRST = World("names first", truncations=True, additions=True, removals=True)
ZEROS = World("zeros", lengths=True, truncations=True, additions=True, removals=True)
CONTENTS_FIRST = World("contents first", contents=True, truncations=True)
OPTIMISTIC = World("everything", contents=True, truncations=True, additions=True, removals=True)
WORLDS = (PESSIMISTIC, REMOVALS_FIRST, METADATA_FIRST, ZEROS, CONTENTS_FIRST, OPTIMISTIC)


class TraceMismatchError(Exception):
    """The trace speaks of files that cannot be there: something happened that was not watched."""


@dataclass(frozen=True)
class Snapshot:
    """Files and directories below a directory, by relative path; all of it is on the disk."""

    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    directories: frozenset[str] = frozenset()
    same: Mapping[str, str] = field(default_factory=dict[str, str])
    """A further name of a file (a hard link), and the name of it that is in ``files``."""

    @classmethod
    def of(cls, root: Path) -> Self:
        files: dict[str, bytes] = {}
        same: dict[str, str] = {}
        directories: set[str] = set()
        first_names: dict[int, str] = {}
        for path in sorted(root.rglob("*")):
            name = str(path.relative_to(root))
            if path.is_symlink():
                continue
            if path.is_dir():
                directories.add(name)
            elif path.is_file():
                first = first_names.setdefault(path.stat().st_ino, name)
                if first != name:
                    same[name] = first
                files[name] = path.read_bytes()
        return cls(files, frozenset(directories), same)

    def materialise(self, root: Path) -> None:
        """Make it so in an empty directory, private to the user; one that is not there is made."""
        root.mkdir(mode=0o700, exist_ok=True)
        for name in sorted(self.directories):
            (root / name).mkdir(mode=0o700)
        for name, content in self.files.items():
            if name in self.same:
                continue
            (root / name).write_bytes(content)
            (root / name).chmod(0o600)
        for name, first in self.same.items():
            (root / name).hardlink_to(root / first)


@dataclass(frozen=True)
class Cut:
    """What a power cut after operation ``number`` leaves behind, in one of the worlds."""

    number: int
    world: World
    left: Snapshot
    acknowledged: bytes
    """What the program had said on its standard output until the next operation."""

    def __str__(self) -> str:
        return f"power cut after operation {self.number} ({self.world})"


class Disk:
    """A directory as it was, and what a program then did to it."""

    def __init__(self, before: Snapshot, operations: Iterable[Operation]) -> None:
        self._before = before
        self.operations = tuple(operations)

    def left(self, upto: int | None = None, world: World = PESSIMISTIC) -> Snapshot:
        """What is there after a cut when operation ``upto`` was done and the next had not begun.

        A cut within an operation is one before it. Without ``upto``: after the last.
        """
        replay = _Replay(self._before, world)
        for one in self.operations:
            if upto is not None and one.number > upto:
                break
            replay.do(one)
        return replay.left()

    def cuts(self, worlds: Sequence[World] = WORLDS) -> Iterator[Cut]:
        """Every moment in every world, from before the first operation on.

        What looks the same as one that was given already, and was acknowledged as much, is left
        out.
        """
        said = acknowledgements(self.operations)
        given: list[tuple[Snapshot, bytes]] = []
        for world in worlds:
            for number, left in self._states(world):
                acknowledged = acknowledged_by(said, number)
                if (left, acknowledged) not in given:
                    given.append((left, acknowledged))
                    yield Cut(number, world, left, acknowledged)

    def _states(self, world: World) -> Iterator[tuple[int, Snapshot]]:
        """The number of each operation, from 0 on, and what is left after it."""
        replay = _Replay(self._before, world)
        number = 0
        for one in self.operations:
            if one.number > number:
                yield number, replay.left()
                number = one.number
            replay.do(one)
        yield number, replay.left()

    def verify(self, root: Path) -> None:
        """Raise ``TraceMismatchError`` if the program did something to ``root`` unseen.

        What it wrote through mmap, sendfile or in child processes, say, is not in the trace, and
        what ``left`` says would be wrong.
        """
        told, there = self.left(world=OPTIMISTIC), Snapshot.of(root)
        names = {*told.directories, *told.files} ^ {*there.directories, *there.files}
        names |= {name for name, content in told.files.items() if there.files.get(name) != content}
        if names:
            raise TraceMismatchError(f"not as the trace says: {', '.join(sorted(names))}")


def acknowledgements(operations: Iterable[Operation]) -> list[tuple[int, bytes]]:
    """What the program had said when: the last operation before it, and all output so far.

    After a cut at that number or any later one, all of it must hold.
    """
    said: list[tuple[int, bytes]] = []
    number, output = 0, b""
    for one in operations:
        number = max(number, one.number)
        if one.kind == "stdout" and one.data:
            output += one.data
            said.append((number, output))
    return said


def acknowledged_by(said: Iterable[tuple[int, bytes]], number: int) -> bytes:
    """The output that a reader had seen when operation ``number`` was done and no later one."""
    return max((output for when, output in said if when <= number), key=len, default=b"")


class _File:
    """Bytes on the disk, and the edits that wait for a sync."""

    def __init__(self, content: bytes = b"") -> None:
        self.on_disk = bytearray(content)
        self._waiting: list[Operation] = []

    def edit(self, operation: Operation, world: World) -> None:
        at_once = world.truncations if operation.kind == "truncate" else world.contents
        if at_once:
            self._apply(operation)
        elif operation.data and world.lengths:
            self._reach(operation.offset + len(operation.data))
        # Again at the sync, in its turn: a truncation may follow a write that waited.
        self._waiting.append(operation)

    def sync(self) -> None:
        for operation in self._waiting:
            self._apply(operation)
        self._waiting.clear()

    def fail_to_sync(self) -> None:
        # Linux marks the pages clean all the same; how long the file is, its journal still knows.
        self._waiting = [one for one in self._waiting if one.kind == "truncate"]

    def _apply(self, operation: Operation) -> None:
        if operation.kind == "truncate":
            self._reach(operation.length)
            del self.on_disk[operation.length :]
        elif operation.data:
            self._reach(operation.offset)
            self.on_disk[operation.offset : operation.offset + len(operation.data)] = operation.data

    def _reach(self, length: int) -> None:
        self.on_disk.extend(bytes(max(0, length - len(self.on_disk))))


class _Directory:
    """The names that the program sees, and those that the disk has."""

    def __init__(self) -> None:
        self.seen: dict[str, _File | _Directory] = {}
        self.on_disk: dict[str, _File | _Directory] = {}

    def sync(self) -> None:
        self.on_disk = dict(self.seen)

    def add(self, name: str, node: "_File | _Directory", *, at_once: bool) -> None:
        self.seen[name] = node
        if at_once:
            self.on_disk[name] = node

    def remove(self, name: str, *, at_once: bool) -> None:
        del self.seen[name]
        if at_once:
            self.on_disk.pop(name, None)

    def walk(self, above: str = "") -> Iterator[tuple[str, "_File | _Directory"]]:
        """All that the disk has, parents first."""
        for name, node in sorted(self.on_disk.items()):
            yield above + name, node
            if isinstance(node, _Directory):
                yield from node.walk(f"{above}{name}/")


class _Replay:
    """The operations done again, one by one, to a model of the directory."""

    def __init__(self, before: Snapshot, world: World) -> None:
        self._world = world
        self._root = _Directory()
        self._opened: dict[int, _File | _Directory] = {}
        for name in sorted(before.directories):
            self._put(name, _Directory())
        for name, content in before.files.items():
            if name not in before.same:
                self._put(name, _File(content))
        for name, first in before.same.items():
            self._put(name, self._at(first))

    def do(self, operation: Operation) -> None:
        if not operation.succeeded:
            self._do_failed(operation)
            return
        match operation.kind:
            case "open" | "open-read":
                self._open(operation)
            case "write" | "truncate":
                self._file(operation).edit(operation, self._world)
            case "sync":
                self._node(operation).sync()
            case "rename":
                self._rename(operation)
            case "link":
                self._add(operation.target, self._at(operation.path))
            case "mkdir":
                self._add(operation.path, _Directory())
            case "unlink" | "rmdir":
                directory, name = self._place(operation.path)
                self._at(operation.path)
                directory.remove(name, at_once=self._world.removals)
            case "stdout" | "utime":
                pass

    def left(self) -> Snapshot:
        files: dict[str, bytes] = {}
        same: dict[str, str] = {}
        directories: set[str] = set()
        first_names: dict[_File, str] = {}
        for name, node in self._root.walk():
            if isinstance(node, _Directory):
                directories.add(name)
                continue
            files[name] = bytes(node.on_disk)
            first = first_names.setdefault(node, name)
            if first != name:
                same[name] = first
        return Snapshot(files, frozenset(directories), same)

    def _do_failed(self, operation: Operation) -> None:
        if operation.kind != "sync" or operation.fault.startswith("kill"):
            return
        node = self._node(operation)
        if isinstance(node, _File):
            node.fail_to_sync()

    def _open(self, operation: Operation) -> None:
        directory, name = self._place(operation.path)
        node = directory.seen.get(name) if name else self._root
        if node is None and operation.flags & os.O_CREAT:
            node = _File()
            directory.add(name, node, at_once=self._world.additions)
        if isinstance(node, _File) and operation.flags & os.O_TRUNC:
            node.edit(Operation(operation.number, "truncate"), self._world)
        if node is not None:
            self._opened[operation.inode] = node
        else:
            # Whoever only reads it does no harm; a write to it is found out.
            self._opened.pop(operation.inode, None)

    def _rename(self, operation: Operation) -> None:
        if operation.flags & _RENAME_EXCHANGE:
            raise TraceMismatchError(f"not modelled: {operation}")
        node = self._at(operation.path)
        source, old = self._place(operation.path)
        target, new = self._place(operation.target)
        if target.seen.get(new) is node:
            return  # two names of one file: rename(2) then does nothing
        # One step: the old name never goes before the new one is there.
        target.add(new, node, at_once=self._world.additions)
        source.remove(old, at_once=self._world.additions)

    def _add(self, path: str, node: _File | _Directory) -> None:
        directory, name = self._place(path)
        directory.add(name, node, at_once=self._world.additions)

    def _put(self, path: str, node: _File | _Directory) -> None:
        """What was on the disk from the beginning."""
        directory, name = self._place(path)
        directory.add(name, node, at_once=True)

    def _node(self, operation: Operation) -> _File | _Directory:
        """What an operation on an open file means, whatever its name has become."""
        return self._opened.get(operation.inode) or self._at(operation.path)

    def _file(self, operation: Operation) -> _File:
        node = self._node(operation)
        if isinstance(node, _File):
            return node
        raise TraceMismatchError(f"a directory was written to: {operation}")

    def _at(self, path: str) -> _File | _Directory:
        directory, name = self._place(path)
        node = directory.seen.get(name) if name else self._root
        if node is None:
            raise TraceMismatchError(f"{path} was never made")
        return node

    def _place(self, path: str) -> tuple[_Directory, str]:
        """The directory that has a name, and the name in it; none for the root itself."""
        if path == ".":
            return self._root, ""
        *parents, name = path.split("/")
        directory = self._root
        for parent in parents:
            below = directory.seen.get(parent)
            if not isinstance(below, _Directory):
                raise TraceMismatchError(f"{path} has no directory")
            directory = below
        return directory, name
