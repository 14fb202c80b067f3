"""The tools: those of the program, the servers with theirs, and what is allowed."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from typing import Any, ClassVar, Literal, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widget import Widget

from tui.domain.views.tools import ToolRow
from tui.screens.dialog import ChooserDialog
from tui.widgets.choice_list import Choice, ChoiceList
from tui.widgets.line_input import LineInput, MaskedInput

_SECONDS = 0.5
"""Between two looks at the servers."""
_TOOL_KEYS = (
    "Space on or off · n add a server · Enter show · w forget approval · W forget all · Esc close"
)
_SERVER_KEYS = (
    "Enter show · e edit · x remove · r restart · s sign in or out · n add a server · Esc close"
)
_STEP_KEYS = "Enter continue · Esc back"
Result = TypeVar("Result")

ToolChange = Literal[
    "toggle", "show", "add", "edit", "remove", "restart", "sign in", "withdraw", "withdraw all"
]
_CHANGES: dict[ToolChange, tuple[str, str, str]] = {
    "toggle": ("space", "tool", "Only a tool can be switched on and off."),
    "show": ("i", "id", ""),
    "add": ("n", "", ""),
    "edit": ("e", "server", "Only a server can be edited."),
    "remove": ("x", "server", "Only a server can be removed."),
    "restart": ("r", "server", "Only a server can be restarted."),
    "sign in": ("s", "server", "One can only sign in at a server."),
    "withdraw": ("w", "approval", ""),
    "withdraw all": ("W", "", ""),
}
"""Each with its key, what a row must have for it, and the words where it has not."""


class WentBack(Exception):
    """The user went back a step."""


class ToolScreen(ChooserDialog[None]):
    """Shows tools, has what is wanted done about one, and asks for the parts of a server."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key, f"change('{change}')", show=False) for change, (key, *_) in _CHANGES.items()
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
        self._removing = self._here = ""
        self.line, self.secret = LineInput(compact=True, select_on_focus=False), MaskedInput()
        self._answer: asyncio.Future[None] | None = None
        """Set while the parts of a server are asked for."""
        self._step: asyncio.Future[Any] | None = None

    def lines(self) -> ComposeResult:
        yield self.filter
        yield self.line
        yield self.secret

    def on_mount(self) -> None:
        self.type_into(None)
        self._show(self._rows)
        self.set_interval(_SECONDS, self.show_changes)

    def show_changes(self) -> None:
        """Show the tools as they are now; the highlight stays on its line."""
        # Shown anew, the list goes back to its highlight: the mouse may have scrolled it away.
        if self._answer is None and (rows := self._read_rows()) != self._rows:
            self._show(rows)

    def _show(self, rows: Sequence[ToolRow], highlighted: str = "") -> None:
        here = self.choices.highlighted
        self._rows = rows
        choices = [Choice(row.id, row.text, row.note, row.mark) for row in rows]
        self.offer(choices, highlighted or (here.id if here else ""))
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
        if self._answer is not None:
            return
        row = self._row
        self.entitle("Tools", _SERVER_KEYS if row and row.server else _TOOL_KEYS)
        self.say(self._trouble or (row.detail if row else ""), error=bool(self._trouble))

    # --- the parts of a server

    def set_up(self, steps: Callable[[], Coroutine[Any, Any, str]]) -> None:
        """Run steps that ask for the parts of a server, which give its row; Esc goes one back."""
        self._here = self._row.id if self._row else ""

        async def run() -> None:
            highlighted = self._here
            with suppress(WentBack):
                highlighted = await steps()
            self._end_steps(highlighted)

        self.run_worker(run, name="set up a server of tools", group="set up", exclusive=True)

    def _end_steps(self, highlighted: str) -> None:
        self._answer = None
        self.type_into(None)
        self._show(self._read_rows(), highlighted)

    async def ask(
        self, title: str, words: str, text: str = "", *, secret: bool = False, error: bool = False
    ) -> str:
        """Ask for a line of text. Raises ``WentBack``."""
        line = self.secret if secret else self.line
        line.value, line.cursor_position = text, len(text)
        self.type_into(line)
        await self._answered(title, words, error=error)
        return line.value

    async def ask_to_keep(self, title: str, words: str, rows: Sequence[ToolRow]) -> None:
        """Show the tools of a server, and wait for a yes. Raises ``WentBack``."""
        self.offer([Choice(row.id, row.text, row.note) for row in rows])
        self.type_into(None)
        await self._answered(title, words)

    async def wait_for(self, work: Awaitable[Result], words: str) -> Result:
        """Show words while a server is tried. Raises ``WentBack``, and what the work raises."""
        self.say(words)
        self.set_focus(None)
        return await self._unless_back(asyncio.ensure_future(work))

    async def _answered(self, title: str, words: str, *, error: bool = False) -> None:
        self.entitle(title, _STEP_KEYS)
        self.say(words, error=error)
        self._answer = asyncio.get_running_loop().create_future()
        await self._unless_back(self._answer)

    async def _unless_back(self, step: "asyncio.Future[Result]") -> Result:
        self._step = step
        try:
            return await step
        except asyncio.CancelledError:
            # Esc cancels the step alone, closing the screen what waits for it.
            if (worker := asyncio.current_task()) and worker.cancelling():
                raise
            raise WentBack from None

    def type_into(self, line: Widget | None) -> None:
        """Show one line in the place of the list, or the list."""
        super().type_into(line)
        self.set_class(line is not None, "-typing")
        self.choices.display = line is None

    # --- keys

    def action_move(self, lines: int) -> None:
        super().action_move(lines)
        self._forget()

    def action_move_page(self, pages: int) -> None:
        super().action_move_page(pages)
        self._forget()

    def _forget(self) -> None:
        self._removing = ""
        self.tell_trouble("")

    async def action_back(self) -> None:
        if self._step is not None and self._step.cancel():
            # The step before is there before the next key.
            await asyncio.sleep(0)
        elif self._answer is not None:
            self.workers.cancel_group(self, "set up")  # pyright: ignore[reportUnknownMemberType]
            self._end_steps(self._here)
        elif self._removing:
            self._forget()
        else:
            self.dismiss(None)

    @on(ChoiceList.Chosen)
    def action_choose(self) -> None:
        if self._answer is None:
            self.action_change("show")
        elif not self._answer.done():
            self._answer.set_result(None)

    def action_change(self, change: ToolChange) -> None:
        """Have something done about the highlighted row, if that can be."""
        if self._answer is not None:
            return
        row, removing = self._row, self._removing
        self._forget()
        _, needed, words = _CHANGES[change]
        if needed and not getattr(row, needed, None):
            self.tell_trouble(words)
        elif change == "remove" and row and removing != row.server:
            self._removing = row.server
            self.tell_trouble(f"Remove {row.server}? x again removes it, Esc keeps it.")
        else:
            self._change(self, change, row)
