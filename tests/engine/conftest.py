"""An engine's world: a store that can fail, a clock that ticks, a session in it."""

import pytest

from tests.builders import Clock
from tests.engine.workspaces import Store, World
from tui.engine.sessions import open_session
from tui.engine.sessions.open_session import SessionOrigin
from tui.storage.file_store import FileStore

PLACE = SessionOrigin("project:/shop", "/shop", "scripted:model")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def store(tmp_path, clock):
    return Store(tmp_path / "data", clock)


@pytest.fixture
def new_session(store, clock):
    return lambda: open_session.new_session(store, PLACE, clock)


@pytest.fixture
def session(new_session):
    return new_session()


@pytest.fixture
def resume(store, clock):
    return lambda session_id: open_session.take_session(store, session_id, clock, resumed=True)


@pytest.fixture
def file_session(tmp_path, clock):
    """A session in real files, and its store."""
    store = FileStore(tmp_path / "data", clock)
    return open_session.new_session(store, PLACE, clock), store


@pytest.fixture
def world(tmp_path):
    """A data directory that several programs use."""
    world = World(tmp_path / "data")
    yield world
    world.end()


@pytest.fixture
async def there(world):
    """The id of a closed session."""
    return await world.session()


@pytest.fixture
async def program(world):
    """A program that has begun in a new session."""
    return world.started()
