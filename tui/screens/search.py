"""The search screen: incremental search in names and messages of all sessions."""

from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Horizontal
from textual.content import Content
from textual.widgets import Static

from tui.domain.search.query import Hit
from tui.domain.search.search_results import HINT, Results
from tui.domain.text.safe_text import make_visible_line
from tui.screens.dialog import Dialog
from tui.screens.keys import SEARCH
from tui.widgets.key_line import KeyLine
from tui.widgets.line_input import LineInput
from tui.widgets.search import HitList, PreviewPane

if TYPE_CHECKING:
    from textual.timer import Timer

WIDE_FROM_COLUMNS = 150
SETTLED_SECONDS = 0.02
"""Debounce of typing, in seconds."""


class SearchScreen(Dialog[None]):
    """Has a text looked for and a hit previewed or gone to; only the latest of each counts."""

    AUTO_FOCUS = "LineInput"
    # Here and not in ``styles/``, which every start parses.
    DEFAULT_CSS = """
    SearchScreen {
        #search { width: 100%; height: 100%; background: $background; }
        #search-line { height: 1; background: $panel; padding: 0 1; }
        #search-label { width: auto; color: $text-primary; text-style: bold; }
        LineInput { width: 1fr; background: $panel; }
        #search-words {
            height: 1;
            padding: 0 1;
            color: $text-muted;
            text-wrap: nowrap;
            text-overflow: ellipsis;
        }
        #search-found { height: 1fr; layout: vertical; }

        HitList { height: 3fr; }
        PreviewPane { height: 2fr; padding: 0 1; border-top: solid $panel; }

        &.-short PreviewPane { display: none; }
        &.-wide {
            #search-found { layout: horizontal; }
            HitList { width: 3fr; height: 100%; }
            PreviewPane { width: 2fr; height: 100%; border-top: none; border-left: solid $panel; }
        }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*SEARCH]

    def __init__(
        self,
        search: Callable[["SearchScreen", str], Coroutine[Any, Any, None]],
        preview: Callable[["SearchScreen", Hit, str], Coroutine[Any, Any, None]],
        go_to: Callable[["SearchScreen", Hit], None],
        text: str = "",
        highlighted: Hit | None = None,
    ) -> None:
        """``text`` is the last query, ``highlighted`` the hit to return to.

        ``preview`` is also given the words to mark.
        """
        super().__init__()
        self._search, self._preview, self._go_to = search, preview, go_to
        self.line = LineInput(
            text, placeholder="what was said, or a name", compact=True, max_length=500
        )
        self.hits = HitList()
        # Textual looks for the actions of BINDINGS here.
        self.action_move, self.action_move_page = self.hits.move, self.hits.move_page
        self.preview = PreviewPane()
        self.words = Static(Content(HINT), id="search-words")
        self._results: Results | None = None
        self._kept = highlighted
        self._is_retrying = False
        self._indexing = ""
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        with Container(id="search", classes="has-key-line"):
            with Horizontal(id="search-line"):
                yield Static(Content("Search: "), id="search-label")
                yield self.line
            yield self.words
            with Container(id="search-found"):
                yield self.hits
                yield self.preview
            yield KeyLine(SEARCH)

    def on_mount(self) -> None:
        if self.line.value:
            self._look_for()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.width >= WIDE_FROM_COLUMNS, "-wide")

    # --- values

    @property
    def results_text(self) -> str | None:
        """The query of the results on screen."""
        return self._results.text if self._results else None

    def show_results(self, results: Results, now: datetime) -> None:
        """Show results; the highlight stays on its hit if that is found again."""
        highlighted = self.hits.highlighted
        same = self._results is not None and self._results.text == results.text
        keep = highlighted if same and highlighted else self._kept
        self._results, self._kept = results, None
        self._is_retrying = False
        self.hits.show(results, now, keep)
        self._show_words()

    def ask_again(self) -> None:
        """Repeat the search if the index was incomplete."""
        if self._results is not None and self._results.found.pending:
            self._look_for()

    def retry_failed(self) -> None:
        # Not while it is asked already, which would only ask it from the beginning.
        if self._results is not None and self._results.error and not self._is_retrying:
            self._is_retrying = True
            self._look_for()

    def show_error(self, reason: str) -> None:
        """Show why a hit cannot be opened."""
        self.words.update(Content(make_visible_line(reason)))

    def show_indexing(self, progress: str) -> None:
        """Show the progress of the index; empty when it is complete."""
        self._indexing = progress
        self._show_words()

    # --- what is wanted

    @on(LineInput.Changed)
    def _wait_for_more(self, event: LineInput.Changed) -> None:
        event.stop()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(SETTLED_SECONDS, self._look_for)

    @on(HitList.Highlighted)
    def _want_preview(self, event: HitList.Highlighted) -> None:
        event.stop()
        hit, marked = self.hits.highlighted, self._results.marked if self._results else ""
        if hit is None:
            self.preview.show(None, datetime.now(UTC))
            self.workers.cancel_group(self, "preview")  # pyright: ignore[reportUnknownMemberType]
        else:
            self._run("preview", partial(self._preview, self, hit, marked))

    @on(HitList.Chosen)
    def action_choose(self) -> None:
        hit = self.hits.highlighted
        if self._results is None or self._results.text != self.line.value:
            # The results on screen belong to an earlier query.
            self._look_for()
        elif hit is not None:
            self._go_to(self, hit)

    def _look_for(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._run("search", partial(self._search, self, self.line.value))

    def _run(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self.run_worker(work, name=name, group=name, exclusive=True)

    def _show_words(self) -> None:
        words = self._results.words(self._indexing) if self._results else HINT
        self.words.update(Content(make_visible_line(words)))
