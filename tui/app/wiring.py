"""Builds the controllers and connects them."""

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from tui.app.appearance import ALL_KEYS, ThemeSwitcher, UiStateService
from tui.app.controllers.background import Background
from tui.app.controllers.controller import Dependencies
from tui.app.controllers.navigation import Navigation
from tui.app.controllers.prompt import PromptController, PromptHistoryController
from tui.app.controllers.questions import Approvals, ServerQuestions
from tui.app.controllers.search import SearchController
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import NoticeController, SessionPresenter
from tui.app.controllers.side_requests import Summaries, TitleController
from tui.app.controllers.store_server import StoreServer
from tui.app.controllers.turns import Turns
from tui.app.desktop import Attention, Clipboard, PictureFiles
from tui.app.input_queue import InputQueue
from tui.engine.library.session_pages import SessionTitles
from tui.engine.sessions.external_changes import Follower
from tui.screens.chat import ChatScreen
from tui.terminal.textual_private import AppBase
from tui.widgets.intents import VersionIntent

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tui.app.controllers.external_editor import ExternalEditor
    from tui.app.controllers.find import FindController
    from tui.app.controllers.imports import ImportController
    from tui.app.controllers.message_actions import MessageActions
    from tui.app.controllers.model_picker import ConnectController, ModelPicker
    from tui.app.controllers.prompt_files import PromptFiles
    from tui.app.controllers.session_picker import PickerController
    from tui.app.controllers.tools import ToolController
    from tui.commands.shell import CommandContext, Shell, Work
    from tui.domain.journal.message import Message


class Controllers:
    """All controllers and services between the screen and the workspace.

    Those that the first screen does not need are imported and built when they are first used.
    """

    def __init__(
        self,
        app: AppBase,
        queue: InputQueue,
        chat: ChatScreen,
        parts: Dependencies,
        shell: "Callable[[], Shell]",
        do: "Callable[[Work], None]",
    ) -> None:
        self.chat, workspace = chat, parts.workspace
        self._app, self._parts = app, parts
        self.ui_state = UiStateService(app, parts.ui_state_file)
        if (columns := self.ui_state.state.sidebar_width) is not None:
            chat.sidebar.show_width(columns)
        chat.transcript.wrap_code(wraps=self.ui_state.state.wrap_code)

        async def prices(answers: "Sequence[Message]") -> "Mapping[str, float]":
            return await self.commands.usage.prices_of(answers)

        self.notices = NoticeController(app, workspace.clock)
        self.presenter = SessionPresenter(
            app,
            chat,
            workspace,
            self.notices,
            SessionTitles(workspace, parts.sessions),
            parts.stopwatch,
            prices,
        )
        self.server = StoreServer(app, workspace, self.presenter, parts.check_store)
        self.session_list = SessionListController(
            chat, workspace, parts.sessions, self.presenter, self.server
        )
        view = self.presenter, self.session_list
        self._shared = shared = app, queue, chat, parts, workspace, *view, shell, do
        self.clipboard = Clipboard(app, self.notices.answer)
        self.picture_files = PictureFiles()
        self.attention = Attention(app, workspace.switcher, parts.notify)
        self.approvals = Approvals(*shared, self.attention)
        settings = parts.turn_settings.asking(self.approvals.ask)
        self.questions = ServerQuestions(*shared, self.attention, self.clipboard)
        settings.tools.setup.ask_by(self.questions.ask)
        self.turns = Turns(*shared, settings, prices)
        self.summaries, self.titles = Summaries(*shared), TitleController(*shared)
        self.prompt = PromptController(*shared, self.turns, self.summaries)
        self.prompt_history = PromptHistoryController(*shared)
        self.navigation = Navigation(*shared)
        self.search = SearchController(*shared, self.notices, self.navigation)
        self.background = Background(*shared, self.server, Follower(workspace), self.ui_state)
        self.themes = ThemeSwitcher(app, self.ui_state, parts.appearance.theme)

    def toggle_page(self, what: Literal["help", "notices"]) -> None:
        """Open the help or the list of notices, or close it."""
        from tui.screens.page import HelpScreen, NoticeList

        chat, parts = self.chat, self._parts
        if isinstance(self._app.screen, HelpScreen if what == "help" else NoticeList):
            self._app.screen.dismiss()
        elif what == "help":
            self._app.push_screen(HelpScreen(ALL_KEYS, parts.appearance.keys, chat.own_commands))
        else:
            notices, now = self.notices.log.newest_first, parts.workspace.clock()
            self._app.push_screen(NoticeList(notices, now, chat.pass_to_prompt))

    @cached_property
    def commands(self) -> "CommandContext":
        from tui.commands.shell import CommandContext
        from tui.engine.usage import UsageTotals

        parts, stop = self._parts, self.prompt.stop
        connections = parts.connections()
        return CommandContext(
            parts.workspace,
            parts.models,
            parts.retention,
            parts.final_save.rescue,
            stop,
            self.prompt.retry,
            self.prompt.compact,
            lambda message_id, what: self.messages.handle(
                parts.workspace.current, VersionIntent(message_id, what)
            ),
            parts.session_moves(stop),
            parts.turn_settings.in_force,
            connections.remember_choice,
            UsageTotals(parts.workspace.reader, connections.provider),
            prompts=parts.prompts,
            exclusive_projects=parts.exclusive_projects,
        )

    @cached_property
    def messages(self) -> "MessageActions":
        from tui.app.controllers.message_actions import MessageActions

        others = self.navigation, self.turns, self.prompt, self.picture_files
        return MessageActions(*self._shared, *others)

    @cached_property
    def connect(self) -> "ConnectController":
        from tui.app.controllers.model_picker import ConnectController

        parts = self._parts
        return ConnectController(*self._shared, parts.connections(), parts.model_lists())

    @cached_property
    def tools(self) -> "ToolController":
        from tui.app.controllers.tools import ToolController

        return ToolController(*self._shared, self._parts.turn_settings.tools)

    @cached_property
    def imports(self) -> "ImportController":
        from tui.app.controllers.imports import ImportController

        return ImportController(*self._shared, self.search)

    @cached_property
    def model_picker(self) -> "ModelPicker":
        from tui.app.controllers.model_picker import ModelPicker

        return ModelPicker(*self._shared, self._parts.model_lists())

    @cached_property
    def picker(self) -> "PickerController":
        from tui.app.controllers.session_picker import PickerController

        return PickerController(*self._shared)

    @cached_property
    def prompt_files(self) -> "PromptFiles":
        from tui.app.controllers.prompt_files import PromptFiles

        return PromptFiles(*self._shared)

    @cached_property
    def find(self) -> "FindController":
        from tui.app.controllers.find import FindController

        return FindController(*self._shared)

    @cached_property
    def external_editor(self) -> "ExternalEditor":
        from tui.app.controllers.external_editor import ExternalEditor

        return ExternalEditor(*self._shared)
