"""Programs on terminals of their own; each is killed at the end of its test.

They get the environment of the test, so that their home and their data are the test's own.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.terminal.chats import Chats
from tests.terminal.program import Program

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def start(private_home: Path) -> Iterator[Callable[..., Program]]:
    """Starts a command line on a terminal, in a project directory of its own."""
    project = private_home / "project"
    project.mkdir()
    with ExitStack() as programs:

        def run(*argv: str, environment=None, **options) -> Program:
            # Modules are found whatever the directory is.
            paths = {"PYTHONPATH": str(ROOT), **(environment or {})}
            options = {"directory": str(project), **options}
            program = Program(argv, environment=paths, **options)
            return programs.enter_context(program)

        yield run


@pytest.fixture
def sibyl(start) -> Callable[..., Program]:
    """Starts the real program."""

    def run(*arguments: str, **options) -> Program:
        return start(sys.executable, "-m", "tui", *arguments, **options)

    return run


class Hold:
    """A place where a program stops until it is let go."""

    def __init__(self, path: Path) -> None:
        self.path = path
        os.mkfifo(path)

    def let_go(self) -> None:
        self.path.write_text("", "utf-8")


@pytest.fixture
def hold(tmp_path: Path) -> Callable[[str], Hold]:
    """Makes a place to stop at, by its name in the stand-in."""
    return lambda name: Hold(tmp_path / name)


class StandIns:
    """Starts the stand-in, and reads what it wrote down."""

    def __init__(self, start: Callable[..., Program], place: Path) -> None:
        self._start = start
        self._place = place

    def __call__(self, *arguments: str, **options) -> Program:
        files = {"STAND_IN": str(self._place), "STAND_IN_KEYS": str(self._place / "keys")}
        environment = {**files, **options.pop("environment", {})}
        module = ("-m", "tests.terminal.stand_in")
        return self._start(sys.executable, *module, *arguments, environment=environment, **options)

    def fail(self) -> None:
        """Let the next start end early."""
        (self._place / "fail").touch()

    @property
    def keys(self) -> list[str]:
        """What came to the prompt so far."""
        file = self._place / "keys"
        return file.read_text("utf-8").splitlines() if file.exists() else []


@pytest.fixture
def stand_in(start, tmp_path) -> StandIns:
    return StandIns(start, tmp_path)


@pytest.fixture
def in_background() -> Callable[..., threading.Thread]:
    """Does what waits for the program, which waits for the test."""

    def run(action: Callable[..., object], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=action, args=arguments, daemon=True)
        thread.start()
        return thread

    return run


@pytest.fixture
def chats(start, private_home) -> Iterator[Chats]:
    """Starts the program with a model that the test tells what to say."""
    with ExitStack() as servers:
        yield Chats(start, private_home, servers)
