"""The preview of a hit: the messages around it."""

from datetime import UTC, datetime
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.search.search_results import Preview
from tui.domain.text.safe_text import make_visible_line
from tui.widgets.search.hit_drawing import Piece, message_lines
from tui.widgets.wrapping import wrap_words

_WHEEL_ROWS = 3


class PreviewPane(Widget):
    """Shows the messages around the highlighted hit, with the hit in the upper part."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "preview-pane--aside",
        "preview-pane--own",
        "preview-pane--answer",
        "preview-pane--chosen",
        "preview-pane--mark",
    }
    DEFAULT_CSS = """
    PreviewPane {
        background: $background;

        & > .preview-pane--aside { color: $text-muted; }
        & > .preview-pane--own { color: $text-primary; }
        & > .preview-pane--answer { color: $text-accent; }
        & > .preview-pane--chosen { color: $text-warning; text-style: bold reverse; }
        & > .preview-pane--mark { color: $text-warning; text-style: bold underline; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._preview: Preview | None = None
        self._now = datetime.min.replace(tzinfo=UTC)
        self._rows: list[list[Piece]] = []
        self._top = 0

    def show(self, preview: Preview | None, now: datetime) -> None:
        """Show a preview; ``None`` clears the pane."""
        self._preview, self._now = preview, now
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scroll(_WHEEL_ROWS)
        event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scroll(-_WHEEL_ROWS)
        event.stop()

    def render_line(self, y: int) -> Strip:
        width, place = self.size.width, self._top + y
        if place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        segments = [
            Segment(
                text,
                self.rich_style
                if part == "text"
                else self.get_component_rich_style(f"preview-pane--{part}"),
            )
            for text, part in self._rows[place]
        ]
        return Strip(segments).adjust_cell_length(width, self.rich_style)

    def _lay_out(self) -> None:
        width, height = self.size
        self._rows, found = [], 0
        if self._preview is not None and self._preview.error:
            words = make_visible_line(self._preview.error)
            self._rows = [[(row, "aside")] for row in wrap_words(words, max(1, width))]
        for message in self._preview.messages if self._preview else ():
            begin = len(self._rows)
            self._rows += message_lines(message, self._now, width)
            self._rows.append([])
            if message.chosen:
                found = next((p for p in range(begin, len(self._rows)) if self._marked(p)), begin)
                # The line with the author is in view, too, if there is room for both.
                found = begin if found - begin <= height // 2 else found
        if self._preview is not None and self._preview.message_id is None:
            found = len(self._rows)
        self._top = 0
        self._scroll(found - height // 3)

    def _marked(self, place: int) -> bool:
        return any(part == "mark" for _, part in self._rows[place])

    def _scroll(self, rows: int) -> None:
        last = max(0, len(self._rows) - 1 - self.size.height)
        self._top = max(0, min(self._top + rows, last))
        self.refresh()
