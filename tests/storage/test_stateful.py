"""Anything may happen in any order: a store against a model made of plain dictionaries."""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from tests.builders import Clock, answer, at, piece, texts, todos, user
from tests.examples import examples
from tests.storage.contract import ALL
from tests.storage.stories import any_text
from tui.domain.journal.records import Closed, Opened, Reset
from tui.errors import AmbiguousSession, SessionNotFound, StorageError
from tui.storage.file_store import FileStore

SCOPES = st.sampled_from(["project:/a", "project:/b#1"])
TEXT = any_text.map(lambda text: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
"""Text without halves of characters: what JSON makes of two of them is tested elsewhere."""
KNOWN = "name", "todos", "summary", "prompt_count", "message_count", "total_count"


@dataclass
class Told:
    """What a session must be, in the simplest words."""

    scope: str
    ordinal: int
    place: str = "kept"
    messages: list = field(default_factory=list)
    live_from: int = 0
    hidden: set = field(default_factory=set)
    prompts: int = 0
    name: str = ""
    todos: tuple = ()
    pieces: str | None = None

    @property
    def shown(self):
        """The messages with their texts; an unfinished answer is the last of them."""
        shown = [(key, text) for key, text in self.messages if key not in self.hidden]
        return shown + ([(self.unfinished, self.pieces)] if self.pieces is not None else [])

    @property
    def live(self):
        known = {key for key, _ in self.messages[: self.live_from]}
        return [(key, text) for key, text in self.shown if key not in known]

    @property
    def unfinished(self):
        return self.next_id

    @property
    def next_id(self):
        return f"m{len(self.messages):03d}"


class StoreMachine(RuleBasedStateMachine):
    """Says, names, resets, moves, dies and comes back; after each step all must be as told."""

    sessions = Bundle("sessions")

    def __init__(self):
        super().__init__()
        self.clock = Clock()
        self.begin()
        self.told: dict[str, Told] = {}
        self.leases = {}
        self.highest = {}

    # --- what differs between backends

    def begin(self):
        raise NotImplementedError

    def come_back(self):
        """The store of a new program in the same place, after the old one is gone."""
        raise NotImplementedError

    # --- helpers

    def lease(self, name):
        if name not in self.leases:
            self.leases[name] = self.store.lease(name)
            self.take_over(name)
        return self.leases[name]

    def take_over(self, name):
        """Do what a new holder does first: keep what its predecessor left unfinished."""
        told = self.told[name]
        interrupted = self.store.journal(name).tail(3).session.interrupted
        expected = [] if told.pieces is None else [told.pieces]
        assert texts(interrupted) == expected
        if interrupted:
            self.write(name, Opened(at()), *interrupted)
            self.finish(told, told.pieces)

    def finish(self, told, text):
        told.messages.append((told.next_id, text))
        told.pieces = None

    def write(self, name, *records):
        appended = self.store.append(self.lease(name), records)
        told = self.told[name]
        assert appended.restored == (told.place == "archived")
        assert appended.foreign == ()
        told.place = "kept"

    def state(self, name):
        """A state as the program writes it after every turn."""
        session = self.store.journal(name).tail(1).session
        self.write(name, session.state(at()))

    def usable(self, name):
        return name in self.told and self.told[name].place != "trashed"

    def ready(self, name):
        """What a session must be that can be written to, leased and with no answer arriving."""
        if not self.usable(name):
            return None
        self.lease(name)
        self.end_pieces(name)
        return self.told[name]

    # --- steps

    @rule(target=sessions, scope=SCOPES, text=TEXT)
    def create(self, scope, text):
        lease = self.store.create(scope, "/shop", "m")
        name = lease.session_id
        self.leases[name] = lease
        self.highest[scope] = self.highest.get(scope, 0) + 1
        self.told[name] = Told(scope, self.highest[scope])
        appended = self.store.append(lease, [Opened(at()), user("m000", text)])
        assert appended.ordinal == self.highest[scope]
        self.told[name].messages.append(("m000", text))
        self.told[name].prompts = 1
        assert self.store.active(scope) == name
        return name

    @rule(scope=SCOPES)
    def reserve(self, scope):
        """A session in which nothing happens leaves no trace and uses no number."""
        self.store.create(scope, "/shop", "m")

    @rule(name=sessions, text=TEXT, reply=TEXT)
    def say(self, name, text, reply):
        if not (told := self.ready(name)):
            return
        for make, content in ((user, text), (answer, reply)):
            message_id = told.next_id
            self.write(name, make(message_id, content))
            told.messages.append((message_id, content))
        told.prompts += 1
        self.state(name)

    @rule(name=sessions, parts=st.lists(TEXT, min_size=1, max_size=3))
    def stream(self, name, parts):
        """An answer begins to arrive; another step ends it, or a death does."""
        if not (told := self.ready(name)):
            return
        place, told.pieces = 0, ""
        for part in parts:
            self.write(name, piece(told.unfinished, place, part))
            told.pieces += part
            place += len(part)

    def end_pieces(self, name):
        told = self.told[name]
        if told.pieces is not None:
            self.write(name, answer(told.unfinished, told.pieces))
            self.finish(told, told.pieces)

    @rule(name=sessions, text=TEXT)
    def retry(self, name, text):
        told = self.ready(name)
        if not told or not told.live:
            return
        replaced, message_id = told.live[-1][0], told.next_id
        self.write(name, answer(message_id, text, replaces=replaced))
        told.messages.append((message_id, text))
        told.hidden.add(replaced)

    @rule(name=sessions)
    def reset(self, name):
        if told := self.ready(name):
            self.write(name, Reset(at()))
            told.live_from = len(told.messages)

    @rule(name=sessions, text=TEXT)
    def rename(self, name, text):
        if not self.usable(name):
            return
        self.lease(name)
        state = self.store.journal(name).tail(1).session.state(at())
        self.write(name, type(state)(**{**_fields(state), "name": text}))
        self.told[name].name = text

    @rule(name=sessions, items=st.lists(TEXT, max_size=3))
    def plan(self, name, items):
        if not self.usable(name):
            return
        self.write(name, todos(*items))
        self.told[name].todos = todos(*items).items

    @rule(name=sessions)
    def close(self, name):
        if name in self.leases and self.usable(name):
            self.end_pieces(name)
            self.write(name, Closed(at()))
            self.leases.pop(name).release()

    @rule()
    def die_and_come_back(self):
        self.store = self.come_back()
        self.leases = {}

    @rule(name=sessions)
    def archive(self, name):
        self.move(name, "archive", {"kept"}, "archived")

    @rule(name=sessions)
    def delete(self, name):
        self.move(name, "delete", {"kept", "archived"}, "trashed")

    @rule(name=sessions)
    def restore(self, name):
        self.move(name, "restore", {"archived", "trashed"}, "kept")

    def move(self, name, verb, places, place):
        told = self.told.get(name)
        if told is None or told.place not in places:
            with pytest.raises(SessionNotFound):
                getattr(self.store, verb)(name)
            return
        getattr(self.store, verb)(name)
        told.place = place

    @rule(name=consumes(sessions))
    def purge(self, name):
        if name not in self.told or self.told[name].place != "trashed":
            with pytest.raises(SessionNotFound):
                self.store.purge(name)
            return
        self.store.purge(name)
        del self.told[name]
        self.leases.pop(name, None)
        for read in (self.store.entry, self.store.lease):
            with pytest.raises(SessionNotFound):
                read(name)

    @rule(name=sessions)
    def append_without_the_lease(self, name):
        if name in self.leases:
            lease = self.leases.pop(name)
            lease.release()
            with pytest.raises(StorageError):
                self.store.append(lease, [user("never", "never")])

    @rule(name=sessions)
    def choose(self, name):
        if name in self.told and self.told[name].place == "kept":
            self.store.set_active(self.told[name].scope, name)
            assert self.store.active(self.told[name].scope) == name

    # --- what must always be so

    @invariant()
    def every_session_is_what_was_told(self):
        for name, told in self.told.items():
            session = self.store.journal(name).load()
            assert [(m.id, m.text) for m in session.all_messages] == told.shown
            assert [(m.id, m.text) for m in session.loaded_messages] == told.live
            assert (session.name, session.todos) == (told.name, told.todos)
            assert session.prompt_count == told.prompts
            assert (session.header.scope, session.header.ordinal) == (told.scope, told.ordinal)
            assert session.damaged == 0
            arriving = told.pieces is not None and name in self.leases
            assert session.message_count == len(told.live) - arriving

    @invariant()
    def the_end_and_its_pages_are_the_whole(self):
        for name, told in self.told.items():
            journal = self.store.journal(name)
            whole, tail = journal.load(), journal.tail(2)
            for known in KNOWN:
                assert getattr(tail.session, known) == getattr(whole, known), known
            entries, cursor = tail.session.entries, tail.cursor
            while cursor is not None:
                page = journal.page(cursor, 2)
                entries, cursor = page.entries + entries, page.cursor
            assert entries == whole.entries
            assert [m.id for m in journal.since(None)] == [key for key, _ in told.live]

    @invariant()
    def the_list_has_each_once_where_it_is(self):
        listing = self.store.list(ALL, None, 1000)
        found = {entry.id: entry.status for entry in listing.entries}
        assert len(listing.entries) == len(found)
        assert found == {name: self.status(name) for name in self.told}
        for entry in listing.entries:
            assert entry.name == self.told[entry.id].name
            assert entry.ordinal == self.told[entry.id].ordinal

    def status(self, name):
        place = self.told[name].place
        if place == "kept":
            return "open" if name in self.leases else "closed"
        return place

    @invariant()
    def the_active_session_is_a_kept_one(self):
        for scope in self.highest:
            kept = {n for n, t in self.told.items() if (t.scope, t.place) == (scope, "kept")}
            active = self.store.active(scope)
            assert active in kept if kept else active is None

    @invariant()
    def names_and_numbers_lead_to_their_sessions(self):
        for name, told in self.told.items():
            assert self.store.resolve(name, "x") == name
            assert self.store.resolve(f"{told.scope}#{told.ordinal}", "x") == name
            if told.name and told.place != "trashed":
                try:
                    found = self.store.resolve(told.name, "x")
                except AmbiguousSession as error:
                    found = name if name in error.candidates else error.candidates
                assert self.told[found].name == told.name or told.name in found


def _fields(struct):
    return {name: getattr(struct, name) for name in struct.__struct_fields__}


class FileMachine(StoreMachine):
    def begin(self):
        self.place = tempfile.TemporaryDirectory()
        self.store = FileStore(Path(self.place.name), self.clock)

    def come_back(self):
        # The system closes the files of the dead, and with them goes what they held.
        for lease in self.leases.values():
            lease.release()
        return FileStore(Path(self.place.name), self.clock)

    def teardown(self):
        self.come_back()
        self.place.cleanup()


TestFileStore = FileMachine.TestCase
TestFileStore.settings = examples(0.4)
