"""The search screen: what is typed is looked for in a thread, and a hit gone to."""

import asyncio
import logging
import os
import subprocess
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from tui.app.controllers.controller import Controller
from tui.app.controllers.navigation import Navigation
from tui.app.controllers.session_view import NoticeController
from tui.domain.providers import is_guide
from tui.domain.text import make_visible_line
from tui.domain.timestamps import format_utc
from tui.domain.views.notice import Notice
from tui.engine.sessions.switching import PrivateSessionLeft
from tui.errors import SibylError, StorageError
from tui.logs import milliseconds_since

if TYPE_CHECKING:
    from textual.timer import Timer

    from tui.domain.search.query import Hit
    from tui.domain.search.search_results import Preview, Results, SessionHits
    from tui.screens.search import SearchScreen

_log = logging.getLogger(__name__)
_SHOWN_FROM_BYTES = 1024 * 1024


class IndexBuilder(msgspec.Struct, eq=False):
    """Starts the builder when something may be new, and says how far it is.

    ``progressed`` gets ``indexing 42 %``, or who indexes while this waits, and an empty text at the
    end; ``failed`` why it cannot be had, once: it is done without then. Both are called by the
    event loop.
    """

    _root: Path
    _progressed: Callable[[str], None]
    _failed: Callable[[str], None]
    _starting: threading.Lock = msgspec.field(default_factory=threading.Lock)
    _process: subprocess.Popen[str] | None = None
    _task: asyncio.Task[None] | None = None
    _wanted: bool = False
    _is_over: bool = False

    def catch_up(self) -> None:
        """Have read what is new; if that is being done, once more after it."""
        self._wanted = not self._is_over
        if self._wanted and self._task is None:
            self._task = asyncio.create_task(self._run())

    def end(self) -> None:
        """Kill the builder; what it has committed stays."""
        with self._starting:
            self._is_over = True
            if self._process is not None:
                self._process.kill()

    async def _run(self) -> None:
        while self._wanted and not self._is_over:
            self._wanted = False
            begun = time.perf_counter()
            try:
                code, reason = await asyncio.to_thread(self._build, asyncio.get_running_loop())
            except OSError as error:
                code, reason = 1, str(error)
            _log.info("index builder: exit code %d, %d ms", code, milliseconds_since(begun))
            if self._is_over:
                return
            self._progressed("")
            if code:
                self._is_over = True
                last = reason.strip().rpartition("\n")[2]
                self._failed(last or f"The search index cannot be built: exit code {code}.")
        self._task = None

    def _build(self, loop: asyncio.AbstractEventLoop) -> tuple[int, str]:
        """Run the builder to its end; gives its exit code and what it said. Blocks."""
        from tui.storage.index import child

        with self._starting:
            if self._is_over:
                return 0, ""
            process = self._process = subprocess.Popen(  # noqa: S603 - ourselves
                child.command(self._root),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=child.environment(os.environ),
                # A Ctrl+C in the terminal is not meant for it.
                process_group=0,
                text=True,
                errors="replace",
            )
        with process:
            to_do = 0
            for line in process.stdout or ():
                if (progress := child.read_line(line)) is None:
                    continue
                done, total, builder = progress
                to_do = max(to_do, total - done)
                if builder or to_do > _SHOWN_FROM_BYTES:
                    at = f"indexing {min(99, 100 * done // max(1, total))} %"
                    # From a file that anybody may have written.
                    other = make_visible_line(builder.partition(" (")[0])
                    words = f"{other} is indexing" if other else at
                    # The program may have ended, and its loop with it.
                    with suppress(RuntimeError):
                        loop.call_soon_threadsafe(self._progressed, words)
            reason = process.stderr.read() if process.stderr else ""
        return process.returncode, reason


MOST_HITS = 50
_AFTER_START_SECONDS = 2.0
_AFTER_TURN_SECONDS = 5.0
_AGAIN_SECONDS = 2.0


class SearchController(Controller):
    """Opens the search screen, answers it, and remembers what was last looked for."""

    _notices: NoticeController
    _navigation: Navigation
    _indexing: IndexBuilder | None = None
    _timer: "Timer | None" = None
    _progress: str = ""
    _asked_at: float = 0.0
    screen: "SearchScreen | None" = None
    _text: str = ""
    _highlighted: "Hit | None" = None

    # --- the index

    def begin(self) -> None:
        """Bring the index up to date once the first screen has been there for a while."""
        if root := self._parts.index_root:
            say = self._notices.show
            self._indexing = IndexBuilder(
                root,
                self._show_progress,
                lambda why: say((Notice(f"Searching without an index. {why}", "warning"), "")),
            )
        self.catch_up_later(_AFTER_START_SECONDS)

    def end(self) -> None:
        """Let go of all that is under way."""
        if self._indexing is not None:
            self._indexing.end()

    def catch_up_later(self, seconds: float = _AFTER_TURN_SECONDS) -> None:
        """Bring the index up to date, which is behind, once nothing new is said for a while."""
        if self._timer is not None:
            self._timer.stop()
        if self._indexing is not None:
            self._timer = self._app.set_timer(seconds, self._indexing.catch_up)

    def _show_progress(self, progress: str) -> None:
        self._progress = progress
        self._chat.status_bar.indexing = progress
        if self.screen is None:
            return
        self.screen.show_indexing(progress)
        if not progress or time.monotonic() - self._asked_at > _AGAIN_SECONDS:
            # There may be more to be found by now.
            self.screen.ask_again()

    # --- the screen

    def open(self) -> None:
        """Show the screen, with what was last looked for."""
        if self._indexing is not None:
            self._indexing.catch_up()
        if self.screen is None:
            from tui.screens.search import SearchScreen

            self.screen = SearchScreen(
                self._search, self._preview, self._choose, self._ask, self._text, self._highlighted
            )
            self._app.push_screen(self.screen, lambda _: setattr(self, "screen", None))
            self.screen.show_indexing(self._progress)

    def close(self) -> None:
        """Put the screen away, if it is there."""
        if self.screen is not None:
            self.screen.dismiss()

    def _choose(self, screen: "SearchScreen", hit: "Hit") -> None:
        """Go to a hit; later keys wait, as they are meant for the prompt there."""
        release_keys = self._queue.hold()

        async def leave() -> None:
            try:
                await self._go_to(hit)
            except PrivateSessionLeft:
                # Again as a command, which asks whether it may be lost.
                self._do(lambda _: self._go_to(hit))
            except StorageError as error:
                screen.say(str(error))
            finally:
                release_keys()

        self._app.run_worker(leave, name="go to the search hit")

    async def _go_to(self, hit: "Hit") -> None:
        await self._navigation.go_to(hit.session_id, hit.message_id, hit.words)
        self.close()
        await self._session_list.show_scope()

    async def _search(self, screen: "SearchScreen", text: str) -> None:
        is_new, self._text, self._asked_at = text != self._text, text, time.monotonic()
        with _wanted() as wanted:
            results = await asyncio.to_thread(self._found, text, wanted)
        screen.show_results(results, self._workspace.clock())
        # Not for the same text again, which the end of a build leads to.
        if is_new and results.found.is_behind and self._indexing is not None:
            self._indexing.catch_up()

    def _found(self, text: str, wanted: Callable[[], bool]) -> "Results":
        from tui.domain.search.search_results import Results, as_typed, is_question
        from tui.engine.library.loose_search import nearest

        search = partial(self._workspace.reader.search, wanted=wanted)
        try:
            found = search(as_typed(text), MOST_HITS)
            near = nearest(search, text, found, MOST_HITS)
            sessions = self._sessions_of((*found.hits, *near.hits))
        except StorageError as error:
            return Results(text, error=str(error))
        model = self._model_name if is_question(text) else ""
        return Results(text, sessions, found, "", near, model)

    def _sessions_of(self, hits: "Sequence[Hit]") -> "tuple[SessionHits, ...]":
        from tui.domain.search.search_results import by_session

        return by_session(hits, self._workspace.reader.entries({hit.session_id for hit in hits}))

    # --- by meaning

    @property
    def _model_name(self) -> str:
        """The model that may be asked for other words; ``""`` if there is none to be asked."""
        session = self._workspace.current
        if session.private:
            return ""
        own = session.model.name if session.model else ""
        return self._parts.search_model or ("" if is_guide(own) else own)

    async def _ask(self, screen: "SearchScreen", results: "Results") -> None:
        """Have a model asked for other words, and show what these find, too."""
        from tui.engine.library.loose_search import ask_for_queries, find_all

        screen.say(f"Asking {results.model} for other words…")
        try:
            model = self._workspace.current.model
            if model is None or model.name != results.model:
                model = await asyncio.to_thread(self._parts.models.named, results.model)
            at = format_utc(self._workspace.clock())
            queries = await ask_for_queries(model, results.text, at)
            own = (*results.found.hits, *results.near.hits)
            with _wanted() as wanted:
                search = partial(self._workspace.reader.search, wanted=wanted)
                about = results.text, own, queries, MOST_HITS
                asked, hits = await asyncio.to_thread(find_all, search, *about)
                sessions = await asyncio.to_thread(self._sessions_of, hits)
            found = msgspec.structs.replace(results, sessions=sessions, asked=asked)
            words = "" if queries else f"{results.model} gave no other words."
        except SibylError as error:
            found, words = results, f"No other words: {error}"
        # Enter goes to a hit now.
        screen.show_results(msgspec.structs.replace(found, model=""), self._workspace.clock())
        if words:
            screen.say(words)

    async def _preview(self, screen: "SearchScreen", hit: "Hit", marked: str) -> None:
        def read() -> "Preview | None":
            from tui.engine.library.conversation import preview_of

            about = hit.session_id, hit.message_id, marked
            return preview_of(self._workspace.reader, *about) if wanted() else None

        self._highlighted = hit
        with _wanted() as wanted:
            shown = await asyncio.to_thread(read)
        screen.preview.show(shown, self._workspace.clock())


@contextmanager
def _wanted() -> Generator[Callable[[], bool]]:
    """Tell a thread whether anybody waits for its result: it goes on when its task is cancelled."""
    ended = threading.Event()
    try:
        yield lambda: not ended.is_set()
    finally:
        ended.set()
