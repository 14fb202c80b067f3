"""``sibyl-tui``: the full screen."""

import asyncio
import logging
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import tui
from tui.cli import console
from tui.cli.program import Program
from tui.config import paths
from tui.domain.providers import GUIDE, OFFLINE
from tui.domain.views.notice import Notice
from tui.engine.library.retention import Retention
from tui.engine.library.session_pages import SessionPager
from tui.engine.sessions.open_session import SessionOrigin
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.turn import TurnSettings
from tui.errors import UsageError
from tui.providers.source import ModelSource
from tui.storage import state_files
from tui.storage.drafts import Drafts
from tui.storage.stores import ServerStore
from tui.terminal import first_frame
from tui.threads import new_loop

if TYPE_CHECKING:
    from tui.app.controllers.controller import Dependencies
    from tui.engine.library.session_moves import SessionMoves, Stop
    from tui.engine.model_lists import ModelLists
    from tui.engine.provider_connections import ProviderConnections
    from tui.engine.sessions.final_save import FinalSave

_log = logging.getLogger(__name__)
_LOCAL = "These are the sessions of this machine, not those of the store's server."
_LOCAL_MARK = "LOCAL FILES"
_NO_MODEL = (
    "No model is connected yet. F5 connects one; until then the built-in guide answers questions"
    " about this program."
)


def run(chosen: Namespace) -> int:
    """Run the full screen, print where everything was saved, and return the exit code."""
    if not (console.is_terminal(sys.stdin) and console.is_terminal(sys.stderr)):
        raise UsageError("sibyl-tui needs a terminal; `sibyl-tui ask` works without one.")
    program = Program.from_arguments(chosen)
    _log.info("settings read")
    models = ModelSource(
        program.settings, program.environment, program.recall, lists=program.kept_lists
    )
    models.look_for_ollama()
    picks = chosen.session == ""
    session_id = None if picks else program.wanted(chosen)
    # These imports are slow; Ollama answers meanwhile, before the new session names its model.
    paint_often()
    from tui.app.app import SibylApp
    from tui.app.controllers.store_server import USE_FILES
    from tui.engine.sessions.final_save import FinalSave

    _log.info("application imported")
    workspace = _started(program, models, session_id, private=chosen.private)
    _log.info("first session ready")
    for words in filter(None, (chosen.debug_failure, _LOCAL if chosen.store == "" else "")):
        workspace.current.say(Notice(words, "warning"))
    rescue_directories = (paths.state_directory(), Path.home())
    final_save = FinalSave(
        workspace, rescue_directories, program.data_dir, program.model_flag, program.store_flag
    )
    turn_settings = program.turn_settings()
    with asyncio.Runner(loop_factory=new_loop) as runner:
        try:
            parts = _parts(program, models, workspace, final_save, turn_settings)
            app = SibylApp(replace(parts, first_command="sessions") if picks else parts)
            runner.run(app.run_async())
            _log.info("screen left")
        finally:
            final_save.run_at_once()
            first_frame.end()
            for line in final_save.lines:
                console.tell(line)
            if turn_settings.tools.setup.has_servers:
                # The terminal is restored: servers may take seconds to end.
                runner.run(turn_settings.tools.setup.servers.close())
    if app.return_code == USE_FILES:
        # A program of its own: nothing of this one's store goes on there.
        os.execv(sys.executable, [*sys.orig_argv, "--store", ""])  # noqa: S606 - this program
    return app.return_code or int(final_save.failed)


def paint_often() -> None:
    """Let a key beside a running answer wait 11 ms at most for the next frame, and not 17.

    Textual reads the variable when it is imported. An answer is drawn 30 times a second at most.
    """
    os.environ.setdefault("TEXTUAL_FPS", "90")


def _started(
    program: Program, models: ModelSource, session_id: str | None, *, private: bool
) -> Workspace:
    """Create the workspace with its first session."""
    workspace = Workspace(
        program.store,
        Drafts(program.data_directory),
        SessionOrigin(program.scope, program.project_path, models.first().name),
        program.clock,
        models.proposed,
        program.settings.config.max_open_sessions,
    )
    if private:
        from tui.commands.opening import PRIVATE

        workspace.start_private()
        workspace.current.say(Notice(PRIVATE))
    else:
        workspace.start(session_id)
    for words in program.store.obstacles():
        workspace.current.say(Notice(words, "warning"))
    # A new session says so while it is empty.
    if session_id is not None and models.first().name == f"{OFFLINE}:{GUIDE}":
        workspace.current.say(Notice(_NO_MODEL))
    return workspace


def _parts(
    program: Program,
    models: ModelSource,
    workspace: Workspace,
    final_save: "FinalSave",
    turn_settings: TurnSettings,
) -> "Dependencies":
    from tui.app.appearance import Appearance
    from tui.app.controllers.controller import Dependencies
    from tui.app.session_imports import AutomaticImports, SessionImports

    config, root = program.settings.config, program.data_directory
    place, flags = str(root), ["--data-dir", str(root.absolute())]
    if program.store_flag is not None:
        flags += ["--store", program.store_flag]
    if config.store:
        from tui.config.loading import without_password

        place = without_password(config.store)
    state_file = paths.state_directory() / state_files.UI_STATE
    connections = cache(partial(_connections, program, models))
    return Dependencies(
        workspace=workspace,
        sessions=SessionPager(program.store, workspace.scope),
        models=models,
        connections=connections,
        model_lists=cache(partial(_model_lists, program, models, connections)),
        retention=Retention(
            program.store, config.retention, config.hooks.on_archive, program.clock
        ),
        turn_settings=turn_settings,
        final_save=final_save,
        session_moves=partial(_session_moves, program, workspace),
        store_mark=_LOCAL_MARK if program.store_flag == "" else "",
        check_store=store.check if isinstance(store := program.store, ServerStore) else None,
        imports=SessionImports(program.store, program.places, program.clock),
        automatic_imports=AutomaticImports(
            root,
            place,
            flags,
            config.auto_import,
            state_file,
        ),
        index_root=root,
        auto_save_interval=config.auto_save_interval,
        exclusive_projects=config.exclusive_projects,
        titles_by_model=config.titles == "model",
        search_model=config.search_model,
        prompts=config.prompts,
        ui_state_file=state_file,
        version=lambda: tui.__version__,
        appearance=Appearance.of(program.settings),
        notify=config.notify,
    )


def _connections(program: Program, models: ModelSource) -> "ProviderConnections":
    from tui.engine.provider_connections import ProviderConnections

    return ProviderConnections(models, program.settings, program.environment)


def _model_lists(
    program: Program, models: ModelSource, connections: Callable[[], "ProviderConnections"]
) -> "ModelLists":
    from tui.engine.model_lists import ModelLists

    cache_file = paths.state_directory() / state_files.MODELS
    return ModelLists(connections(), models, cache_file, program.clock)


def _session_moves(program: Program, workspace: Workspace, stop: "Stop") -> "SessionMoves":
    from tui.engine.library.session_moves import SessionMoves

    return SessionMoves(workspace, program.store, stop)
