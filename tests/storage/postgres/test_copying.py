"""The journals of a server's store as bytes."""

import pytest

from tests.storage.contract import closed
from tests.storage.copy_contract import CopyContract
from tests.storage.postgres.test_contract import PostgresBackend
from tui.errors import StorageError


@pytest.fixture
def backend(postgres, clock):
    backend = PostgresBackend(postgres, clock)
    yield backend
    backend.close()


class TestPostgresStore(CopyContract):
    pass


def test_records_that_are_gone_are_an_error_of_their_session(backend):
    session_id = closed(backend.store)
    backend.spoil(session_id)
    journals = backend.store.journals
    found = journals.find(session_id)
    with pytest.raises(StorageError, match="gone"):
        list(journals.read(session_id, found.size))
