"""Journals as the program writes them, made at random: what was said, lost and told again."""

from dataclasses import dataclass

from hypothesis import strategies as st

from tui.domain.journal.fold import Fold
from tui.domain.journal.message import Message
from tui.domain.journal.records import (
    VERSION,
    Closed,
    Opened,
    Partial,
    Record,
    Reset,
    Restored,
    SessionHeader,
    Settings,
    State,
    Summary,
    Todos,
)
from tui.domain.journal.todo import TodoItem

HEADER = SessionHeader(
    version=VERSION,
    id="tale",
    created_at="2026-01-01T00:00:00.000Z",
    scope="project:/shop",
    ordinal=1,
    project_path="/shop",
    model="offline:guide",
)


def at(seconds):
    return f"2026-01-01T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.000Z"


@dataclass(frozen=True)
class History:
    """Records; ``seams`` are the places before which no answer is still on its way."""

    records: tuple[Record, ...]
    seams: tuple[int, ...]

    @property
    def states(self):
        return [place for place, record in enumerate(self.records) if isinstance(record, State)]


def folded(records, fold=None, *, first=0):
    """A fold that took the records; each has its number for its place in the file."""
    fold = fold or Fold(HEADER)
    for place, record in enumerate(records, first):
        fold.add(record, place)
    return fold


class _Writer:
    """Writes what the steps say, as far as it makes sense at that point."""

    def __init__(self):
        self.records = []
        self.seams = [0]
        self._fold = Fold(HEADER)
        self._count = 0
        self._chain = None

    def write(self, record):
        self._fold.add(record, len(self.records))
        self.records.append(record)
        if not self._chain:
            self.seams.append(len(self.records))

    def take(self, step, number):
        getattr(self, step)(number)

    def user(self, number):
        if not self._chain:
            self.write(Message(self._next(), "user", f"prompt {number}", self._time()))

    def answer(self, number):
        if not self._chain:
            status = "failed" if number % 3 == 0 else None
            self.write(Message(self._next(), "assistant", "answer", self._time(), status=status))

    def result(self, number):
        if not self._chain:
            self.write(Message(self._next(), "tool", "result", self._time(), tool_call_id="c"))

    def retry(self, number):
        live = self._fold.session(held=True).loaded_messages
        if live and not self._chain:
            replaced = live[number % len(live)].id
            self.write(Message(self._next(), "assistant", "again", self._time(), replaces=replaced))

    def again(self, number):
        """The last message once more, as after a sync that failed only seemingly."""
        if self.records and isinstance(self.records[-1], Message):
            self.write(self.records[-1])

    def begin(self, number):
        live = self._fold.session(held=True).loaded_messages
        if not self._chain:
            replaced = live[number % len(live)].id if live and number % 2 else None
            self._chain = _Chain(self._next(), self._time(), replaced)
            self.write(self._chain.piece("once"))

    def piece(self, number):
        if self._chain:
            self.write(self._chain.piece(f" {number}"))

    def end(self, number):
        if self._chain:
            chain, self._chain = self._chain, None
            status = [None, "interrupted", "failed"][number % 3]
            self.write(chain.message(status))

    def summary(self, number):
        live = self._fold.session(held=True).loaded_messages
        if live:
            self.write(Summary(f"summary {number}", live[number % len(live)].id))

    def todos(self, number):
        self.write(Todos((TodoItem(f"thing {number}", "pending", "doing"),)))

    def settings(self, number):
        self.write(Settings(system_prompt=f"prompt {number}" if number % 2 else None))

    def state(self, number):
        session = self._fold.session(held=True)
        self.write(session.state(self._time()))

    def rename(self, number):
        self._fold.name, self._fold.model = f"name {number}", f"model {number % 3}"
        self.state(number)

    def reset(self, number):
        self.write(Reset(self._time()))

    def lease(self, number):
        kinds = [Opened(self._time()), Opened(self._time(), resumed=True), Closed(self._time())]
        self.write([*kinds, Restored(self._time())][number % 4])

    def _next(self):
        self._count += 1
        return f"m{self._count}"

    def _time(self):
        return at(len(self.records))


class _Chain:
    """An answer on its way."""

    def __init__(self, message_id, timestamp, replaces):
        self._whose = message_id, timestamp, replaces
        self._text = ""

    def piece(self, text):
        message_id, timestamp, replaces = self._whose
        whose = {"role": "assistant", "timestamp": timestamp, "model": "m", "replaces": replaces}
        before, self._text = len(self._text), self._text + text
        return Partial(message_id, before, text, **({} if before else whose))

    def message(self, status):
        message_id, timestamp, replaces = self._whose
        return Message(
            message_id, "assistant", self._text, timestamp, status=status, replaces=replaces
        )


_STEPS = [
    *("user", "answer", "result", "retry", "again", "begin", "piece", "piece", "end", "end"),
    *("summary", "todos", "settings", "state", "state", "rename", "reset", "lease"),
]


@st.composite
def histories(draw, steps=30):
    """A journal without its header, with states that say what ``Session.state`` says."""
    writer = _Writer()
    for step, number in draw(
        st.lists(st.tuples(st.sampled_from(_STEPS), st.integers(0, 11)), max_size=steps)
    ):
        writer.take(step, number)
    return History(tuple(writer.records), tuple(writer.seams))
