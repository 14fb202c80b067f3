"""An input of one line: Textual's, with safe pastes and a caret that moves by grapheme."""

from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import Input
from textual.widgets.input import Selection

from tui.domain.text import make_visible_line
from tui.widgets.graphemes import (
    JOINERS,
    after,
    before,
    begin,
    graphemes,
    word_after,
    word_around,
    word_before,
)
from tui.widgets.intents import hint
from tui.widgets.textual_bases import InputBase

# Textual deletes forwards with the first two.
_REBOUND = {"ctrl+backspace", "alt+backspace", "ctrl+left", "ctrl+right"}


class GraphemeText(Text):
    """A line of text for Rich."""

    def stylize(self, style: str | Style, start: int = 0, end: int | None = None) -> None:
        line = self.plain
        if end is not None and not line.isascii() and 0 <= start < end <= len(line):
            start, last = begin(line, start), begin(line, end - 1)
            end = after(line, last)
        super().stylize(style, start, end)


class LineInput(InputBase, inherit_bindings=False):
    """Replaces control characters in pastes; moves and deletes by whole graphemes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *[each for each in Binding.make_bindings(Input.BINDINGS) if each.key not in _REBOUND],
        Binding("ctrl+left,alt+left", "cursor_left_word", "A word left", show=False),
        Binding("ctrl+right,alt+right", "cursor_right_word", "A word right", show=False),
        Binding("ctrl+backspace,alt+backspace", "delete_left_word", "Delete a word", show=False),
        Binding("alt+delete,ctrl+delete", "delete_right_word", "Delete the next word", show=False),
    ]

    def replace(self, text: str, start: int, end: int) -> None:
        """Replace a range by as much of a text as fits."""
        # All changes come through here. Textual draws a paste raw, or takes none if it is too long.
        line = make_visible_line(text)
        if self.max_length:
            start, end = sorted((max(0, start), min(len(self.value), end)))
            room = self.max_length - len(self.value) + end - start
            line = line if len(line) <= room else line[: begin(line, max(0, room))]
            if text and not line:
                self.restricted()
                return
        super().replace(line, start, end)

    def on_key(self, event: events.Key) -> None:
        if event.character in JOINERS:
            self.replace(event.character, *self.selection)
        elif event.key == "alt+d":
            # The key comes with its letter, which would be typed.
            self.action_delete_right_word()
        else:
            return
        event.stop()
        event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        # Textual inserts the first line only, which may be empty.
        event.stop()
        event.prevent_default()
        lines = event.text.splitlines()
        if len(lines) > 1:
            lines = [line.strip() for line in lines if line.strip()]
        self.replace(" ".join(lines), *self.selection)

    def action_cursor_left(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's
        if select or self.selection.is_empty:
            self._move(before(self.value, self.cursor_position), select)
        else:
            self.cursor_position = min(self.selection)

    def action_cursor_right(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's
        if select or self.selection.is_empty:
            self._move(after(self.value, self.cursor_position), select)
        else:
            self.cursor_position = max(self.selection)

    def action_cursor_left_word(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's
        self._move(word_before(self.value, self.cursor_position), select)

    def action_cursor_right_word(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's
        self._move(word_after(self.value, self.cursor_position), select)

    def action_delete_left(self) -> None:
        self._delete(before(self.value, self.cursor_position))

    def action_delete_right(self) -> None:
        self._delete(after(self.value, self.cursor_position))

    def action_delete_left_word(self) -> None:
        self._delete(word_before(self.value, self.cursor_position))

    def action_delete_right_word(self) -> None:
        self._delete(word_after(self.value, self.cursor_position))

    def on_click(self, event: events.Click) -> None:
        """Select a word on a double click, all on a triple click."""
        if event.chain == 2:
            place = self.index_at(event.get_content_offset_capture(self).x)
            self.selection = Selection(*word_around(self.value, place))
        elif event.chain > 2:
            self.select_all()

    def shown_text(self) -> GraphemeText:
        return GraphemeText(self.value, no_wrap=True, overflow="ignore", end="")

    def _move(self, place: int, select: bool) -> None:  # noqa: FBT001 - passed on from actions
        self.selection = Selection(self.selection.start if select else place, place)

    def _delete(self, place: int) -> None:
        """Delete the selection, or the text between the caret and ``place``."""
        if self.selection.is_empty:
            self.delete(place, self.cursor_position)
        else:
            self.delete_selection()

    def index_at(self, cells: int) -> int:
        cells, index = cells + self.scroll_offset.x, 0
        for grapheme in graphemes(self.value):
            cells -= cell_len(grapheme)
            if cells < 0:
                break
            index += len(grapheme)
        return index


_DOT = "\u2022"


class MaskedInput(LineInput):
    """Takes what is typed or pasted, without showing it."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(
            placeholder="paste the key", password=True, compact=True, select_on_focus=False, id=id
        )

    def shown_text(self) -> GraphemeText:
        dots = _DOT * len(self.value)
        return GraphemeText(dots, no_wrap=True, overflow="ignore", end="")

    def index_at(self, cells: int) -> int:
        return min(len(self.value), cells + self.scroll_offset.x)

    def action_copy(self) -> None:
        hint(self, "A key is not copied from here.")

    def action_cut(self) -> None:
        self.action_copy()
