"""A store, a home with files of a program, and an import of them."""

import pytest

from tests.builders import Clock
from tests.engine.imports.notebook import SEVERAL, Shelf, told
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.storage.file_store import FileStore


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    return FileStore(tmp_path / "data", clock)


@pytest.fixture
def shelf(tmp_path):
    return Shelf(tmp_path / "home")


@pytest.fixture
def plan(store, shelf):
    """Plans an import of all that is on the shelf."""

    def planned(**wanted):
        return make_plan(store, Wanted(shelf.places, **wanted), readers=[SEVERAL])

    return planned


@pytest.fixture
def take(store, plan, clock):
    """Imports all that is on the shelf; gives what came of it."""

    def taken(report=lambda _: True, **wanted):
        outcome = run(store, plan(**wanted), report, clock)
        assert not outcome.error
        return outcome

    return taken


@pytest.fixture
def imported(shelf, take):
    """Puts a conversation into a file of its own, or anew, and imports it; gives the outcome."""

    def outcome_of(*items, file="a.json", **heading):
        shelf.put(file, told(*items, **heading))
        return take()

    return outcome_of
