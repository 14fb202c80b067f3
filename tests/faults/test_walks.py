"""Every point at which a command touches the data directory fails once, fails for ever, or kills.

After each of them nothing that was there or was said to be saved is missing, and the next
command goes on.
"""

import errno
import re
import shutil
from pathlib import Path

import pytest

from tests.faults import commands
from tests.faults.shim import Fault, every_kill, run
from tui.storage.rescue import import_file

pytestmark = pytest.mark.full


def _names(*fast):
    """All walks; these run in the fast tier, too.

    They prove that nothing goes past the calls that tests of the storage fail in their own process.
    """
    names = [walk.name for walk in commands.walks(Path())]
    assert {*fast} <= {*names}
    return [pytest.param(name, marks=[pytest.mark.fast] * (name in fast)) for name in names]


_RESCUED = re.compile(r"What could not be saved is in (.*)\.\n")
_NOT_BEGUN = re.compile("Cannot (write to the data directory|reserve a session|open session)")


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A data directory to begin with, and the files beside it."""
    directory = tmp_path_factory.mktemp("template")
    commands.fill(directory / "data", directory)
    return directory


@pytest.fixture
def world(template, tmp_path):
    """Gives a walk, and a data directory of its own for each run of it."""
    numbers = iter(range(100_000))

    def build(name):
        (walk,) = [each for each in commands.walks(template) if each.name == name]

        def fresh():
            root = tmp_path / str(next(numbers))
            shutil.copytree(template / "data", root)
            return root

        return walk, fresh

    return build


def failures(operations):
    """Each operation fails once with an error of the disk, and for ever with a full one."""
    for one in operations:
        if one.number:
            yield Fault.fail(one.number, errno.EIO)
            yield Fault.fail_from(one.number, errno.ENOSPC)
        if one.number and one.kind == "write":
            yield Fault.short(one.number)


@pytest.mark.parametrize("name", _names("ask", "restore", "purge"))
def test_without_a_fault_each_command_does_its_work(world, name):
    walk, fresh = world(name)
    root = fresh()
    outcome = run(walk.command(root), root)
    assert outcome.returncode == 0, outcome.stderr
    assert len(outcome.points) > 3
    assert walk.done(commands.FileStore(root))
    assert commands.lost(root, walk, outcome.stdout.decode()) == []


@pytest.mark.parametrize("name", _names("ask", "restore", "purge"))
def test_killed_at_any_point_nothing_acknowledged_is_missing(world, name):
    walk, fresh = world(name)
    clean = fresh()
    problems = []
    for fault in every_kill(run(walk.command(clean), clean).operations):
        root = fresh()
        outcome = run(walk.command(root), root, fault)
        found = commands.lost(root, walk, outcome.stdout.decode())
        problems += [f"{fault}: {each}" for each in [*found, *goes_on(root)]]
        shutil.rmtree(root)
    assert problems == []


@pytest.mark.parametrize("name", _names("restore", "purge"))
def test_failing_at_any_point_nothing_is_missing_and_the_reason_is_said(world, name):
    walk, fresh = world(name)
    clean = fresh()
    problems = []
    for fault in failures(run(walk.command(clean), clean).operations):
        root = fresh()
        outcome = run(walk.command(root), root, fault)
        found = commands.lost(root, walk, outcome.stdout.decode())
        found += said_how_it_went(walk, root, outcome)
        if walk.name.startswith("ask"):
            found += kept_the_prompt(root, outcome)
        problems += [f"{fault}: {each}" for each in [*found, *goes_on(root)]]
        shutil.rmtree(root)
    assert problems == []


def said_how_it_went(walk, root, outcome):
    """A failure has a sentence and no traceback; a success has done what was asked for."""
    told = outcome.stderr.decode()
    if "Traceback" in told:
        return [told]
    if outcome.returncode == 0:
        return [] if walk.done(commands.FileStore(root)) else ["said to be done, but is not"]
    if outcome.returncode != 1 or not told.strip():
        return [f"exit code {outcome.returncode}, said {told!r}"]
    return []


def kept_the_prompt(root, outcome):
    """What was asked is in the session or in a rescue file, unless it was refused at once."""
    store = commands.FileStore(root)
    told = outcome.stderr.decode()
    for file in _RESCUED.findall(told):
        import_file(store, Path(file), "2026-01-12T00:00:00.000Z")
    if commands.NEW in commands.everything_said(store) or _NOT_BEGUN.search(told):
        return []
    return [f"the prompt is nowhere: {told}"]


def goes_on(root):
    """After whatever happened, the next question is asked and answered in the same session."""
    code, told = commands.plainly(commands.within(root, ["ask", "and then?", "--continue"]))
    return [] if code == 0 else [f"the next command fails: {told}"]
