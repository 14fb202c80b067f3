"""The search screen: incremental search in names and messages of all sessions."""

from collections.abc import Callable, Coroutine
from datetime import datetime
from functools import partial
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.content import Content
from textual.widgets import Static

from tui.domain.search.query import Hit
from tui.domain.search.search_results import HINT, Results
from tui.domain.text import make_visible_line
from tui.screens.keys import SEARCH
from tui.screens.preview_dialog import PreviewDialog
from tui.widgets.key_line import KeyLine
from tui.widgets.line_input import LineInput
from tui.widgets.search_hits import HitList

_PLACEHOLDER = "what was said, or a name; after ? a question in other words"


class SearchScreen(PreviewDialog):
    """Has a text looked for and a hit previewed or gone to; only the latest of each counts."""

    WIDE_FROM = 150
    SETTLED_SECONDS = 0.02
    DEFAULT_CSS = """
    SearchScreen.-short PreviewPane { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [*SEARCH]

    def __init__(
        self,
        search: Callable[["SearchScreen", str], Coroutine[Any, Any, None]],
        preview: Callable[["SearchScreen", Hit, str], Coroutine[Any, Any, None]],
        go_to: Callable[["SearchScreen", Hit], None],
        ask: Callable[["SearchScreen", Results], Coroutine[Any, Any, None]],
        text: str = "",
        highlighted: Hit | None = None,
    ) -> None:
        """``text`` is the last query, ``highlighted`` the hit to return to.

        ``preview`` is also given the words to mark. ``ask`` has a model asked for other words.
        """
        super().__init__(LineInput(text, placeholder=_PLACEHOLDER, compact=True, max_length=500))
        self._search, self._preview, self._go_to, self._ask = search, preview, go_to, ask
        self.hits = HitList()
        # Textual looks for the actions of BINDINGS here.
        self.action_move, self.action_move_page = self.hits.move, self.hits.move_page
        self.words = Static(Content(HINT), id="search-words", classes="words")
        self._results: Results | None = None
        self._kept = highlighted
        self._is_retrying = False
        self._indexing = ""

    def compose(self) -> ComposeResult:
        with Container(classes="whole has-key-line"):
            yield from self.parts("Search: ", self.words, self.hits)
            yield KeyLine(SEARCH)

    def on_mount(self) -> None:
        if self.line.value:
            self._look_for()

    # --- values

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
        if self._results is not None and self._results.found.pending and not self._results.asked:
            self._look_for()

    def retry_failed(self) -> None:
        # Not while it is asked already, which would only ask it from the beginning.
        if self._results is not None and self._results.error and not self._is_retrying:
            self._is_retrying = True
            self._look_for()

    def say(self, words: str) -> None:
        """Say something above the hits, such as why one cannot be opened."""
        self.words.update(Content(make_visible_line(words)))

    def show_indexing(self, progress: str) -> None:
        """Show the progress of the index; empty when it is complete."""
        self._indexing = progress
        self._show_words()

    # --- what is wanted

    @on(LineInput.Changed)
    def _wait_for_more(self, event: LineInput.Changed) -> None:
        event.stop()
        self.settle(self._look_for)

    @on(HitList.Highlighted)
    def _want_preview(self, event: HitList.Highlighted) -> None:
        event.stop()
        hit, marked = self.hits.highlighted, self._results.marked if self._results else ""
        if hit is None:
            self.clear_preview()
        else:
            self.run("preview", partial(self._preview, self, hit, marked))

    @on(HitList.Chosen)
    def action_choose(self) -> None:
        hit = self.hits.highlighted
        if self._results is None or self._results.text != self.line.value:
            # The results on screen belong to an earlier query.
            self._look_for()
        elif self._results.model:
            self.run("search", partial(self._ask, self, self._results))
        elif hit is not None:
            self._go_to(self, hit)

    def _look_for(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self.run("search", partial(self._search, self, self.line.value))

    def _show_words(self) -> None:
        self.say(self._results.words(self._indexing) if self._results else HINT)
