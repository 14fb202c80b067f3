"""The sessions of the picker, page by page."""

import pytest

from tests.engine.workspaces import SHOP
from tui.domain.journal.records import Settings
from tui.engine.library.session_pages import PickerPages

OTHER = "project:/other"


@pytest.fixture
def pages(world):
    return lambda view, scope=None, hidden=(): PickerPages(world.reader, view, scope, hidden)


def labels(pages):
    return [entry.label for entry in pages.entries]


async def read(pages, count=0):
    await pages.read_more(count)
    return labels(pages)


async def test_all_are_kept_ones_then_the_archive_then_the_trash(world, pages):
    for place in ("trash", "archive", "kept"):
        for number in range(2):
            made = await world.session(f"{place} {number}")
            if place != "kept":
                getattr(world.reader, {"trash": "delete"}.get(place, place))(made)
    expected = [f"{place} {number}" for place in ("kept", "archive", "trash") for number in (1, 0)]
    everything = pages("all")
    assert await read(everything) == expected
    assert not everything.more
    assert await read(pages("archive")) == expected[2:4]
    assert await read(pages("trash")) == expected[4:]


async def test_each_page_is_read_when_it_is_wanted(world, pages):
    for number in range(70):
        await world.session(f"Number {number}")
    some = pages("all")
    assert len(await read(some)) == 50
    assert some.more
    assert len(await read(some)) == 70
    assert not some.more
    assert len(await read(pages("all"), 70)) == 70


async def test_only_one_project_is_read_if_that_is_wanted(world, pages):
    await world.session("Here")
    await world.session("There", scope=OTHER)
    assert await read(pages("all", SHOP)) == ["Here"]
    assert await read(pages("all")) == ["There", "Here"]


async def test_pinned_sessions_come_first_among_those_that_are_kept(world, pages):
    old = await world.session("Old")
    await world.session("New")
    program = world.started()
    await program.workspace.change_listed_settings(old, lambda _: Settings(pinned=True))
    await program.settle()
    assert await read(pages("all")) == ["Old", "New"]


async def test_closed_ones_have_the_latest_closed_first_and_no_open_ones(world, pages):
    early = await world.session("Early")
    await world.session("Late")
    open_one = await world.session("Open")
    program = world.started(early)
    program.workspace.current.opened.rename("Renamed")
    await program.end()
    world.started(open_one)
    assert await read(pages("closed")) == ["Renamed", "Late"]


async def test_the_sessions_of_hidden_projects_are_left_out(world, pages):
    await world.session("Same", project="/shop")
    await world.session("Other", project="/else")
    assert await read(pages("closed", hidden={"/shop"})) == ["Other"]
