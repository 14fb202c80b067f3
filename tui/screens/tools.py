"""The list of tools: those of the program, the servers with theirs, and what is allowed."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.binding import Binding, BindingType

from tui.domain.tool_approval import ToolApproval
from tui.domain.views.tool_rows import ToolRow
from tui.screens.chooser_dialog import ChooserDialog
from tui.widgets.choice_list import Choice, ChoiceList
from tui.widgets.intents import ToolIntent

_KEYS = "Space on or off · r restart · w ask again · W ask again for all · Esc close"
_NONE = (
    "No tools. [tools] in config.toml enables those of the program, [mcp.NAME] adds those of a"
    " server."
)


class ToolScreen(ChooserDialog[None]):
    """Shows tools, and posts what is to be changed about one."""

    class Toggled(ToolIntent):
        """Switch a tool on or off for this session."""

        def __init__(self, tool: str) -> None:
            super().__init__()
            self.tool = tool

    class RestartWanted(ToolIntent):
        """Stop a server, and start it anew."""

        def __init__(self, server: str) -> None:
            super().__init__()
            self.server = server

    class Withdrawn(ToolIntent):
        """Ask again before a tool is run."""

        def __init__(self, approval: ToolApproval) -> None:
            super().__init__()
            self.approval = approval

    class AllWithdrawn(ToolIntent):
        """Ask again before any tool is run."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "On or off", show=False),
        Binding("r", "restart", "Restart", show=False),
        Binding("w", "withdraw", "Ask again", show=False),
        Binding("W", "withdraw_all", "Ask again for all", show=False),
    ]

    def __init__(self, rows: Sequence[ToolRow]) -> None:
        super().__init__()
        self.rows = rows
        self._trouble = ""

    def on_mount(self) -> None:
        self.entitle("Tools", _KEYS)
        self.type_into(None)
        self.show(self.rows)

    def show(self, rows: Sequence[ToolRow]) -> None:
        """Show the tools as they are now; the highlight stays on its line."""
        highlighted = self.choices.highlighted
        self.rows = rows
        choices = [Choice(row.id, row.text, row.note, row.mark) for row in rows]
        self.offer(choices, highlighted.id if highlighted else "")
        self._describe()

    @property
    def _row(self) -> ToolRow | None:
        highlighted = self.choices.highlighted
        wanted = highlighted.id if highlighted else ""
        return next((row for row in self.rows if row.id == wanted), None)

    def tell_trouble(self, words: str) -> None:
        """Show what went wrong, until the highlight moves."""
        self._trouble = words
        self._describe()

    def _describe(self) -> None:
        row = self._row
        if self._trouble:
            self.say(self._trouble, error=True)
        elif row is None:
            self.say(_NONE)
        else:
            self.say(row.detail)

    # --- keys

    def action_move(self, lines: int) -> None:
        super().action_move(lines)
        self.tell_trouble("")

    def action_move_page(self, pages: int) -> None:
        super().action_move_page(pages)
        self.tell_trouble("")

    @on(ChoiceList.Chosen)
    def action_choose(self) -> None:
        self.tell_trouble("")
        row = self._row
        if row is not None and row.tool:
            self.post_message(self.Toggled(row.tool))

    def action_restart(self) -> None:
        row = self._row
        if row is not None and row.server:
            self.post_message(self.RestartWanted(row.server))
        else:
            self.tell_trouble("Only a server can be restarted.")

    def action_withdraw(self) -> None:
        row = self._row
        if row is not None and row.approval is not None:
            self.post_message(self.Withdrawn(row.approval))

    def action_withdraw_all(self) -> None:
        self.post_message(self.AllWithdrawn())
