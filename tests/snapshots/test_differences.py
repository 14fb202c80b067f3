"""The report on a picture that is not the one that was kept."""

import re
import shutil

import pytest

from tests.snapshots.conftest import PLACE


class Shown:
    """An application that shows a picture."""

    def __init__(self, svg):
        self.svg = svg

    def export_screenshot(self, title):
        return self.svg


@pytest.fixture
def place(request, tmp_path, monkeypatch):
    """A directory of pictures, with a kept one in it."""
    monkeypatch.setattr("tests.snapshots.conftest.PLACE", tmp_path)
    monkeypatch.setattr("tests.snapshots.conftest.SECONDS", 0)
    monkeypatch.setattr(request.config.option, "update_snapshots", False)
    shutil.copy(PLACE / "search_nothing.svg", tmp_path / "kept.svg")
    return tmp_path


async def failure(compare, svg):
    with pytest.raises(pytest.fail.Exception) as failed:
        await compare(Shown(svg), "kept")
    return str(failed.value).splitlines()


async def test_a_difference_in_looks_alone_is_named_with_its_place_and_the_picture_written(
    compare, place
):
    kept = (place / "kept.svg").read_text("utf-8")
    style = kept.split('">Search:', 1)[0].rpartition('class="')[2].split('"')[0]
    colour = kept.split(f".{style} {{ fill: ", 1)[1][:7]
    seen = kept.replace(f".{style} {{ fill: {colour}", f".{style} {{ fill: #abcdef")
    first, *_ = await failure(compare, seen)
    assert first.startswith("row 1, columns 2 to 9: fill: " + colour)
    assert "became fill: #abcdef" in first
    assert "Search: nowhere" in first
    assert (place / "kept.seen.svg").read_text("utf-8") == seen
    background = r'(<rect fill=")#[0-9a-f]{6}(" x="0" y="1.5")'
    first, *_ = await failure(compare, re.sub(background, r"\1#abcdef\2", kept, count=1))
    assert first.startswith("row 1, columns 1 to ")
    assert "on #abcdef" in first


async def test_the_compare_fails_nothing(compare, place):
    await compare(Shown((place / "kept.svg").read_text("utf-8")), "kept")
    assert not (place / "kept.seen.svg").exists()
