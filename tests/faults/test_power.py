"""When the power goes at any point, in any order in which a disk may have written."""

import shutil

import pytest

from tests.faults import commands
from tests.faults.power_cut import Disk, Snapshot
from tests.faults.shim import run

pytestmark = pytest.mark.full

_FAST = {"ask", "ask-picture"}
NAMES = [
    pytest.param(walk.name, marks=[pytest.mark.fast] if walk.name in _FAST else [])
    for walk in commands.walks(commands.Path())
]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_that_was_said_to_be_saved_is_lost(template, tmp_path, name):
    (walk,) = [each for each in commands.walks(template) if each.name == name]
    root = tmp_path / "data"
    shutil.copytree(template / "data", root)
    before = Snapshot.of(root)
    outcome = run(walk.command(root), root)
    assert outcome.returncode == 0, outcome.stderr
    disk = Disk(before, outcome.operations)
    disk.verify(root)
    problems = commands.lost_in(
        disk.cuts(), tmp_path / "left", lambda left, said: commands.lost(left, walk, said)
    )
    assert problems == []


def test_a_first_question_is_not_lost_with_the_directories_that_were_made_for_it(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    data = root / "home" / "data"
    walk = commands.Walk("first", ["ask", commands.NEW, "--json", *commands.GUIDED], bool)
    outcome = run(walk.command(data), root)
    assert outcome.returncode == 0, outcome.stderr
    cuts = Disk(Snapshot(), outcome.operations).cuts()
    problems = commands.lost_in(
        cuts,
        tmp_path / "left",
        lambda left, said: commands.missing_messages(left / "home/data", said),
    )
    assert problems == []


def test_what_a_command_said_to_be_done_is_done_after_a_power_cut(template, tmp_path):
    problems = []
    for walk in commands.walks(template):
        root, left = tmp_path / walk.name, tmp_path / f"{walk.name}-left"
        shutil.copytree(template / "data", root)
        before = Snapshot.of(root)
        outcome = run(walk.command(root), root)
        Disk(before, outcome.operations).left().materialise(left)
        if not walk.done(commands.FileStore(left)):
            problems.append(walk.name)
    assert problems == []
