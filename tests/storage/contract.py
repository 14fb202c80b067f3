"""What every backend must do, as tests.

A backend plugs in with a class of its own tests, which gives it as the fixture ``backend``. It has

- ``store``: the store, empty, as this program uses it;
- ``another_program()``: a store of the same place that holds none of this one's leases;
- ``fail_next()``: the next append finds no room;
- ``slip_in(session_id, record)``: somebody adds a record without asking;
- ``make_newer(session_id)``: the session was written by a newer version;
- ``spoil(session_id)``: what was saved of a session is no longer there.
"""

import hashlib
import queue
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import msgspec
import pytest

from tests.attached import NOTES, picture, showing
from tests.builders import Clock, answer, at, header, kept_texts, piece, texts, todos, user
from tests.waiting import SECONDS
from tui.domain.imports import ImportLine
from tui.domain.journal.message import TokenUsage, ToolCall, content_of
from tui.domain.journal.records import (
    Closed,
    Offsets,
    Opened,
    Reset,
    Restored,
    SessionHeader,
    Settings,
    State,
    Summary,
    encode,
    is_session_id,
)
from tui.domain.moves import Batch
from tui.errors import (
    AmbiguousSession,
    AttachmentNotFound,
    MessageNotFound,
    NewerVersion,
    ReadOnly,
    SessionBusy,
    SessionDamaged,
    SessionExists,
    SessionNotFound,
    StorageError,
    StorageFull,
)
from tui.storage.journal import BEGINNING
from tui.storage.protocol import EVERYWHERE, SessionFilter

SCOPE = "project:/shop"
PICTURE = b"\x89PNG\r\n\x1a\n and its pixels"
PHOTO = picture("photo.png", PICTURE)
NAMED = msgspec.to_builtins(PHOTO)
"""The block of a message that shows it."""
ALL = SessionFilter(statuses=EVERYWHERE)
HOSTILE = [
    *("", ".", "..", "../x", "a/b", "/etc/passwd", "a\0", "abc\n", "-x", "~"),
    *("x" * 129, "x" * 200, "١٢٣", "ａｂｃ", "a\\b", "\ud800"),
]


def new(store, *records, scope=SCOPE, session_id=None):
    """A session with some records, held."""
    lease = store.create(scope, "/shop", "offline:guide", session_id=session_id)
    store.append(lease, records or [user("m1")])
    return lease


def closed(store, *records, scope=SCOPE, session_id=None):
    """The id of a session with some records that nobody holds."""
    lease = new(store, *records, scope=scope, session_id=session_id)
    lease.release()
    return lease.session_id


def imported(session_id, ordinal=0):
    """The header of a session of another program."""
    return header(
        session_id, scope=SCOPE, ordinal=ordinal, project_path="/shop", imported_from="pi:x"
    )


def encoded(*records):
    """Records with and without their lines, as they may come."""
    for number, record in enumerate(records):
        yield record, encode(record) if number % 2 else b""


def change(store, session_id, *records):
    """Append to a closed session."""
    lease = store.lease(session_id)
    store.append(lease, records)
    lease.release()


def state(name="", messages=0, prompts=0):
    return State(
        name=name,
        model="offline:guide",
        prompt_count=prompts,
        message_count=messages,
        total_count=messages,
        updated_at=at(),
        offsets=Offsets(),
    )


def show(store, session_id):
    """A closed session with a picture."""
    lease = store.create(SCOPE, "/shop", "offline:guide", session_id=session_id)
    store.add_attachment(session_id, PICTURE)
    store.append(lease, [user("m1", [NAMED])])
    lease.release()


def destroy(store, session_id):
    store.delete(session_id)
    store.purge(session_id)


def ids_of(entries):
    return [entry.id for entry in entries]


def ids(listing):
    return [entry.id for entry in listing.entries]


def search(store, query, limit=10, **how):
    """A search that is not in a hurry."""
    return store.search(query, limit, seconds=SECONDS, **how)


def verbs(store, name):
    """Everything that a store is asked about one session."""
    journal = store.journal(name)
    return [
        lambda: store.create(SCOPE, "/shop", "m", session_id=name),
        lambda: store.lease(name),
        lambda: store.holder(name),
        journal.load,
        lambda: journal.tail(5),
        lambda: journal.page("0", 5),
        lambda: journal.page_after("0", 5),
        lambda: journal.around("m1", 1, 1),
        lambda: journal.since(None),
        lambda: store.stamp(name),
        lambda: store.entry(name),
        lambda: store.location(name),
        lambda: store.delete(name),
        lambda: store.archive(name),
        lambda: store.restore(name),
        lambda: store.purge(name),
        lambda: store.set_active(SCOPE, name),
        lambda: store.resolve(name, SCOPE),
    ]


class ReadingContract:
    """Each test is a promise of ``tui.storage.journal``; a private session keeps them as well."""

    @pytest.fixture
    def clock(self):
        return Clock()

    @pytest.fixture
    def store(self, backend):
        return backend.store

    def test_every_kind_of_record_comes_back_as_it_was(self, store):
        message = answer(
            "m2",
            None,
            tool_calls=(ToolCall("t", "read", {"path": ["a", {"b": None}]}),),
            status="truncated",
            error="too long",
            model="m",
            context_snapshot={"deep": [1, 2.5, True]},
            metadata={"k": "v"},
        )
        tool = user("m3", [{"type": "text", "text": "x"}, "y"], tool_call_id="t")
        lease = new(store, user("m1"), message, tool)
        store.append(lease, [todos("write"), Summary("short", through="m1"), state("Tale", 3, 1)])
        session = store.journal(lease.session_id).load()
        assert session.loaded_messages[1:] == (message, tool)
        assert session.todos == todos("write").items
        assert session.summary == Summary("short", through="m1")
        assert (session.name, session.prompt_count) == ("Tale", 1)

    def versions(self, store):
        """Q1 A1 Q2 A2, A1 asked for again, and gone on from there."""
        lease = new(store, user("q1"), answer("a1"), user("q2"), answer("a2"))
        store.append(lease, [answer("a3", after="q1"), state("Tale", 2, 2)])
        store.append(lease, [user("q3"), answer("a4"), state("Tale", 4, 3)])
        return lease

    def test_a_reader_sees_the_live_version(self, store):
        name = self.versions(store).session_id
        journal, live = store.journal(name), ["q1", "a3", "q3", "a4"]
        assert ids_of(journal.load().loaded_messages) == live
        assert store.entry(name).message_count == 4
        for count in range(6):
            tail = journal.tail(count)
            assert ids_of(tail.session.loaded_messages) == live[4 - min(count, 4) :]
            assert tail.session.message_count == 4
        page = journal.page(journal.tail(1).cursor, 2)
        assert ids_of(page.entries) == ["a3", "q3"]
        assert ids_of(journal.page(page.cursor, 2).entries) == ["q1"]
        assert ids_of(journal.page_after(BEGINNING, 10).entries) == live
        assert ids_of(journal.load().all_messages) == ["q1", "a1", "q2", "a2", *live[1:]]

    def test_a_message_of_another_version_is_found_with_that(self, store):
        journal = store.journal(self.versions(store).session_id)
        around = journal.around("q2", 1, 1)
        assert (ids_of(around.entries), around.aside) == (["a1", "q2", "a2"], True)
        assert ids_of(journal.page(around.earlier, 5).entries) == ["q1"]
        assert around.later is None
        later = journal.around("a1", 0, 1).later
        assert ids_of(journal.page_after(later, 5).entries) == ["a2"]
        assert not journal.around("a3", 1, 1).aside

    def test_the_tokens_of_all_requests_are_read_whatever_became_of_the_answers(self, store):
        lease = self.versions(store)
        failed = answer("a5", status="failed", model="local:m", usage=TokenUsage(50, 0))
        again = answer("a6", replaces="a5", model="local:m", usage=TokenUsage(60, 6, 40, 10))
        summary = Summary("So far.", "q3", "local:m", TokenUsage(90, 9))
        store.append(lease, [failed, summary, Reset(at(3)), again, summary, todos("x")])
        store.append(lease, [msgspec.structs.replace(again, usage=TokenUsage(60, 7, 40, 10))])
        counted = {each.id: each.usage for each in store.journal(lease.session_id).requests()}
        assert counted == {
            **dict.fromkeys(["a1", "a2", "a3", "a4"]),
            "a5": TokenUsage(50, 0),
            "summary q3": TokenUsage(90, 9),
            "a6": TokenUsage(60, 7, 40, 10),
        }
        assert store.journal(closed(store)).requests() == ()

    def test_versions_are_told_in_the_order_of_the_file(self, store):
        lease = self.versions(store)
        both = ("a1", "a3")
        assert store.journal(lease.session_id).versions() == dict.fromkeys(both, both)
        assert store.journal(closed(store)).versions() == {}

    def test_a_session_can_be_read_as_if_an_earlier_message_were_its_last(self, store):
        journal = store.journal(self.versions(store).session_id)
        tail = journal.tail(2, "q2")
        assert ids_of(tail.session.loaded_messages) == ["a1", "q2"]
        assert tail.session.message_count == 3
        assert ids_of(journal.page(tail.cursor, 5).entries) == ["q1"]
        first = journal.tail(2, "").session
        assert (first.loaded_messages, first.message_count) == ((), 0)
        with pytest.raises(MessageNotFound):
            journal.tail(2, "nobody")

    def test_what_no_reader_would_take_back_is_refused_with_all_that_came_with_it(self, store):
        deep = "leaf"
        for _ in range(250):
            deep = [deep]
        lease = new(store)
        for bad in (user("m3", deep), user("m3", [{1j}])):
            with pytest.raises(StorageError):
                store.append(lease, [answer("m2"), bad])
        assert kept_texts(store, lease.session_id) == ["hello"]

    def test_a_session_is_read_by_many_threads_while_one_writes_to_it(self, store, lease):
        def read(_):
            return len(store.journal(lease.session_id).load().loaded_messages)

        with ThreadPoolExecutor(3) as threads:
            counts = threads.map(read, range(12))
            for number in range(8):
                store.append(lease, [user(f"n{number}")])
            assert all(1 <= count <= 9 for count in counts)
        assert len(store.journal(lease.session_id).load().loaded_messages) == 9

    def test_what_is_not_there_cannot_be_read(self, store):
        nothing = store.journal("nowhere")
        for read in (
            nothing.load,
            lambda: store.entry("nowhere"),
            lambda: nothing.tail(3),
            lambda: nothing.page("0", 3),
            lambda: nothing.since(None),
            lambda: nothing.around("m1", 5, 5),
            nothing.requests,
        ):
            with pytest.raises(SessionNotFound):
                read()

    def test_a_page_stays_where_it_was_when_more_is_written_and_that_is_on_the_pages_after(
        self, store
    ):
        lease = new(store, *[user(f"m{n}", str(n)) for n in range(6)])
        journal = store.journal(lease.session_id)
        cursor, later = journal.tail(2).cursor, journal.around("m3", 0, 1).later
        before = journal.page(cursor, 2)
        store.append(lease, [answer("m6", "more"), Reset(at(9))])
        assert texts(journal.page(cursor, 2).entries) == ["2", "3"]
        assert journal.page(cursor, 2).entries == before.entries
        page = journal.page_after(later, 5)
        assert (texts(page.entries[:2]), page.cursor) == (["5", "more"], None)

    def test_a_message_that_is_not_there_or_was_replaced_has_nothing_around_it(self, store):
        name = closed(store, user("m1"), answer("m2", "no"), answer("m3", "yes", replaces="m2"))
        for message_id in ("m2", "nowhere", "", "m", '"'):
            with pytest.raises(MessageNotFound):
                store.journal(name).around(message_id, 5, 5)

    @pytest.mark.parametrize("cursor", ["", "x", "-1", "99999999", "9" * 5000, "٣", "[1]"])
    def test_a_later_cursor_that_the_store_did_not_make_is_refused(self, store, cursor):
        with pytest.raises(StorageError):
            store.journal(closed(store)).page_after(cursor, 5)

    def test_the_records_of_a_session_are_read_one_by_one(self, store):
        records = [user("m1"), answer("m2"), Reset(at=at())]
        found = store.journal(closed(store, *records)).records()
        assert isinstance(next(found), SessionHeader)
        assert list(found) == records


class StoreContract(ReadingContract):
    """Each test is a promise of ``tui.storage.protocol``."""

    @pytest.fixture
    def other(self, backend):
        return backend.another_program()

    # --- create

    def test_sessions_begun_within_one_second_have_ids_of_their_own(
        self, store, other, monkeypatch
    ):
        monkeypatch.setattr(Clock, "__call__", lambda clock: clock.now)
        names = {each.create(SCOPE, "/shop", "m").session_id for each in (store, other) * 10}
        assert len(names) == 20
        assert len({name.rpartition("-")[0] for name in names}) == 1
        assert all(is_session_id(name) and name.startswith("session-") for name in names)

    def test_a_reserved_session_is_not_there_for_others_before_its_first_record(self, store, other):
        lease = store.create(SCOPE, "/shop", "m")
        store.append(lease, [])
        for program in (store, other):
            assert program.list(ALL, None, 10).entries == ()
            with pytest.raises(SessionNotFound):
                program.journal(lease.session_id).load()
        store.append(lease, [user("m1")])
        assert ids(other.list(ALL, None, 10)) == [lease.session_id]

    def test_a_session_says_where_it_came_from(self, store):
        origin = {"forked_from": "a", "imported_from": "b"}
        lease = store.create(SCOPE, "/shop", "m", session_id="mine", **origin)
        store.append(lease, [user("m1")])
        found = store.journal("mine").load().header
        assert found == SessionHeader(1, "mine", found.created_at, SCOPE, 1, "/shop", "m", **origin)

    def test_an_id_is_busy_while_somebody_holds_it_with_a_session_or_without(self, store, other):
        lease = store.create(SCOPE, "/shop", "m", session_id="mine")
        with pytest.raises(SessionBusy):
            other.create(SCOPE, "/shop", "m", session_id="mine")
        lease.release()
        other.append(other.create(SCOPE, "/shop", "m", session_id="mine"), [user("m1")])
        for program in (store, other):
            with pytest.raises(SessionBusy):
                program.create(SCOPE, "/shop", "m", session_id="mine")
        assert texts(store.journal("mine").load().loaded_messages) == ["hello"]

    @pytest.mark.parametrize("deed", ["", "archive", "delete"])
    def test_the_id_of_a_session_that_is_there_is_not_given_again(self, store, deed):
        closed(store, user("m1", "mine"), session_id="old")
        if deed:
            getattr(store, deed)("old")
        with pytest.raises(StorageError, match="exists"):
            store.create(SCOPE, "/shop", "m", session_id="old")
        with pytest.raises(SessionExists):
            store.add_imported(imported("old"), encoded(user("m1")))
        assert store.holder("old") is None
        assert texts(store.journal("old").load().loaded_messages) == ["mine"]

    @pytest.mark.parametrize("time", ["2020-02-02T02:02:02.000Z", "soon"])
    def test_the_time_of_a_beginning_is_kept_as_it_was_given(self, store, time):
        lease = store.create(SCOPE, "/shop", "m", created_at=time)
        store.append(lease, [user("m1")])
        (entry,) = store.list(ALL, None, 10).entries
        assert store.journal(entry.id).load().header.created_at == entry.created_at == time

    # --- lease and holder

    def test_what_is_not_there_cannot_be_taken_moved_or_located(self, store, name):
        verbs = store.lease, store.delete, store.archive, store.restore, store.purge
        for verb in (*verbs, store.location, store.stamp):
            with pytest.raises(SessionNotFound):
                verb("nowhere")
        assert store.holder("nowhere") is None
        assert name in store.location(name)

    def test_a_session_held_elsewhere_is_busy_and_its_holder_is_named(self, store, lease, other):
        with pytest.raises(SessionBusy) as told:
            other.lease(lease.session_id)
        for program in (store, other):
            assert str(program.holder(lease.session_id)) == told.value.holder
        assert told.value.holder.startswith("in another window (pid ")
        assert f"Session {lease.session_id} is open in another window (pid " in str(told.value)
        lease.release()
        lease.release()
        assert store.holder(lease.session_id) is None
        other.append(other.lease(lease.session_id), [answer("m2")])
        assert kept_texts(store, lease.session_id) == ["hello", "hi"]

    def test_a_session_of_a_newer_version_is_read_and_moved_and_not_taken(
        self, store, name, backend
    ):
        backend.make_newer(name)
        with pytest.raises(NewerVersion) as told:
            store.lease(name)
        assert told.value.version == 2
        assert store.holder(name) is None
        assert kept_texts(store, name) == ["hello"]
        store.archive(name)
        store.restore(name)
        assert store.entry(name).status == "closed"

    def test_a_damaged_session_cannot_be_taken_read_or_appended_to_but_stays_in_the_list(
        self, store, lease, backend
    ):
        name, whole = closed(store), closed(store)
        backend.spoil(name)
        journal = store.journal(name)
        for deed in (
            lambda: store.lease(name),
            journal.load,
            lambda: journal.tail(5),
            lambda: journal.since(None),
            lambda: journal.page("0", 5),
        ):
            with pytest.raises(SessionDamaged):
                deed()
        assert store.holder(name) is None
        assert set(ids(store.list(ALL, None, 10))) == {name, whole, lease.session_id}
        assert store.entry(name).label == "(unreadable)"
        backend.spoil(lease.session_id)
        with pytest.raises(SessionDamaged):
            store.append(lease, [user("m2")])

    # --- append

    def test_what_was_appended_is_there_for_everybody_in_its_order(self, store, other):
        lease = new(store, user("m1", "one"))
        store.append(lease, [answer("m2", "two"), user("m3", "three")])
        store.append(lease, [answer("m4", "four")])
        for reader in (store, other):
            assert kept_texts(reader, lease.session_id) == ["one", "two", "three", "four"]

    def test_the_last_settings_count_for_readers_lists_and_the_next_holder(self, store, other):
        lease = new(store, user("m1"), Settings(temperature=0.5), state("Tale", 1, 1))
        mine = Settings(system_prompt="Be brief.", tools_off=("write_todos",), pinned=True)
        store.append(lease, [mine, user("m2"), state("Tale", 2, 2), Reset(at(3)), user("m3")])
        assert other.journal(lease.session_id).load().settings == mine
        assert other.journal(lease.session_id).tail(1).session.settings == mine
        assert other.entry(lease.session_id).pinned
        lease.release()
        again = other.lease(lease.session_id)
        other.append(again, [user("m4"), state("Tale", 2, 3)])
        assert store.journal(lease.session_id).tail(1).session.settings == mine

    def test_numbers_in_a_scope_go_up_by_one_with_the_first_record(self, store, other):
        reserved = store.create(SCOPE, "/shop", "m")
        first = new(other)
        elsewhere = new(store, scope="other")
        appended = store.append(reserved, [user("m1")])
        assert other.journal(first.session_id).load().header.ordinal == 1
        assert appended.ordinal == 2
        assert store.append(reserved, [user("m2")]).ordinal == 2
        assert store.journal(elsewhere.session_id).load().header.ordinal == 1

    @pytest.mark.parametrize("end", ["archive", "delete", "purge"])
    def test_a_number_is_never_given_again(self, store, end):
        closed(store)
        name = closed(store)
        if end == "purge":
            store.delete(name)
        getattr(store, end)(name)
        assert store.journal(closed(store)).load().header.ordinal == 3

    def test_an_imported_session_has_no_number_until_it_is_restored(self, store):
        closed(store)
        store.add_imported(imported("theirs"), encoded(user("m1")))
        entry = store.entry("theirs")
        assert (entry.status, entry.ordinal, entry.program) == ("archived", 0, "pi")
        with pytest.raises(SessionNotFound):
            store.resolve("#2", SCOPE)
        before = store.active(SCOPE)
        store.restore("theirs")
        assert store.active(SCOPE) == before
        assert store.entry("theirs").ordinal == store.journal("theirs").load().header.ordinal == 2
        assert store.resolve("#2", SCOPE) == "theirs"
        store.archive("theirs")
        store.restore("theirs")
        assert store.entry("theirs").ordinal == 2
        assert store.journal(closed(store)).load().header.ordinal == 3

    def test_the_first_append_to_an_imported_session_gives_it_its_number(self, store):
        closed(store)
        store.add_imported(imported("theirs"), encoded(user("m1")))
        lease = store.lease("theirs")
        appended = store.append(lease, [answer("m2", seconds=1)])
        assert (appended.ordinal, appended.restored) == (2, True)
        assert store.append(lease, [user("m3", seconds=2)]).ordinal == 2
        assert store.entry("theirs").ordinal == 2

    def test_who_has_given_up_the_lease_cannot_append(self, store, lease, other):
        lease.release()
        with pytest.raises(ReadOnly):
            store.append(lease, [user("m2")])
        held = store.lease(lease.session_id)
        with pytest.raises(ReadOnly):
            other.append(held, [user("m2")])
        # Giving the old one up again does not take the new one away.
        lease.release()
        with pytest.raises(ReadOnly):
            store.append(lease, [user("m2")])
        store.append(held, [answer("m3")])
        assert kept_texts(store, lease.session_id) == ["hello", "hi"]

    def test_a_failed_append_leaves_nothing_and_can_be_made_again(self, store, lease, backend):
        again = [answer("m2"), todos("write"), Reset(at(3)), user("m3", "after")]
        backend.fail_next()
        with pytest.raises(StorageFull):
            store.append(lease, again)
        assert kept_texts(store, lease.session_id) == ["hello"]
        assert store.append(lease, again).foreign == ()
        session = store.journal(lease.session_id).load()
        assert texts(session.all_messages) == ["hello", "hi", "after"]
        assert (texts(session.loaded_messages), session.damaged) == (["after"], 0)
        assert len(session.entries) == 4

    def test_a_failed_first_append_can_be_made_again(self, store, backend):
        lease = store.create(SCOPE, "/shop", "m")
        backend.fail_next()
        with pytest.raises(StorageFull):
            store.append(lease, [user("m1")])
        assert store.list(ALL, None, 10).entries == ()
        assert store.append(lease, [user("m1")]).ordinal == 1
        assert kept_texts(store, lease.session_id) == ["hello"]

    def test_records_that_others_add_after_the_lease_was_taken_are_given_back_once(
        self, store, backend
    ):
        lease = store.lease(closed(store, user("m1"), answer("m2")))
        assert store.append(lease, [user("m3")]).foreign == ()
        backend.slip_in(lease.session_id, user("m4", "from elsewhere"))
        assert store.append(lease, [user("m5")]).foreign == (user("m4", "from elsewhere"),)
        assert store.append(lease, [user("m6")]).foreign == ()

    def test_the_first_append_to_an_archived_session_restores_it(self, store, name):
        store.archive(name)
        lease = store.lease(name)
        assert store.entry(name).status == "archived"
        assert store.stamp(name).where == "archived"
        assert store.append(lease, []).restored is False
        assert store.append(lease, [user("m2", "again")]).restored is True
        assert store.append(lease, [user("m3", "more")]).restored is False
        assert store.entry(name).status == "open"
        assert store.stamp(name).where == "closed"
        assert kept_texts(store, name) == ["hello", "again", "more"]

    def test_a_failed_restoring_append_restores_at_the_next_one(self, store, name, backend):
        store.archive(name)
        lease = store.lease(name)
        backend.fail_next()
        with pytest.raises(StorageFull):
            store.append(lease, [user("m2", "again")])
        assert store.append(lease, [user("m2", "again")]).restored is True
        assert kept_texts(store, name) == ["hello", "again"]

    def test_a_deleted_session_takes_no_more_records_and_cannot_be_taken(self, store, lease):
        store.delete(lease.session_id)
        with pytest.raises(SessionNotFound):
            store.append(lease, [user("m2")])
        store.restore(lease.session_id)
        store.append(lease, [user("m2", "back")])
        assert kept_texts(store, lease.session_id) == ["hello", "back"]
        lease.release()
        store.delete(lease.session_id)
        with pytest.raises(SessionNotFound):
            store.lease(lease.session_id)

    # --- durability

    def test_a_store_that_is_opened_later_has_all_that_was_acknowledged(self, store, backend):
        lease = store.create(SCOPE, "/shop", "m", session_id="tale")
        store.add_attachment("tale", PICTURE)
        store.append(lease, [user("m1", [NAMED]), state("Tale", 1, 1), Settings(pinned=True)])
        first = closed(store, session_id="first")
        store.archive(closed(store, session_id="archived"))
        store.delete(closed(store, session_id="trashed"))
        store.set_active(SCOPE, first)
        store.add_imported(imported("theirs"), encoded(user("m1")))
        store.note_imports([ImportLine(at(), "pi", "/a")])
        later = backend.another_program()
        assert later.list(ALL, None, 10) == store.list(ALL, None, 10)
        assert later.journal("tale").load().entries == store.journal("tale").load().entries
        assert later.stamp("tale") == store.stamp("tale")
        assert later.attachment("tale", PHOTO.sha256) == PICTURE
        assert (later.active(SCOPE), later.holder("tale")) == (first, store.holder("tale"))
        assert (later.moves(), [*later.imports()]) == (store.moves(), [*store.imports()])
        assert later.entry(closed(later)).ordinal == 5

    # --- threads

    def test_threads_write_to_sessions_of_their_own_at_once(self, store, other):
        def write(program):
            lease = new(program)
            for number in range(5):
                program.append(lease, [user(f"n{number}", str(number))])
                program.list(ALL, None, 5)
            lease.release()
            return lease.session_id

        with ThreadPoolExecutor(6) as threads:
            names = list(threads.map(write, [store, other] * 3))
        assert sorted(each.ordinal for each in store.entries(names)) == [1, 2, 3, 4, 5, 6]
        for name in names:
            assert kept_texts(store, name) == ["hello", *"01234"]

    def test_a_lease_is_used_and_given_up_by_another_thread_than_took_it(self, store, other):
        with ThreadPoolExecutor(1) as thread:
            lease = thread.submit(new, store).result()
        store.append(lease, [answer("m2")])
        with ThreadPoolExecutor(1) as thread:
            thread.submit(lease.release).result()
        other.lease(lease.session_id)

    # --- load

    @pytest.mark.parametrize("deed", ["archive", "delete"])
    def test_a_session_that_was_set_aside_is_read_where_it_is(self, store, name, deed):
        getattr(store, deed)(name)
        assert kept_texts(store, name) == ["hello"]
        assert texts(store.journal(name).tail(1).session.loaded_messages) == ["hello"]
        assert texts(store.journal(name).since(None)) == ["hello"]

    def test_the_pieces_of_an_answer_are_arriving_while_its_writer_lives_then_interrupted(
        self, store, other
    ):
        lease = new(store, user("m1"))
        store.append(lease, [piece("m2", 0, "once "), piece("m2", 5, "upon")])
        for reader in (store, other):
            session = reader.journal(lease.session_id).load()
            assert texts(session.loaded_messages) == ["hello", "once upon"]
            assert (session.arriving, session.interrupted) == ({"m2"}, ())
            assert session.loaded_messages[1].status is None
        lease.release()
        session = store.journal(lease.session_id).load()
        assert texts(session.loaded_messages) == ["hello", "once upon"]
        assert session.loaded_messages[1].status == "interrupted"
        assert session.interrupted == session.loaded_messages[1:]
        assert (session.message_count, session.total_count) == (2, 2)
        lease = other.lease(lease.session_id)
        left = other.journal(lease.session_id).tail(10).session.interrupted
        assert texts(left) == ["once upon"]
        other.append(lease, [Opened(at(9)), *left])
        session = store.journal(lease.session_id).load()
        assert (session.interrupted, session.arriving) == ((), frozenset())
        assert session.loaded_messages[1].status == "interrupted"
        assert session.message_count == 2

    # --- tail, page and since

    @pytest.mark.parametrize(
        "cursor",
        ["", "x", "-1", "[]", "[-1]", "[null]", '["a"]', "99999999", "[99999999]", "[" * 9000],
    )
    def test_a_cursor_that_the_store_did_not_make_is_refused(self, store, name, cursor):
        with pytest.raises(StorageError):
            store.journal(name).page(cursor, 5)
        with pytest.raises(StorageError):
            store.list(ALL, cursor, 5)

    # --- around a message, and on from there

    def test_a_stamp_is_another_one_after_each_change_and_stays_until_then(
        self, store, name, other, backend
    ):
        first = store.stamp(name)
        store.journal(name).load()
        other.lease(name).release()
        assert store.entry(name).status == "closed"
        assert store.stamp(name) == other.stamp(name) == first
        backend.slip_in(name, user("m2"))
        second = other.stamp(name)
        assert second != first
        assert second.goes_on_from(first)
        assert not first.goes_on_from(second)

    def test_a_stamp_tells_where_a_session_is_and_that_it_is_another_of_its_id(self, store, name):
        first = store.stamp(name)
        assert first.where == "closed"
        store.archive(name)
        assert store.stamp(name).where == "archived"
        store.delete(name)
        assert store.stamp(name).where == "trashed"
        store.purge(name)
        with pytest.raises(SessionNotFound):
            store.stamp(name)
        assert store.stamp(closed(store, session_id=name)) != first

    def test_whoever_watches_is_told_of_what_others_change(self, store, other):
        told: queue.Queue[str] = queue.Queue()
        if not store.watch(told.put):
            pytest.skip("nothing tells this store of changes: it is polled")
        # Before that, nobody listens yet.
        assert not told.get(timeout=SECONDS)
        session = closed(other)
        while told.get(timeout=SECONDS) != session:
            pass

    # --- list and entry

    def test_a_list_has_the_newest_use_first_and_its_pages_give_every_session_once(self, store):
        names = [closed(store, user("m1", seconds=n // 2)) for n in range(7)]
        whole = ids(store.list(ALL, None, 100))
        assert (whole[0], {*whole[1:3]}, {*whole[3:5]}) == (names[6], {*names[4:6]}, {*names[2:4]})
        assert {*whole[5:]} == {*names[:2]}
        for size in (1, 2, 3, 6, 7, 8):
            found, cursor = [], None
            while cursor or not found:
                listing = store.list(ALL, cursor, size)
                assert len(listing.entries) <= size
                found += ids(listing)
                cursor = listing.cursor
            assert found == whole

    def test_a_list_holds_only_what_was_asked_for(self, store):
        kept, archived, trashed, held = (closed(store) for _ in range(4))
        elsewhere = closed(store, scope="other")
        store.archive(archived)
        store.delete(trashed)
        store.lease(held)

        def found(scope=None, **wanted):
            return set(ids(store.list(SessionFilter(scope, **wanted), None, 10)))

        assert found() == {kept, held, elsewhere}
        assert found(SCOPE) == {kept, held}
        assert found(SCOPE, statuses=frozenset({"closed"})) == {kept}
        assert found(statuses=frozenset({"open"})) == {held}
        assert found(statuses=frozenset({"archived"})) == {archived}
        aside = frozenset({"archived", "trashed"})
        assert found(SCOPE, statuses=aside) == {archived, trashed}
        assert found(statuses=EVERYWHERE) == {kept, archived, trashed, held, elsewhere}
        assert found("nowhere") == set()

    def test_a_list_may_hold_only_what_was_not_used_for_some_time(self, store):
        old, middle, new = (closed(store, user("m1", seconds=60 * n)) for n in range(3))
        assert ids(store.list(SessionFilter(used_before=at(120)), None, 10)) == [middle, old]
        assert ids(store.list(SessionFilter(used_before=at(60)), None, 10)) == [old]
        assert ids(store.list(SessionFilter(used_before=at(0)), None, 10)) == []
        first = store.list(SessionFilter(used_before=at(500)), None, 1)
        assert ids(first) == [new]
        rest = store.list(SessionFilter(used_before=at(500)), first.cursor, 10)
        assert ids(rest) == [middle, old]

    def test_as_many_are_counted_as_a_list_holds(self, store):
        names = [closed(store) for _ in range(6)]
        closed(store, scope="other")
        store.lease(names[0])
        store.archive(names[1])
        store.archive(names[2])
        store.delete(names[3])
        for scope in (None, SCOPE, "other", "nowhere"):
            for size in range(5):
                for statuses in combinations(sorted(EVERYWHERE), size):
                    wanted = SessionFilter(scope, frozenset(statuses))
                    assert store.count(wanted) == len(store.list(wanted, None, 10).entries)

    def test_an_entry_says_what_there_is_to_show(self, store):
        said = user("m1", "  What is\n this? ", seconds=2), answer("m2", seconds=3)
        name = closed(store, Opened(at(1)), *said, state("", 2, 1), Closed(at(4)))
        entry = store.entry(name)
        assert entry == store.list(ALL, None, 10).entries[0]
        assert (entry.id, entry.name, entry.label) == (name, "", "What is this?")
        assert (entry.scope, entry.ordinal, entry.project_path) == (SCOPE, 1, "/shop")
        assert (entry.model, entry.message_count, entry.status) == ("offline:guide", 2, "closed")
        assert (entry.last_used_at, entry.closed_at) == (at(3), at(4))
        assert (entry.active, entry.damaged) == (True, 0)
        store.append(store.lease(name), [state("Old", 1, 1), Opened(at(5)), state("New", 1, 1)])
        entry = store.entry(name)
        assert (entry.name, entry.label, entry.status) == ("New", "New", "open")
        assert entry.closed_at is None

    def test_a_title_is_what_was_typed_without_the_files_that_came_along(self, store):
        read = closed(store, user("m1", content_of("Read @notes.txt", (NOTES,))))
        shown = closed(store, user("m1", content_of("", (picture(size=120_000),))))
        assert store.entry(read).label == "Read @notes.txt"
        assert store.entry(shown).label == "[image: photo.png, 120 KB]"

    @pytest.mark.parametrize(
        ("models", "label"),
        [
            (["offline:guide"], "Question 0"),
            (["offline:guide", "openai:gpt", "openai:gpt"], "Question 1"),
            (["offline:guide", None], "Question 0"),
            ([None, "openai:gpt"], "Question 0"),
            (["openai:gpt", "offline:guide"], "Question 0"),
        ],
    )
    def test_the_label_is_the_first_question_to_a_model_else_the_first(self, store, models, label):
        records = []
        for number, model in enumerate(models):
            records.append(user(f"q{number}", f"Question {number}"))
            records += [answer(f"a{number}", model=model)] if model else []
        assert store.entry(closed(store, *records)).label == label

    def test_an_entry_is_found_wherever_the_session_is(self, store, name):
        seen = [store.entry(name).status]
        for deed in (store.archive, store.delete, store.restore, store.lease):
            deed(name)
            seen.append(store.entry(name).status)
        assert seen == ["closed", "archived", "trashed", "closed", "open"]

    def test_the_entries_of_some_sessions_come_in_order_without_those_that_are_gone(self, store):
        first, second, third, gone = closed(store), closed(store), closed(store), closed(store)
        store.archive(second)
        store.delete(third)
        store.delete(gone)
        store.purge(gone)
        wanted = [third, gone, "not an id", first, second]
        assert store.entries(wanted) == tuple(map(store.entry, (third, first, second)))
        assert [entry.active for entry in store.entries([first, second])] == [True, False]

    @pytest.mark.parametrize("record", [user("m2", seconds=5), Opened(at(5), resumed=True)])
    def test_a_message_and_an_explicit_opening_are_uses_and_naming_and_closing_are_none(
        self, store, record
    ):
        first, second = closed(store, user("m1", seconds=1)), closed(store, user("m1", seconds=2))
        lease = store.lease(first)
        store.append(lease, [Opened(at(8)), state("Named", 1, 1), Closed(at(9))])
        assert ids(store.list(ALL, None, 10)) == [second, first]
        assert store.entry(first).last_used_at == at(1)
        store.append(lease, [record])
        assert ids(store.list(ALL, None, 10)) == [first, second]
        assert store.entry(first).last_used_at == at(5)

    @pytest.mark.parametrize("move", ["archive", "delete"])
    def test_restoring_is_a_use_and_an_undo_gives_back_the_last_one(self, store, move):
        first = closed(store, user("m1", seconds=-9000))
        second = closed(store, user("m1", seconds=-8000))
        before = [each.last_used_at for each in store.list(ALL, None, 10).entries]
        getattr(store, move)(first)
        store.restore(first, Batch("together", "undo"))
        after = store.list(ALL, None, 10)
        assert ids(after) == [second, first]
        assert [each.last_used_at for each in after.entries] == before
        getattr(store, move)(first)
        store.restore(first)
        assert ids(store.list(ALL, None, 10)) == [first, second]

    # --- resolve

    def test_an_id_and_a_number_mean_their_session_wherever_it_is_until_it_is_purged(
        self, store, name
    ):
        for deed in (store.entry, store.archive, store.delete):
            deed(name)
            assert store.resolve("#1", SCOPE) == store.resolve(name, SCOPE) == name
        store.restore(store.resolve("#1", SCOPE))
        assert store.entry(name).status == "closed"
        destroy(store, name)
        with pytest.raises(SessionNotFound):
            store.resolve("#1", SCOPE)
        closed(store, scope="other", session_id=name)
        with pytest.raises(SessionNotFound):
            store.resolve("#1", SCOPE)
        assert store.resolve("#1", "other") == name

    def test_a_number_means_the_session_that_was_listed_under_it(self, store):
        names = [closed(store) for _ in range(2)]
        assert store.resolve("2", SCOPE, listed=names) == names[1]
        with pytest.raises(SessionNotFound):
            store.resolve("3", SCOPE, listed=names)

    def test_a_number_of_a_scope_means_its_session(self, store):
        first = closed(store, scope="a#b")
        second = closed(store, scope="a#b")
        assert store.resolve("a#b#2", "elsewhere") == second
        assert store.resolve("#1", "a#b") == first
        with pytest.raises(SessionNotFound):
            store.resolve("#3", "a#b")

    def test_a_name_a_title_or_a_unique_beginning_of_an_id_means_a_session(self, store):
        name = closed(store, state("My tale"), session_id="session-20260111-143000-000001")
        for target in ("My tale", "my  TALE", "20260111", "session-2026"):
            assert store.resolve(target, SCOPE) == name
        with pytest.raises(SessionNotFound):
            store.resolve("tale", SCOPE)

    def test_a_name_or_beginning_of_several_is_ambiguous_and_names_them(self, store):
        names = [closed(store, state("Twins"), session_id=f"session-{n}") for n in "ab"]
        for target in ("Twins", "session-"):
            with pytest.raises(AmbiguousSession) as told:
                store.resolve(target, SCOPE)
            assert sorted(told.value.candidates) == names

    def test_an_unknown_target_names_the_closest_by_id_and_by_name(self, store):
        first = closed(store, state("Garden plans"), session_id="session-20260111-120000-000001")
        second = closed(store, state("Holiday"), session_id="session-20260112-120000-000002")
        for target, closest in (
            ("Garden plams", (first,)),
            ("20260111-120000-00009", (first,)),
            ("session-20260112-120000-000003", (second,)),
            ("completely different", ()),
            ("", ()),
        ):
            with pytest.raises(SessionNotFound) as told:
                store.resolve(target, SCOPE)
            assert told.value.closest[: max(1, len(closest))] == closest
            assert target in str(told.value)

    def test_a_filter_narrows_names_and_beginnings_but_not_ids_and_numbers(self, store):
        first = closed(store, state("Twins"), session_id="session-a", scope="one")
        second = closed(store, state("Twins"), session_id="session-b", scope="two")
        narrow = SessionFilter(scope="two")
        assert store.resolve("Twins", "one", wanted=narrow) == second
        assert store.resolve("session-", "one", wanted=narrow) == second
        assert store.resolve("session-a", "one", wanted=narrow) == first
        assert store.resolve("#1", "one", wanted=narrow) == first

    def test_names_are_looked_for_among_the_kept_and_the_archived(self, store):
        name = closed(store, state("Tale"))
        store.archive(name)
        assert store.resolve("Tale", SCOPE) == name
        store.delete(name)
        with pytest.raises(SessionNotFound):
            store.resolve("Tale", SCOPE)

    # --- orders of a list

    def test_pinned_sessions_come_before_the_first_page_where_that_is_asked_for(self, store):
        names = [closed(store, user(f"m{second}", seconds=second)) for second in range(5)]
        for name in names[:2]:
            change(store, name, Settings(pinned=True))
        assert ids(store.list(SessionFilter(), None, 9)) == names[::-1]
        wanted = SessionFilter(order="pinned")
        pages, cursor = [], None
        while not pages or cursor:
            listing = store.list(wanted, cursor, 2)
            cursor = listing.cursor
            pages.append(ids(listing))
        assert pages == [[names[1], names[0]], [names[4], names[3]], [names[2]]]
        first = store.list(wanted, None, 3).entries
        assert [entry.pinned for entry in first] == [True, True, False]
        change(store, names[0], Settings())
        found = ids(store.list(wanted, None, 9))
        assert (found[0], found[-1]) == (names[1], names[0])

    def test_a_list_by_closing_has_the_latest_closed_first(self, store):
        leases = [new(store, user(f"m{number}")) for number in range(3)]
        for second, number in enumerate((1, 2, 0)):
            store.append(leases[number], [Closed(at=f"2027-01-01T00:00:0{second}.000Z")])
            leases[number].release()
        wanted = SessionFilter(statuses=frozenset({"closed"}), order="closed")
        expected = [leases[number].session_id for number in (0, 2, 1)]
        assert [entry.id for entry in store.list(wanted, None, 9).entries] == expected

    # --- moves

    def test_moves_of_all_programs_are_told_in_their_order_and_outlive_the_session(
        self, store, name, other
    ):
        with pytest.raises(SessionNotFound):
            store.restore(name)
        assert store.moves() == ()
        store.archive(name)
        other.restore(name, Batch("together", "undo"))
        store.delete(name, Batch("more", "clear"))
        other.purge(name)
        for program in (store, other):
            assert [(m.id, m.source, m.target, m.reason) for m in program.moves()] == [
                (name, "sessions", "archive", "user"),
                (name, "archive", "sessions", "undo"),
                (name, "sessions", "trash", "clear"),
            ]
            assert [m.batch for m in program.moves()][1:] == ["together", "more"]

    def test_a_session_that_its_first_change_restores_is_not_among_the_moves(self, store, name):
        store.archive(name)
        store.append(store.lease(name), [user("m2", "again")])
        assert [move.target for move in store.moves()] == ["archive"]

    # --- delete, archive, restore, purge

    # --- sessions of other programs

    def test_an_imported_session_is_in_the_archive_whole(self, store, other):
        said = user("m1", "a"), answer("m2", "b", 5), answer("m3", "c", 9, after="m1")
        store.add_imported(imported("old"), encoded(*said, state("Old", 2, 1)))
        entry = other.entry("old")
        assert (entry.status, entry.name, entry.ordinal) == ("archived", "Old", 0)
        assert texts(other.journal("old").tail(9).session.loaded_messages) == ["a", "c"]
        assert texts(other.journal("old").load().all_messages) == ["a", "b", "c"]
        assert entry.last_used_at == at(9)
        assert ids(other.list(SessionFilter(SCOPE), None, 9)) == []
        assert store.active(SCOPE) is None

    def test_a_time_that_is_none_is_no_last_use_of_an_imported_session(self, store):
        odd = msgspec.structs.replace(user("m2"), timestamp="no time")
        store.add_imported(imported("old"), encoded(user("m1", seconds=9), odd, state("", 2, 2)))
        assert store.entry("old").last_used_at == at(9)
        store.add_imported(imported("timeless"), encoded(todos("x")))
        assert store.entry("timeless").last_used_at >= at(), "when it was imported"

    def test_nothing_is_there_of_an_import_that_was_broken_off(self, store):
        def broken():
            yield from encoded(user("m1"))
            raise LookupError

        with pytest.raises(LookupError):
            store.add_imported(imported("old"), broken())
        with pytest.raises(SessionNotFound):
            store.entry("old")
        store.add_imported(imported("old"), encoded(user("m1", "a")))
        assert texts(store.journal("old").load().loaded_messages) == ["a"]

    def test_an_imported_session_keeps_its_number_where_that_was_never_given(self, store):
        for name in ("old", "other"):
            store.add_imported(imported(name, ordinal=3), encoded(user("m1")))
        assert [each.ordinal for each in store.entries(["old", "other"])] == [3, 0]
        assert store.entry(closed(store)).ordinal == 4

    def test_an_imported_session_is_active_where_none_is_until_it_is_set_aside(self, store, other):
        store.add_imported(imported("old", ordinal=1), encoded(user("m1")), active=True)
        store.add_imported(imported("other", ordinal=2), encoded(user("m1")), active=True)
        assert other.active(SCOPE) == "old"
        assert not other.entry("old").active
        own = closed(store)
        assert other.active(SCOPE) == own
        store.set_active(SCOPE, "old")
        store.archive(own)
        assert other.active(SCOPE) == "old"
        store.restore("other")
        store.restore("old")
        assert store.active(SCOPE) == "old"
        store.delete("other")
        store.archive("old")
        assert other.active(SCOPE) is None

    def test_an_imported_session_grows_where_it_is_and_only_by_who_holds_it(self, store, other):
        store.add_imported(imported("old"), encoded(user("m1", "a"), state("Old", 1, 1)))
        lease = store.lease("old")
        with pytest.raises(ReadOnly):
            other.extend(lease, [answer("m2")])
        store.extend(lease, [answer("m2", "b", 9), state("Old", 2, 1)])
        lease.release()
        with pytest.raises(ReadOnly):
            store.extend(lease, [answer("m3")])
        entry = other.entry("old")
        assert (entry.status, entry.ordinal, entry.last_used_at) == ("archived", 0, at(9))
        assert texts(other.journal("old").load().loaded_messages) == ["a", "b"]

    def test_a_session_is_found_by_the_id_that_it_had_in_its_program(self, store, other):
        for name, program, source in (
            ("old", "pi", 'a"é:1'),
            ("theirs", "codex", "b"),
            ("fork", "pi", "b"),
            ("gone", "pi", "c"),
        ):
            store.add_imported(imported(name), encoded(user("m1")))
            store.note_imports([ImportLine(at(), program, "/a", source_id=source, id=name)])
        store.delete("gone")
        store.purge("gone")
        for target in ('a"é:1', 'pi:a"é:1'):
            assert other.resolve(target, SCOPE) == "old"
            assert [hit.session_id for hit in search(other, target).hits][:1] == ["old"]
        assert other.resolve("codex:b", SCOPE) == "theirs"
        with pytest.raises(AmbiguousSession) as caught:
            other.resolve("b", SCOPE)
        assert sorted(caught.value.candidates) == ["fork", "theirs"]
        for target in ("pi:", "codex:c", "c", 'pi:a"é'):
            with pytest.raises(SessionNotFound):
                other.resolve(target, SCOPE)

    def test_the_log_of_imports_outlives_the_session_and_may_grow_while_it_is_read(
        self, store, other
    ):
        more = {"revision": 5, "whole": True}
        whole = ImportLine(at(), "pi", "/a/\ud800", 1, 2, 3, 4, "s", "r", "old", **more)
        lines = [whole, ImportLine(at(), "pi", "/b")]
        store.add_imported(imported("old"), encoded(user("m1")))
        store.note_imports(lines)
        destroy(store, "old")
        assert list(other.imports()) == lines
        reading = store.imports()
        assert next(reading) == whole
        other.note_imports(lines[:1])
        assert list(reading)[:1] == lines[1:]
        assert list(store.imports()) == [*lines, whole]

    @pytest.mark.parametrize(
        ("deeds", "refused"),
        [
            ([], ["restore", "purge"]),
            (["archive"], ["archive", "purge"]),
            (["archive", "delete"], ["archive", "delete"]),
        ],
    )
    def test_a_session_is_not_moved_to_where_it_is_or_purged_elsewhere_than_in_the_trash(
        self, store, name, deeds, refused
    ):
        for deed in deeds:
            getattr(store, deed)(name)
        for verb in refused:
            with pytest.raises(SessionNotFound):
                getattr(store, verb)(name)
        assert kept_texts(store, name) == ["hello"]

    def test_a_session_held_elsewhere_is_neither_moved_nor_purged(self, store, lease, other):
        for verb in (other.delete, other.archive):
            with pytest.raises(SessionBusy):
                verb(lease.session_id)
        assert store.entry(lease.session_id).status == "open"
        store.delete(lease.session_id)
        for verb in (other.restore, other.purge):
            with pytest.raises(SessionBusy):
                verb(lease.session_id)
        assert store.entry(lease.session_id).status == "trashed"

    def test_a_moved_session_is_held_by_nobody(self, store, name, other):
        for verb in (store.archive, store.restore, store.delete, store.restore):
            verb(name)
            assert other.holder(name) is None
        assert other.append(other.lease(name), [user("m2")]).restored is False

    def test_its_holder_may_set_a_session_aside_and_restore_it_and_keeps_the_lease(
        self, store, lease
    ):
        store.archive(lease.session_id)
        assert store.append(lease, [user("m2", "back")]).restored is True
        assert store.holder(lease.session_id) is not None
        store.archive(lease.session_id)
        store.restore(lease.session_id)
        appended = store.append(lease, [user("m3", "again")])
        assert (appended.restored, appended.foreign) == (False, ())

    @pytest.mark.parametrize("way", ["archive", "delete"])
    def test_a_restored_session_has_its_scope_its_number_and_its_messages(self, store, way):
        closed(store)
        name = closed(store)
        before = store.journal(name).load()
        getattr(store, way)(name)
        store.restore(name)
        after = store.journal(name).load()
        assert (after.header, after.entries) == (before.header, before.entries)
        assert store.resolve("#2", SCOPE) == name

    def test_a_purged_session_is_gone_with_its_lease_and_its_id_may_be_used_anew(
        self, store, lease
    ):
        name = lease.session_id
        destroy(store, name)
        assert store.list(ALL, None, 10).entries == ()
        with pytest.raises(SessionNotFound):
            store.journal(name).load()
        assert store.holder(name) is None
        with pytest.raises(ReadOnly):
            store.append(lease, [user("m2")])
        closed(store, user("n1", "anew"), session_id=name)
        assert kept_texts(store, name) == ["anew"]

    # --- pictures

    def test_a_picture_that_was_kept_is_read_by_its_hash_and_found_by_its_beginning(
        self, store, other
    ):
        lease = store.create(SCOPE, "/shop", "offline:guide")
        sha256 = store.add_attachment(lease.session_id, PICTURE)
        assert sha256 == hashlib.sha256(PICTURE).hexdigest()
        assert other.add_attachment("another", PICTURE) == sha256
        assert other.attachment(lease.session_id, sha256) == PICTURE
        assert other.find_attachment(lease.session_id, sha256[:16]) == sha256
        with pytest.raises(AttachmentNotFound):
            other.find_attachment(lease.session_id, sha256[:15])

    @pytest.mark.parametrize("name", ["", "a" * 16, "*" * 16, "../../etc/passwd", "é" * 64])
    def test_a_picture_that_was_never_kept_is_not_found(self, store, name):
        with pytest.raises(AttachmentNotFound):
            store.attachment("tale", name)
        with pytest.raises(AttachmentNotFound):
            store.find_attachment("tale", name)

    def test_a_picture_may_not_be_larger_than_a_reader_takes(self, store):
        with pytest.raises(StorageError, match="larger than 32 MiB"):
            store.add_attachment("tale", bytes(32 * 1024 * 1024 + 1))

    @pytest.mark.parametrize("ways", [("archive",), ("delete",), ("archive", "delete", "restore")])
    def test_a_picture_stays_where_its_session_goes(self, store, ways):
        show(store, "tale")
        for way in ways:
            getattr(store, way)("tale")
        assert store.attachment("tale", PHOTO.sha256) == PICTURE

    def test_a_purge_frees_the_pictures_that_no_session_uses_any_more(self, store, other):
        show(store, "tale")
        show(other, "another")
        destroy(store, "tale")
        assert other.attachment("another", PHOTO.sha256) == PICTURE
        destroy(store, "another")
        with pytest.raises(AttachmentNotFound):
            store.find_attachment("another", PHOTO.sha256)

    def test_a_picture_that_a_session_refers_to_stays_though_another_one_kept_it(self, store):
        show(store, "tale")
        lease = closed(store, user("m1", "hello"), session_id="appended")
        change(store, lease, user("m2", [NAMED]))
        store.add_imported(imported("added"), encoded(user("m1", [NAMED])))
        closed(store, user("m1", "hello"), session_id="extended")
        held = store.lease("extended")
        store.extend(held, [user("m2", [NAMED])])
        held.release()
        for session_id in ("tale", "appended", "added"):
            destroy(store, session_id)
            assert store.attachment("extended", PHOTO.sha256) == PICTURE
        destroy(store, "extended")
        with pytest.raises(AttachmentNotFound):
            store.attachment("extended", PHOTO.sha256)

    def test_a_picture_stays_for_a_session_that_is_not_published_yet(self, store, other):
        show(store, "tale")
        lease = other.create(SCOPE, "/shop", "offline:guide")
        other.add_attachment(lease.session_id, PICTURE)
        destroy(store, "tale")
        other.append(lease, [user("m1", [NAMED])])
        assert other.attachment(lease.session_id, PHOTO.sha256) == PICTURE

    def test_several_messages_of_one_write_may_show_the_same_picture(self, store):
        both = [user("m1", [NAMED]), user("m2", [NAMED])]
        lease = store.create(SCOPE, "/shop", "offline:guide", session_id="appended")
        store.append(lease, both)
        store.extend(lease, [user("m3", [NAMED]), user("m4", [NAMED])])
        lease.release()
        store.add_imported(imported("added"), encoded(*both))
        for session_id, count in (("appended", 4), ("added", 2)):
            shown = [each.attachments for each in store.journal(session_id).load().all_messages]
            assert shown == [(PHOTO,)] * count

    def test_a_message_may_refer_to_a_picture_that_is_not_there(self, store):
        closed(store, user("m1", [NAMED]), session_id="tale")
        assert store.journal("tale").load().all_messages[0].attachments == (PHOTO,)
        destroy(store, "tale")

    # --- active

    def test_the_newest_session_of_a_scope_is_its_active_one_until_another_is_chosen(
        self, store, other
    ):
        assert store.active(SCOPE) is None
        first, second = closed(store), closed(store)
        elsewhere = closed(store, scope="other")
        assert store.active(SCOPE) == second
        other.set_active(SCOPE, first)
        assert store.active(SCOPE) == first
        assert store.active("other") == elsewhere
        assert [store.entry(name).active for name in (first, second)] == [True, False]
        destroy(store, first)
        assert store.active(SCOPE) == second
        store.archive(second)
        assert store.active(SCOPE) is None

    @pytest.mark.parametrize("end", ["archive", "delete"])
    def test_when_the_active_session_is_set_aside_the_most_recently_used_other_is(self, store, end):
        names = [closed(store, user("m1", seconds=n)) for n in (2, 3, 1)]
        assert store.active(SCOPE) == names[2]
        getattr(store, end)(names[2])
        assert store.active(SCOPE) == names[1]
        assert not store.entry(names[2]).active
        listed = store.list(SessionFilter(scope=SCOPE), None, 10).entries
        assert [entry.id for entry in listed if entry.active] == [names[1]]
        assert store.entry(names[1]).active
        store.restore(names[2])
        assert store.active(SCOPE) == names[2]

    def test_an_absent_session_may_be_chosen_and_counts_once_it_is_there(self, store):
        there = closed(store)
        store.set_active(SCOPE, "absent")
        assert store.active(SCOPE) == there
        store.set_active("empty", "absent")
        assert store.active("empty") is None
        store.set_active(SCOPE, closed(store, scope="other", session_id="absent"))
        assert store.active(SCOPE) == "absent"

    # --- hostile ids

    @pytest.mark.parametrize("name", HOSTILE)
    def test_what_is_no_id_is_refused_by_every_verb(self, store, name):
        closed(store)
        for verb in verbs(store, name):
            with pytest.raises(SessionNotFound):
                verb()

    def test_the_longest_id_is_an_id(self, store):
        assert kept_texts(store, closed(store, session_id="x" * 128)) == ["hello"]

    # --- search

    def test_what_was_said_is_found_with_who_said_it_and_where(self, store):
        name = closed(store, user("m1", "Where is the login?"), answer("m2", "In auth.py.", 1))
        (hit,) = search(store, "login").hits
        assert (hit.session_id, hit.message_id, hit.role) == (name, "m1", "user")
        assert hit.timestamp == at(0)
        assert hit.snippet == "Where is the login?"
        assert [hit.snippet[begin:end] for begin, end in hit.marks] == ["login"]

    @pytest.mark.parametrize(
        ("query", "marked"),
        [("notes.txt", ["notes.txt"]), ("milk", ["milk"]), ("photo", ["photo"]), ("see", ["see"])],
    )
    def test_a_message_is_found_by_the_names_of_its_files_and_pictures_and_the_text_of_a_file(
        self, store, query, marked
    ):
        name = closed(store, user("m1", showing("see", NOTES, PHOTO)), user("m2", "other", 1))
        (hit,) = search(store, query).hits
        assert (hit.session_id, hit.message_id) == (name, "m1")
        assert [hit.snippet[begin:end] for begin, end in hit.marks] == marked

    @pytest.mark.parametrize(
        "query",
        ["login token", '"the login"', "expir*", "LÓGIN", "-login", "login AND token", '"login'],
    )
    def test_a_message_fits_that_has_all_terms(self, store, query):
        closed(store, user("m1", "the login and its token: expired"), user("m2", "its logins", 1))
        found = search(store, query)
        assert [hit.message_id for hit in found.hits] == ["m1"]

    @pytest.mark.parametrize("query", ["", "*", '""', "^ -", "->"])
    def test_a_query_without_words_finds_nothing(self, store, query):
        closed(store, user("m1", "* ^ - -> nothing"))
        assert search(store, query).hits == ()

    @pytest.mark.parametrize("query", ["needle before:soon", "in:", "needle after:2026-13"])
    def test_a_filter_that_cannot_be_used_finds_nothing_and_is_told(self, store, query):
        closed(store, user("m1", "needle"))
        found = search(store, query)
        assert found.hits == ()
        assert " needs a " in found.notice

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            *(("検索", {"m1", "m3"}), ("索", {"m1", "m3"}), ("全文検索", {"m1"})),
            *(("검색", {"m2"}), ("テキスト検索", {"m3"})),
        ],
    )
    def test_scripts_without_spaces_are_found_from_one_character_on(self, store, query, found):
        closed(store, user("m1", "全文検索は速い"), user("m2", "문서 검색", 1))
        closed(store, user("m3", "テキスト検索 text"))
        assert {hit.message_id for hit in search(store, query).hits} == found

    def test_it_is_found_before_a_reset_and_in_the_archive_but_not_in_the_trash(self, store):
        before = closed(store, user("m1", "needle"), Reset(at=at(1)), user("m2", "hay", 2))
        archived, deleted = closed(store, user("m3", "needle")), closed(store, user("m4", "needle"))
        named, unnamed = (closed(store, user("m5"), state("needle")) for _ in range(2))
        for name in (archived, named):
            store.archive(name)
        for name in (deleted, unnamed):
            store.delete(name)
        hits = search(store, "needle").hits
        assert {hit.session_id for hit in hits} == {before, archived, named}
        for name in (deleted, unnamed):
            store.restore(name)
        assert search(store, "needle").total == 5

    def test_what_was_replaced_is_not_found_and_what_is_arriving_not_yet(self, store):
        lease = new(store, user("m1"), answer("m2", "needle failed", status="failed"))
        store.append(lease, [answer("m3", "needle again", 1, replaces="m2")])
        store.append(lease, [piece("m4", 0, "needle arriving", 2)])
        assert [hit.message_id for hit in search(store, "needle").hits] == ["m3"]
        store.append(lease, [answer("m4", "needle arrived", 2)])
        assert {hit.message_id for hit in search(store, "needle").hits} == {"m3", "m4"}

    def test_an_answer_of_the_built_in_guide_is_not_found_but_the_question_to_it_is(self, store):
        said = answer("m2", "The needle is in the guide.", 1, model="offline:guide")
        lease = new(store, user("m1", "Where is the needle?"), said)
        store.append(lease, [answer("m3", "needle", 2, model="offline:guide")])
        assert [hit.message_id for hit in search(store, "needle").hits] == ["m1"]

    def test_what_was_said_in_another_version_is_found_and_can_be_opened(self, store):
        name = self.versions(store).session_id
        store_hits = {hit.message_id for hit in search(store, "hi").hits}
        assert store_hits == {"a1", "a2", "a3", "a4"}
        assert all(store.journal(name).around(each, 1, 1).entries for each in store_hits)

    def test_a_message_is_found_by_its_last_writing_whoever_wrote_it_until_it_is_purged(
        self, store, other
    ):
        lease = new(store, user("m1", "the first writing"))
        assert search(store, "first").total == 1
        store.append(lease, [user("m1", "the second writing")])
        assert search(store, "first").total == 0
        assert search(store, "writing").total == 1
        lease.release()
        other.append(other.lease(lease.session_id), [user("m2", "another writing", 1)])
        assert search(store, "writing").total == 2
        destroy(other, lease.session_id)
        assert search(store, "writing").total == 0

    def test_own_words_come_first_then_more_of_the_words_then_the_newer(self, store):
        lease = new(store, answer("m1", "needle needle needle", 9), user("m2", "needle", 1))
        store.append(lease, [answer("m3", "needle", 5), answer("m4", "needle", 7)])
        found = search(store, "needle", 3)
        assert [hit.message_id for hit in found.hits] == ["m2", "m1", "m4"]
        assert (found.total, found.more, found.late) == (4, False, False)
        scores = [hit.score for hit in found.hits]
        assert scores == sorted(scores, reverse=True)

    def test_the_newest_are_taken_and_that_there_are_more_is_said(self, store):
        new(store, *(user(f"m{number}", "needle", number) for number in range(305)))
        found = search(store, "needle", 400)
        assert (found.total, found.more) == (300, True)
        assert {hit.message_id for hit in found.hits} == {f"m{n}" for n in range(5, 305)}

    def test_a_session_is_found_by_its_present_name_which_has_no_message(self, store, other):
        name = closed(store, user("m1"), answer("m2", seconds=5), state("Auth bug investigation"))
        (hit,) = search(store, "bug").hits
        assert (hit.session_id, hit.message_id, hit.role) == (name, None, None)
        assert hit.timestamp == at(5)
        assert hit.snippet == "Auth bug investigation"
        assert [hit.snippet[begin:end] for begin, end in hit.marks] == ["bug"]
        for program, old, new_name in ((store, "bug", "second"), (other, "second", "third")):
            change(program, name, state(f"the {new_name} name"))
            assert search(store, old).total == 0
            assert search(store, new_name).total == 1

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("CRÈME brulee", True),
            ("inve*", True),
            ('"for everyone"', True),
            ('"everyone for"', False),
            ("inve", False),
            ("brulee nowhere", False),
            ("索", True),
            ("検索", True),
            ("検結", False),
        ],
    )
    def test_a_name_fits_by_the_same_rules_as_a_message(self, store, query, found):
        closed(store, user("m1"), state("Crème brûlée for everyone: investigation 検索結果"))
        assert search(store, query).total == found

    def test_names_come_before_all_that_was_said(self, store):
        closed(store, user("m1", "needle needle needle", 9))
        named = closed(store, user("m2", "hay"), state("A needle"))
        both = closed(store, user("m3", "needle", 2), state("The other needle"))
        found = search(store, "needle")
        places = [(hit.session_id, hit.message_id) for hit in found.hits]
        assert places[:2] == [(both, None), (named, None)]
        assert [message_id for _, message_id in places[2:]] == ["m1", "m3"]
        assert (found.total, found.more) == (4, False)
        scores = [hit.score for hit in found.hits]
        assert scores == sorted(scores, reverse=True)

    def test_many_names_leave_half_of_the_room_to_what_was_said(self, store):
        closed(store, *(user(f"m{number}", "needle", number) for number in range(4)))
        for number in range(6):
            closed(store, user("hay", "hay", number), state(f"needle {number}"))
        hits = search(store, "needle", 4).hits
        assert [hit.snippet for hit in hits if hit.message_id is None] == ["needle 5", "needle 4"]
        assert [hit.message_id for hit in hits[2:]] == ["m3", "m2"]
        assert [hit.message_id for hit in search(store, "needle", 1).hits] == [None]
        assert search(store, "needle", 8).total == 10

    # --- filters of a query

    @pytest.fixture
    def origins(self, store):
        """Three sessions: one of the shop, a named one of the farm, an imported one."""
        new(store, user("m1", "needle", 1), session_id="shop")
        lease = store.create("project:/home/u/Fárm", "/home/u/Fárm", "m", session_id="farm")
        store.append(lease, [user("m2", "needle", 2), answer("m3", "hay", 3), state("A needle")])
        theirs = header("theirs", ordinal=0, imported_from="claude-code:1f")
        store.add_imported(theirs, encoded(user("m4", "needle", 4), answer("m5", "- ->", 5)))
        return store

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("needle in:shop", {"m1", "m4"}),
            ("needle in:farm", {None, "m2"}),
            ("needle in:u/farm", {None, "m2"}),
            ('"needle" in:"/farm"', {None, "m2"}),
            ("needle in:farm in:shop", {None, "m1", "m2", "m4"}),
            ("needle in:barn", set()),
            ("needle from:claude", {"m4"}),
            ("needle from:sibyl", {None, "m1", "m2"}),
            ("need* in:shop from:claude-code", {"m4"}),
            ("needle in:farm from:claude", set()),
            ("hay from:sibyl", {"m3"}),
        ],
    )
    def test_filters_pass_sessions_by_project_and_program(self, origins, query, found):
        assert {hit.message_id for hit in search(origins, query).hits} == found

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("needle before:2026", {"old"}),
            ("needle after:2026", {None, "new"}),
            ("needle after:2025-06-15 before:2025-06-16", {"old"}),
            ("needle after:2025-06-16 before:2026-02", {None, "new"}),
            ("needle after:2026-02", set()),
            ("needle before:2025-06-15", set()),
        ],
    )
    def test_dates_pass_messages_by_their_time_and_names_by_their_last_use(
        self, store, query, found
    ):
        old = msgspec.structs.replace(user("old", "needle"), timestamp="2025-06-15T12:00:00.000Z")
        unknown = msgspec.structs.replace(user("unknown", "needle"), timestamp="")
        closed(store, old, unknown, user("new", "needle"), state("needle"))
        assert {hit.message_id for hit in search(store, query).hits} == found

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("in:shop", ["m4", "m1"]),
            ("in:farm", ["m3"]),
            ("from:claude", ["m4"]),
            ("from:sibyl", ["m3", "m1"]),
            ("after:2026", ["m4", "m3", "m1"]),
            ("before:2026", []),
            ("-> in:shop", ["m4", "m1"]),
        ],
    )
    def test_a_filter_alone_finds_the_newest_message_of_each_session(self, origins, query, found):
        answered = search(origins, query)
        assert [hit.message_id for hit in answered.hits] == found
        assert (answered.total, answered.more) == (len(found), False)
        assert all(hit.snippet and not hit.marks for hit in answered.hits)

    def test_a_filter_alone_finds_as_many_sessions_as_there_is_room_for(self, store):
        for number in range(4):
            closed(store, user(f"m{number}", "hay", number))
        found = search(store, "in:shop", 3)
        assert [hit.message_id for hit in found.hits] == ["m3", "m2", "m1"]
        assert (found.total, found.more) == (3, True)

    @pytest.mark.parametrize("seconds", [0, -1])
    def test_a_search_without_time_gives_what_it_has_and_says_that_it_is_late(self, store, seconds):
        names = {closed(store, user("m1", "needle")) for _ in range(3)}
        assert not store.search("", 10, seconds=seconds).late, "it has nothing to look for"
        found = store.search("needle", 10, seconds=seconds)
        assert {hit.session_id for hit in found.hits} <= names
        assert found.late or found.total == 3
        assert search(store, "needle", wanted=lambda: False).late
        assert search(store, "needle").total == 3

    def test_a_session_whose_records_are_gone_hides_no_other(self, backend):
        spoilt, sound = closed(backend.store), closed(backend.store)
        backend.spoil(spoilt)
        assert [hit.session_id for hit in search(backend.store, "hello", 10).hits] == [sound]


__all__ = [
    "HOSTILE",
    "SCOPE",
    "Restored",
    "StoreContract",
    "closed",
    "header",
    "ids",
    "new",
    "state",
]
