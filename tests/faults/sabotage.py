"""The program with one promise broken, so that the fault tests can show that they would notice.

``python -m tests.faults.sabotage NAME ARGUMENT...``; ``none`` breaks nothing, and answers slowly.
"""

import asyncio
import functools
import os
import sys

from tests.engine.scripted_model import ScriptedModel
from tui.cli import program, run
from tui.engine.turns import turn

PIECES = [f"piece {number} " for number in range(6)]
"""What the model says, with a pause before each piece that is longer than a save takes."""


class SlowModel(ScriptedModel):
    """Says something every hundredth of a second."""

    async def stream(self, request):
        async for event in super().stream(request):
            await asyncio.sleep(0.01)
            yield event


def answer_slowly():
    """Save every few milliseconds, so that one short answer is written in many pieces."""
    program.Program.model = lambda *_: SlowModel(PIECES)
    # The command imports it when it asks.
    turn.TurnSettings = functools.partial(turn.TurnSettings, save_interval=0.005)


def forget_to_sync():
    os.fsync = os.fdatasync = lambda _: None


def truncate_instead_of_renaming():
    def overwrite(source, target):
        with open(source, "rb") as new, open(target, "wb") as old:
            old.write(new.read())
        os.unlink(source)

    os.rename = overwrite


def acknowledge_too_early():
    """Say that an answer is saved, and save it afterwards."""
    from tui.engine.sessions.open_session import OpenSession

    save = OpenSession.save

    async def later(self):
        self.late = asyncio.get_running_loop().create_task(save(self))

    OpenSession.save = later


SABOTAGES = {
    "none": lambda: None,
    "no-sync": forget_to_sync,
    "truncate": truncate_instead_of_renaming,
    "too-early": acknowledge_too_early,
}


def main():
    name, *arguments = sys.argv[1:]
    answer_slowly()
    SABOTAGES[name]()
    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
