"""The fault tests must notice a program that breaks its promises.

Each sabotage of ``tests.faults.sabotage`` is put through the same checks as the program itself:
what passes them sabotaged would be a check that cannot fail.
"""

import errno
import shutil
import sys

import pytest

from tests.faults import commands
from tests.faults.power_cut import PESSIMISTIC, Disk, Snapshot
from tests.faults.sabotage import PIECES
from tests.faults.shim import Fault, every_kill, run

pytestmark = pytest.mark.full

WALK = commands.Walk(
    "slow", ["ask", commands.NEW, "--json", *commands.GUIDED, "--session", commands.KEPT], bool
)
SLOW_ANSWER = "".join(PIECES)


@pytest.fixture
def fresh(template, tmp_path):
    numbers = iter(range(100_000))

    def build():
        root = tmp_path / str(next(numbers))
        shutil.copytree(template / "data", root)
        return root

    return build


def asked(root, sabotage):
    arguments = commands.within(root, WALK.arguments)
    return [sys.executable, "-m", "tests.faults.sabotage", sabotage, *arguments]


def lost_in_power_cuts(fresh, sabotage):
    root = fresh()
    before = Snapshot.of(root)
    outcome = run(asked(root, sabotage), root)
    assert outcome.returncode == 0, outcome.stderr
    cuts = Disk(before, outcome.operations).cuts([PESSIMISTIC])
    return commands.lost_in(
        cuts, root.with_name("left"), lambda left, said: commands.lost(left, WALK, said)
    )


def lost_in_kills_after_a_failed_sync(fresh, sabotage):
    """The second sync of the journal fails, and the program is killed at any later point."""
    clean = fresh()
    broken = Fault.fail(2, errno.EIO, kinds={"sync"})
    points = [one.number for one in run(asked(clean, sabotage), clean, broken).points]
    problems = []
    for number in points[10:]:
        root = fresh()
        outcome = run(asked(root, sabotage), root, broken.and_kill(number))
        problems += commands.lost(root, WALK, outcome.stdout.decode())
        shutil.rmtree(root)
    return problems


def test_the_program_as_it_is_loses_nothing_in_a_power_cut(fresh):
    assert lost_in_power_cuts(fresh, "none") == []


@pytest.mark.fast
def test_a_program_that_does_not_sync_is_caught(fresh):
    assert any("said to be saved" in problem for problem in lost_in_power_cuts(fresh, "no-sync"))


def test_a_program_that_says_saved_too_early_is_caught(fresh):
    found = lost_in_power_cuts(fresh, "too-early")
    assert any("said to be saved" in problem for problem in found)


def test_the_program_as_it_is_loses_nothing_when_killed_after_a_failed_sync(fresh):
    assert lost_in_kills_after_a_failed_sync(fresh, "none") == []


def test_a_program_that_truncates_instead_of_renaming_is_caught(fresh):
    assert lost_in_kills_after_a_failed_sync(fresh, "truncate") != []


def test_killed_at_any_point_of_a_slow_answer_what_was_written_of_it_is_kept(fresh):
    clean = fresh()
    operations = run(asked(clean, "none"), clean).operations
    assert sum(b'"partial"' in one.data for one in operations) > 2
    problems = []
    for fault in every_kill(operations):
        root = fresh()
        outcome = run(asked(root, "none"), root, fault)
        problems += commands.lost(root, WALK, outcome.stdout.decode())
        problems += torn_answers(root)
        shutil.rmtree(root)
    assert problems == []


def torn_answers(root):
    """An answer in the session is the beginning of what the model said, and says if it is cut."""
    session = commands.FileStore(root).journal(commands.KEPT).load()
    answer = session.loaded_messages[-1]
    if answer.role == "user" or answer.text in commands.TEXTS[commands.KEPT]:
        return []
    whole = answer.text == SLOW_ANSWER and answer.status is None
    begun = SLOW_ANSWER.startswith(answer.text) and answer.status == "interrupted"
    return [] if whole or begun else [f"the answer is {answer}"]
