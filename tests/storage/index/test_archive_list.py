"""A large archive, listed by the index for as long as that knows it as it is."""

import os

import pytest

from tests.builders import answer, header, user
from tests.storage.contract import change, closed, encoded, ids_of, state
from tui.domain.journal.records import Settings
from tui.storage import folders
from tui.storage.file_store import FileStore
from tui.storage.index import archive_list
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.journal import OpenJournal
from tui.storage.protocol import SessionFilter

SHOP, FARM = "project:/shop", "project:/f\udcffrm"
ARCHIVED = frozenset({"archived"})
EVERY, OF_SHOP = SessionFilter(statuses=ARCHIVED), SessionFilter(SHOP, ARCHIVED)


@pytest.fixture(autouse=True)
def _large(monkeypatch):
    """Two sessions are a large archive, and a change counts at once as settled."""
    monkeypatch.setattr(folders, "_LARGE", 1)
    monkeypatch.setattr(archive_list, "_SETTLED_NS", 0)


@pytest.fixture
def store(data):
    store = FileStore(data)
    for number in range(12):
        add(store, number, SHOP if number % 3 else FARM)
    index(data)
    return store


@pytest.fixture
def looked_at(monkeypatch):
    """The folders whose journals were looked at one by one."""
    seen, statuses = [], folders.Folders.statuses

    def look(self, folder, ids):
        seen.append(folder)
        return statuses(self, folder, ids)

    monkeypatch.setattr(folders.Folders, "statuses", look)
    return seen


def add(store, number, scope=SHOP, name=""):
    place = header(f"s{number:02}", scope=scope, ordinal=0, imported_from="peer:1")
    said = user("m1", f"needle {number}", number // 2), state(name, 1, 1)
    store.add_imported(place, encoded(*said))


def extend(store, session_id):
    lease = store.lease(session_id)
    store.extend(lease, [answer("m2", "more", 99)])
    lease.release()


def index(data):
    list(IndexMaintenance(data).build("a test"))


def pages(store, wanted, limit):
    found, cursor = [], None
    while True:
        listing = store.list(wanted, cursor, limit)
        found += ids_of(listing.entries)
        cursor = listing.cursor
        if cursor is None:
            return found


def plainly(data, wanted, monkeypatch):
    """The same without the index."""
    with monkeypatch.context() as patch:
        patch.setattr(folders, "_LARGE", 1000)
        store = FileStore(data)
        return pages(store, wanted, 100), store.count(wanted)


@pytest.fixture(params=[(None, "used"), (SHOP, "used"), (FARM, "used"), (SHOP, "pinned")])
def wanted(request):
    scope, order = request.param
    return SessionFilter(scope, ARCHIVED, order=order)


@pytest.mark.parametrize("limit", [1, 5, 50])
def test_pages_and_counts_are_those_of_a_look_at_each_file(
    store, data, looked_at, monkeypatch, wanted, limit
):
    found, count = pages(store, wanted, limit), store.count(wanted)
    assert looked_at == []
    assert (found, count) == plainly(data, wanted, monkeypatch)
    assert looked_at


def test_each_page_opens_no_other_journals(store, monkeypatch):
    opened, ends = [], OpenJournal.ends
    monkeypatch.setattr(OpenJournal, "ends", lambda self: opened.append(1) or ends(self))
    assert len(store.list(OF_SHOP, None, 3).entries) == 3
    assert len(opened) == 3


@pytest.mark.parametrize(
    "deed",
    [
        lambda store: add(store, 40),
        lambda store: extend(store, "s03"),
        lambda store: (store.root / "index.sqlite3").unlink(),
        lambda store: store.restore("s03"),
        lambda store: store.delete("s03"),
        lambda store: store.archive("kept"),
    ],
    ids=["add", "extend", "unindexed", "restore", "delete", "archive"],
)
def test_a_changed_archive_is_looked_at_again_until_the_index_knows_it(
    store, data, looked_at, monkeypatch, deed
):
    closed(store, session_id="kept")
    index(data)
    deed(store)
    looked_at.clear()
    found = pages(store, EVERY, 5), store.count(EVERY)
    assert looked_at
    assert found == plainly(data, EVERY, monkeypatch)
    index(data)
    looked_at.clear()
    assert (pages(store, EVERY, 5), store.count(EVERY)) == found
    assert looked_at == []


def test_a_change_within_the_last_moment_is_not_taken_for_the_last_one(
    store, data, looked_at, monkeypatch
):
    monkeypatch.setattr(archive_list, "_SETTLED_NS", 10**18)
    add(store, 40)
    index(data)
    assert store.count(EVERY) == 13
    pages(store, EVERY, 50)
    assert looked_at


def test_a_pinned_session_in_the_archive_is_first(store, data, monkeypatch):
    change(store, "s03", Settings(pinned=True))
    store.archive("s03")
    index(data)
    wanted = SessionFilter(statuses=ARCHIVED, order="pinned")
    assert pages(store, wanted, 5)[0] == "s03"
    assert pages(store, wanted, 5) == plainly(data, wanted, monkeypatch)[0]


def test_a_journal_whose_header_is_damaged_is_listed_as_before(store, data, monkeypatch):
    path = data / "archive" / "s03.jsonl"
    path.write_bytes(b"garbage\n" + path.read_bytes().split(b"\n", 1)[1])
    os.utime(path.parent)
    index(data)
    for wanted in (EVERY, OF_SHOP, SessionFilter("", ARCHIVED)):
        assert pages(store, wanted, 5) == plainly(data, wanted, monkeypatch)[0]


def test_a_name_is_resolved_without_opening_each_journal(store, data, monkeypatch):
    add(store, 40, name="Ünder the sea")
    add(store, 41, name="under the sea")
    kept = closed(store, user("m1"), state("Kept"))
    index(data)
    opened, name = [], OpenJournal.name
    monkeypatch.setattr(OpenJournal, "name", lambda self: opened.append(1) or name(self))
    assert store.resolve("Ünder the sea", SHOP) == "s40"
    assert len(opened) == 3
    assert store.resolve("Kept", SHOP) == kept


def test_a_search_looks_at_no_file_of_an_unchanged_archive(store, data, looked_at):
    assert store.search("needle", 20).total == 12
    assert folders.Folder.ARCHIVE not in looked_at


def test_a_search_leaves_a_changed_archive_to_a_build(store, data, looked_at):
    add(store, 40)
    store.restore("s03")
    store.archive("s03")
    name = closed(store, user("m1", "needle"))
    found = FileStore(data).search("needle", 20)
    assert (found.total, found.pending, found.is_behind) == (13, 0, True)
    assert folders.Folder.ARCHIVE not in looked_at
    index(data)
    store.archive(name)
    other = FileStore(data)
    assert other.search("needle", 20).total == 14
    assert [hit.session_id for hit in other.search("in:shop before:2026-01-12", 1).hits]


def test_a_changed_archive_is_counted_by_scope_without_opening_what_the_index_has(
    store, data, monkeypatch
):
    add(store, 40)
    opened, read = [], OpenJournal.header
    monkeypatch.setattr(OpenJournal, "header", lambda self: opened.append(1) or read(self))
    other = FileStore(data)
    assert other.count(OF_SHOP) == 9
    assert other.count(OF_SHOP) == 9
    assert len(opened) == 1


def test_what_another_program_extends_in_the_archive_is_found_once_it_was_built(store, data):
    found = store.search("more", 20)
    assert (found.total, found.is_behind) == (0, False)
    extend(FileStore(data), "s03")
    assert store.search("more", 20).is_behind
    index(data)
    assert store.search("more", 20).total == 1


def test_a_move_that_was_killed_half_way_does_no_harm(store, data):
    os.link(data / "archive" / "s03.jsonl", data / "sessions" / "s03.jsonl")
    found = store.search("needle", 20)
    assert (found.total, found.notice) == (12, "")
    index(data)
    assert store.search("needle", 20).total == 12
