"""What a store must do whose sessions can be copied, as tests: ``SessionStore.journals``.

A backend plugs in as in ``tests.storage.contract``; it needs only ``store`` and
``another_program()``.
"""

import pytest

from tests.attached import picture
from tests.builders import at, header, kept_texts, user
from tests.storage.contract import ALL, PICTURE, SCOPE, change, closed, ids, state
from tui.domain.journal.records import Closed, Settings, encode
from tui.domain.moves import Move
from tui.errors import SessionBusy, SessionExists, SessionNotFound, StorageError
from tui.storage.copyable import Numbers, SessionNumber, StoredJournal
from tui.storage.protocol import SessionFilter

USED_NS = 1_768_142_000_000_000_000
NEWER = b'{"type":"session","version":7,"id":"tale","shape":"unknown"}\n'
DAMAGED = b'\x00\xff{"type":\n{"type":"message"}\n\xf0\x28\n'
PHOTO = picture("photo.png", PICTURE)


def stored(session_id="tale", place="archive", size=0, scope=SCOPE, ordinal=3):
    """A session as the source of a copy has it."""
    there = header(session_id, scope=scope, ordinal=ordinal, project_path="/shop")
    return StoredJournal(there, place, size, USED_NS)


def lines(*records, session_id="tale", scope=SCOPE, ordinal=3):
    """The journal of a session."""
    first = header(session_id, scope=scope, ordinal=ordinal, project_path="/shop")
    return b"".join(map(encode, (first, *(records or (user("m1", "hello"),)))))


def put(journals, data, session_id="tale", place="archive", **fields):
    """Add a session with these bytes, in two blocks."""
    there = stored(session_id, place, len(data), **fields)
    journals.add(there, [data[:10], data[10:]])


def content(journals, session_id="tale"):
    return b"".join(journals.read(session_id, journals.find(session_id).size))


class CopyContract:
    @pytest.fixture
    def store(self, backend):
        return backend.store

    @pytest.fixture
    def journals(self, store):
        return store.journals

    @pytest.mark.parametrize(
        ("place", "status"),
        [("sessions", "closed"), ("archive", "archived"), ("trash", "trashed")],
    )
    def test_a_session_is_added_in_its_place(self, store, journals, place, status):
        journals.add_numbers(Numbers((SessionNumber(SCOPE, 3, "tale"),), {SCOPE: 3}))
        put(journals, lines(user("m1"), state("Talk")), place=place)
        entry = store.entry("tale")
        assert (entry.status, entry.name, entry.ordinal, entry.scope) == (status, "Talk", 3, SCOPE)
        assert journals.find("tale").place == place
        assert journals.find("tale").used_ns // 1_000_000 == USED_NS // 1_000_000
        assert [message.id for message in store.journal("tale").load().loaded_messages] == ["m1"]

    @pytest.mark.parametrize(
        "written",
        [
            *(lines(), lines() + DAMAGED, DAMAGED + lines(), NEWER + DAMAGED, lines()[:-5]),
            *(b"", b"\n\n\n", lines(user("m1", "x" * 1_500_000))),
        ],
        ids=["whole", "damaged", "no header", "newer", "torn", "empty", "blank", "long"],
    )
    def test_every_byte_is_kept(self, journals, backend, written):
        put(journals, written)
        assert content(journals) == written
        assert content(backend.another_program().journals) == written
        assert journals.sizes() == {"tale": len(written)}

    def test_a_beginning_can_be_read_and_no_more_than_there_is(self, journals):
        put(journals, lines())
        assert b"".join(journals.read("tale", 7)) == lines()[:7]
        with pytest.raises(StorageError):
            b"".join(journals.read("tale", len(lines()) + 1))

    def test_an_unreadable_session_is_listed_where_it_was(self, store, journals):
        put(journals, DAMAGED, place="sessions")
        entry = store.list(ALL, None, 5).entries[0]
        assert (entry.id, entry.damaged > 0) == ("tale", True)

    def test_a_session_that_is_there_is_not_added(self, store, journals):
        session_id = closed(store)
        before = content(journals, session_id)
        with pytest.raises(SessionExists):
            put(journals, lines(), session_id)
        assert content(journals, session_id) == before

    def test_a_session_whose_bytes_cannot_be_made_is_not_there(self, store, journals):
        def blocks():
            yield lines()
            raise StorageError("the source is gone")

        with pytest.raises(StorageError, match="the source is gone"):
            journals.add(stored(size=900), blocks())
        assert not journals.sizes()
        with pytest.raises(SessionNotFound):
            journals.find("tale")
        put(journals, lines())

    def test_a_session_is_extended(self, store, journals):
        put(journals, lines(), place="sessions")
        store.entry("tale")
        more = encode(user("m2", "more")) + encode(state("Later"))
        whole = lines() + more
        journals.extend(stored(place="archive", size=len(whole)), len(lines()), [more])
        assert content(journals) == whole
        entry = store.entry("tale")
        assert (entry.status, entry.name) == ("archived", "Later")

    def test_a_session_that_is_open_or_another_or_whose_bytes_cannot_be_made_is_not_extended(
        self, journals, backend
    ):
        def blocks():
            yield encode(user("m2"))
            raise StorageError("the source is gone")

        put(journals, lines(), place="sessions")
        for begin, further in ((len(lines()) - 1, [b"more"]), (len(lines()), blocks())):
            with pytest.raises(StorageError):
                journals.extend(stored(size=900), begin, further)
            assert content(journals) == lines()
        lease = backend.another_program().lease("tale")
        with pytest.raises(SessionBusy):
            journals.extend(stored(size=900), len(lines()), [encode(user("m2"))])
        assert content(journals) == lines()
        lease.release()

    def test_an_unknown_session_is_not_found(self, journals):
        for verb in (journals.find, lambda each: list(journals.read(each, 1))):
            for session_id in ("nobody", "../x", ""):
                with pytest.raises(SessionNotFound):
                    verb(session_id)
        with pytest.raises(SessionNotFound):
            journals.extend(stored("nobody"), 0, [b"x"])

    def test_an_extended_session_can_be_written_to(self, store, journals):
        put(journals, lines(), place="sessions")
        more = encode(user("m2", "more", 1))
        journals.extend(stored(place="sessions", size=900), len(lines()), [more])
        change(store, "tale", user("m3", "mine", 2))
        assert kept_texts(store, "tale") == ["hello", "more", "mine"]

    def test_numbers_are_taken_over_and_given_once(self, store, journals):
        new = Numbers((SessionNumber(SCOPE, 3, "tale"),), {SCOPE: 7})
        journals.add_numbers(new)
        journals.add_numbers(new)
        put(journals, lines(), place="sessions")
        assert store.entry("tale").ordinal == 3
        assert store.resolve("#3", SCOPE) == "tale"
        # Numbers of sessions that were purged at the source are not given again.
        assert store.entry(closed(store)).ordinal == 8
        found = journals.numbers()
        assert [each for each in found.given if each.id == "tale"] == list(new.given)
        assert found.highest[SCOPE] == 8

    def test_a_number_that_is_another_session_s_is_given_anew(self, store, journals):
        own = closed(store)
        new = (SessionNumber(SCOPE, 1, "tale"), SessionNumber(SCOPE, 2, "other"))
        journals.add_numbers(Numbers(new, {SCOPE: 2}))
        put(journals, lines(ordinal=1), place="sessions", ordinal=1)
        assert store.resolve("#1", SCOPE) == own
        assert store.entry("tale").ordinal == 3
        assert store.resolve("#3", SCOPE) == "tale"
        assert store.entry(closed(store)).ordinal == 4

    def test_a_session_without_a_number_gets_it_when_it_is_restored(self, store, journals):
        put(journals, lines(ordinal=0), ordinal=0)
        assert store.entry("tale").ordinal == 0
        store.restore("tale")
        assert store.entry("tale").ordinal == 1

    def test_the_active_session_is_taken_where_there_is_none(self, store, journals):
        put(journals, lines(), place="sessions")
        put(journals, lines(session_id="later"), "later", place="sessions", ordinal=4)
        journals.add_numbers(Numbers(active={SCOPE: "later"}))
        journals.add_numbers(Numbers(active={SCOPE: "tale"}))
        assert store.active(SCOPE) == "later"
        assert journals.numbers().active == {SCOPE: "later"}

    def test_a_pin_comes_first_in_lists_until_an_extension_ends_it(self, store, journals):
        data = lines(user("m1"), Settings(pinned=True))
        put(journals, data, "pinned", place="sessions")
        put(journals, lines(), "another", place="sessions", ordinal=4)
        wanted = SessionFilter(SCOPE, order="pinned")
        assert ids(store.list(wanted, None, 5)) == ["pinned", "another"]
        more = encode(Settings(pinned=False))
        journals.extend(stored("pinned", "sessions", 900), len(data), [more])
        assert ids(store.list(wanted, None, 5)) == ["another", "pinned"]

    def test_the_time_of_closing_is_that_of_the_journal_and_its_words_are_found(
        self, store, journals
    ):
        put(journals, lines(user("m1", "a needle"), Closed(at=at(60))), place="sessions")
        assert store.entry("tale").closed_at == at(60)
        assert [hit.session_id for hit in store.search("needle", 5, seconds=20).hits] == ["tale"]

    def test_pictures_are_noted_and_those_that_lack_are_told(self, store, journals):
        lacking = "ab" * 32
        assert journals.use_pictures("tale", [PHOTO.sha256, lacking]) == [PHOTO.sha256, lacking]
        store.add_attachment("tale", PICTURE)
        assert journals.use_pictures("tale", [PHOTO.sha256, lacking]) == [lacking]
        assert PHOTO.sha256 in journals.pictures()["tale"]

    def test_moves_are_appended(self, store, journals):
        move = Move("tale", "sessions", "archive", at(), "user", "b1")
        journals.add_moves([move])
        assert store.moves() == (move,)
