"""Private sessions are read as any other."""

from types import SimpleNamespace

import pytest

from tests.storage.contract import ReadingContract, new
from tui.errors import ReadOnly, SessionExists
from tui.storage.private_sessions import PrivateSessions


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
