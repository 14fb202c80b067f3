"""Commands in forked children, each with a fault at one of its system calls: 8 ms instead of 110.

::

    with ForkServer() as server:
        outcome = server.run(["ask", "hello", "--data-dir", str(root)], root, Fault.fail(3, ENOSPC))

The server is a process of one thread that has imported the program; each run is a fork of it,
which really dies when it is killed. A fault strikes in ``os``, where ``tests/test_architecture.py``
requires storage to make its calls; that none goes past it is shown by the preloaded library, which
sees the same operations (``test_walks``). Numbers and kinds are those of ``shim``.
"""

import errno
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, Self

from tests.faults.shim import NO_FAULT, Fault, Kind, Operation, Outcome

_TRACE = 3
"""The descriptor of the trace in a child."""


class ForkServer:
    """A process that forks once for each run."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def run(self, arguments: Sequence[str], root: Path, fault: Fault = NO_FAULT) -> Outcome:
        """Run a command to its end, watched below ``root``."""
        with tempfile.TemporaryDirectory(prefix="sibyl-fork-") as scratch:
            asked = {
                "arguments": list(arguments),
                "root": os.path.realpath(root),
                "rules": [
                    [rule.action, rule.first, rule.last, rule.error, sorted(rule.kinds)]
                    for rule in fault.rules
                ],
                "scratch": scratch,
            }
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(asked).encode() + b"\n")
            self._process.stdin.flush()
            code = int(self._process.stdout.readline())
            said, told, trace = (Path(scratch, name).read_bytes() for name in _FILES)
        return Outcome(code, said, told, _operations(trace))


_FILES = ("stdout", "stderr", "trace")


def _operations(trace: bytes) -> tuple[Operation, ...]:
    lines = [json.loads(line) for line in trace.splitlines()]
    return tuple(
        Operation(number, kind, path, length=length, fault=fault)
        for number, kind, path, length, fault in lines
    )


def _as_path(name: object) -> str | None:
    return os.fspath(name) if isinstance(name, str | Path) else None


class _Watch:
    """System calls below one directory: counted, written down, made to fail or to kill."""

    def __init__(self, root: str, rules: Sequence[Sequence[Any]]) -> None:
        self._root = root
        self._rules = rules
        self._counts = [0] * len(rules)
        self._number = 0
        self._paths: dict[int, str] = {}
        self._full = False
        self._lock = threading.RLock()

    def begin(self) -> None:
        """Put watched functions in the place of those of ``os``."""
        self._close = os.close
        self._open = os.open
        self._write = os.write
        self._pwrite = os.pwrite
        os.open = self._watched_open  # type: ignore[assignment]
        os.close = self._watched_close
        os.write = self._watched_write  # type: ignore[assignment]
        os.pwrite = self._watched_pwrite  # type: ignore[assignment]
        for name, kind in _BY_DESCRIPTOR.items():
            setattr(os, name, self._watched(getattr(os, name), kind, self._paths.get))
        for name, kind in _BY_NAME.items():
            setattr(os, name, self._watched(getattr(os, name), kind, _as_path))

    def _below(self, path: object) -> str | None:
        if not isinstance(path, str):
            return None
        path = os.path.abspath(path)
        if path == self._root:
            return "."
        return path[len(self._root) + 1 :] if path.startswith(self._root + "/") else None

    def _watched(
        self, real: Callable[..., Any], kind: Kind, path_of: Callable[[Any], object]
    ) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            # The second name of a link or a rename counts, too.
            names = [path_of(each) for each in arguments[:2]]
            below = next((b for b in map(self._below, names) if b is not None), None)
            if below is None:
                return real(*arguments, **named)
            return self._strike(kind, below, 0, lambda: real(*arguments, **named))

        return call

    def _watched_open(self, path: Any, flags: int, *arguments: Any, **named: Any) -> int:
        below = self._below(os.fspath(path))

        def real() -> int:
            return self._open(path, flags, *arguments, **named)

        if below is None:
            return real()
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        descriptor = self._strike("open", below, 0, real) if writes else real()
        self._paths[descriptor] = os.path.join(self._root, below)
        return descriptor

    def _watched_close(self, descriptor: int) -> None:
        self._paths.pop(descriptor, None)
        self._close(descriptor)

    def _watched_write(self, descriptor: int, data: Any) -> int:
        return self._write_with(partial(self._write, descriptor), descriptor, data)

    def _watched_pwrite(self, descriptor: int, data: Any, offset: int) -> int:
        def write(data: Any) -> int:
            return self._pwrite(descriptor, data, offset)

        return self._write_with(write, descriptor, data)

    def _write_with(self, write: Callable[[Any], int], descriptor: int, data: Any) -> int:
        below = self._below(self._paths.get(descriptor))
        if below is None:
            return write(data)
        half = partial(write, bytes(data)[: len(data) // 2])
        return self._strike("write", below, len(data), partial(write, data), half)

    def _strike(
        self,
        kind: Kind,
        path: str,
        length: int,
        real: Callable[[], int],
        half: Callable[[], int] | None = None,
    ) -> int:
        with self._lock:
            self._number += 1
            action, error = self._rule(kind)
            if action == "kill-before" or (action == "kill-half" and half is not None):
                if action == "kill-half" and half is not None:
                    half()
                os.kill(os.getpid(), signal.SIGKILL)
            self._note(kind, path, length, action)
            if action == "fail":
                raise OSError(error, os.strerror(error))
            if self._full and half is not None:
                self._full = False
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if action == "short" and half is not None:
                self._full = True
                return half()
            result = real()
            if action == "kill-after":
                os.kill(os.getpid(), signal.SIGKILL)
            return result

    def _rule(self, kind: Kind) -> tuple[str, int]:
        struck = ("", 0)
        for place, (action, first, last, error, kinds) in enumerate(self._rules):
            if kinds and kind not in kinds:
                continue
            self._counts[place] += 1
            if first <= self._counts[place] <= last:
                struck = (action, error)
        return struck

    def _note(self, kind: Kind, path: str, length: int, action: str) -> None:
        line = json.dumps([self._number, kind, path, length, action])
        self._write(_TRACE, line.encode() + b"\n")


_BY_DESCRIPTOR: dict[str, Kind] = {
    "fdatasync": "sync",
    "fsync": "sync",
    "ftruncate": "truncate",
}
_BY_NAME: dict[str, Kind] = {
    "link": "link",
    "mkdir": "mkdir",
    "rename": "rename",
    "replace": "rename",
    "rmdir": "rmdir",
    "truncate": "truncate",
    "unlink": "unlink",
    "utime": "utime",
}


def _live(asked: dict[str, Any]) -> NoReturn:
    """Run the command of a child, which ends here."""
    import tui.cli

    for descriptor, name in zip((1, 2, _TRACE), _FILES, strict=True):
        path = os.path.join(asked["scratch"], name)
        opened = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        os.dup2(opened, descriptor)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _Watch(asked["root"], asked["rules"]).begin()
    code = tui.cli.run(asked["arguments"])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


# What a child would have to import by itself.
_IMPORTED = (
    "concurrent.futures.thread",
    "encodings.idna",
    "platformdirs",
    "tui.cli.ask",
    "tui.cli.sessions",
    "tui.engine.library.loose_search",
    "tui.providers.guide",
    "tui.providers.catalog",
    "tui.storage.index.maintenance",
    "tui.storage.index.search_index",
)


def _serve() -> None:
    for name in _IMPORTED:
        importlib.import_module(name)
    # The trace of each child; the number is taken here, so that nothing else gets it.
    os.dup2(os.open(os.devnull, os.O_WRONLY), _TRACE)
    for line in sys.stdin.buffer:
        child = os.fork()
        if not child:
            _live(json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    _serve()
