"""What is on disk before the film begins, and what its model answers."""

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from tui.domain.timestamps import format_utc
from tui.engine.sessions.leasing import SessionOrigin, new_session
from tui.storage.file_store import FileStore

NOW = datetime(2026, 3, 12, 14, 2, tzinfo=UTC)
MODEL = "local:qwen3"

_NOTES = """\
- **Refunds** arrive within a minute, not overnight.
- **Search** finds products by their number.
- **Invoices** can be sent again from the order.
"""
# Project, name, hours ago, messages by turns.
OWN: Sequence[tuple[str, str, int, Sequence[str]]] = (
    (
        "infra",
        "Terraform for the new account",
        1000,
        (
            "Can I run this module twice without making two buckets?",
            "Yes. Idempotency is the point of Terraform: a second `apply` changes nothing.",
        ),
    ),
    (
        "blog",
        "Post: APIs that forgive",
        640,
        (
            "Three section titles for a post about designing APIs, please.",
            "1. Errors that say what to do\n2. Idempotency is kindness\n3. Version late",
        ),
    ),
    (
        "shop",
        "Slow checkout query",
        75,
        (
            "This query takes 900 ms. Where would you look first?",
            "At the join on `order_items`: no index covers `(order_id, created_at)`.",
        ),
    ),
    (
        "shop",
        "Dockerfile under 80 MB",
        50,
        (
            "How do I get this image under 80 MB?",
            "Build in one stage, copy the environment into a slim one, leave pip behind.",
        ),
    ),
    (
        "shop",
        "Flaky test in CI",
        27,
        (
            "test_refund fails once in fifty runs. Why?",
            "It reads the clock twice, and midnight can fall between the two.",
        ),
    ),
    (
        "shop",
        "Names for the loyalty plan",
        5,
        (
            "Ten names for a loyalty plan, please. Nothing with 'club'.",
            "Regulars, Second Cup, Returning, Tally, Encore, Stamps, Often, Goodwill, Kin, Corner.",
        ),
    ),
    (
        "shop",
        "Release notes 2.4",
        2,
        (
            "Shorten these release notes to three lines, for people who run a shop.",
            _NOTES,
            "And one line for the newsletter?",
            "*Version 2.4: refunds in a minute, and a search that knows numbers.*",
        ),
    ),
)

_SOURCE_ID = "5b1d6c1e-70f2-4c0a-9d3e-2f8a1c64e7b9"

# What was said to Claude Code, three weeks ago.
WEBHOOKS = (
    "A customer was charged twice when our payment webhook timed out. How do I stop that?",
    """\
The provider sends an event again when it gets no answer within ten seconds. Your handler had \
charged the card by then, and charges it once more.

Two things stop it:

1. Answer `200` first, and do the work in a queue.
2. Make the work safe to repeat.""",
    "How do I make it safe to repeat?",
    """\
With an idempotency key: a value that names the charge, not the attempt. The event's id will do.

```python
def charge(event):
    key = event.id                      # the same at every attempt
    if not claim(key):                  # somebody has it already
        return
    payments.charge(event.order, idempotency_key=key)
```

`claim` must be one atomic step: an insert with a unique constraint, not a read and then a \
write.""",
    "Where should the keys be kept, Redis or Postgres?",
    "In the database that has the orders. Key and order are then written in one transaction.",
)

QUESTION = "Write claim() for Postgres."
ANSWER = (
    "The unique constraint decides who ",
    "comes first:\n\n",
    "```python\n",
    "def claim(key: str) -> bool:\n",
    '    """True for the first who asks."""\n',
    "    row = db.execute(\n",
    '        "insert into claimed (key) values (%s)"\n',
    '        " on conflict do nothing returning key",\n',
    "        (key,),\n",
    "    ).fetchone()\n",
    "    return row is not None\n",
    "```\n\n",
    "Call it in the transaction ",
    "that writes the order: ",
    "if that one fails, ",
    "the key is free ",
)
UNSENT = "And how long do I keep the keys?"


async def write(root: Path, projects: Path) -> None:
    """Sessions of some projects, as the program would have written them."""
    for project, name, hours, texts in OWN:
        moment = NOW - timedelta(hours=hours)
        store = FileStore(root, lambda moment=moment: moment)
        directory = str(projects / project)
        place = SessionOrigin(f"project:{directory}", directory, MODEL)
        named = f"session-{moment:%Y%m%d-%H%M%S}-{len(texts):06d}"
        session = new_session(store, place, lambda moment=moment: moment, session_id=named)
        for number, text in enumerate(texts):
            if number % 2:
                answer = session.begin_answer(MODEL)
                answer.receive(text)
                session.end_answer(answer)
            else:
                session.add_message("user", text)
        session.rename(name)
        await session.close()


def write_claude_code(home: Path, project: Path) -> None:
    """A session as Claude Code keeps it."""
    folder = home / ".claude/projects/-shop"
    folder.mkdir(parents=True)
    common = {
        "sessionId": _SOURCE_ID,
        "cwd": str(project),
        "version": "2.1.80",
        "isSidechain": False,
    }
    title = {"type": "custom-title", "customTitle": "Webhooks that arrive twice"}
    lines: list[dict[str, object]] = [{**title, "sessionId": _SOURCE_ID}]
    parent = None
    for number, text in enumerate(WEBHOOKS):
        role, model = (("user", None), ("assistant", "claude-sonnet-4-5"))[number % 2]
        moment = NOW - timedelta(days=21) + timedelta(minutes=number)
        lines.append(
            {
                **common,
                "type": role,
                "uuid": f"u{number}",
                "parentUuid": parent,
                "timestamp": format_utc(moment),
                "message": {
                    "role": role,
                    "model": model,
                    "content": [{"type": "text", "text": text}],
                },
            }
        )
        parent = f"u{number}"
    file = folder / f"{_SOURCE_ID}.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    os.utime(file, (NOW.timestamp(),) * 2)
