"""What the application is put together from."""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tui.app.themes import Appearance
from tui.commands.context import Models
from tui.engine.library.retention import Retention
from tui.engine.library.session_pages import SessionPager
from tui.engine.sessions.final_save import FinalSave
from tui.engine.sessions.workspace import Workspace
from tui.engine.turns.turn import TurnSettings


class Dependencies(msgspec.Struct, frozen=True):
    """All that a command line decides; intervals in seconds, 0 for never.

    ``prepare_model`` begins to load what the first answer needs; it is called once the first
    screen is there. ``index_root`` is the data directory whose search index is kept up to date.
    ``stopwatch`` gives seconds that only go on.
    """

    workspace: Workspace
    sessions: SessionPager
    models: Models
    retention: Retention
    turn_settings: TurnSettings
    final_save: FinalSave
    prepare_model: Callable[[], None]
    auto_save_interval: float = 300.0
    exclusive_projects: bool = False
    appearance: Appearance = Appearance()
    ui_state_file: Path | None = None
    index_root: Path | None = None
    stopwatch: Callable[[], float] = time.monotonic
