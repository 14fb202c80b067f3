"""Stores at a server, and lines to it that a test may cut."""

import pytest

from tests.storage.postgres.cutting import Cutter
from tui.storage.postgres.store import PostgresStore


@pytest.fixture
def cutter(postgres):
    cutter = Cutter(postgres)
    yield cutter
    cutter.close()


@pytest.fixture
def open_store(clock):
    """Opens stores, as programs do, and closes them at the end."""
    stores = []

    def opened(address):
        stores.append(PostgresStore(address, clock))
        return stores[-1]

    yield opened
    for each in stores:
        each.close()


@pytest.fixture
def store(postgres, open_store):
    return open_store(postgres)


@pytest.fixture
def other(postgres, open_store):
    """The store of another program, with a way of its own to the server."""
    return open_store(postgres)
