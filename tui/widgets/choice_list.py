"""A list of choices, one of them highlighted."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

import msgspec
from rich.cells import cell_len

from tui.widgets.cells import cut, cut_middle, fill, one_line
from tui.widgets.line_list import LineList

_GAP = 2
_LEAST_TEXT = 12


class Choice(msgspec.Struct, frozen=True):
    """A line that can be chosen by its ``id``; without one it only says something."""

    id: str
    text: str
    note: str = ""
    mark: str = ""
    """One character before the text."""


class ChoiceList(LineList[Choice], can_focus=False):
    """Shows choices. The keys are its screen's; lines that only say something come last."""

    CLICKS = 1
    COMPONENT_CLASSES: ClassVar[set[str]] = {"line-list--mark"}
    DEFAULT_CSS = """
    ChoiceList {
        height: 1fr;
        background: $surface;
        scrollbar-background: $surface;

        & > .line-list--mark { color: $text-accent; }
    }
    """

    @property
    def highlighted(self) -> Choice | None:
        choice = self.line_at(self.place)
        return choice if choice and choice.id else None

    def show(self, choices: Sequence[Choice], highlighted: str = "") -> None:
        """Show other choices, with the highlight on the one named, else on the first."""
        self.lines = choices
        self.update_size()
        ids = [choice.id for choice in choices]
        # Lines that only say something have no id, either.
        place = ids.index(highlighted) if highlighted and highlighted in ids else 0
        self.highlight_place(place if self._count else -1)

    def is_stop(self, line: Choice) -> bool:
        return bool(line.id)

    def move(self, lines: int) -> None:
        """Move the highlight; one step beyond an end leads to the other end."""
        if not self._count:
            return
        place = self.place + lines
        if abs(lines) == 1:
            place %= self._count
        self.highlight_place(max(0, min(place, self._count - 1)))

    def move_page(self, pages: int) -> None:
        """Move the highlight by screens."""
        self.move(pages * max(2, self.height - 1))

    def pieces(self, line: Choice, width: int) -> Iterable[tuple[str, str]]:
        if not line.id:
            yield one_line(line.text), "aside"
            return
        text, note = one_line(line.text), one_line(line.note)
        room = width - 2 - _GAP - max(_LEAST_TEXT, cell_len(text))
        note = cut(note, room) if room > _GAP else ""
        yield fill(line.mark, 2), "mark"
        cells = max(1, width - 2 - cell_len(note))
        # Of a name both ends say something, of a sentence its beginning.
        yield fill(text if " " in text else cut_middle(text, cells), cells), "text"
        yield note, "aside"

    @property
    def _count(self) -> int:
        return sum(map(self.is_stop, self.lines))
