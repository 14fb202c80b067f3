"""Sessions of any size, written as the store would have written them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import Opened, SessionHeader, encode
from tui.domain.timestamps import format_utc
from tui.storage.folders import Folder, Folders

START = datetime(2026, 1, 11, 14, 30, tzinfo=UTC)
_STATE_EVERY = 100

# Of about 500 bytes each, as people and models write.
_QUESTION, *_ANSWERS = (
    Path(__file__).with_name("texts").joinpath(f"{name}.md").read_text("utf-8").rstrip()
    for name in ("question", "code", "steps")
)


def last_words(count: int) -> str:
    """A pattern for what ends a session of so many messages."""
    return rf"\(end of {count - 1}\)"


def message(number):
    """A message of about 500 bytes, user and model in turn."""
    role = "assistant" if number % 2 else "user"
    moment = START + timedelta(seconds=number)
    text = (_ANSWERS[number // 2 % len(_ANSWERS)] if number % 2 else _QUESTION).format(n=number)
    return Message(
        id=f"{moment:%Y%m%dT%H%M%S}000-{number:08x}",
        role=role,
        content=text,
        timestamp=format_utc(moment),
        model="anthropic:claude" if role == "assistant" else None,
    )


def write_session(root, session_id, count, *, scope="project:/shop", ordinal=1):
    """Write a session of ``count`` messages and give its path."""
    folders = Folders(root)
    folders.prepare()
    created = format_utc(START)
    header = SessionHeader(1, session_id, created, scope, ordinal, "/shop", "offline:guide")
    fold = Fold(header)
    path = folders.journal(session_id, Folder.SESSIONS)
    with path.open("wb") as file:
        file.write(encode(header) + encode(Opened(at=created)))
        for number in range(count):
            record = message(number)
            fold.message_count = fold.total_count = number + 1
            fold.prompt_count = number // 2 + 1
            file.write(encode(record))
            if number % _STATE_EVERY == 0 or number == count - 1:
                file.write(encode(fold.session().state(record.timestamp)))
    return path
