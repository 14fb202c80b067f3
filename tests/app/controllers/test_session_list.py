from datetime import timedelta
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pytest

from tests.app.controllers.stand_ins import Chat, Session
from tests.builders import Clock
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.store_server import StoreServer
from tui.engine.library.retention import Pruned
from tui.engine.library.session_pages import SessionCounts
from tui.errors import ServerUnreachable, StorageError


class World:
    """A list without sessions on disk, and the session that is open."""

    def __init__(self):
        self.chat, self.said = Chat(), []
        self.now = Clock()()
        self.failure = None
        self.opened = ()
        self.workspace = SimpleNamespace(
            clock=lambda: self.now,
            rows=lambda: self.opened,
            marks=dict,
            current=Session("here"),
            open=(),
            switcher=SimpleNamespace(settle=self.settle),
        )
        pages = SimpleNamespace(entries=(), more=False, scope="project:/shop", others=())
        pages.counts = SessionCounts()
        pages.is_counted, pages.refresh, pages.count = True, self.refresh, self.refresh
        self.withdrawn = []
        presenter = SimpleNamespace(
            say=lambda words, _: self.said.append(words),
            remark=lambda notice: self.said.append(notice.text),
            show_status=lambda: None,
        )
        presenter.notices = SimpleNamespace(withdraw=lambda one: self.withdrawn.append(one.text))
        server = self.server = StoreServer(None, self.workspace, presenter)
        self.session_list = SessionListController(
            self.chat, self.workspace, pages, presenter, server
        )

    async def settle(self):
        pass

    async def refresh(self):
        if self.failure:
            raise self.failure


@pytest.fixture
def world():
    return World()


def test_rows_that_are_on_screen_are_shown_again_only_for_their_ages(world):
    world.session_list.show()
    world.session_list.show()
    world.workspace.current = Session("there")
    world.session_list.show()
    begun, world.now = world.now, world.now + timedelta(minutes=1)
    world.session_list.show_ages()
    shown = [(rows.current, now) for rows, now in world.chat.shown]
    assert shown == [("here", begun), ("there", begun), ("there", world.now)]


async def test_an_unreadable_list_is_told_once(world):
    world.failure = StorageError("Cannot read the archive.")
    await world.session_list.refresh()
    await world.session_list.refresh()
    assert world.said == ["Cannot read the archive."]
    world.failure = None
    await world.session_list.refresh()
    world.failure = StorageError("Cannot read the archive.")
    await world.session_list.refresh()
    assert world.said == ["Cannot read the archive."] * 2


async def test_a_server_that_is_away_is_told_once_whatever_the_reason_and_its_return_once(world):
    for reason in ("Connection refused", "it is starting"):
        world.failure = ServerUnreachable(reason)
        await world.session_list.refresh()
    world.failure = None
    await world.session_list.refresh()
    await world.session_list.refresh()
    assert world.said == [
        "The store's server cannot be reached: Connection refused",
        "The store's server is back",
    ]
    assert world.withdrawn == world.said[:1]


async def test_a_save_that_succeeds_again_takes_back_that_the_server_is_away(world):
    world.failure = ServerUnreachable("Connection refused")
    await world.session_list.refresh()

    async def save_all():
        return True

    world.workspace.save_all = save_all
    await world.server.save_again()
    assert world.said[1:] == ["The store's server is back"]
    assert world.withdrawn == world.said[:1]


async def test_pruning_says_no_second_time_that_the_server_is_away(world):
    away = ServerUnreachable("Connection refused")
    retention = SimpleNamespace(
        after_start=AsyncMock(return_value=Pruned(failure=away)),
        tell_hook=AsyncMock(return_value=()),
    )
    world.failure = away
    await world.session_list.refresh()
    await world.session_list.prune(retention)
    assert world.said == [str(away)]
