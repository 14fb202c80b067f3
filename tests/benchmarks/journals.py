"""Sessions of any size, written as the store would have written them."""

from datetime import UTC, datetime, timedelta

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import Opened, SessionHeader, encode
from tui.domain.timestamps import format_utc
from tui.storage.folders import Folder, Folders

START = datetime(2026, 1, 11, 14, 30, tzinfo=UTC)
_STATE_EVERY = 100

# Of about 500 bytes each, as people and models write.
_QUESTION = (
    "Question {n}: the login breaks when the token has expired and the user comes back from the"
    " other tab. I have looked at the handler and at the middleware, and the session is still"
    " there, but the cookie is not what it was before.\n\nWhat would you look at first, and how"
    " would a test look that fails as long as this is not right? Please keep to the style of the"
    " tests that are there; the names are sentences, and each of them asserts one thing only.\n"
    "\n(end of {n})"
)
_ANSWER_WITH_CODE = (
    "Answer {n}: look at `refresh()` first.\n\n- it is called **before** the cookie is read\n"
    "- the middleware *replaces* the session, but keeps its id\n- the second tab has the old one\n"
    "\n```python\ndef refresh(request):\n    token = request.cookies.get('token')\n"
    "    if token is None or token.expired:\n        raise Unauthorized('log in again')\n"
    "    return replace(request, session=load(token))\n```\n\nThe test below fails until the order"
    " is right, and says so in its name; see [the manual](https://example.org/refresh).\n"
    "\n(end of {n})"
)
_ANSWER_WITH_STEPS = (
    "Answer {n}: that is the second of the two cases.\n\n## What happens\n\nThe first request"
    " **renews** the token, and the second one still carries the old one. Neither of them is"
    " wrong by itself: the server takes both, in the order in which they come.\n\n1. keep the old"
    " token for as long as a request may take\n2. compare the ids, not the tokens\n3. log what"
    " was refused, without the token\n\n> Nothing here needs a lock, and nothing needs a retry.\n"
    "\n(end of {n})"
)
_ANSWERS = (_ANSWER_WITH_CODE, _ANSWER_WITH_STEPS)


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
