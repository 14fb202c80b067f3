"""Lines to the server that a test may cut."""

import pytest

from tests.storage.postgres.cutting import Cutter
from tests.storage.postgres.link import Link


@pytest.fixture
def link(postgres):
    link = Link(postgres)
    yield link
    link.close()


@pytest.fixture
def cutter(postgres):
    cutter = Cutter(postgres)
    yield cutter
    cutter.close()
