"""Commands as the prompt gives them, in a program over real files."""

import pytest

from tests.engine.scripted_model import ScriptedModel
from tests.engine.workspaces import World
from tui.commands.context import CommandContext, NumberedList
from tui.commands.effects import Later, OpenReport, Say, carried_out
from tui.commands.registry import run
from tui.config.schema import RetentionSettings
from tui.domain.commands import parse
from tui.engine.library.retention import Retention
from tui.engine.library.session_moves import SessionMoves
from tui.engine.turns.turn import TurnSettings
from tui.engine.usage import UsageTotals
from tui.errors import ModelUnavailable, StorageError, UsageError


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


class Themes:
    """Two themes."""

    current = "dark"

    def names(self):
        return ("dark", "light")

    def choose(self, name):
        if name not in self.names():
            raise UsageError(f"Unknown theme: {name}")
        self.current = name


class Commands:
    """Runs commands in one program; ``said`` is what the last one told, ``effects`` all of it."""

    def __init__(self, program):
        self.program = program
        self.workspace = program.workspace
        self.effects = ()
        self.running = False
        self.retention = RetentionSettings()
        self.hook = ()
        self.exclusive = False
        self.providers = {}
        self.numbers = NumberedList()
        self.themes = Themes()
        self.rescued = []
        self.noted = []
        self.no_room = False
        self.configured = ()
        self.shelf = SessionMoves(self.workspace, program.store, self.stop)

    @property
    def context(self):
        retention = Retention(self.program.store, self.retention, self.hook, self.workspace.clock)
        return CommandContext(
            self.workspace,
            Models(self.program.model),
            self.themes,
            retention,
            self.rescue,
            self.stop,
            self.shelf,
            TurnSettings(configured=lambda _: self.configured).in_force,
            self.note_model,
            UsageTotals(self.workspace.reader, self.providers.get),
            exclusive_projects=self.exclusive,
            numbers=self.numbers,
        )

    async def note_model(self, name):
        self.noted.append(name)

    def rescue(self, conversation):
        if self.no_room:
            raise StorageError("No rescue file could be written: No space left on device.")
        self.rescued.append(conversation.id)
        return [f"What could not be saved is in {conversation.id}.jsonl."]

    async def stop(self, conversation):
        stopped, self.running = self.running, False
        conversation.activity.end_answer()
        await self.workspace.pool.try_save(conversation)
        return stopped

    async def __call__(self, text):
        """Type a command; gives what is told, one string."""
        self.effects = await self.carried_out(await run(parse(text), self.context))
        await self.program.settle()
        return self.told

    async def carried_out(self, effects):
        """What is done behind the screen is done at once; gives all that came of it."""
        done = []
        for effect in effects:
            more = await carried_out(effect.work) if isinstance(effect, Later) else None
            done += [effect] if more is None else await self.carried_out(more)
        return tuple(done)

    @property
    def told(self):
        return "\n".join(filter(None, map(_words, self.effects)))

    @property
    def kinds(self):
        return [type(effect).__name__ for effect in self.effects]

    @property
    def severity(self):
        return self.effects[-1].notice.severity

    @property
    def title(self):
        """The title of the report that the last command opened."""
        (found,) = [each.report.title for each in self.effects if isinstance(each, OpenReport)]
        return found

    @property
    def current(self):
        return self.workspace.current


def _words(effect):
    match effect:
        case Say(notice):
            return notice.text
        case OpenReport(report):
            return report.text
        case _:
            return ""


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
