from datetime import timedelta
from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import Chat, Session
from tests.builders import Clock
from tui.app.controllers.session_list import SessionListController
from tui.engine.library.session_pages import SessionCounts
from tui.errors import StorageError


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
            switcher=SimpleNamespace(settle=self.settle),
        )
        pages = SimpleNamespace(entries=(), more=False, scope="project:/shop", others=())
        pages.counts = SessionCounts()
        pages.is_counted, pages.refresh, pages.count = True, self.refresh, self.refresh
        presenter = SimpleNamespace(say=lambda notice: self.said.append(notice.text))
        self.session_list = SessionListController(self.chat, self.workspace, pages, presenter)

    async def settle(self):
        pass

    async def refresh(self):
        if self.failure:
            raise self.failure

    @property
    def currents(self):
        return [rows.current for rows, _ in self.chat.shown]


@pytest.fixture
def world():
    return World()


def test_rows_that_are_on_screen_are_not_shown_again(world):
    world.session_list.show()
    world.session_list.show()
    world.workspace.current = Session("there")
    world.session_list.show()
    assert world.currents == ["here", "there"]


def test_ages_are_shown_anew_though_the_rows_are_the_same(world):
    world.session_list.show()
    world.now += timedelta(minutes=1)
    world.session_list.show_ages()
    assert [now for _, now in world.chat.shown] == [world.now - timedelta(minutes=1), world.now]


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
