"""Journals made of chance, and the ways to read them."""

import tempfile
from contextlib import contextmanager

from hypothesis import strategies as st

from tests.builders import Story, at, header
from tui.domain.journal.message import Message
from tui.domain.journal.records import Reset, Restored
from tui.storage import journal_lines
from tui.storage.journal import OpenJournal
from tui.storage.journal_lines import reader_of

any_text = st.text(st.characters(exclude_categories=()), max_size=20)
"""Any code points, lone surrogates too."""

_parts = st.lists(any_text.filter(bool), min_size=1, max_size=4)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("user"), any_text),
        st.tuples(st.just("answer"), any_text),
        st.tuples(st.just("retry"), any_text),
        st.tuples(st.just("streamed"), _parts, st.booleans()),
        st.tuples(st.just("retry_streamed"), _parts),
        st.tuples(st.just("streamed_around"), _parts, st.sampled_from(["summary", "reset"])),
        st.tuples(st.just("crashed"), _parts),
        st.tuples(st.just("twice"), any_text),
        st.tuples(st.just("summary"), any_text),
        st.tuples(st.just("todos"), any_text),
        st.tuples(st.just("set"), any_text),
        st.tuples(st.just("edited"), st.integers(0, 50), st.booleans()),
        st.tuples(st.just("regenerated"), st.integers(0, 50), st.booleans()),
        st.tuples(st.just("streamed_version"), st.integers(0, 50), _parts),
        st.tuples(st.just("state"), st.none() | any_text),
        st.tuples(st.sampled_from(["reset", "opened", "closed", "restored", "unknown"])),
    ),
    max_size=25,
)


class RandomStory(Story):
    """A story told step by step, as chance has it but as a program could have written it."""

    def play(self, step):
        kind, *arguments = step
        getattr(self, f"step_{kind}", getattr(self, kind, None))(*arguments)

    @property
    def failed(self):
        """The answer that a retry would replace: the last message, if it is a live answer."""
        session = self._fold.session(held=True)
        if session.loaded_messages and session.loaded_messages[-1].role == "assistant":
            return session.loaded_messages[-1].id
        return None

    def step_retry(self, text):
        self.answer(text, replaces=self.failed)

    def step_streamed(self, parts, with_state):
        self.pieces(*parts, with_states=with_state).end("".join(parts))

    def step_retry_streamed(self, parts):
        replaces = self.failed
        self.pieces(*parts, replaces=replaces).end("".join(parts), replaces=replaces)

    def step_streamed_around(self, parts, kind):
        self.pieces(*parts)
        getattr(self, kind)()
        self.end("".join(parts))

    def step_crashed(self, parts):
        self.pieces(*parts).opened().end("".join(parts), status="interrupted")

    def step_twice(self, text):
        """A record that was written again, because its first writing was not sure."""
        self.user(text).raw(self.lines[-1])

    def step_set(self, text):
        self.settings(system_prompt=text, pinned=len(text) % 2 == 0)

    def known(self, number):
        """A message of any version since the last reset; the first of none comes before them."""
        session = self._fold.session(held=True)
        since = session.everything or session.entries
        resets = [place for place, each in enumerate(since) if isinstance(each, Reset)]
        since = since[resets[-1] + 1 :] if resets else since
        ids = ["", *(each.id for each in since if isinstance(each, Message))]
        return ids[number % len(ids)]

    def step_edited(self, number, stated):
        self.user(f"edited {number}", after=self.known(number))
        self._stated(stated=stated)

    def step_regenerated(self, number, stated):
        self.answer(f"again {number}", after=self.known(number))
        self._stated(stated=stated)

    def step_streamed_version(self, number, parts):
        after = self.known(number)
        self.pieces(*parts[:1], after=after)
        self._stated(stated=True)
        self.end(parts[0], after=after)

    def _stated(self, *, stated):
        summary = self._fold.summary_to_repeat()
        self.add(*([summary] if summary else []))
        if stated:
            self.state()

    def step_restored(self):
        self.add(Restored(at=at(self._count)))

    def step_unknown(self):
        self.raw(b'{"type":"unknown","message":{"type":"message","id":"x"}}\n')


@st.composite
def stories(draw):
    """A journal that was written properly; the last answer may still be unfinished."""
    story = RandomStory()
    for step in draw(_steps):
        story.play(step)
    if draw(st.booleans()):
        story.pieces(*draw(_parts), replaces=story.failed)
        if draw(st.booleans()):
            story.state()
    return story


@contextmanager
def reading(data, *, held=False):
    """A journal of these bytes, open for reading."""
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.flush()
        yield OpenJournal(
            reader_of(file.fileno()),
            len(data),
            "tale",
            lambda: header("tale", scope="guessed"),
            held=held,
        )


def load(data, *, held=False):
    with reading(data, held=held) as journal:
        return journal.load()


def chain(journal, first, size):
    """The last entries and, page by page, all before them; and how many pages it took."""
    tail = journal.tail(first)
    entries, cursor, pages = tail.session.entries, tail.cursor, 0
    while cursor is not None:
        page = journal.page(cursor, size)
        entries, cursor, pages = page.entries + entries, page.cursor, pages + 1
        assert pages < 1000, "the pages never end"
    return entries, pages


def messages_of(entries):
    return [entry for entry in entries if isinstance(entry, Message)]


@contextmanager
def blocks_of(size):
    """Reads in blocks so small that every journal has many."""
    known = journal_lines.FIRST_BLOCK, journal_lines.LARGEST_BLOCK, journal_lines.SEARCHED_BLOCK
    journal_lines.FIRST_BLOCK, journal_lines.LARGEST_BLOCK, journal_lines.SEARCHED_BLOCK = (
        size,
        size * 4,
        size + 40,
    )
    try:
        yield
    finally:
        journal_lines.FIRST_BLOCK, journal_lines.LARGEST_BLOCK, journal_lines.SEARCHED_BLOCK = known
