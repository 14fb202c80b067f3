"""What works for the application, put together: each part is given those that it needs."""

from collections.abc import Awaitable, Callable, Sequence

from tui.appearance import Themes
from tui.approvals import Approvals
from tui.commands.context import CommandContext
from tui.commands.effects import Effect
from tui.compacting import Compactions
from tui.copying import Copying
from tui.display import Display
from tui.ending import Endings
from tui.engine.shelf import Shelf
from tui.exit import OrderlyApp
from tui.finding import Finding
from tui.following import Following
from tui.linking import Linking
from tui.listing import ListedSessions
from tui.outside_editor import OutsideEditor
from tui.parts import Parts
from tui.passages import Passages
from tui.questions import Questions
from tui.remembered import Remembered
from tui.screens.chat import ChatScreen
from tui.searching import Searching
from tui.sending import Sending
from tui.turns import Turns


class Desk:
    """Everything between the screen and the workspace, by its name."""

    def __init__(
        self,
        app: OrderlyApp,
        chat: ChatScreen,
        parts: Parts,
        carry_out: Callable[[Sequence[Effect]], Awaitable[None]],
    ) -> None:
        self.remembered = Remembered(parts.ui_state_file, app.set_timer)
        if (columns := self.remembered.state.sidebar_width) is not None:
            chat.sidebar.show_width(columns)
        self.display = Display(chat, parts.workspace)
        self.listed = ListedSessions(chat, parts.workspace, parts.sessions, self.display)
        self.copying = Copying(app)
        self.approvals = Approvals(parts.workspace, self.display, self.listed)
        settings = parts.turn_settings.asking(self.approvals.ask)
        self.turns = Turns(app, chat, parts.workspace, settings, parts.stopwatch)
        self.compactions = Compactions(
            app, self.display, parts.workspace, parts.turn_settings.system_prompt
        )
        self.endings = Endings(
            parts.workspace,
            self.display,
            self.turns,
            self.compactions,
            self.listed,
            app.orders,
        )
        self.following = Following(parts.workspace, self.display, self.listed)
        self.sending = Sending(
            chat, parts.workspace, self.display, self.turns, self.compactions, self.listed
        )
        self.passages = Passages(chat, parts.workspace, self.display, self.listed)
        self.searching = Searching(app, chat, parts.workspace, self.passages, parts.index_root)
        self.questions = Questions(app, chat, app.orders, carry_out)
        self.linking = Linking(app, carry_out)
        self.themes = Themes(app, self.remembered, parts.appearance.theme)
        self.commands = CommandContext(
            parts.workspace,
            parts.models,
            self.themes,
            parts.retention,
            parts.final_save.rescue,
            self.sending.stop,
            Shelf(parts.workspace, self.sending.stop),
            exclusive_projects=parts.exclusive_projects,
            measures=self.turns.measuring,
        )
        self.finding = Finding(app, chat, parts.workspace, self.display)
        self.outside_editor = OutsideEditor(app, chat, parts.workspace, self.display)
