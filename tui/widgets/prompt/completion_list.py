"""The list of completions above the prompt, and the files that are offered in it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import msgspec
from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from tui.domain.completion import Completion, FileListing, file_completions, folders_of
from tui.domain.references import unfinished_reference
from tui.domain.text import make_visible_line

ROWS = 8
NAME_CELLS = 40
_CHOSEN, _OTHER = "> ", "  "
_GAP = 2


class CompletionList(Widget):
    """Shows ``ROWS`` completions and the number of others; none is chosen until the user moves."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"completion-list--chosen", "completion-list--help"}
    DEFAULT_CSS = Path(__file__).with_suffix(".tcss").read_text("utf-8")

    @dataclass(eq=False, repr=False)
    class Picked(Message):
        """A row was clicked."""

        completion: Completion

    def __init__(self) -> None:
        super().__init__()
        self.found: tuple[Completion, ...] = ()
        """The completions; empty while the list is closed."""
        self._place: int | None = None
        self.display = False

    @property
    def chosen(self) -> Completion | None:
        """The completion that the user has moved to."""
        return None if self._place is None else self.found[self._place]

    def show(self, found: Sequence[Completion]) -> None:
        """Show these completions; none closes the list."""
        if not found and not self.found:
            return
        was_open, self.found = bool(self.found), tuple(found)
        self._place = None
        self.display = bool(found)
        # One more row has the number of the others.
        rows = min(len(self.found), ROWS + 1)
        self.styles.height = rows
        # Over the rows above the prompt: nothing moves when the list opens.
        # Over the top border of the prompt, too: it stands above what the border docks beside.
        self.styles.offset = (1, -rows - 1)
        self.refresh()
        if was_open != self.display:
            self.refresh_bindings()

    def move(self, step: int) -> None:
        """Choose the next completion below (1) or above (-1), from either end to the other."""
        if self._place is None:
            self._place = 0 if step > 0 else len(self.found) - 1
        else:
            self._place = (self._place + step) % len(self.found)
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        place = self._top + event.y
        if event.y < ROWS and 0 <= place < len(self.found):
            self.post_message(self.Picked(self.found[place]))

    def render(self) -> Content:
        shown = self.found[self._top : self._top + ROWS]
        # The same choice for all completions: names would change while the user moves.
        widest = max((cell_len(each.name) for each in self.found), default=0)
        needed = max((cell_len(each.help) for each in self.found), default=0) + len(_OTHER) + _GAP
        is_brief = widest + needed > self.size.width
        names = [
            Content(make_visible_line((is_brief and each.brief) or each.name)).truncate(
                NAME_CELLS, ellipsis=True
            )
            for each in shown
        ]
        width = max((name.cell_length for name in names), default=0)
        padded = [name.pad_right(width - name.cell_length) for name in names]
        rows = zip(range(self._top, len(self.found)), padded, shown, strict=False)
        lines = [self._row(*row) for row in rows]
        if len(self.found) > ROWS:
            # Below the list the number of the others; empty at its end.
            below = len(self.found) - self._top - ROWS
            words = f"{_OTHER}+ {below} more" if below else ""
            lines.append(Content.styled(words, self.get_visual_style("completion-list--help")))
        return Content("\n").join(lines)

    @property
    def _top(self) -> int:
        return max(0, (self._place or 0) - ROWS + 1)

    def _row(self, place: int, name: Content, completion: Completion) -> Content:
        note = make_visible_line(completion.help)
        if place != self._place:
            note_style = self.get_visual_style("completion-list--help")
            return Content.assemble(_OTHER, name, " " * _GAP, (note, note_style))
        row = Content.assemble(_CHOSEN, name, " " * _GAP, note)
        return row.stylize(self.get_visual_style("completion-list--chosen"))


class FileOffers(msgspec.Struct, eq=False):
    """Offers files for the reference that is being typed; ``_ask`` asks for a folder's listing.

    Each reference asks once for the listings it needs; an older one serves until the new one is
    there.
    """

    _ask: Callable[[str], object]
    _listings: dict[str, FileListing] = msgspec.field(default_factory=dict[str, FileListing])
    _asked: set[str] = msgspec.field(default_factory=set[str])
    _start: int | None = None

    def forget(self) -> None:
        """Forget all listings: the session may be another one."""
        self._listings.clear()
        self._asked.clear()
        self._start = None

    def accept(self, listing: FileListing) -> bool:
        """Accept a listing; false if nobody asked for it, or it is known."""
        folder = listing.folder
        if folder not in self._asked or self._listings.get(folder) == listing:
            return False
        self._listings[folder] = listing
        return True

    def completions(self, before_caret: str) -> tuple[Completion, ...]:
        """The files for the reference that ends at the caret; none without one."""
        typed = unfinished_reference(before_caret)
        if typed is None:
            self._start = None
            return ()
        if typed.start != self._start:
            self._start = typed.start
            self._asked.clear()
        for folder in folders_of(typed.path):
            if folder not in self._asked:
                self._asked.add(folder)
                self._ask(folder)
            listing = self._listings.get(folder)
            found = file_completions(typed, listing) if listing else ()
            if found or listing is None:
                return found
        return ()
