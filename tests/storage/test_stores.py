"""The two stores of a program: the one on disk, and the one in memory."""

import msgspec
import pytest

from tests.attached import PNG, picture, showing
from tests.builders import kept_texts, user
from tests.failing import raiser
from tui.errors import AttachmentNotFound, SessionNotFound, StorageFull
from tui.storage.protocol import EVERYWHERE, SessionFilter
from tui.storage.stores import SessionStores

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
def lease(stores):
    store = stores.of(PRIVATE)
    lease = store.create(*SHOP, session_id=PRIVATE)
    store.append(lease, [user("m1", "hello")])
    return lease


def test_the_id_says_where_a_session_is(stores, main, lease):
    assert stores.of("session-1") is main
    assert kept_texts(stores, PRIVATE) == ["hello"]
    with pytest.raises(SessionNotFound):
        main.journal(PRIVATE).load()


def test_a_name_may_begin_as_the_ids_of_private_sessions_do(stores, main, lease):
    other = main.create(*SHOP)
    main.append(other, [user("m1", "hello")])
    state = main.journal(other.session_id).load().state("2026-01-11T15:00:00.000Z")
    main.append(other, [msgspec.structs.replace(state, name="private-notes")])
    assert stores.resolve("private-notes", SHOP[0]) == other.session_id
    assert stores.resolve("private-2026", SHOP[0]) == PRIVATE


def test_lists_have_no_private_session(stores, lease):
    assert stores.list(SessionFilter(), None, 10).entries == ()
    assert stores.count(SessionFilter()) == 0
    assert stores.active(SHOP[0]) is None


def test_a_private_session_that_is_kept_leaves_nothing_behind(stores, main, lease):
    kept, appended = stores.keep(lease, [user("m2", "again")], [])
    assert appended.ordinal == 1
    assert kept_texts(main, kept.session_id) == ["hello", "again"]
    with pytest.raises(SessionNotFound):
        stores.journal(PRIVATE).load()


def test_a_private_session_that_cannot_be_kept_is_as_it_was(stores, main, lease, monkeypatch):
    monkeypatch.setattr(main, "append", raiser(StorageFull("No room.")))
    with pytest.raises(StorageFull):
        stores.keep(lease, [], [])
    assert main.list(SessionFilter(statuses=EVERYWHERE), None, 10).entries == ()
    assert kept_texts(stores, PRIVATE) == ["hello"]


def test_a_forgotten_private_session_is_gone(stores, lease):
    stores.private.forget(lease)
    with pytest.raises(SessionNotFound):
        stores.journal(PRIVATE).load()


def test_the_pictures_of_a_private_session_are_in_memory_until_it_is_left(stores, main, lease):
    stores.of(PRIVATE).add_attachment(PRIVATE, PNG)
    assert stores.attachment(PRIVATE, PHOTO.sha256) == PNG
    with pytest.raises(AttachmentNotFound):
        main.attachment(PRIVATE, PHOTO.sha256)
    stores.private.forget(lease)
    with pytest.raises(AttachmentNotFound):
        stores.find_attachment(PRIVATE, PHOTO.sha256)


def test_a_private_session_that_is_kept_takes_its_pictures_along(stores, main, lease):
    stores.of(PRIVATE).add_attachment(PRIVATE, PNG)
    shown = user("m2", showing("see", PHOTO))
    kept, _ = stores.keep(lease, [shown], [])
    assert main.attachment(kept.session_id, PHOTO.sha256) == PNG
    with pytest.raises(AttachmentNotFound):
        stores.attachment(PRIVATE, PHOTO.sha256)
