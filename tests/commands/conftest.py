"""Commands as the prompt gives them, in a program over real files."""

import pytest

from tests.engine.scripted_model import ScriptedModel
from tests.engine.workspaces import World
from tui.commands.context import CommandContext
from tui.commands.effects import Say
from tui.commands.registry import run
from tui.domain.commands import parse
from tui.errors import ModelUnavailable


class Models:
    """Two models."""

    def __init__(self, model):
        self.known = {model.name: model, "other:model": ScriptedModel()}
        self.known["other:model"].name = "other:model"

    def names(self):
        return tuple(self.known)

    def named(self, name):
        if name not in self.known:
            raise ModelUnavailable(f"There is no {name}.")
        return self.known[name]


class Commands:
    """Runs commands in one program; ``said`` is what the last one told, ``effects`` all of it."""

    def __init__(self, program):
        self.program = program
        self.workspace = program.workspace
        self.effects = ()
        self.running = False
        self.context = CommandContext(program.workspace, Models(program.model), self.stop)

    async def stop(self, conversation):
        stopped, self.running = self.running, False
        conversation.running = False
        await self.workspace.try_save(conversation)
        return stopped

    async def __call__(self, text):
        """Type a command; gives what is told, one string."""
        self.effects = await run(parse(text), self.context)
        await self.program.settle()
        return self.told

    @property
    def told(self):
        return "\n".join(effect.notice.text for effect in self.effects if isinstance(effect, Say))

    @property
    def kinds(self):
        return [type(effect).__name__ for effect in self.effects]

    @property
    def severity(self):
        return self.effects[-1].notice.severity

    @property
    def current(self):
        return self.workspace.current


@pytest.fixture
def world(tmp_path):
    world = World(tmp_path / "data")
    yield world
    world.end()


@pytest.fixture
def started(world):
    """Starts a program, in a new session or in one that is there."""
    return lambda session_id=None, **fields: Commands(world.started(session_id, **fields))


@pytest.fixture
def commands(started):
    """A program in a new session."""
    return started()
