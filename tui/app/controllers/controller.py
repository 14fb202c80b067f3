"""What controllers have in common, and the dependencies that the command line builds."""

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from textual.app import App

from tui.app.appearance import Appearance
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.input_queue import InputQueue
from tui.app.session_imports import AutomaticImports, SessionImports
from tui.config.settings_schema import NotifySettings
from tui.engine.library.retention import Retention
from tui.engine.library.session_pages import SessionPager
from tui.engine.sessions.final_save import FinalSave
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.turn import TurnSettings
from tui.screens.chat import ChatScreen

if TYPE_CHECKING:
    from tui.commands.shell import Shell, Work
    from tui.engine.library.session_moves import SessionMoves, Stop
    from tui.engine.model_lists import ModelLists
    from tui.engine.provider_connections import ProviderConnections
    from tui.providers.source import ModelSource


class Dependencies(msgspec.Struct, frozen=True):
    """Everything that the command line decides; intervals in seconds, 0 for never.

    ``connections``, ``model_lists`` and ``session_moves`` are functions, as what they give is first
    needed behind the first screen; the first two give the same object each time.
    ``check_store`` connects to the server of the store, if it has one, and returns warnings.
    ``store_mark`` stays in the status line, where it is not the store that the user may expect.
    ``index_root`` is the data directory of the search index. ``prompts`` are the
    templates of the user's own commands. ``first_command`` is given before the first key.
    ``version`` looks the program's up, which takes a while; none is never told.
    ``stopwatch`` is a monotonic clock.
    """

    workspace: Workspace
    sessions: SessionPager
    models: "ModelSource"
    connections: Callable[[], "ProviderConnections"]
    model_lists: Callable[[], "ModelLists"]
    retention: Retention
    turn_settings: TurnSettings
    final_save: FinalSave
    session_moves: Callable[["Stop"], "SessionMoves"]
    imports: SessionImports
    automatic_imports: AutomaticImports | None = None
    check_store: Callable[[], Sequence[str]] | None = None
    store_mark: str = ""
    auto_save_interval: float = 300.0
    exclusive_projects: bool = False
    first_command: str = ""
    titles_by_model: bool = False
    search_model: str | None = None
    prompts: Mapping[str, str] = {}
    appearance: Appearance = Appearance()
    notify: NotifySettings = NotifySettings()
    ui_state_file: Path | None = None
    version: Callable[[], str] = str
    index_root: Path | None = None
    stopwatch: Callable[[], float] = time.monotonic


class Controller(msgspec.Struct, eq=False):
    """The parts that controllers have in common; each adds those of its own."""

    _app: App[Any]
    _queue: InputQueue
    _chat: ChatScreen
    _parts: Dependencies
    _workspace: Workspace
    _presenter: SessionPresenter
    _session_list: SessionListController
    _shell: "Callable[[], Shell]"
    _do: "Callable[[Work], None]"
    """Has work that may ask the user done in its turn, as a command."""
