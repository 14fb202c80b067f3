"""What is on disk before the film begins, and what its model answers."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tui.domain.timestamps import format_utc
from tui.engine.sessions.open_session import SessionOrigin, new_session
from tui.storage.file_store import FileStore

NOW = datetime(2026, 3, 12, 14, 2, tzinfo=UTC)
MODEL = "local:qwen3"

_SAMPLES = Path(__file__).parent
_SOURCE_ID = "5b1d6c1e-70f2-4c0a-9d3e-2f8a1c64e7b9"

QUESTION = "Write claim() for Postgres."
ANSWER = (
    *("The unique constraint decides who ", "comes first:\n\n", "```python\n"),
    *("def claim(key: str) -> bool:\n", '    """True for the first who asks."""\n'),
    *("    row = db.execute(\n", '        "insert into claimed (key) values (%s)"\n'),
    *(
        '        " on conflict do nothing returning key",\n',
        "        (key,),\n",
        "    ).fetchone()\n",
    ),
    *("    return row is not None\n", "```\n\n", "Call it in the transaction "),
    *("that writes the order: ", "if that one fails, ", "the key is free "),
)
UNSENT = "And how long do I keep the keys?"


def _conversations(name: str) -> Iterator[tuple[datetime, str, str, Sequence[str]]]:
    """When, in which project, by which name, and the messages by turns.

    A file has ``== hours ago, project, name``; then questions, each with its answer.
    """
    for each in (_SAMPLES / name).read_text("utf-8").split("== ")[1:]:
        head, _, talk = each.partition("\n")
        hours, project, title = head.split(" ", 2)
        _, *texts = re.split(r"^> (.*)\n", talk, flags=re.MULTILINE)
        yield NOW - timedelta(hours=int(hours)), project, title, [text.strip() for text in texts]


async def write(root: Path, projects: Path) -> None:
    """Sessions of some projects, as the program would have written them."""
    for moment, project, name, texts in _conversations("own.txt"):

        def clock(moment: datetime = moment) -> datetime:
            return moment

        directory = str(projects / project)
        place = SessionOrigin(f"project:{directory}", directory, MODEL)
        named = f"session-{moment:%Y%m%d-%H%M%S}-{len(name):06d}"
        session = new_session(FileStore(root, clock), place, clock, session_id=named)
        session.add_message("user", texts[0])
        answer = session.begin_answer(MODEL)
        answer.receive(texts[1])
        session.end_answer(answer)
        session.rename(name)
        await session.close()


def write_claude_code(home: Path, project: Path) -> None:
    """A session as Claude Code keeps it."""
    ((moment, _, name, texts),) = _conversations("claude_code.txt")
    common = {"sessionId": _SOURCE_ID, "cwd": str(project), "version": "2.1.80"}
    lines = [{"type": "custom-title", "customTitle": name, "sessionId": _SOURCE_ID}]
    for number, text in enumerate(texts):
        role = ("user", "assistant")[number % 2]
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        if role == "assistant":
            message["model"] = "claude-sonnet-4-5"
        about = {
            "type": role,
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "timestamp": format_utc(moment + timedelta(minutes=number)),
        }
        lines.append({**common, **about, "message": message})
    file = home / ".claude/projects/-shop" / f"{_SOURCE_ID}.jsonl"
    file.parent.mkdir(parents=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    os.utime(file, (NOW.timestamp(),) * 2)
