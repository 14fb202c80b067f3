"""What pilot tests are made of."""

from contextlib import asynccontextmanager

import pytest

from tests.ui.world import World
from tests.waiting import SECONDS


@pytest.fixture
def world(tmp_path):
    """Makes a world whose model gives these answers."""
    return lambda *answers: World(tmp_path / "data", *answers)


@pytest.fixture
def running(world):
    """Runs the program with a model that gives these answers; gives the world, too.

    It begins in a session of which ``talk`` are the messages.
    """

    @asynccontextmanager
    async def running(*answers, talk=(), **how):
        w = world(*answers)
        session_id = await w.session(*talk) if talk else None
        async with w.running(session_id, **how) as (app, pilot):
            yield w, app, pilot

    return running


@pytest.fixture(autouse=True)
def _a_slow_machine_has_time(monkeypatch):
    """What is typed behind a command waits for it as long as a test does, and so does the end."""
    monkeypatch.setattr("tui.app.input_queue.SECONDS_AT_MOST", SECONDS)
