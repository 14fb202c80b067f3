import asyncio
import os
import threading
from types import SimpleNamespace

import pytest

from tests.builders import header
from tests.tables import each_row
from tests.waiting import until
from tui.domain.journal.message import Message
from tui.domain.journal.records import Opened, Settings, encode
from tui.domain.timestamps import format_utc
from tui.engine.library.session_pages import PAGE, PickerPages, SessionPager, SessionTitles
from tui.errors import StorageError
from tui.storage.file_store import FileStore

SHOP, OTHER = "project:/shop", "project:/other"


class Listed(FileStore):
    """A store whose lists can be made to wait or to fail."""

    def __init__(self, root, clock):
        super().__init__(root, clock)
        self.gate = None
        self.waiting = threading.Event()
        self.failure = None

    def list(self, wanted, cursor, limit):
        if self.failure is not None:
            raise self.failure
        found = super().list(wanted, cursor, limit)
        gate, self.gate = self.gate, None
        if gate is not None:
            self.waiting.set()
            assert gate.wait(20)
        return found


@pytest.fixture
def store(tmp_path, clock):
    return Listed(tmp_path, clock)


@pytest.fixture
def make(store, clock):
    """Makes so many sessions and gives their ids, oldest first."""

    def sessions(count=1, scope=SHOP):
        made = []
        for _ in range(count):
            lease = store.create(scope, "/shop", "offline:guide")
            use(store, clock, lease)
            lease.release()
            made.append(lease.session_id)
        return made

    return sessions


def use(store, clock, lease):
    now = format_utc(clock())
    store.append(lease, [Opened(now), Message(f"m{now}", "user", "hello", now)])


def again(store, clock, session_id):
    lease = store.lease(session_id)
    use(store, clock, lease)
    lease.release()


def ids(sessions):
    return [entry.id for entry in sessions.entries]


async def refreshed(store, pages=1):
    """The sessions of the shop, of which so many pages were read."""
    sessions = SessionPager(store, SHOP)
    await sessions.refresh()
    for _ in range(pages - 1):
        await sessions.read_more()
    return sessions


def newest_first(made):
    return [*reversed(made)]


async def test_the_newest_page_comes_first_and_older_ones_as_they_are_asked_for_once(store, make):
    made = newest_first(make(2 * PAGE + 3))
    sessions = SessionPager(store, SHOP)
    await sessions.read_more()
    assert sessions.entries == ()
    assert not sessions.more
    await sessions.refresh()
    assert ids(sessions) == made[:PAGE]
    assert sessions.more
    await asyncio.gather(sessions.read_more(), sessions.read_more())
    assert ids(sessions) == made[: 2 * PAGE]
    await sessions.read_more()
    assert ids(sessions) == made
    assert not sessions.more
    # The same scope shown again keeps them.
    await sessions.show(SHOP)
    assert ids(sessions) == made


async def held_up(store, reading):
    """Begin to read, and wait until the store holds it up; gives the task and the gate."""
    store.gate = gate = threading.Event()
    task = asyncio.create_task(reading)
    await until(store.waiting.is_set)
    return task, gate


async def test_a_page_asked_for_while_the_newest_is_read_comes_after_it(store, make):
    made = make(PAGE + 1)
    sessions = await refreshed(store)
    refreshing, gate = await held_up(store, sessions.refresh())
    asked = asyncio.create_task(sessions.read_more())
    await asyncio.sleep(0)
    gate.set()
    await asyncio.gather(refreshing, asked)
    assert ids(sessions) == newest_first(made)


async def test_a_list_has_the_sessions_of_its_scope_or_of_all(store, make):
    mine, theirs = make(2), make(2, OTHER)
    sessions = await refreshed(store)
    assert (ids(sessions), sessions.scope) == (newest_first(mine), SHOP)
    await sessions.toggle_scope()
    assert (ids(sessions), sessions.scope) == (newest_first(mine + theirs), "")
    # It stays one of all when the scope changes.
    await sessions.show(OTHER)
    assert (ids(sessions), sessions.scope) == (newest_first(mine + theirs), "")
    await sessions.toggle_scope()
    assert (ids(sessions), sessions.scope) == (newest_first(theirs), OTHER)
    await sessions.show(SHOP)
    assert (ids(sessions), sessions.scope) == (newest_first(mine), SHOP)


async def test_a_session_that_is_used_again_or_set_aside_elsewhere_is_seen_at_the_next_look(
    store, make, clock
):
    made = newest_first(make(PAGE + 5))
    sessions = await refreshed(store, pages=2)
    again(store, clock, made[-1])
    store.archive(made[3])
    await sessions.refresh()
    assert ids(sessions) == [made[-1], *made[:3], *made[4:-1]]


async def test_more_new_sessions_than_a_page_leave_no_gap(store, make):
    old = make(PAGE + 5)
    sessions = await refreshed(store, pages=2)
    made = newest_first(old + make(PAGE + 5))
    await sessions.refresh()
    while sessions.more:
        await sessions.read_more()
    assert ids(sessions) == made


async def test_a_list_that_has_become_short_has_no_older_ones(store, make):
    made = newest_first(make(PAGE + 1))
    sessions = await refreshed(store)
    for gone in made[2:]:
        store.delete(gone)
    await sessions.refresh()
    assert ids(sessions) == made[:2]
    assert not sessions.more


async def test_sessions_of_an_unknown_time_stay(store, make, monkeypatch):
    made = newest_first(make(PAGE + 2))
    for each in made[-2:]:
        path = store.path(each)
        used = path.stat().st_mtime_ns
        path.write_bytes(encode(header(each)) + encode(Message("m", "user", "hello", "never")))
        os.utime(path, ns=(used, used))
    sessions = await refreshed(store, pages=2)
    await sessions.refresh()
    assert ids(sessions) == made


async def test_a_page_of_the_scope_that_was_left_never_gets_among_the_others(store, make):
    mine, theirs = make(PAGE + 5), make(3, OTHER)
    sessions = await refreshed(store)
    reading, gate = await held_up(store, sessions.read_more())
    showing = asyncio.create_task(sessions.show(OTHER))
    await asyncio.sleep(0.01)
    assert set(ids(sessions)) <= set(mine)
    gate.set()
    await asyncio.gather(reading, showing)
    assert ids(sessions) == newest_first(theirs)


async def test_a_look_begun_before_all_were_wanted_leaves_nothing_of_itself(store, make):
    make(PAGE + 5)
    theirs = make(PAGE + 5, OTHER)
    sessions = SessionPager(store, SHOP)
    await sessions.toggle_scope()
    looking, gate = await held_up(store, sessions.refresh())
    toggling = asyncio.create_task(sessions.toggle_scope())
    await asyncio.sleep(0.01)
    gate.set()
    await asyncio.gather(looking, toggling)
    assert not set(ids(sessions)) & set(theirs)
    assert sessions.scope == SHOP


async def test_a_list_that_cannot_be_read_stays_as_it_was(store, make):
    made = newest_first(make(PAGE + 1))
    sessions = await refreshed(store)
    store.failure = StorageError("Cannot read it.")
    for ask in (
        sessions.refresh,
        sessions.read_more,
        sessions.toggle_scope,
        lambda: sessions.show(OTHER),
    ):
        with pytest.raises(StorageError):
            await ask()
        assert (ids(sessions), sessions.scope, sessions.more) == (made[:PAGE], SHOP, True)


# --- the archive


async def test_what_is_archived_is_counted_and_read_with_its_scope_once_it_is_asked_for(
    store, make
):
    kept, aside, elsewhere = make(2), make(3), make(2, OTHER)
    for session_id in (*aside, elsewhere[0]):
        store.archive(session_id)
    sessions = await refreshed(store)
    assert not sessions.is_counted
    await sessions.count()
    assert (sessions.counts.archived, sessions.counts.elsewhere) == (3, 1)
    assert ids(sessions) == newest_first(kept)
    await sessions.toggle_scope()
    assert (sessions.counts.archived, sessions.counts.elsewhere) == (4, 0)
    await sessions.toggle_scope()
    await sessions.read_aside("archived")
    assert ids(sessions) == newest_first(kept) + newest_first(aside)
    await sessions.show(OTHER)
    assert ids(sessions) == [elsewhere[1], elsewhere[0]]
    assert (sessions.counts.archived, sessions.counts.elsewhere) == (1, 2)


async def test_the_archive_is_read_page_by_page_once_it_is_asked_for(store, make):
    kept, aside = make(2), newest_first(make(2 * PAGE + 3))
    for session_id in aside:
        store.archive(session_id)
    sessions = await refreshed(store)
    assert not sessions.more
    await sessions.read_aside("archived")
    assert ids(sessions) == [*newest_first(kept), *aside[:PAGE]]
    assert sessions.more
    await sessions.read_aside("archived")
    await sessions.read_more()
    await sessions.read_more()
    assert ids(sessions) == [*newest_first(kept), *aside]
    assert not sessions.more


@pytest.mark.parametrize("unfolded", [False, True])
async def test_a_session_that_was_moved_stands_where_it_is_by_now(store, make, unfolded):
    made = make(PAGE + 5)
    sessions = await refreshed(store, pages=2)
    if unfolded:
        await sessions.read_aside("archived")
    oldest, rest = made[0], newest_first(made[1:])
    store.archive(oldest)
    await sessions.note_moved(oldest)
    assert ids(sessions) == ([*rest, oldest] if unfolded else rest)
    assert sessions.counts.archived == 1
    store.restore(oldest)
    await sessions.note_moved(oldest)
    assert ids(sessions) == [oldest, *rest]
    assert sessions.counts.archived == 0


async def test_a_session_restored_behind_the_list_stands_in_it_once(store, make, clock):
    kept, aside = make()[0], make()[0]
    store.archive(aside)
    sessions = await refreshed(store)
    await sessions.read_aside("archived")
    await sessions.count()
    again(store, clock, aside)
    await sessions.refresh()
    assert ids(sessions) == [aside, kept]
    await sessions.count()
    assert sessions.counts.archived == 0


async def test_the_sessions_of_other_scopes_are_known_as_far_as_they_are_few(store, make):
    mine, theirs = make(2), make(2, OTHER)
    sessions = await refreshed(store)
    assert sessions.others == ()
    await sessions.count()
    assert {entry.id for entry in sessions.others} == {*mine, *theirs}
    make(300, OTHER)
    await sessions.count()
    assert len(sessions.others) == 200
    assert {entry.scope for entry in sessions.entries} == {SHOP}


# --- the pages of the picker


@pytest.fixture
def pages(world):
    return lambda view, scope=None, hidden=(): PickerPages(world.reader, view, scope, hidden)


def labels(pages):
    return [entry.label for entry in pages.entries]


async def read(pages, count=0):
    await pages.read_more(count)
    return labels(pages)


async def test_all_are_kept_ones_then_the_archive_then_the_trash(world, pages):
    for place in ("trash", "archive", "kept"):
        for number in range(2):
            made = await world.session(f"{place} {number}")
            if place != "kept":
                getattr(world.reader, {"trash": "delete"}.get(place, place))(made)
    expected = [f"{place} {number}" for place in ("kept", "archive", "trash") for number in (1, 0)]
    everything = pages("all")
    assert await read(everything) == expected
    assert not everything.more
    assert await read(pages("archive")) == expected[2:4]
    assert await read(pages("trash")) == expected[4:]


async def test_each_page_is_read_when_it_is_wanted(world, pages):
    for number in range(70):
        await world.session(f"Number {number}")
    some = pages("all")
    assert len(await read(some)) == 50
    assert some.more
    assert len(await read(some)) == 70
    assert not some.more
    assert len(await read(pages("all"), 70)) == 70


async def test_one_project_is_read_or_all_but_the_hidden_ones_if_that_is_wanted(world, pages):
    await world.session("Here")
    await world.session("There", scope=OTHER, project="/else")
    assert await read(pages("all", SHOP)) == ["Here"]
    assert await read(pages("all")) == ["There", "Here"]
    assert await read(pages("closed", hidden={"/shop"})) == ["There"]


async def test_pinned_sessions_come_first_among_those_that_are_kept(world, pages):
    old = await world.session("Old")
    await world.session("New")
    program = world.started()
    await program.workspace.change_settings(
        await program.workspace.find_to_change(old), lambda _: Settings(pinned=True)
    )
    await program.settle()
    assert await read(pages("all")) == ["Old", "New"]


async def test_closed_ones_have_the_latest_closed_first_and_no_open_ones(world, pages):
    early = await world.session("Early")
    await world.session("Late")
    open_one = await world.session("Open")
    program = world.started(early)
    program.workspace.current.opened.rename("Renamed")
    await program.end()
    world.started(open_one)
    assert await read(pages("closed")) == ["Renamed", "Late"]


OPEN = SimpleNamespace(label=lambda: "The open one")
LISTED = SimpleNamespace(id="session-20260111-153022-847291", label="A listed one")
WORKSPACE = SimpleNamespace(switcher=SimpleNamespace(find={"one": OPEN}.get))


@each_row(
    "text, named",
    [
        ("Session one is read-only here.", '"The open one" is read-only here.'),
        ("Cannot open session one: gone", 'Cannot open "The open one": gone'),
        (
            "Session session-20260111-153022-847291 is damaged: gone",
            '"A listed one" is damaged: gone',
        ),
        ("Session other-1.2 is read-only here.", "Session other-1.2 is read-only here."),
        ("Restored this session", "Restored this session"),
    ],
)
def test_the_title_of_a_known_session_replaces_its_id(text, named):
    assert SessionTitles(WORKSPACE, SimpleNamespace(entries=(LISTED,))).named(text) == named
