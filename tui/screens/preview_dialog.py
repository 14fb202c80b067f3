"""The dialogs that fill the screen: a line, the rows that it finds, and a preview beside them."""

from collections.abc import Callable, Coroutine, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from tui.screens.dialog import Dialog
from tui.widgets.line_input import LineInput
from tui.widgets.line_list import LineList
from tui.widgets.search_hits import PreviewPane

if TYPE_CHECKING:
    from textual.timer import Timer

Work = Callable[[], Coroutine[Any, Any, None]]


class PreviewDialog(Dialog[None]):
    """Has rows found by what is typed, and the highlighted one previewed.

    From ``WIDE_FROM`` columns on, the preview is at the right of the rows, else below them.
    """

    AUTO_FOCUS = "LineInput"
    WIDE_FROM: ClassVar[int]
    SETTLED_SECONDS: ClassVar[float]
    """The time after which what was typed, or is highlighted, is worth some work."""
    # Here and not in ``styles/``, which every start parses.
    DEFAULT_CSS = """
    PreviewDialog {
        .whole { width: 100%; height: 100%; background: $background; layers: rows line; }
        .line { height: 1; background: $panel; padding: 0 1; }
        .label { width: auto; color: $text-primary; text-style: bold; }
        LineInput { width: 1fr; background: $panel; }
        .words {
            height: 1;
            padding: 0 1;
            color: $text-muted;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        .found { height: 1fr; }
        LineList { height: 3fr; }
        PreviewPane { height: 2fr; padding: 0 1; border-top: solid $panel; }

        &.-wide {
            .found { layout: horizontal; }
            LineList { width: 3fr; height: 100%; }
            PreviewPane { width: 2fr; height: 100%; border-top: none; border-left: solid $panel; }
        }
    }
    """

    def __init__(self, line: LineInput) -> None:
        super().__init__()
        self.line = line
        self.preview = PreviewPane()
        self._timer: Timer | None = None

    def parts(self, label: str, above: Static, rows: LineList[Any]) -> Iterator[Widget]:
        """Lay out the line, the words above the rows, the rows and the preview."""
        with Horizontal(classes="line"):
            yield Static(Content(label), classes="label")
            yield self.line
        yield above
        with Container(classes="found"):
            yield rows
            yield self.preview

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= self.WIDE_FROM, "-wide")

    def settle(self, then: Callable[[], object]) -> None:
        """Call ``then`` unless this is called again before that."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(self.SETTLED_SECONDS, then)

    def run(self, name: str, work: Work) -> None:
        """Run the latest work of a name; it ends an earlier one."""
        self.run_worker(work, name=name, group=name, exclusive=True)

    def clear_preview(self) -> None:
        """Show no preview, and let none come."""
        self.preview.show(None, datetime.now(UTC))
        self.workers.cancel_group(self, "preview")  # pyright: ignore[reportUnknownMemberType]
