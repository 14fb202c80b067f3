"""Import of another program's sessions, as a command does it, and the index that follows.

``make_claude_code`` writes what Claude Code keeps: many short sessions, or few with long results.
"""

import json
import os
import random
import sys
from datetime import timedelta
from uuid import UUID

from tests.benchmarks.journals import START
from tests.benchmarks.programs import ROOT
from tests.benchmarks.searching import rare_words, word
from tests.benchmarks.table import MILLISECONDS, Row, within
from tui.domain.timestamps import format_utc

SHORT = {"sessions": 1000, "turns": 8, "words": 88}
"""A thousand sessions of forty messages, 42 MB."""
LONG = {"sessions": 200, "turns": 40, "words": 88, "result_words": 2400}
"""Two hundred sessions with long results, each of them there twice: 210 MB."""
_PROJECTS = 20
_LINE = 12  # words
_SHORT_BUDGET_MS = 4200
_SPEED = 40  # MB of files a second


def rows(directory):
    """Import both sets, and make the index of the first one anew."""
    short, long = directory / "short", directory / "long"
    size = make_claude_code(short, **SHORT) / 1e6
    took, _ = run_command(short, "import", "--all")
    again, _ = run_command(short, "import", "--all")
    index, _ = run_command(short, "index", "rebuild")
    whole = make_claude_code(long, **LONG) / 1e6
    read, memory = run_command(long, "import", "--all")
    words, _ = run_command(long, "index", "rebuild")
    speed = whole / (read - words) * MILLISECONDS
    part = f"import of {whole:.0f} MB without its index, MB/s"
    name = f"import of {size:.0f} MB in {SHORT['sessions']:,} files, processor"
    return [
        within(name, took, _SHORT_BUDGET_MS, ("its index made anew", index)),
        Row("the same again, nothing new", again, "", 0, "none", kept=True),
        Row(part, speed, "", 0, f"{_SPEED}", kept=speed >= _SPEED),
        Row("the same with its index, memory in MB", memory, "", 0, "120", kept=memory <= 120),
    ]


def run_command(home, *arguments):
    """Run the program in a home; gives its milliseconds of processor, and its MB of memory."""
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    argv = [sys.executable, "-m", "tui", "--data-dir", str(home / "data"), *arguments]
    quiet = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawn(sys.executable, argv, environment, file_actions=quiet)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise RuntimeError(f"sibyl-tui {' '.join(arguments)}: {status}")
    return (usage.ru_utime + usage.ru_stime) * MILLISECONDS, usage.ru_maxrss / 1024


def make_claude_code(home, sessions, turns, words, result_words=0):
    """Write sessions of Claude Code below a home; gives their size in bytes.

    A turn is a prompt, an answer that calls a tool, its result, and another answer, of so many
    words each; ``result_words`` makes results longer.
    """
    chance = random.Random(1)
    rare = rare_words(chance)
    size = 0
    for number in range(sessions):
        project = f"/home/me/project-{number % _PROJECTS}"
        folder = home / ".claude" / "projects" / project.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        session = _Session(chance, rare, number, project)
        lines = [line for _ in range(turns) for line in session.turn(words, result_words)]
        data = b"".join(json.dumps(line, separators=(",", ":")).encode() + b"\n" for line in lines)
        (folder / f"{session.id}.jsonl").write_bytes(data)
        size += len(data)
    return size


class _Session:
    """One session while it is written: each line follows the one before it."""

    def __init__(self, chance, rare, number, project):
        self._chance = chance
        self._rare = rare
        self._moment = START + timedelta(minutes=30 * number)
        self._project = project
        self._parent = None
        self.id = self._made_id()

    def turn(self, words, result_words):
        """The five lines of a turn: the parts of an answer are lines of their own."""
        message, call = f"msg_01{self._letters()}", f"toolu_01{self._letters()}"
        use = {"file_path": f"{self._project}/src/{self._text(1)}.py", "limit": 200}
        result = self._text(result_words or words)
        block = {"tool_use_id": call, "type": "tool_result", "content": result}
        file = {"type": "text", "file": {"filePath": use["file_path"], "content": result}}
        yield self._line("user", {"role": "user", "content": self._text(words)})
        yield self._answer(message, {"type": "text", "text": self._text(words)})
        yield self._answer(message, {"type": "tool_use", "id": call, "name": "Read", "input": use})
        yield self._line("user", {"role": "user", "content": [block]}, toolUseResult=file)
        message = f"msg_01{self._letters()}"
        yield self._answer(message, {"type": "text", "text": self._text(words * 2)})

    def _answer(self, message, block):
        usage = {"input_tokens": 4, "cache_read_input_tokens": 15_000, "output_tokens": 200}
        said = {"id": message, "type": "message", "role": "assistant", "content": [block]}
        facts = {"model": "claude-sonnet-4-5-20250929", "stop_reason": None, "usage": usage}
        return self._line("assistant", said | facts, requestId=f"req_01{message[6:]}")

    def _line(self, kind, message, **more):
        made = self._made_id()
        self._moment += timedelta(seconds=7)
        line = {
            "parentUuid": self._parent,
            "isSidechain": False,
            "userType": "external",
            "cwd": self._project,
            "sessionId": self.id,
            "version": "2.1.80",
            "gitBranch": "main",
            "type": kind,
            "message": message,
            "uuid": made,
            "timestamp": format_utc(self._moment),
            **more,
        }
        self._parent = made
        return line

    def _text(self, words):
        drawn = [word(self._chance, self._rare) for _ in range(words)]
        lines = (drawn[at : at + _LINE] for at in range(0, words, _LINE))
        return "\n".join(map(" ".join, lines))

    def _made_id(self):
        return str(UUID(int=self._chance.getrandbits(128), version=4))

    def _letters(self):
        return f"{self._chance.getrandbits(100):025x}"
