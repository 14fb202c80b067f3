"""What pilot tests are made of."""

from contextlib import asynccontextmanager

import pytest

from tests.ui.screen import rows
from tests.ui.world import World
from tests.waiting import SECONDS, until


@pytest.fixture
def world(tmp_path):
    """Makes a world whose model gives these answers."""
    return lambda *answers: World(tmp_path / "data", *answers)


@pytest.fixture
def running(world):
    """Runs the program with a model that gives these answers; gives the world, too.

    It begins in a session of which ``talk`` are the messages; those of another one in the list,
    ``world.beside``, are ``beside``.
    """

    @asynccontextmanager
    async def running(*answers, talk=(), beside=(), **how):
        w = world(*answers)
        w.beside = await w.session(*beside) if beside else ""
        session_id = await w.session(*talk) if talk else None
        async with w.running(session_id, **how) as (app, pilot):
            await until(lambda: not beside or w.beside in rows(app), "the list")
            yield w, app, pilot

    return running


@pytest.fixture(autouse=True)
def _a_slow_machine_has_time(monkeypatch):
    """What is typed behind a command waits for it as long as a test does, and so does the end."""
    monkeypatch.setattr("tui.app.input_queue.SECONDS_AT_MOST", SECONDS)
