"""The import of other programs' sessions: what was found, the choice, the progress."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import ProgressBar

from tui.domain.imports import ImportProgress, ImportRow, bytes_words
from tui.domain.text import make_visible_line, plural
from tui.screens.dialog import ChooserDialog
from tui.widgets.choice_list import Choice, ChoiceList

Step = Literal["finding", "choosing", "importing", "over"]

_KEYS: dict[Step, str] = {
    "finding": "Esc close",
    "choosing": "Enter import · Space select · Esc close",
    "importing": "Esc stop",
    "over": "Esc close",
}
_LOOKING = "Looking for sessions of other programs"
_CHOSEN = "✓"
_KNOWN = "Nothing new: all of it was imported before."
_AUTOMATIC = "automatic"
_KEEP, _WHEN = "Keep importing from these automatically", "on every start and every hour"


class ImportScreen(ChooserDialog[None]):
    """Shows the programs with their counts, asks which to import, and shows how far that is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "confirm", "Import", priority=True),
        Binding("space", "choose", "Choose"),
    ]
    DEFAULT_CSS = """
    ImportScreen {
        #chooser { max-height: 20; }
        ProgressBar { width: 100%; Bar { width: 1fr; } }
    }
    """

    def __init__(self, stop: Callable[[], None]) -> None:
        """``stop`` ends an import with what it is writing."""
        super().__init__()
        self._stop = stop
        self._chosen: asyncio.Future[frozenset[str]] | None = None
        self.bar = ProgressBar(show_eta=False)
        self.bar.display = False
        self.step: Step = "finding"
        self.say(f"{_LOOKING} …")
        self._rows: Sequence[ImportRow] = ()
        self._unread = ""
        self._wanted: set[str] = set()
        self._offers_automatic = self.automatic = False
        """``automatic`` is true if the chosen programs are to be imported automatically, too."""

    def lines(self) -> ComposeResult:
        yield self.bar

    def on_mount(self) -> None:
        # It may have been told by now what was found.
        self.entitle("Import sessions of other programs", _KEYS[self.step])

    # --- what it shows

    def show_found(self, files: int) -> None:
        """Show how many files were found so far."""
        if self.step == "finding" and files:
            self.say(f"{_LOOKING}: {plural(files, 'file')} …")

    async def choose(
        self,
        rows: Sequence[ImportRow],
        nothing: str,
        unread: str = "",
        automatic: Collection[str] | None = None,
    ) -> frozenset[str]:
        """Ask for the programs to import; ``nothing`` are the words where none was found.

        ``unread`` names what could not be looked at, one a line. ``automatic`` are the programs
        that are imported automatically, which is changed here; ``None`` does not offer that.
        """
        self._unread = unread
        self._rows = sorted(rows, key=lambda row: not row.counts.bytes)
        self._offers_automatic, self.automatic = automatic is not None, bool(automatic)
        self._wanted = {row.program for row in rows if row.program in (automatic or [row.program])}
        if rows:
            self._enter("choosing", "")
        elif unread:
            self._enter("over", unread, error=True)
        else:
            self._enter("over", nothing)
        self._show_choices()
        self._chosen = asyncio.get_running_loop().create_future()
        chosen = await self._chosen
        self._enter("importing", "")
        self.choices.show([])
        return chosen

    def show_progress(self, progress: ImportProgress) -> None:
        """Show how far the import is."""
        self.bar.update(total=max(progress.total, 1), progress=progress.done)
        self.say(progress.words)

    def show_error(self, words: str) -> None:
        """Show why nothing can be imported."""
        self._enter("over", words, error=True)

    def finish(self) -> None:
        """Close; below another screen, let Esc do it."""
        self._enter("over", "")
        self.dismiss(None)

    def _enter(self, step: Step, words: str, *, error: bool = False) -> None:
        self.step = step
        self.bar.display = step == "importing"
        self.say(words, error=error)
        self._keys = _KEYS[step]
        self.name_keys()

    def say(self, words: str, *, error: bool = False) -> None:
        super().say(words, error=error)
        self.words.update(Content("\n".join(map(make_visible_line, words.splitlines()))))

    def _show_choices(self) -> None:
        highlighted = self.choices.highlighted
        choices = [
            Choice(
                row.program, row.title, row.counts.words, _CHOSEN * (row.program in self._wanted)
            )
            for row in self._rows
        ]
        if choices and self._offers_automatic:
            choices.append(Choice(_AUTOMATIC, _KEEP, _WHEN, _CHOSEN * self.automatic))
        self.choices.show(choices, highlighted.id if highlighted else "")
        if self.step == "choosing":
            size = sum(row.counts.bytes for row in self._rows if row.program in self._wanted)
            words = f"{bytes_words(size)} to read. The files stay as they are."
            words = words if any(row.counts.bytes for row in self._rows) else _KNOWN
            warnings = [row.warning for row in self._rows]
            self.say("\n".join(filter(None, [words, *warnings, self._unread])))

    # --- keys

    @on(ChoiceList.Chosen)
    def action_choose(self) -> None:
        """Want the highlighted program, or no longer."""
        choice = self.choices.highlighted
        if self.step == "choosing" and choice is not None:
            if choice.id == _AUTOMATIC:
                self.automatic = not self.automatic
            else:
                self._wanted ^= {choice.id}
            self._show_choices()

    def action_confirm(self) -> None:
        if self.step == "over":
            self.dismiss(None)
        elif self._chosen and self._wanted and not self._chosen.done():
            self._chosen.set_result(frozenset(self._wanted))

    async def action_back(self) -> None:
        """Stop the import; else close."""
        # A defect may have ended it; that was reported, and nothing is left to stop.
        if self.step == "importing" and any(each.node is self for each in self.workers):
            self.say("Stopping …")
            self._stop()
        else:
            self.dismiss(None)
