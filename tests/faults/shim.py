"""Run a program, see what it does to a directory, and let it fail or die at a chosen point.

::

    before = run(command, root)                          # before.operations, before.points
    after = run(command, root, Fault.fail(3, ENOSPC))    # the third operation fails
    run(command, root, Fault.fail(1, EIO, kinds={"sync"}).and_kill(9))
    for fault in every_kill(before.operations): ...      # a new root each time

Operations are counted from 1, over all threads, in the order of their effects. What only reads
(``open-read``) and what is said (``stdout``) is in the trace with the number 0, and can be made
to fail by naming its kind. The command is the program itself: with a launcher in front that
starts it (``env``, ``sh -c``), the launcher would be what is watched.
"""

import atexit
import errno
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, NoReturn, Self, cast, get_args

import pytest

Kind = Literal[
    "link",
    "mkdir",
    "open",
    "open-read",
    "rename",
    "rmdir",
    "stdout",
    "sync",
    "truncate",
    "unlink",
    "utime",
    "write",
]
KINDS: frozenset[str] = frozenset(get_args(Kind))

_SOURCE = Path(__file__).with_name("shim.c")
# _FORTIFY_SOURCE, which some systems set, defines functions of the same names in headers.
_OPTIONS = ["-std=c99", "-D_GNU_SOURCE", "-U_FORTIFY_SOURCE", "-O1", "-fPIC", "-shared"]
_HEADING = b"shim 1\n"
_FOREVER = 2**62


@dataclass(frozen=True)
class Operation:
    """What the program did once; paths are relative to the root, ``.`` is the root itself.

    ``data`` is what a write really wrote, ``length`` what it was asked to write, or the length of
    a truncation. ``path`` of a link or a rename is the old name and ``target`` the new one; a path
    outside of the root is absolute. ``inode`` belongs to the open file, and is 0 where only names
    are meant. ``fault`` is the rule that struck, or empty; a real error leaves it empty.
    """

    number: int
    kind: Kind
    path: str = ""
    target: str = ""
    offset: int = 0
    length: int = 0
    data: bytes = b""
    flags: int = 0
    inode: int = 0
    result: int = 0
    error: int = 0
    fault: str = ""

    @property
    def succeeded(self) -> bool:
        return self.result >= 0

    def __str__(self) -> str:
        words = [f"{self.number}:", self.kind, self.path]
        words += ["to", self.target] if self.target else []
        words += [f"[{len(self.data)} of {self.length} bytes]"] if self.kind == "write" else []
        words += [errno.errorcode.get(self.error, str(self.error))] if self.error else []
        words += [f"({self.fault})"] if self.fault else []
        return " ".join(words)


@dataclass(frozen=True)
class _Rule:
    """One line of what the library is told; see the head of ``shim.c``."""

    action: str
    first: int
    last: int
    error: int
    kinds: frozenset[str]

    def encoded(self) -> str:
        kinds = f",{','.join(sorted(self.kinds))}," if self.kinds else "*"
        return f"{self.action} {self.first} {self.last} {self.error} {kinds}"

    def __str__(self) -> str:
        words = [self.action.replace("-", " "), str(self.first)]
        words += ["and on"] if self.last == _FOREVER else []
        words += [f"of {'+'.join(sorted(self.kinds))}"] if self.kinds else []
        words += [f"with {errno.errorcode[self.error]}"] if self.error else []
        return " ".join(words)


@dataclass(frozen=True)
class Fault:
    """What goes wrong, and where; none of it by default.

    ``kinds`` narrows what is counted: ``Fault.fail(2, EIO, kinds={"sync"})`` is the second sync.
    """

    rules: tuple[_Rule, ...] = ()

    @classmethod
    def fail(cls, number: int, error: int, kinds: Iterable[Kind] = ()) -> Self:
        """Let one operation do nothing and answer with the error."""
        return cls._of("fail", number, number, error, kinds)

    @classmethod
    def fail_from(cls, number: int, error: int, kinds: Iterable[Kind] = ()) -> Self:
        """Let that operation fail, and every one that comes after it."""
        return cls._of("fail", number, _FOREVER, error, kinds)

    @classmethod
    def short(cls, number: int, kinds: Iterable[Kind] = ()) -> Self:
        """Write half of the bytes and say so; the write after it gets ENOSPC.

        Nothing happens if that operation is not a write. Of one byte, none is written: ENOSPC.
        """
        return cls._of("short", number, number, 0, kinds)

    @classmethod
    def kill_before(cls, number: int, kinds: Iterable[Kind] = ()) -> Self:
        return cls._of("kill-before", number, number, 0, kinds)

    @classmethod
    def kill_after(cls, number: int, kinds: Iterable[Kind] = ()) -> Self:
        return cls._of("kill-after", number, number, 0, kinds)

    @classmethod
    def kill_half(cls, number: int, kinds: Iterable[Kind] = ()) -> Self:
        """Kill when half of the bytes are written; nothing happens if it is not a write."""
        return cls._of("kill-half", number, number, 0, kinds)

    @classmethod
    def _of(cls, action: str, first: int, last: int, error: int, kinds: Iterable[Kind]) -> Self:
        wanted = frozenset[str](kinds)
        if first < 1 or not wanted <= KINDS:
            raise ValueError(f"no such operation: {first} of {sorted(wanted) or 'all'}")
        return cls((_Rule(action, first, last, error, wanted),))

    def also(self, other: Self) -> Self:
        """Both; where both strike one operation it fails first and is killed then."""
        rules = self.rules + other.rules
        return replace(self, rules=tuple(sorted(rules, key=lambda rule: "kill" in rule.action)))

    def and_kill(self, number: int) -> Self:
        """Kill before that operation, which is counted among all of them."""
        return self.also(self.kill_before(number))

    def environment(self) -> dict[str, str]:
        """The library's part of the environment that says so."""
        return {"SIBYL_SHIM_RULES": ";".join(rule.encoded() for rule in self.rules)}

    def __str__(self) -> str:
        return ", ".join(str(rule) for rule in self.rules) or "no fault"


NO_FAULT = Fault()


@dataclass(frozen=True)
class Outcome:
    """What became of a program; ``returncode`` is -9 if it was killed."""

    returncode: int
    stdout: bytes
    stderr: bytes
    operations: tuple[Operation, ...]

    @property
    def points(self) -> tuple[Operation, ...]:
        """The operations that have a number: where a fault can be put."""
        return tuple(one for one in self.operations if one.number)

    @property
    def struck(self) -> tuple[Operation, ...]:
        """The operations that a fault changed; empty if the program never came so far."""
        return tuple(one for one in self.operations if one.fault)


def run(
    command: Sequence[str | os.PathLike[str]],
    root: Path,
    fault: Fault = NO_FAULT,
    *,
    timeout: float = 60,
) -> Outcome:
    """Run a program to its end, watched below ``root``, which exists.

    A directory that the program is to make itself lies below a root that was made for it.
    Raises ``subprocess.TimeoutExpired`` if it does not end, ``RuntimeError`` if it was not watched
    (a static program, one with more rights than its user).
    """
    if not root.is_dir():
        raise NotADirectoryError(root)
    with tempfile.TemporaryDirectory(prefix="sibyl-trace-") as scratch:
        trace = Path(scratch, "trace")
        ended = subprocess.run(
            command,
            env=os.environ | _environment(root, trace, fault),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=timeout,
            check=False,
        )
        if not trace.exists():
            raise RuntimeError(f"not watched: {command}: {ended.stderr.decode(errors='replace')}")
        operations = parse_trace(trace.read_bytes(), root)
    return Outcome(ended.returncode, ended.stdout, ended.stderr, operations)


def every_kill(operations: Iterable[Operation]) -> Iterator[Fault]:
    """A kill before each operation, within each write, and after the last.

    Before an operation is the strictest moment: after the one before it, and after all that the
    program said in between.
    """
    points = [one for one in operations if one.number]
    for one in points:
        yield Fault.kill_before(one.number)
        if one.kind == "write" and one.length > 1:
            yield Fault.kill_half(one.number)
    if points:
        yield Fault.kill_after(points[-1].number)


def parse_trace(trace: bytes, root: Path) -> tuple[Operation, ...]:
    """Read what the library wrote; anything that is not exactly that is a ``ValueError``."""
    top = os.fsencode(os.path.realpath(root))
    if not trace.startswith(_HEADING):
        raise ValueError("not a trace of the shim")
    operations: list[Operation] = []
    position = len(_HEADING)
    while position < len(trace):
        try:
            operation, position = _parse_operation(trace, position, top)
        except ValueError as error:
            raise ValueError(f"the trace is damaged at byte {position}") from error
        operations.append(operation)
    return tuple(operations)


def _parse_operation(trace: bytes, start: int, top: bytes) -> tuple[Operation, int]:
    """One operation and where the next one begins."""
    line_end = trace.index(b"\n", start)
    number, kind, fault, *numbers = trace[start:line_end].decode("ascii").split(" ")
    result, error, offset, length, flags, inode, *lengths = map(int, numbers)
    pieces: list[bytes] = []
    position = line_end + 1
    for size in lengths:
        pieces.append(trace[position : position + size])
        position += size
    path, target, data = pieces
    if trace[position : position + 1] != b"\n" or kind not in KINDS:
        raise ValueError("no end")
    operation = Operation(
        number=int(number),
        kind=cast("Kind", kind),
        path=_relative(path, top),
        target=_relative(target, top),
        offset=offset,
        length=length,
        data=data,
        flags=flags,
        inode=inode,
        result=result,
        error=error,
        fault="" if fault == "-" else fault,
    )
    return operation, position + 1


def _relative(path: bytes, top: bytes) -> str:
    if path == top:
        return "."
    return os.fsdecode(path.removeprefix(top + b"/"))


def _environment(root: Path, trace: Path, fault: Fault) -> dict[str, str]:
    """What arms the library in a new process."""
    top = os.path.realpath(root)
    if Path(os.path.realpath(trace)).is_relative_to(top):
        raise ValueError(f"the trace {trace} would be one of the files that are watched")
    return fault.environment() | {
        "LD_PRELOAD": str(library()),
        "SIBYL_SHIM_ROOT": top,
        "SIBYL_SHIM_TRACE": str(trace),
    }


def library() -> Path:
    """The compiled library.

    Each worker of pytest-xdist makes its own, in a directory of its own: a fifth of a second, and
    nothing to lock. Skips the test where it cannot be made, unless ``CI`` is set: there it fails.
    """
    if sys.platform != "linux":
        _do_without("the shim is preloaded, which is made for Linux")
    compiler = shutil.which("cc")
    if compiler is None:
        _do_without("there is no C compiler (cc) to make the shim with")
    return _compiled(compiler)


def _do_without(reason: str) -> NoReturn:
    if os.environ.get("CI"):
        pytest.fail(f"{reason}, and CI leaves out no test", pytrace=False)
    pytest.skip(reason)


@cache
def _compiled(compiler: str) -> Path:
    directory = tempfile.mkdtemp(prefix="sibyl-shim-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    target = Path(directory, "shim.so")
    command = [compiler, *_OPTIONS, "-o", str(target), str(_SOURCE), "-ldl", "-lpthread"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise RuntimeError(f"the shim does not compile:\n{ended.stderr}")
    return target
