"""Commands as the prompt gives them, in a program over real files."""

import asyncio
from functools import partial

import pytest

from tests.engine.scripted_model import ScriptedModel
from tests.engine.workspaces import World
from tui.commands.registry import carry_out, run
from tui.commands.shell import CommandContext
from tui.config.settings_schema import RetentionSettings
from tui.domain.commands import parse
from tui.engine.library.retention import Retention
from tui.engine.library.session_moves import SessionMoves
from tui.engine.turns.turn import TurnSettings
from tui.engine.usage import UsageTotals
from tui.errors import ModelUnavailable, StorageError


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
    """Runs commands in one program, and is their shell: ``calls`` is what the last one did."""

    def __init__(self, program):
        self.program = program
        self.workspace = program.workspace
        self.calls = []
        self.running = False
        self.retention = RetentionSettings()
        self.hook = ()
        self.exclusive = False
        self.providers = {}
        self.numbers = []
        self.rescued = []
        self.noted = []
        self.no_room = False
        self.configured = ()
        self.meanwhile = program.settle
        self.shelf = SessionMoves(self.workspace, program.store, self.stop)

    @property
    def context(self):
        retention = Retention(self.program.store, self.retention, self.hook, self.workspace.clock)
        return CommandContext(
            self.workspace,
            Models(self.program.model),
            retention,
            self.rescue,
            self.stop,
            partial(self.request, "retry"),
            partial(self.request, "compact"),
            lambda message_id, what: self.request(what, message_id),
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

    # --- what a test does

    async def __call__(self, text):
        """Type a command; gives what is told, one string."""
        return await self.do(partial(run, invocation=parse(text)))

    async def do(self, work):
        """Do some work, to its end or until it asks; gives what is told."""
        self._task = asyncio.ensure_future(self._do_all(work))
        return await self._to_the_end_or_a_question()

    async def answer(self, *, yes=True):
        """Answer the question that was asked; gives what is told since then."""
        self._answer.set_result(yes)
        return await self._to_the_end_or_a_question()

    async def _to_the_end_or_a_question(self):
        self.calls, self.question, self.detail = [], "", ""
        self._asked, self._answer = asyncio.Event(), asyncio.Future()
        asked = asyncio.ensure_future(self._asked.wait())
        await asyncio.wait({self._task, asked}, return_when=asyncio.FIRST_COMPLETED)
        asked.cancel()
        if self._task.done():
            self._task.result()
        await self.program.settle()
        return self.told

    async def _do_all(self, work):
        # What is done behind the screen is done at once.
        self._works = [work]
        while self._works:
            await carry_out(self, self._works.pop(0))
            await self.meanwhile()

    # --- what a command does

    def __getattr__(self, name):
        """Record what only the screen does."""
        if name not in _SCREEN:
            raise AttributeError(name)
        return lambda *given: self.calls.append((name, *given))

    async def show_session(self):
        self.calls.append(("show_session",))

    async def request(self, *what):
        self.calls.append(what)

    async def confirm(self, question, detail="", *, again=""):
        self.question = question
        self.reason = detail
        self.detail = detail if isinstance(detail, str) else detail()
        self._asked.set()
        return await self._answer

    def in_background(self, work):
        self.calls.append(("in_background",))
        self._works.append(work)

    # --- what a test sees

    @property
    def told(self):
        return "\n".join(call[-1] if call[0] == "report" else call[1] for call in self._texts)

    @property
    def _texts(self):
        return [call for call in self.calls if call[0] in ("say", "report")]

    @property
    def kinds(self):
        return [call[0] for call in self.calls]

    @property
    def severity(self):
        return [*self._texts[-1], "information"][2]

    @property
    def title(self):
        """The title of the report that the last command opened."""
        (found,) = [call[1] for call in self.calls if call[0] == "report"]
        return found

    @property
    def current(self):
        return self.workspace.current


_SCREEN = {"say", "report", "show_moved", "focus_prompt", "copy", "open", "exit"}


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


@pytest.fixture
def project(tmp_path):
    """A directory that is there."""
    path = tmp_path / "shop"
    path.mkdir()
    return str(path)
