"""Builds the controllers and connects them."""

from functools import cached_property
from typing import TYPE_CHECKING

from tui.app.controllers.approvals import Approvals
from tui.app.controllers.background import Background
from tui.app.controllers.confirmations import Confirmations
from tui.app.controllers.live_updates import LiveUpdates
from tui.app.controllers.navigation import Navigation
from tui.app.controllers.notices import NoticeController
from tui.app.controllers.prompt import PromptController
from tui.app.controllers.search import SearchController
from tui.app.controllers.session_list import SessionListController
from tui.app.controllers.session_view import ActivityLine, SessionPresenter
from tui.app.controllers.store_server import StoreServer
from tui.app.controllers.summaries import Summaries
from tui.app.controllers.turns import Turns
from tui.app.dependencies import Dependencies
from tui.app.input_queue import InputQueue
from tui.app.services.attention import Attention
from tui.app.services.clipboard import Clipboard
from tui.app.services.picture_files import PictureFiles
from tui.app.services.ui_state import UiStateService
from tui.app.themes import ALL_KEYS, ThemeSwitcher
from tui.engine.library.session_pages import PickerPages, SessionTitles
from tui.engine.sessions.external_changes import Follower
from tui.screens.chat import ChatScreen
from tui.terminal.flow_control import FlowControlledApp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tui.app.controllers.connect import ConnectController
    from tui.app.controllers.external_editor import ExternalEditor
    from tui.app.controllers.find import FindController
    from tui.app.controllers.imports import ImportController
    from tui.app.controllers.links import LinkController
    from tui.app.controllers.model_picker import ModelPicker
    from tui.app.controllers.prompt import PromptHistoryController
    from tui.app.controllers.prompt_files import PromptFiles
    from tui.app.controllers.question_forms import ServerQuestions
    from tui.app.controllers.session_picker import PickerController
    from tui.app.controllers.title_requests import TitleController
    from tui.app.controllers.tools import ToolController
    from tui.app.controllers.versions import VersionController
    from tui.commands.shell import CommandContext, Shell
    from tui.domain.journal.message import Message
    from tui.domain.server_questions import Answer, ServerQuestion


class Controllers:
    """All controllers and services between the screen and the workspace.

    Those that the first screen does not need are imported and built when they are first used.
    """

    def __init__(
        self,
        app: FlowControlledApp,
        queue: InputQueue,
        chat: ChatScreen,
        parts: Dependencies,
        shell: "Callable[[], Shell]",
        attention: Attention,
    ) -> None:
        self._app, self._queue, self._chat = app, queue, chat
        self._parts, self._shell = parts, shell
        switcher = parts.workspace.switcher
        self.ui_state = UiStateService(parts.ui_state_file, app.set_timer)
        if (columns := self.ui_state.state.sidebar_width) is not None:
            chat.sidebar.show_width(columns)
        chat.transcript.wrap_code(wraps=self.ui_state.state.wrap_code)
        activity = ActivityLine(app, chat, switcher, parts.stopwatch)
        self.notices = NoticeController(app, parts.workspace.clock, chat.pass_to_prompt)
        titles = SessionTitles(parts.workspace, parts.sessions)
        self.presenter = SessionPresenter(
            chat, parts.workspace, self.notices, titles, app.call_later, activity, self._prices
        )
        self.server = StoreServer(parts.workspace, self.presenter)
        self.session_list = SessionListController(
            chat, parts.workspace, parts.sessions, self.presenter, self.server
        )
        self.clipboard = Clipboard(app)
        self.picture_files = PictureFiles()
        self.approvals = Approvals(switcher, self.presenter, self.session_list, attention.tell)
        settings = parts.turn_settings.asking(self.approvals.ask)
        settings.tools.setup.ask_by(self._ask_for_server)
        self.turns = Turns(
            app,
            chat,
            self.presenter,
            parts.workspace,
            settings,
            parts.stopwatch,
            self._prices,
        )
        self.summaries = Summaries(
            app, chat, self.presenter, parts.workspace, parts.turn_settings, parts.stopwatch
        )
        self.live_updates = LiveUpdates(
            parts.workspace,
            self.presenter,
            self.session_list,
            self.server,
            self._retry_failed,
            Follower(parts.workspace),
        )
        self.prompt = PromptController(
            chat, parts.workspace, self.presenter, self.turns, self.summaries, self.session_list
        )
        self.navigation = Navigation(
            app, queue, chat, parts.workspace, self.presenter, self.session_list
        )
        self.search = SearchController(
            app, chat, parts, self.navigation, self.notices.show, queue.hold
        )
        self.background = Background(
            app,
            parts,
            self.session_list,
            self.live_updates,
            self.presenter,
            chat.offer_import,
            self.ui_state.is_new,
        )
        self.confirmations = Confirmations(app, chat, queue)
        self._attention = attention
        self.themes = ThemeSwitcher(app, self.ui_state, parts.appearance.theme)

    async def _ask_for_server(self, question: "ServerQuestion") -> "Answer | None":
        return await self.questions.ask(question)

    async def _prices(self, answers: "Sequence[Message]") -> "Mapping[str, float]":
        return await self.commands.usage.prices_of(answers)

    def _retry_failed(self) -> None:
        from tui.screens.dialog import Dialog

        for screen in self._app.screen_stack:
            if isinstance(screen, Dialog):
                screen.retry_failed()

    def toggle_help(self) -> None:
        """Open the help, or close it."""
        from tui.screens.help import HelpScreen

        if isinstance(self._app.screen, HelpScreen):
            self._app.screen.dismiss()
            return
        keys, own = self._parts.appearance.keys, self._chat.own_commands
        self._app.push_screen(HelpScreen(ALL_KEYS, keys, own))

    @cached_property
    def commands(self) -> "CommandContext":
        """The dependencies of commands."""
        from tui.commands.shell import CommandContext
        from tui.engine.usage import UsageTotals

        parts, stop = self._parts, self.prompt.stop
        connections = parts.connections()
        return CommandContext(
            parts.workspace,
            parts.models,
            self.themes,
            parts.retention,
            parts.final_save.rescue,
            stop,
            parts.session_moves(stop),
            parts.turn_settings.in_force,
            connections.remember_choice,
            UsageTotals(parts.workspace.reader, connections.provider),
            prompts=parts.prompts,
            exclusive_projects=parts.exclusive_projects,
        )

    @cached_property
    def questions(self) -> "ServerQuestions":
        """Puts the questions of servers to the user."""
        from tui.app.controllers.question_forms import ServerQuestions

        def tell() -> None:
            self._attention.tell(self._parts.workspace.current, "waits for your answer")

        def copy(text: str) -> None:
            self.clipboard.start(text, self.presenter.say)

        return ServerQuestions(self._app, self._chat, tell, copy)

    @cached_property
    def links(self) -> "LinkController":
        """Opens the links and pictures of a message."""
        from tui.app.controllers.links import LinkController

        return LinkController(self._app, self._parts.workspace, self.picture_files, self._shell)

    @cached_property
    def versions(self) -> "VersionController":
        """Acts on intents about a message."""
        from tui.app.controllers.versions import VersionController

        return VersionController(
            self._chat,
            self._parts.workspace,
            self.presenter,
            self.navigation,
            self.turns,
            self.prompt,
        )

    @cached_property
    def connect(self) -> "ConnectController":
        """Connects a model."""
        from tui.app.controllers.connect import ConnectController

        return ConnectController(self._app, self._chat, self._parts, self._shell)

    @cached_property
    def tools(self) -> "ToolController":
        """Shows the tools."""
        from tui.app.controllers.tools import ToolController

        return ToolController(self._app, self._parts.workspace, self._parts.turn_settings.tools)

    @cached_property
    def imports(self) -> "ImportController":
        """Imports other programs' sessions."""
        from tui.app.controllers.imports import ImportController

        return ImportController(
            self._app,
            self._chat,
            self._parts.imports,
            self._parts.automatic_imports,
            self.session_list,
            self.search,
            self._shell,
        )

    @cached_property
    def model_picker(self) -> "ModelPicker":
        """Shows the models, and offers their names in the prompt."""
        from tui.app.controllers.model_picker import ModelPicker

        return ModelPicker(self._app, self._chat, self._parts, self._shell)

    @cached_property
    def picker(self) -> "PickerController":
        """Shows the list of sessions over the conversation."""
        from tui.app.controllers.session_picker import PickerController

        return PickerController(
            self._app,
            self._queue,
            self._parts.workspace,
            self.session_list,
            self.commands.numbers.show,
            self._parts.exclusive_projects,
            PickerPages(self._parts.workspace.reader, "all", None),
        )

    @cached_property
    def titles(self) -> "TitleController":
        """Asks the model for the titles of sessions."""
        from tui.app.controllers.title_requests import TitleController

        return TitleController(
            self._app, self._chat, self._parts.workspace, self.presenter, self.session_list
        )

    @cached_property
    def prompt_files(self) -> "PromptFiles":
        """Lists, attaches and pastes the files that a prompt refers to."""
        from tui.app.controllers.prompt_files import PromptFiles

        return PromptFiles(self._chat, self._parts.workspace, self.presenter)

    @cached_property
    def prompt_history(self) -> "PromptHistoryController":
        """Reads the project's earlier prompts."""
        from tui.app.controllers.prompt import PromptHistoryController

        return PromptHistoryController(self._app, self._queue, self._chat, self._parts.workspace)

    @cached_property
    def find(self) -> "FindController":
        """Finds text in the session on screen."""
        from tui.app.controllers.find import FindController

        return FindController(self._app, self._chat, self._parts.workspace, self.presenter)

    @cached_property
    def external_editor(self) -> "ExternalEditor":
        """Opens the prompt in the user's editor."""
        from tui.app.controllers.external_editor import ExternalEditor

        return ExternalEditor(
            self._app, self._queue, self._chat, self._parts.workspace, self.presenter
        )
