"""The two stores of a program: the one on disk, and the one in memory."""

from types import SimpleNamespace

import msgspec
import pytest

from tests.attached import PNG, picture, showing
from tests.builders import Clock, kept_texts, user
from tests.failing import raiser
from tests.storage.contract import ReadingContract, new
from tui.errors import (
    AttachmentNotFound,
    ConfigError,
    ReadOnly,
    SessionExists,
    SessionNotFound,
    StorageFull,
)
from tui.storage.file_store import FileStore
from tui.storage.private_sessions import PrivateSessions
from tui.storage.protocol import EVERYWHERE, SessionFilter
from tui.storage.stores import SessionStores, open_store

PRIVATE = "private-20260111-143022-000001"
SHOP = ("project:/shop", "/shop", "scripted:model")
PHOTO = picture()


@pytest.fixture
def main(store):
    return store


@pytest.fixture
def stores(main, clock):
    return SessionStores(main, clock)


@pytest.fixture
def private(stores):
    store = stores.of(PRIVATE)
    lease = store.create(*SHOP, session_id=PRIVATE)
    store.append(lease, [user("m1", "hello")])
    return lease


def test_a_private_session_is_found_by_its_id_and_in_no_list_until_it_is_forgotten(
    stores, main, private
):
    assert stores.of("session-1") is main
    assert kept_texts(stores, PRIVATE) == ["hello"]
    assert stores.list(SessionFilter(), None, 10).entries == ()
    assert stores.count(SessionFilter()) == 0
    assert stores.active(SHOP[0]) is None
    stores.private.forget(private)
    for store in (main, stores):
        with pytest.raises(SessionNotFound):
            store.journal(PRIVATE).load()


def test_a_name_may_begin_as_the_ids_of_private_sessions_do(stores, main, private):
    other = main.create(*SHOP)
    main.append(other, [user("m1", "hello")])
    state = main.journal(other.session_id).load().state("2026-01-11T15:00:00.000Z")
    main.append(other, [msgspec.structs.replace(state, name="private-notes")])
    assert stores.resolve("private-notes", SHOP[0]) == other.session_id
    assert stores.resolve("private-2026", SHOP[0]) == PRIVATE


def test_a_private_session_that_is_kept_takes_its_pictures_along_and_leaves_nothing_behind(
    stores, main, private
):
    stores.of(PRIVATE).add_attachment(PRIVATE, PNG)
    assert stores.attachment(PRIVATE, PHOTO.sha256) == PNG
    with pytest.raises(AttachmentNotFound):
        main.attachment(PRIVATE, PHOTO.sha256)
    kept, appended = stores.keep(private, [user("m2", showing("see", PHOTO))], [])
    assert appended.ordinal == 1
    shown = stores.journal(kept.session_id).load().loaded_messages
    assert [each.attachments for each in shown] == [(), (PHOTO,)]
    assert main.attachment(kept.session_id, PHOTO.sha256) == PNG
    with pytest.raises(SessionNotFound):
        stores.journal(PRIVATE).load()
    with pytest.raises(AttachmentNotFound):
        stores.attachment(PRIVATE, PHOTO.sha256)


def test_the_pictures_of_a_private_session_are_gone_once_it_is_left(stores, private):
    stores.of(PRIVATE).add_attachment(PRIVATE, PNG)
    stores.private.forget(private)
    with pytest.raises(AttachmentNotFound):
        stores.find_attachment(PRIVATE, PHOTO.sha256)


def test_a_private_session_that_cannot_be_kept_is_as_it_was(stores, main, private, monkeypatch):
    monkeypatch.setattr(main, "append", raiser(StorageFull("No room.")))
    with pytest.raises(StorageFull):
        stores.keep(private, [], [])
    assert main.list(SessionFilter(statuses=EVERYWHERE), None, 10).entries == ()
    assert kept_texts(stores, PRIVATE) == ["hello"]


# --- the store that the configuration names


def test_without_an_address_the_store_is_the_data_directory(tmp_path):
    store = open_store("", tmp_path, Clock())
    assert isinstance(store, FileStore)
    assert store.root == tmp_path


@pytest.mark.parametrize("address", ["shelf:x", "//me:secret@host/x", "ftp://me:secret@host"])
def test_any_other_address_is_refused_and_not_repeated(tmp_path, address):
    with pytest.raises(ConfigError) as told:
        open_store(address, tmp_path, Clock())
    assert str(told.value) == "settings: store: an address begins with postgresql://"


# --- private sessions are read as any other


class TestPrivateSessions(ReadingContract):
    @pytest.fixture
    def backend(self, clock):
        return SimpleNamespace(store=PrivateSessions(clock))

    def test_who_has_given_it_up_cannot_append(self, store, lease):
        lease.release()
        with pytest.raises(ReadOnly):
            store.append(lease, [])

    def test_an_id_is_given_once(self, store):
        with pytest.raises(SessionExists):
            store.create("s", "/s", "m", session_id=new(store).session_id)

    def test_numbers_go_up_by_one(self, store):
        assert [store.entry(new(store).session_id).ordinal for _ in range(2)] == [1, 2]
