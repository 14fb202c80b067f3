"""Records, and journals as the program would have written them."""

from datetime import UTC, datetime, timedelta

import msgspec

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    NO_OFFSETS,
    VERSION,
    Closed,
    Opened,
    Partial,
    Reset,
    SessionHeader,
    Settings,
    Summary,
    Todos,
)
from tui.domain.journal.todo import TodoItem
from tui.domain.timestamps import format_utc
from tui.storage.journal_lines import entry_id
from tui.storage.writer import encode_lines

START = datetime(2026, 1, 11, 14, 30, 0, tzinfo=UTC)


class Clock:
    """Goes on by a second each time it is asked."""

    def __init__(self):
        self.now = START

    def __call__(self):
        self.now += timedelta(seconds=1)
        return self.now


def at(seconds=0):
    """A time of a record, so many seconds after the beginning."""
    return format_utc(START + timedelta(seconds=seconds))


def header(session_id="tale", **fields):
    known = {
        "version": VERSION,
        "created_at": at(),
        "scope": "project:/shop",
        "ordinal": 1,
        "project_path": "/shop",
        "model": "offline:guide",
    }
    return SessionHeader(id=session_id, **{**known, **fields})


def user(message_id, text="hello", seconds=0, **fields):
    return Message(id=message_id, role="user", content=text, timestamp=at(seconds), **fields)


def answer(message_id, text="hi", seconds=0, **fields):
    return Message(id=message_id, role="assistant", content=text, timestamp=at(seconds), **fields)


def piece(message_id, place, text, seconds=0, **fields):
    """A piece of an answer; the first one says whose."""
    whose = {"role": "assistant", "timestamp": at(seconds), "model": "m"} if place == 0 else {}
    return Partial(message_id=message_id, at=place, text=text, **whose, **fields)


def todos(*contents):
    return Todos(tuple(TodoItem(text, "pending", f"doing {text}") for text in contents))


def texts(messages):
    return [message.text for message in messages]


def kept_texts(store, session_id):
    """The texts of the live messages of a session, as a reader finds them."""
    return texts(store.journal(session_id).load().loaded_messages)


def appended(store, session_id, *records):
    """Add to a session that nobody holds."""
    lease = store.lease(session_id)
    store.append(lease, records)
    lease.release()


def facts(struct):
    """The fields of a struct that have not their defaults, also of those within."""
    if isinstance(struct, tuple):
        return [facts(each) for each in struct]
    if not isinstance(struct, msgspec.Struct):
        return struct
    values = [
        (each.name, getattr(struct, each.name), each.default)
        for each in msgspec.structs.fields(struct)
    ]
    return {name: facts(value) for name, value, default in values if value != default}


class Story:
    """A journal line by line, with states that know where everything is."""

    def __init__(self, session_id="tale", **fields):
        self.data = b""
        self.lines = []
        self._offsets = NO_OFFSETS
        self._begins = {}
        self._count = 0
        self._fold = Fold(header(session_id, **fields))
        self.add(self._fold.header)

    def add(self, *records):
        for record in records:
            line, self._offsets = encode_lines(
                [record], len(self.data), self._offsets, begin_of=self._begins.get
            )
            self._begins.setdefault(entry_id(record), len(self.data))
            self._fold.add(record, len(self.data))
            self.raw(line)
        return self

    def raw(self, line):
        """A line that this program does not know, or that is none."""
        self.lines.append(line)
        self.data += line
        return self

    def state(self, name=None):
        if name is not None:
            self._fold.name = name
        return self.add(self._fold.session(held=True).state(self._time()))

    def opened(self, **fields):
        return self.add(Opened(at=self._time(), **fields))

    def closed(self):
        return self.add(Closed(at=self._time()))

    def settings(self, **fields):
        return self.add(Settings(**fields))

    def reset(self):
        return self.add(Reset(at=self._time()))

    def user(self, text="hello", **fields):
        return self.add(user(self._next(), text, self._count, **fields))

    def answer(self, text="hi", **fields):
        return self.add(answer(self._next(), text, self._count, **fields))

    def pieces(self, *parts, with_states=False, **whose):
        """Pieces of a new answer, without its end."""
        message_id, place = self._next(), 0
        for part in parts:
            fields = whose if place == 0 else {}
            self.add(piece(message_id, place, part, self._count, **fields))
            place += len(part)
            if with_states:
                self.state()
        return self

    def end(self, text, **fields):
        """The message of the answer whose pieces came last."""
        return self.add(answer(self.last, text, self._count, **fields))

    def summary(self, text="so far"):
        return self.add(Summary(text=text, through=self.last))

    def todos(self, *contents):
        return self.add(todos(*contents))

    @property
    def last(self):
        """The id of the newest message."""
        return f"m{self._count:04d}"

    def _next(self):
        self._count += 1
        return self.last

    def _time(self):
        return at(self._count)


def every_kind(session_id="tale"):
    """A journal with all there is: chains that end, that end before a crash, and that do not."""
    story = Story(session_id).opened().user("first question").state()
    story.pieces("once ", "upon ").todos("in between").state().end("once upon a time")
    story.todos("write", "send").state("A tale").user("and then? 会話").answer(
        "failed", status="failed"
    )
    story.answer("told again", replaces=story.last).summary("a tale was told").state().closed()
    story.opened(resumed=True).reset().user("after the reset \u2028 \ud800 \x85")
    story.settings(temperature=0.5, pinned=True)
    story.raw(b'{"type":"novel","of":"a newer version"}\n').state()
    story.pieces("cut ", "off").opened().end("cut off", status="interrupted").state()
    return story.user("last").pieces("still ", "arriving")
