"""The cache of the servers' lists is never a reason to fail."""

import json
import threading
from pathlib import Path

import pytest

from tui.errors import StorageError
from tui.storage import model_cache
from tui.storage.model_cache import CachedList

LIST = CachedList("http://127.0.0.1/v1", "2026-01-11T14:30:23.456Z", ("a", "b"))


@pytest.fixture
def file(tmp_path: Path):
    return tmp_path / "state" / "models.json"


def test_lists_are_there_after_the_next_start(file):
    model_cache.change(file, {"local": LIST})
    model_cache.change(file, {"other": LIST})
    assert model_cache.read(file) == {"local": LIST, "other": LIST}
    model_cache.change(file, {"local": None})
    assert model_cache.read(file) == {"other": LIST}


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", '{"version": 2, "lists": {}}', '{"lists": {"a": 3}}', "[" * 5000],
)
def test_a_damaged_file_or_another_version_counts_as_empty(file, text):
    file.parent.mkdir()
    file.write_text(text)
    assert model_cache.read(file) == {}
    model_cache.change(file, {"local": LIST})
    assert model_cache.read(file) == {"local": LIST}


def test_a_file_that_is_too_large_is_not_written(file):
    large = CachedList("", "", ("x" * 1000,) * 2000)
    model_cache.change(file, {"local": LIST})
    model_cache.change(file, {"large": large})
    assert json.loads(file.read_text())["lists"].keys() == {"local"}


def test_a_place_that_cannot_be_written_is_an_error(file):
    file.parent.write_text("no directory")
    with pytest.raises(StorageError):
        model_cache.change(file, {"local": LIST})


def test_two_programs_that_write_at_once_both_count(file, monkeypatch):
    reading, go_on = threading.Event(), threading.Event()
    read = model_cache.read

    def slow(path):
        lists = read(path)
        if not reading.is_set():
            reading.set()
            assert go_on.wait(30)
        return lists

    monkeypatch.setattr(model_cache, "read", slow)
    names = ("one", "other")
    threads = [
        threading.Thread(target=model_cache.change, args=(file, {name: LIST})) for name in names
    ]
    threads[0].start()
    assert reading.wait(30)
    threads[1].start()
    go_on.set()
    for each in threads:
        each.join(30)
    assert {*read(file)} == {*names}
