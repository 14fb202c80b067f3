"""Sessions as Claude Code writes them, for tests in which another program is at work."""

import json
from pathlib import Path
from uuid import UUID


def write_session(home: Path, number: int, *texts: str) -> Path:
    """Write a session of these texts, the user's first, or append them to it."""
    file = home / ".claude" / "projects" / "-shop" / f"{UUID(int=number)}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    before = file.read_text().splitlines() if file.exists() else []
    for place, text in enumerate(texts, len(before)):
        role = "assistant" if place % 2 else "user"
        line = {
            "type": role,
            "uuid": f"{number}-{place}",
            "parentUuid": f"{number}-{place - 1}" if place else None,
            "sessionId": file.stem,
            "cwd": "/shop",
            "timestamp": f"2026-11-27T10:{place:02d}:00.000Z",
            "message": {"role": role, "content": text},
        }
        before.append(json.dumps(line))
    file.write_text("\n".join(before) + "\n")
    return file
