"""Switches sessions by keys, such as Alt+Down, without the focus going to the sidebar."""

from tui.screens.session_steps import SessionSteps, why_not, words_at_end
from tui.widgets.hints import hint
from tui.widgets.prompt import Prompt
from tui.widgets.sidebar import Sidebar


class SessionWalk:
    """Selects the session above or below, or one of the first rows of the list.

    ``shown`` is the session on screen.
    """

    def __init__(self, sidebar: Sidebar, prompt: Prompt) -> None:
        self._sidebar = sidebar
        self._prompt = prompt
        self._steps = SessionSteps()
        self.shown = ""

    def arrive(self, session_id: str) -> None:
        """Note the session on screen."""
        self.shown = session_id
        self._sidebar.highlight(session_id)
        if self._steps.aim == session_id:
            self._steps.aim = None

    def stay(self) -> None:
        """Give up the session that was selected: it could not be shown."""
        self._steps.aim = None
        self._sidebar.highlight(self.shown)

    def step(self, step: int) -> None:
        """Select the session above or below the one that was selected last."""
        self._select(self._steps.step(self._sidebar.shown, self.shown, step))
        if self._sidebar.has_more and self._steps.nears_end():
            # A hidden sidebar does not notice that its end is near.
            self._sidebar.post_message(Sidebar.MoreWanted())
        elif self._steps.led_nowhere:
            hint(self._sidebar, words_at_end(len(self._sidebar.shown), step))

    def go_to_row(self, place: int) -> None:
        """Select one of the first sessions of the list."""
        rows = self._sidebar.shown
        if words := why_not(rows, place, self._steps.aim or self.shown):
            hint(self._sidebar, words)
        if place < len(rows):
            self._select(rows[place].id)

    def _select(self, session_id: str | None) -> None:
        self._steps.aim = session_id
        if session_id is not None:
            # In the order of typed keys: a binding that works everywhere would overtake them.
            selected = Sidebar.SessionSelected(session_id)
            self._prompt.after_typing(lambda: self._prompt.post_message(selected))
