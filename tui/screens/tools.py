"""The list of tools: those of the program, the servers with theirs, and what is allowed."""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from textual import on
from textual.binding import Binding, BindingType

from tui.domain.views.tool_rows import ToolRow
from tui.screens.chooser_dialog import ChooserDialog
from tui.widgets.choice_list import Choice, ChoiceList

_KEYS = "Space on or off · r restart · w ask again · W ask again for all · Esc close"
_SECONDS = 0.5
"""Between two looks at the servers."""
_NONE = (
    "No tools. [tools] in config.toml enables those of the program, [mcp.NAME] adds those of a"
    " server."
)


ToolChange = Literal["toggle", "restart", "withdraw", "withdraw all"]


class ToolScreen(ChooserDialog[None]):
    """Shows tools, and has what is wanted done about one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "On or off", show=False),
        Binding("r", "restart", "Restart", show=False),
        Binding("w", "withdraw", "Ask again", show=False),
        Binding("W", "withdraw_all", "Ask again for all", show=False),
    ]

    def __init__(
        self,
        read_rows: Callable[[], Sequence[ToolRow]],
        change: Callable[["ToolScreen", ToolChange, ToolRow | None], None],
    ) -> None:
        """``read_rows`` gives the tools as they are now; ``change`` is given a highlighted row."""
        super().__init__()
        self._read_rows = read_rows
        self._change = change
        self._rows = read_rows()
        self._trouble = ""

    def on_mount(self) -> None:
        self.entitle("Tools", _KEYS)
        self.type_into(None)
        self._show(self._rows)
        self.set_interval(_SECONDS, self.show_changes)

    def show_changes(self) -> None:
        """Show the tools as they are now; the highlight stays on its line."""
        # Shown anew, the list goes back to its highlight: the mouse may have scrolled it away.
        if (rows := self._read_rows()) != self._rows:
            self._show(rows)

    def _show(self, rows: Sequence[ToolRow]) -> None:
        highlighted = self.choices.highlighted
        self._rows = rows
        choices = [Choice(row.id, row.text, row.note, row.mark) for row in rows]
        self.offer(choices, highlighted.id if highlighted else "")
        self._describe()

    @property
    def _row(self) -> ToolRow | None:
        highlighted = self.choices.highlighted
        wanted = highlighted.id if highlighted else ""
        return next((row for row in self._rows if row.id == wanted), None)

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
            self._change(self, "toggle", row)

    def action_restart(self) -> None:
        row = self._row
        if row is not None and row.server:
            self._change(self, "restart", row)
        else:
            self.tell_trouble("Only a server can be restarted.")

    def action_withdraw(self) -> None:
        row = self._row
        if row is not None and row.approval is not None:
            self._change(self, "withdraw", row)

    def action_withdraw_all(self) -> None:
        self._change(self, "withdraw all", None)
