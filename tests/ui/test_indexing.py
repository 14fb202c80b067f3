"""The index, built behind the screen."""

import asyncio
import sys

import pytest

from tests.waiting import until
from tui.app.controllers.search import IndexBuilder
from tui.storage.index import child
from tui.storage.index.maintenance import IndexMaintenance


class Heard:
    def __init__(self, root):
        self.progress, self.failures = [], []
        self.indexing = IndexBuilder(root, self.progress.append, self.failures.append)

    @property
    def ended(self):
        return self.progress[-1:] == [""]


async def test_what_is_there_is_read_and_the_end_and_of_much_how_far_it_is_is_told(world):
    w = world()
    await w.session("a needle", *["word " * 20_000] * 30)
    heard = Heard(w.root)
    heard.indexing.catch_up()
    await until(lambda: heard.ended)
    assert any(words.startswith("indexing ") for words in heard.progress)
    assert heard.failures == []
    assert w.other_program().search("needle", 5).pending == 0
    assert (w.root / "index.sqlite3").exists()


@pytest.fixture
def builder(monkeypatch):
    """Lets another program build."""

    def use(code):
        monkeypatch.setattr(child, "command", lambda _: [sys.executable, "-c", code])

    return use


async def test_the_builder_is_killed_with_the_program(world, builder):
    heard = Heard(world().root)
    builder("import time; time.sleep(600)")
    heard.indexing.catch_up()
    await until(lambda: heard.indexing._process)
    process = heard.indexing._process
    heard.indexing.end()
    await until(lambda: process.returncode is not None)
    assert process.returncode == -9
    heard.indexing.catch_up()
    await asyncio.sleep(0)
    assert heard.indexing._process is None or heard.indexing._process is process


async def test_who_indexes_meanwhile_is_told_and_waited_for(world):
    w = world()
    await w.session("a needle")
    other = IndexMaintenance(w.root).build("an import")
    next(other)
    heard = Heard(w.root)
    heard.indexing.catch_up()
    await until(lambda: heard.progress)
    assert set(heard.progress) == {"an import is indexing"}
    other.close()
    await until(lambda: heard.ended)
    assert heard.failures == []
    assert w.other_program().search("needle", 5).pending == 0


async def test_one_that_fails_is_told_once_and_done_without(world):
    w = world()
    await w.session("a needle")
    (w.root / "index.sqlite3").mkdir()
    heard = Heard(w.root)
    heard.indexing.catch_up()
    await until(lambda: heard.failures)
    heard.indexing.catch_up()
    await asyncio.sleep(0)
    assert len(heard.failures) == 1
    assert "search index" in heard.failures[0]
