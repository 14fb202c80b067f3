"""The whole program but its command line: real files, a model that plays what it is told."""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from textual.pilot import Pilot

from tests.builders import Clock
from tests.engine.scripted_model import ScriptedModel, Step
from tests.waiting import until
from tui.app.app import SibylApp
from tui.app.appearance import Appearance
from tui.app.controllers import background
from tui.app.controllers.controller import Dependencies
from tui.app.session_imports import SessionImports
from tui.config.loading import UserSettings, load_settings
from tui.config.settings_schema import RetentionSettings
from tui.domain.journal.records import Record
from tui.engine.library.retention import Retention
from tui.engine.library.session_moves import SessionMoves
from tui.engine.library.session_pages import SessionPager
from tui.engine.model_lists import ModelLists
from tui.engine.provider_connections import ProviderConnections
from tui.engine.sessions.final_save import FinalSave
from tui.engine.sessions.open_session import SessionOrigin, new_session
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.tools import Tools
from tui.engine.turns.turn import TurnSettings
from tui.errors import ModelUnavailable, StorageFull
from tui.importers.protocol import Places, Reader
from tui.storage.drafts import Drafts
from tui.storage.file_store import FileStore
from tui.storage.protocol import SessionStore
from tui.widgets.transcript import warm_up

if TYPE_CHECKING:
    from tui.app.session_imports import AutomaticImports

PLACE = SessionOrigin("project:/shop", "/shop", "scripted:model")
SIZE = (120, 40)


class ScriptedModels:
    """One model for all."""

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model

    def proposed(self, _: str | None) -> tuple[ScriptedModel, tuple[str, ...]]:
        return self.model, ()

    def names(self) -> tuple[str, ...]:
        return (self.model.name,)

    def use(self, settings: UserSettings) -> None:
        """There is one model only."""

    def know(self, listed: Mapping[str, Sequence[str]]) -> None:
        """There is one model only."""

    def named(self, name: str) -> ScriptedModel:
        if name != self.model.name:
            raise ModelUnavailable(f"There is no {name}.")
        return self.model


class World:
    """A data directory, a model, and one run of the program after another over them."""

    def __init__(self, root: Path, *answers: Sequence[Step]) -> None:
        self.root = root
        self.clock = Clock()
        self.model = ScriptedModel(*answers)
        self.models = ScriptedModels(self.model)
        self.open_store: Callable[[], SessionStore] = lambda: FileStore(root, self.clock)
        self.store = self.open_store()
        self.retention = RetentionSettings(backlog_limit=0)
        self.hook: Sequence[str] = ()
        self.store_mark = ""
        self.exclusive_projects = False
        self.first_command = ""
        self.titles_by_model = False
        self.prompts: Mapping[str, str] = {}
        self.version: Callable[[], str] = str
        self.ui_state_file = root.parent / "state" / "ui.json"
        self.index_root: Path | None = None
        """Where a process builds the index; without it, searches do."""
        self.tools = Tools()
        self.approvals_file = root.parent / "state" / "tool-approvals.json"
        self.place = PLACE
        # No server is looked for where one might run by chance.
        self.environ = {"OLLAMA_HOST": "127.0.0.1:9"}
        self.final_save: FinalSave | None = None
        self.appearance = Appearance()
        self.defect: type[object] = type(None)
        self.seconds = 0.0
        self.places = Places(root.parent / "home", {})
        self.readers: Sequence[Reader] | None = None
        self.automatic_imports: AutomaticImports | None = None
        self.workspace: Workspace | None = None
        self.beside = ""

    @property
    def imports(self) -> SessionImports:
        """What can be imported, and into this run's store."""
        return SessionImports(self.store, lambda: self.places, self.clock, self.readers)

    def other_program(self) -> SessionStore:
        """A store of the same sessions that holds none of this one's leases."""
        return self.open_store()

    def drafts(self) -> Drafts:
        """What is on disk of unsent prompts."""
        return Drafts(self.root)

    async def session(
        self, *texts: str, name: str = "", scope: str = PLACE.scope, project: str = "/shop"
    ) -> str:
        """A session that is there already, with these messages by turns, the user's first."""
        place = SessionOrigin(scope, project, PLACE.model)
        session = new_session(self.other_program(), place, self.clock)
        for number, text in enumerate(texts):
            if number % 2:
                answer = session.begin_answer(PLACE.model)
                answer.receive(text)
                session.end_answer(answer)
            else:
                session.add_message("user", text)
        if name:
            session.rename(name)
        await session.close()
        return session.id

    def add(self, session_id: str, *records: Record) -> None:
        """Write to a session that nobody holds."""
        store = self.other_program()
        lease = store.lease(session_id)
        store.append(lease, records)
        lease.release()

    @asynccontextmanager
    async def running(
        self, session_id: str | None = None, size: tuple[int, int] = SIZE, interval: float = 0
    ) -> AsyncGenerator[tuple[SibylApp, Pilot[None]]]:
        """Run the program; at the end it is left as by Ctrl+Q."""
        # A run is a process of its own: it holds nothing of an earlier one.
        self.store = self.open_store()
        workspace = Workspace(
            self.store, Drafts(self.root), self.place, self.clock, self.models.proposed
        )
        workspace.start(session_id)
        self.workspace = workspace
        self.final_save = FinalSave(workspace, (self.root.parent / "rescue",), None)
        settings = load_settings(self.root.parent / "config" / "config.toml", {})
        connections = ProviderConnections(self.models, settings, self.environ)
        model_lists = ModelLists(connections, self.models, None, self.clock)
        app = SibylApp(
            Dependencies(
                workspace=workspace,
                sessions=SessionPager(self.store, workspace.scope),
                models=self.models,
                connections=lambda: connections,
                model_lists=lambda: model_lists,
                retention=Retention(self.store, self.retention, self.hook, self.clock),
                turn_settings=TurnSettings(tools=self.tools, save_interval=0.01),
                final_save=self.final_save,
                session_moves=partial(SessionMoves, workspace, self.store),
                imports=self.imports,
                automatic_imports=self.automatic_imports,
                store_mark=self.store_mark,
                auto_save_interval=interval,
                exclusive_projects=self.exclusive_projects,
                first_command=self.first_command,
                titles_by_model=self.titles_by_model,
                prompts=self.prompts,
                appearance=self.appearance,
                ui_state_file=self.ui_state_file,
                version=self.version,
                index_root=self.index_root,
                stopwatch=lambda: self.seconds,
            )
        )
        warmed: list[None] = []
        with patch.object(background, "warm_up", lambda: warmed.append(warm_up())):
            async with app.run_test(size=size) as pilot:
                await until(lambda: warmed, "the first screen")
                yield app, pilot
        assert type(app.defects.first) is self.defect, repr(app.defects.first)


@contextmanager
def full_disk(world: World, error: Exception | None = None) -> Generator[None]:
    """Nothing of a session can be written, because of this error or for want of room."""
    refusal = error or StorageFull("No space left on device")
    with patch.object(world.store, "append", side_effect=refusal):
        yield


def kept(world: World, session_id: str | None = None) -> tuple[str, tuple[str, ...]] | None:
    """What is on disk of what was not sent: the draft, and what waits in the queue."""
    draft = world.drafts().load(session_id or world.workspace.current.id)
    return draft and (draft.text, draft.queued)


def messages(world: World, session_id: str) -> list[tuple[str, str, str | None]]:
    """What is on disk of a session."""
    return [
        (m.role, m.text, m.status)
        for m in world.other_program().journal(session_id).load().all_messages
    ]
