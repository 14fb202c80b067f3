"""An import that is killed at any point is completed by the next run, and adds nothing twice."""

import json
import os
import shutil
import signal
import sys

import pytest

from tests.engine.imports.notebook import SEVERAL, Shelf, said, told
from tui.engine.imports.planning import Wanted, make_plan
from tui.engine.imports.running import run
from tui.storage.file_store import FileStore

_WATCHED = {"open", "os.link", "os.remove", "os.rename", "os.utime", "os.mkdir", "os.chmod"}


def take(root, shelf):
    store = FileStore(root)
    outcome = run(store, make_plan(store, Wanted(shelf.places), readers=[SEVERAL]))
    assert not outcome.error
    assert not outcome.programs[0].failures


def take_until(point, root, shelf):
    """Import in a process that is killed at its n-th use of a file; tells if it was."""
    child = os.fork()
    if not child:
        _take_and_die(point, root, shelf)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _take_and_die(point, root, shelf):
    left = iter(range(point))

    def count(event, _):
        if event in _WATCHED and next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(count)
        take(root, shelf)
        os._exit(0)
    finally:
        os._exit(1)


def journals(root):
    """All journals, without the times of the import."""
    return {
        path.name: [_without_times(json.loads(line)) for line in path.read_bytes().splitlines()]
        for path in sorted((root / "archive").glob("[!.]*"))
    }


def _without_times(record):
    own = {"import": ["at"], "state": ["updated_at"]}.get(record["type"], [])
    return {name: value for name, value in record.items() if name not in own}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """Sources of which two are one session, and one has several."""
    monkeypatch.setattr("tui.engine.imports.writing._BATCH_BYTES", 300)
    monkeypatch.setattr("tui.engine.imports.history._LOG_LINES", 2)
    shelf = Shelf(tmp_path / "home")
    shelf.put("a.json", told(*map(said, "ab"), root="r"))
    shelf.put("b.json", told(*map(said, "abcdefghi"), source_id="c2", root="r"))
    shelf.put("c.json", *(told(said(f"m{n}"), source_id=f"d{n}") for n in range(4)))
    return shelf


@pytest.mark.full
@pytest.mark.parametrize("begun", [False, True], ids=["at first", "while it grows"])
def test_killed_anywhere_the_next_run_completes_it(tmp_path, shelf, begun):
    before = tmp_path / "before"
    if begun:
        take(before, shelf)
        shelf.put(
            "c.json",
            *(told(said(f"m{n}"), *map(said, "xyz"[:n]), source_id=f"d{n}") for n in range(6)),
        )
        shelf.put("b.json", told(*map(said, "abcdefghijklmnop"), source_id="c2", root="r"))
    expected = tmp_path / "expected"
    if begun:
        shutil.copytree(before, expected)
    take(expected, shelf)
    for point in range(10_000):
        root = tmp_path / str(point)
        if begun:
            shutil.copytree(before, root)
        if not take_until(point, root, shelf):
            break
        take(root, shelf)
        assert journals(root) == journals(expected), point
        shutil.rmtree(root)
    assert point > 20
