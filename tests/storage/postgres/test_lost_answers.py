"""Connections that are cut before and after each answer of each verb.

After an error the same call may be repeated: it neither loses nor doubles anything, and does not
fail because it was done already.
"""

from itertools import count

import psycopg
import pytest

from tests.builders import header, user
from tests.storage.postgres.test_faults import said
from tui.domain.imports import ImportLine
from tui.domain.journal.records import encode
from tui.errors import ServerUnreachable, SessionNotFound
from tui.storage.protocol import EVERYWHERE, SessionFilter

EVERY = SessionFilter(statuses=EVERYWHERE)
SCOPE = "project:/shop"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(64)


class Case:
    """One verb at a session of its own: what is there before, the call, and what must be so."""

    place = "kept"
    said = ("first",)
    ordinal: int | None = None
    """Another number than the next one."""
    holds = True
    """True if the program holds the session afterwards."""

    def __init__(self, store, number):
        self.store = store
        self.id = f"session-20260101-120000-{number:06d}"
        self.scope = f"{SCOPE}/{number}"
        self.lease = None
        self.prepare()

    def begin(self, *, session_id=None):
        self.lease = self.store.create(self.scope, "/shop", "m", session_id=session_id)
        self.id = self.lease.session_id

    def say(self, *contents):
        return self.store.append(self.lease, messages(*contents))

    def import_session(self):
        head = header(self.id, scope=self.scope, ordinal=0)
        line = user("first", "first")
        self.store.add_imported(head, [(line, encode(line))])

    def prepare(self):
        self.begin()
        self.say("first")

    def act(self):
        raise NotImplementedError

    def check(self, reader):
        assert said(reader, self.id) == list(self.said)
        session = reader.journal(self.id).load()
        assert session.damaged == 0
        assert session.header.ordinal == (1 if self.ordinal is None else self.ordinal)
        assert place_of(reader, self.id) == self.place

    def go_on(self):
        """Use the session further: what the program knows of it must be right."""
        if self.holds and self.place != "trashed":
            self.say("later")
            self.said = (*self.said, "later")
            self.place = "kept"
            self.ordinal = None
            self.lease.release()


def messages(*contents):
    return [user(each, each) for each in contents]


def place_of(reader, session_id):
    return {"open": "kept", "closed": "kept"}.get(status := reader.entry(session_id).status, status)


class Publish(Case):
    said = ("first", "second")

    def prepare(self):
        self.begin()

    def act(self):
        assert self.say("first", "second").ordinal == 1


class PublishReserved(Publish):
    def prepare(self):
        self.begin(session_id=self.id)


class Append(Case):
    said = ("first", "second")
    restored = False

    def act(self):
        appended = self.say("second")
        assert (appended.ordinal, appended.restored, appended.foreign) == (1, self.restored, ())


class AppendInPieces(Append):
    said = ("first", "second" * 200_000)

    def act(self):
        self.store.append(self.lease, [user("second", self.said[1])])


class AppendToArchived(Append):
    restored = True

    def prepare(self):
        super().prepare()
        self.store.archive(self.id)


class AppendToImported(AppendToArchived):
    def prepare(self):
        self.import_session()
        self.lease = self.store.lease(self.id)


class Extend(Append):
    place = "archived"
    ordinal = 0

    def prepare(self):
        self.import_session()
        self.lease = self.store.lease(self.id)

    def act(self):
        self.store.extend(self.lease, messages("second"))


class AddImported(Case):
    holds = False
    place = "archived"
    ordinal = 0

    def prepare(self):
        pass

    def act(self):
        self.import_session()


class Create(Case):
    said = ("later",)

    def prepare(self):
        pass

    def act(self):
        self.begin(session_id=self.id)

    def check(self, reader):
        if self.place == "kept" and self.ordinal is None:
            with pytest.raises(SessionNotFound):
                reader.journal(self.id).load()

    def go_on(self):
        self.said = ()
        super().go_on()
        self.check = super().check


class TakeLease(Case):
    def prepare(self):
        super().prepare()
        self.lease.release()

    def act(self):
        self.lease = self.store.lease(self.id)


class Release(Case):
    holds = False

    def act(self):
        self.lease.release()


class Archive(Case):
    holds = False
    place = "archived"
    moves: tuple[str, ...] = ("archive",)

    def prepare(self):
        super().prepare()
        if not self.holds:
            self.lease.release()

    def act(self):
        self.store.archive(self.id)

    def check(self, reader):
        super().check(reader)
        moves = [each.target for each in reader.moves() if each.id == self.id]
        assert moves == list(self.moves)


class Delete(Archive):
    place = "trashed"
    moves = ("trash",)

    def act(self):
        self.store.delete(self.id)


class Restore(Archive):
    place = "kept"
    moves = ("archive", "sessions")

    def prepare(self):
        super().prepare()
        self.store.archive(self.id)

    def act(self):
        self.store.restore(self.id)

    def check(self, reader):
        super().check(reader)
        kinds = [type(each).__name__ for each in reader.journal(self.id).records()]
        assert kinds.count("Restored") == 1


class RestoreImported(Restore):
    moves = ("sessions",)

    def prepare(self):
        self.import_session()


class ArchiveHeld(Archive):
    holds = True


class DeleteHeld(Delete):
    holds = True


class RestoreHeld(Restore):
    holds = True


class Purge(Archive):
    def prepare(self):
        super().prepare()
        self.store.delete(self.id)

    def act(self):
        self.store.purge(self.id)

    def check(self, reader):
        with pytest.raises(SessionNotFound):
            reader.journal(self.id).load()


class SetActive(Case):
    def prepare(self):
        super().prepare()
        self.first = self.id
        self.begin()
        self.say("first")

    def act(self):
        self.store.set_active(self.scope, self.first)

    def check(self, reader):
        assert reader.active(self.scope) == self.first

    def go_on(self):
        pass


class AddAttachment(Case):
    def act(self):
        self.sha256 = self.store.add_attachment(self.id, PICTURE)

    def check(self, reader):
        super().check(reader)
        assert reader.attachment(self.id, self.sha256) == PICTURE


class NoteImports(Case):
    holds = False

    def prepare(self):
        super().prepare()
        self.line = ImportLine(at="now", program="pi", path=self.id, source_id="s", id=self.id)

    def act(self):
        self.store.note_imports([self.line])

    def check(self, reader):
        assert {each for each in reader.imports() if each.path == self.id} == {self.line}


CASES = [
    *(Publish, PublishReserved, Append, AppendInPieces, AppendToArchived, AppendToImported),
    *(Extend, AddImported, NoteImports, AddAttachment, Create, TakeLease, Release),
    *(Archive, ArchiveHeld, Delete, DeleteHeld, Restore, RestoreHeld, RestoreImported),
    *(Purge, SetActive),
]


@pytest.fixture
def store(cutter, postgres, open_store):
    store = open_store(cutter.address)
    store.count(EVERY)
    yield store
    assert is_whole(postgres)


def repeated(act, cutter):
    """Do it, and once more after an error, with the server there again."""
    try:
        act()
    except ServerUnreachable:
        cutter.heal()
        act()
    finally:
        cutter.heal()


@pytest.mark.parametrize(
    "stays_away",
    [
        pytest.param(False, id="back at once"),
        pytest.param(True, id="away", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("moment", [pytest.param("request", marks=pytest.mark.full), "answer"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_each_verb_may_be_repeated(case, moment, stays_away, cutter, store, other):
    for number in count(1):
        verb = case(store, number)
        cutter.cut(number, moment, stays_away=stays_away)
        repeated(verb.act, cutter)
        verb.check(other)
        verb.go_on()
        verb.check(other)
        if not cutter.has_cut.is_set():
            assert number > 1
            return


def is_whole(postgres):
    """Tell whether the tables agree: pieces without a gap, and each number given once."""
    with psycopg.connect(postgres, options="-c search_path=sibyl") as connection:
        gaps = connection.execute(
            "select id from sessions left join pieces on session = id group by id, size"
            " having coalesce(sum(length(data)), 0) <> case place when 'reserved' then 0 else size"
            " end or coalesce(max(at + length(data)), 0) <> coalesce(sum(length(data)), 0)"
        ).fetchall()
        doubled = connection.execute(
            "select scope, ordinal from sessions where ordinal > 0"
            " group by scope, ordinal having count(*) > 1"
        ).fetchall()
        strays = connection.execute(
            "select id from sessions where ordinal > 0 and not exists (select from numbers"
            " where session = id and numbers.ordinal = sessions.ordinal)"
        ).fetchall()
    return not gaps and not doubled and not strays
