"""The base class of controllers."""

from typing import TYPE_CHECKING, Any

import msgspec
from textual.app import App

from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import SessionPresenter
from tui.app.dependencies import Dependencies
from tui.app.input_queue import InputQueue
from tui.engine.sessions.workspace import Workspace
from tui.screens.chat import ChatScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from tui.commands.shell import Shell


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
