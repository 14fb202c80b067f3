"""Construction of the controllers and their connections."""

from collections.abc import Awaitable, Callable, Sequence

from tui.app.controllers.approvals import Approvals
from tui.app.controllers.background import Background
from tui.app.controllers.confirmations import Confirmations
from tui.app.controllers.external_editor import ExternalEditor
from tui.app.controllers.find import FindController
from tui.app.controllers.links import LinkController
from tui.app.controllers.live_updates import LiveUpdates
from tui.app.controllers.navigation import Navigation
from tui.app.controllers.prompt import PromptController
from tui.app.controllers.search import SearchController
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_switch import SessionSwitch
from tui.app.controllers.session_view import SessionPresenter
from tui.app.controllers.summaries import Summaries
from tui.app.controllers.turn_end import TurnEnd
from tui.app.controllers.turns import Turns
from tui.app.dependencies import Dependencies
from tui.app.input_queue import InputQueue
from tui.app.services.clipboard import Clipboard
from tui.app.services.ui_state import UiStateService
from tui.app.themes import ThemeSwitcher
from tui.commands.context import CommandContext
from tui.commands.effects import Effect
from tui.engine.library.session_moves import SessionMoves
from tui.screens.chat import ChatScreen
from tui.terminal.flow_control import FlowControlledApp


class Controllers:
    """All controllers and services between the screen and the workspace."""

    def __init__(
        self,
        app: FlowControlledApp,
        queue: InputQueue,
        chat: ChatScreen,
        parts: Dependencies,
        carry_out: Callable[[Sequence[Effect]], Awaitable[None]],
    ) -> None:
        self.remembered = UiStateService(parts.ui_state_file, app.set_timer)
        if (columns := self.remembered.state.sidebar_width) is not None:
            chat.sidebar.show_width(columns)
        self.display = SessionPresenter(chat, parts.workspace, app.call_later)
        self.listed = SessionListController(chat, parts.workspace, parts.sessions, self.display)
        self.copying = Clipboard(app)
        self.approvals = Approvals(parts.workspace, self.display, self.listed)
        settings = parts.turn_settings.asking(self.approvals.ask)
        self.turns = Turns(app, chat, self.display, parts.workspace, settings, parts.stopwatch)
        self.compactions = Summaries(
            app, self.display, parts.workspace, parts.turn_settings.system_prompt
        )
        self.endings = TurnEnd(
            parts.workspace,
            self.display,
            self.turns,
            self.compactions,
            self.listed,
            queue,
        )
        self.following = LiveUpdates(parts.workspace, self.display, self.listed)
        self.sending = PromptController(
            chat, parts.workspace, self.display, self.turns, self.compactions, self.listed
        )
        self.passages = Navigation(chat, parts.workspace, self.display, self.listed)
        self.searching = SearchController(
            app, chat, parts.workspace, self.passages, parts.index_root
        )
        self.switching = SessionSwitch(
            app, queue, parts.workspace, self.display, self.listed, self.passages
        )
        self.background = Background(app, parts, self.listed, self.following)
        self.questions = Confirmations(app, chat, queue, carry_out)
        self.linking = LinkController(app, carry_out)
        self.themes = ThemeSwitcher(app, self.remembered, parts.appearance.theme)
        self.commands = CommandContext(
            parts.workspace,
            parts.models,
            self.themes,
            parts.retention,
            parts.final_save.rescue,
            self.sending.stop,
            SessionMoves(parts.workspace, self.sending.stop),
            exclusive_projects=parts.exclusive_projects,
            measures=self.turns.measuring,
        )
        self.finding = FindController(app, chat, parts.workspace, self.display)
        self.outside_editor = ExternalEditor(app, queue, chat, parts.workspace, self.display)
