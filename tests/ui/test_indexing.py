"""The index, built behind the screen."""

import asyncio

from tests.waiting import until
from tui.indexing import Indexing
from tui.storage import locks
from tui.storage.index.upkeep import Upkeep


class Heard:
    def __init__(self, root):
        self.progress, self.failures = [], []
        self.indexing = Indexing(root, self.progress.append, self.failures.append)

    @property
    def ended(self):
        return self.progress[-1:] == [""]


async def test_what_is_there_is_read_and_the_end_is_told(world):
    w = world()
    await w.session("a needle")
    heard = Heard(w.root)
    heard.indexing.catch_up()
    await until(lambda: heard.ended)
    assert heard.failures == []
    assert w.other_program().search("needle", 5).pending == 0
    assert (w.root / "index.sqlite3").exists()


async def test_how_far_it_is_is_told_where_there_is_much(world):
    w = world()
    await w.session(*["word " * 20_000] * 30)
    heard = Heard(w.root)
    heard.indexing.catch_up()
    await until(lambda: heard.ended)
    assert any(words.startswith("indexing ") for words in heard.progress)


async def test_the_builder_is_killed_with_the_program(world):
    w = world()
    await w.session(*["word " * 20_000] * 30)
    heard = Heard(w.root)
    heard.indexing.catch_up()
    await until(lambda: locks.holder_of(w.root / "index.lock"))
    process = heard.indexing._process
    heard.indexing.end()
    await until(lambda: process.returncode is not None)
    assert process.returncode == -9
    heard.indexing.catch_up()
    await asyncio.sleep(0)
    assert heard.indexing._process is None or heard.indexing._process is process


async def test_another_program_at_it_is_no_failure(world, monkeypatch):
    w = world()
    await w.session("a needle")
    heard = Heard(w.root)
    monkeypatch.setenv("SIBYL_TEST", "1")
    with Upkeep(w.root)._locked(0) as held:
        assert held
        heard.indexing.catch_up()
        await until(lambda: heard.ended)
    assert heard.failures == []


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
    assert not heard.indexing._running
