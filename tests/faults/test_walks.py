"""Every point at which a command touches the data directory fails once, fails for ever, or kills.

After each of them nothing that was there or was said to be saved is missing, and the next
command goes on.
"""

import errno
import re
import shutil
from pathlib import Path

import pytest

from tests.faults import commands, shim
from tests.faults.fork_server import ForkServer
from tests.faults.shim import Fault, every_kill
from tui.storage.doctor import Doctor
from tui.storage.rescue import import_file

NAMES = [walk.name for walk in commands.walks(Path())]
# One of each kind: the others take the same ways through the store.
_ALWAYS = {"ask", "purge"}
MANY_RUNS = [
    pytest.param(name, marks=() if name in _ALWAYS else pytest.mark.full) for name in NAMES
]

_RESCUED = re.compile(r"What could not be saved is in (.*)\.\n")
_NOT_BEGUN = re.compile(
    "Cannot (write to the data directory|reserve a session|open session|keep the picture)"
)


@pytest.fixture(scope="module")
def server():
    with ForkServer() as server:
        yield server


@pytest.fixture
def run(server):
    """Runs a walk in a forked child, quickly."""
    return lambda walk, root, *fault: server.run(walk.command(root)[3:], root, *fault)


def run_preloaded(walk, root, *fault):
    """Run a walk as a program of its own under the preloaded library, which nothing can go past."""
    return shim.run(walk.command(root), root, *fault)


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


@pytest.mark.parametrize("name", NAMES)
def test_without_a_fault_each_command_does_its_work(world, run, name):
    walk, fresh = world(name)
    root = fresh()
    outcome = run(walk, root)
    assert outcome.returncode == 0, outcome.stderr
    assert len(outcome.points) > 3
    assert walk.done(commands.FileStore(root))
    assert commands.lost(root, walk, outcome.stdout.decode()) == []


@pytest.mark.parametrize("name", MANY_RUNS)
def test_the_preloaded_library_sees_the_same_operations_so_that_none_goes_past_os(world, run, name):
    walk, fresh = world(name)
    assert _shapes(run(walk, fresh())) == _shapes(run_preloaded(walk, fresh()))


@pytest.mark.parametrize("name", MANY_RUNS)
def test_killed_at_any_point_nothing_acknowledged_is_missing(world, run, name):
    walk, fresh = world(name)
    assert kills(walk, fresh, run) == []


@pytest.mark.parametrize("name", MANY_RUNS)
def test_failing_at_any_point_nothing_is_missing_and_the_reason_is_said(world, run, name):
    walk, fresh = world(name)
    assert disk_errors(walk, fresh, run) == []


@pytest.mark.full
@pytest.mark.parametrize("name", ["ask", "restore", "purge"])
def test_so_it_is_for_programs_under_the_preloaded_library(world, name):
    walk, fresh = world(name)
    assert kills(walk, fresh, run_preloaded) == []
    assert disk_errors(walk, fresh, run_preloaded) == []


def _shapes(outcome):
    """The operations of a run, without the numbers in new names."""
    return [(each.kind, re.sub(r"[0-9a-f]{6,}", "N", each.path)) for each in outcome.points]


def kills(walk, fresh, run):
    """What is lost by a kill at any point."""
    problems = []
    for fault in every_kill(run(walk, fresh()).operations):
        root = fresh()
        outcome = run(walk, root, fault)
        assert outcome.returncode == -9, fault
        found = commands.lost(root, walk, outcome.stdout.decode())
        problems += [f"{fault}: {each}" for each in [*found, *goes_on(root)]]
        shutil.rmtree(root)
    return problems


def disk_errors(walk, fresh, run):
    """What is lost or left unsaid by an error of the disk at any point."""
    problems = []
    for fault in failures(run(walk, fresh()).operations):
        root = fresh()
        outcome = run(walk, root, fault)
        found = commands.lost(root, walk, outcome.stdout.decode())
        found += said_how_it_went(walk, root, outcome)
        if walk.name.startswith("ask"):
            found += kept_the_prompt(root, outcome)
        problems += [f"{fault}: {each}" for each in [*found, *goes_on(root)]]
        shutil.rmtree(root)
    return problems


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
    missing = [f for f in Doctor(root).examine() if f.kind == "missing_picture"]
    said = commands.everything_said(store)
    if any(text.startswith(commands.NEW) for text in said) or _NOT_BEGUN.search(told):
        return [str(finding) for finding in missing]
    return [f"the prompt is nowhere: {told}"]


def goes_on(root):
    """After whatever happened, the next question is asked and answered in the same session."""
    code, told = commands.plainly(
        commands.within(root, ["ask", "and then?", "--continue", *commands.GUIDED])
    )
    return [] if code == 0 else [f"the next command fails: {told}"]
