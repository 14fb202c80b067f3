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

# Hours ago, project, name; then questions, each with its answer.
_OWN = """\
== 1000 infra Terraform for the new account
> Can I run this module twice without making two buckets?
Yes. Idempotency is the point of Terraform: a second `apply` changes nothing.
== 640 blog Post: APIs that forgive
> Three section titles for a post about designing APIs, please.
1. Errors that say what to do
2. Idempotency is kindness
3. Version late
== 75 shop Slow checkout query
> This query takes 900 ms. Where would you look first?
At the join on `order_items`: no index covers `(order_id, created_at)`.
== 50 shop Dockerfile under 80 MB
> How do I get this image under 80 MB?
Build in one stage, copy the environment into a slim one, leave pip behind.
== 27 shop Flaky test in CI
> test_refund fails once in fifty runs. Why?
It reads the clock twice, and midnight can fall between the two.
== 5 shop Names for the loyalty plan
> Ten names for a loyalty plan, please. Nothing with 'club'.
Regulars, Second Cup, Returning, Tally, Encore, Stamps, Often, Goodwill, Kin, Corner.
== 2 shop Release notes 2.4
> Shorten these release notes to three lines, for people who run a shop.
- **Refunds** arrive within a minute, not overnight.
- **Search** finds products by their number.
- **Invoices** can be sent again from the order.
"""
_CLAUDE_CODE = """\
== 504 shop Webhooks that arrive twice
> A customer was charged twice when our payment webhook timed out. How do I stop that?
The provider sends an event again when it gets no answer within ten seconds. Your handler had \
charged the card by then, and charges it once more.

Two things stop it:

1. Answer `200` first, and do the work in a queue.
2. Make the work safe to repeat.
> How do I make it safe to repeat?
With an idempotency key: a value that names the charge, not the attempt. The event's id will do.

```python
def charge(event):
    key = event.id                      # the same at every attempt
    if not claim(key):                  # somebody has it already
        return
    payments.charge(event.order, idempotency_key=key)
```

`claim` must be one atomic step: an insert with a unique constraint, not a read and then a write.
> Where should the keys be kept, Redis or Postgres?
In the database that has the orders. Key and order are then written in one transaction.
"""
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


def _conversations(text: str) -> Iterator[tuple[datetime, str, str, Sequence[str]]]:
    """When, in which project, by which name, and the messages by turns."""
    for each in text.split("== ")[1:]:
        head, _, talk = each.partition("\n")
        hours, project, name = head.split(" ", 2)
        _, *texts = re.split(r"^> (.*)\n", talk, flags=re.MULTILINE)
        yield NOW - timedelta(hours=int(hours)), project, name, [text.strip() for text in texts]


async def write(root: Path, projects: Path) -> None:
    """Sessions of some projects, as the program would have written them."""
    for moment, project, name, texts in _conversations(_OWN):

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
    ((moment, _, name, texts),) = _conversations(_CLAUDE_CODE)
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
