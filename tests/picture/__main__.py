"""Films the real program on a terminal of its own, and writes ``snapshots/tour.svg``.

What was said to another program is found, gone on with, cut off by SIGKILL, and still there.
"""

import asyncio
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.picture import conversations, svg
from tests.providers.chat_server import ChatServer, Gate, answers_step_by_step
from tests.terminal.program import Program

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "snapshots/tour.svg"
COLUMNS, ROWS = 100, 28
_QUIET, _PATIENCE = 0.4, 0.8

FOUND = "Find any sentence you ever said, also to other programs"
GONE_ON = "Go on from there, with any model"
KILLED = "kill -9 in the middle of an answer"
BACK = "Nothing is lost: the answer so far, and the prompt you were typing"


class Film:
    """Frames of the programs that are started one after the other."""

    def __init__(self, environment: dict[str, str | None], project: Path) -> None:
        self.frames: list[svg.Frame] = []
        self._environment = environment
        self._project = str(project)
        self.program = self.open_terminal()

    def open_terminal(self) -> Program:
        """A shell in the project's directory."""
        self.program = Program(
            ["bash", "--norc", "--noprofile", "-i"],
            columns=COLUMNS,
            rows=ROWS,
            environment=self._environment,
            directory=self._project,
        )
        self.program.until(r"\$")
        return self.program

    def show(self, seconds: float, caption: str, key: str = "", until: str = "") -> None:
        """Take a frame, once the screen shows a regular expression and has come to rest."""
        if until:
            self.program.until(until)
        # A clock on the screen never rests.
        end = self.program.seconds + _PATIENCE
        while self.program.seconds < min(self.program.chunks[-1].seconds + _QUIET, end):
            time.sleep(_QUIET / 5)
        self.frames.append(svg.Frame(self.program.cells, seconds, caption, key))

    def type(
        self, text: str, caption: str, seconds: float = 0.09, step: int = 1, shown: str = "{}"
    ) -> None:
        """Take a frame every few letters, once the screen shows them in a pattern."""
        for at in range(0, len(text), step):
            for letter in text[at : at + step]:
                self.program.type(letter)
                time.sleep(0.05)  # together they would be a paste
            self.show(seconds, caption, until=shown.format(re.escape(text[: at + step])))

    def running(self) -> int:
        """The process of the program; 0 once it has ended."""
        pid = int((Path(self._project).parent / "pid").read_text("utf-8"))
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return 0
        return pid

    def leave(self) -> None:
        """Quit the program."""
        self.program.press("ctrl+q")
        self.program.until(lambda _: not self.running(), "the end")


def play(film: Film, gates: list[Gate], data: Path) -> None:
    # The first start names its version: not on film.
    film.program.type("sibyl-tui\r")
    film.program.until("shows what is new")
    film.leave()
    film.program.kill()
    film.open_terminal()
    film.type("sibyl-tui", FOUND, step=3)
    film.program.press("enter")
    film.show(1.2, FOUND, until="/ commands")
    film.program.press("ctrl+f")
    film.show(0.8, FOUND, "Ctrl+F", until="Search:")
    film.type("idempotency", FOUND, 0.12, shown=r"Search: {}[\s\S]*\d match")
    film.show(2.2, FOUND, until="idempotency key")
    film.program.press("enter")
    film.show(2.5, FOUND, "Enter", until="claim")
    film.type(conversations.QUESTION, GONE_ON, step=3)
    film.program.press("enter")
    film.show(0.5, GONE_ON, "Enter", until=r"● local:qwen3[\s\S]*Esc stops")
    for gate in gates[:-1]:
        gate.open()
        film.show(0.2, GONE_ON)
    film.type(conversations.UNSENT, GONE_ON, 0.08, step=3)
    kept = (conversations.ANSWER[-2], conversations.UNSENT)
    film.program.until(lambda _: all(each in _texts(data) for each in kept), "all of it on disk")
    os.kill(film.running(), signal.SIGKILL)
    film.show(2, KILLED, "kill -9", until="Killed")
    film.program.kill()
    film.open_terminal()
    film.show(0.6, BACK)
    film.type("sibyl-tui -c", BACK, step=3)
    film.program.press("enter")
    film.show(5, BACK, until="(?s)how long do I keep.*F1 Help")
    film.leave()


def _texts(data: Path) -> str:
    """Journals and drafts."""
    return "".join(each.read_text("utf-8") for each in data.glob("[ds]*s/*.json*"))


def _environment(home: Path) -> dict[str, str | None]:
    """Nothing of this machine but its programs."""
    places = ("CACHE", "CONFIG", "DATA", "STATE")
    return {
        **dict.fromkeys(os.environ),
        **{f"XDG_{place}_HOME": f"{home}/{place.lower()}" for place in places},
        "HOME": str(home),
        "PATH": f"{home}/bin:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "SIBYL_CONFIG": f"{home}/config.toml",
        "OLLAMA_HOST": "http://127.0.0.1:9",
        "TZ": "UTC",
        "LANG": "C.UTF-8",
        "COLORTERM": "truecolor",
        "PS1": "$ ",
    }


def _prepare(home: Path, base_url: str) -> None:
    """What a user of the program has: a command, a configuration, sessions."""
    for folder in ("bin", "shop"):
        (home / folder).mkdir()
    command = home / "bin/sibyl-tui"
    command.write_text(
        f"#!/bin/sh\necho $$ >{home}/pid\n"
        f'exec {sys.executable} -m tests.picture.still_clock "$@"\n',
        "utf-8",
    )
    command.chmod(0o755)
    (home / "config.toml").write_text(
        f'model = "{conversations.MODEL}"\nreduced_motion = true\n'
        f'[providers.local]\nbase_url = "{base_url}"\n'
        'models = ["qwen3"]\n[retention]\nmax_age_days = 0\n',
        "utf-8",
    )
    asyncio.run(conversations.write(home / "data/sibyl", home))
    conversations.write_claude_code(home, home / "shop")
    known = {name: value for name, value in _environment(home).items() if value is not None}
    subprocess.run(
        [command, "import", "--all"], env=known, cwd=home / "shop", check=True, capture_output=True
    )


def take(home: Path) -> list[svg.Frame]:
    """Film all of it, with a home of its own."""
    gates = [Gate() for _ in conversations.ANSWER]
    with ChatServer(answers_step_by_step(gates, *conversations.ANSWER)) as server:
        _prepare(home, server.base_url)
        film = Film(_environment(home), home / "shop")
        try:
            play(film, gates, home / "data/sibyl")
        finally:
            film.program.kill()
    return film.frames


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        frames = take(Path(home))
    PICTURE.write_text(svg.film(frames), "utf-8")
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes, {len(frames)} frames")


if __name__ == "__main__":
    main()
