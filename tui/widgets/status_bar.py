"""The status bar: the session on screen, its model, and whether it is saved."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal, get_args

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from textual.events import Click
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from tui.domain.screen_sizes import SIDEBAR_FROM_COLUMNS
from tui.domain.text import plural, scope_name, whole_label
from tui.domain.views.shown_session import SessionStatus
from tui.widgets.cells import cut, cut_start, one_line
from tui.widgets.intents import CopyRequested

Left = Literal["id", "label", "count", "model", "context", "scope"]
Right = Literal["indexing", "queued", "read-only", "asking", "store", "save", "failure"]
Place = Left | Right
_LEFT: tuple[Left, ...] = get_args(Left)
_RIGHT: tuple[Right, ...] = get_args(Right)
_GAP = 2
_PREFIX = "session-"
# Between the margins of a screen without a sidebar, the rest of the id names the session as well.
_WHOLE_ID_CELLS = SIDEBAR_FROM_COLUMNS - 2
# The least cells of a label that is worth showing.
_LABEL_CELLS = 7
_MODEL_CELLS = 18
# "NOT SAVED: disk full" is shown even at the cost of the id.
_FAILURE_CELLS = 20


class StatusItem(msgspec.Struct, frozen=True):
    """An item of the bar; it is shown only if ``short`` fits."""

    place: Place
    text: str
    short: str


def lay_out(
    status: SessionStatus, width: int, indexing: str = "", store: str = ""
) -> dict[Place, str]:
    """Choose the texts that fit, the most important ones first."""
    shown: dict[Place, str] = {}
    parts = [part for part in _by_importance(status, width, store) if part.short]
    parts += [StatusItem("indexing", indexing, indexing)] if indexing else []
    for part in parts:
        if cell_len(part.short) <= _room(shown, width):
            shown[part.place] = part.short
    for part in parts:
        if part.place in shown:
            room = _room(shown, width) + _GAP + cell_len(part.short)
            if cell_len(part.text) <= room:
                shown[part.place] = part.text
            elif part.place == "label":
                shown[part.place] = cut(part.text, room)
            elif part.place == "model":
                shown[part.place] = cut_start(part.text, room)
    whole = one_line(whole_label(status.name, status.label))
    if (
        "label" in shown
        and cell_len(whole) - cell_len(shown["label"]) <= _room(shown, width) + _GAP
    ):
        shown["label"] = whole
    return shown


def _by_importance(status: SessionStatus, width: int, store: str) -> Iterator[StatusItem]:
    session_id, save = one_line(status.session_id), one_line(str(status.save))
    room = width
    if width < _WHOLE_ID_CELLS:
        session_id = session_id.removeprefix(_PREFIX)
    if status.save.failure:
        save = cut(save, min(width, max(_FAILURE_CELLS, width - cell_len(session_id) - _GAP)))
        room -= cell_len(save) + _GAP
        yield StatusItem("failure", save, save)
    elif status.save.private:
        # Never left out: the user counts on it.
        yield StatusItem("save", save, save)
        room -= cell_len(save) + _GAP
    session_id = cut_start(session_id, room)
    yield StatusItem("id", session_id, session_id)
    if status.asking:
        # Before everything else: the turn waits for the user.
        words = ("waits for approval", "approval?")
        beside = width - cell_len(session_id) - cell_len(save) - 2 * _GAP
        text = next((each for each in words if cell_len(each) <= beside), words[-1])
        yield StatusItem("asking", text, text)
    states: list[tuple[Place, str]] = [
        ("save", "" if status.save.failure or status.save.private else one_line(str(status.save))),
        ("read-only", "read-only" if status.read_only else ""),
        ("queued", f"{status.queued} queued" if status.queued else ""),
        ("store", store),
    ]
    for place, text in states:
        yield StatusItem(place, text, text)
    label, model = one_line(status.label), one_line(status.model)
    yield StatusItem("label", label, cut(label, _LABEL_CELLS))
    if use := status.context_use:
        context = f"context {use.percent} %"
        yield StatusItem("context", context, context)
    yield StatusItem("model", model, cut_start(model, _MODEL_CELLS))
    if width < _WHOLE_ID_CELLS:
        return  # the title needs their room
    count = plural(status.message_count, "message")
    yield StatusItem("count", count, count)
    scope = one_line(scope_name(status.scope))
    yield StatusItem("scope", scope, scope)


def _room(shown: dict[Place, str], width: int) -> int:
    return width - sum(cell_len(text) + _GAP for text in shown.values())


class StatusBar(Widget):
    """One line about the session on screen; on a narrow screen only the important items."""

    ALLOW_SELECT = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"status-bar--{each}" for each in (*_LEFT, *_RIGHT)}
    DEFAULT_CSS = """
    StatusBar {
        dock: bottom;
        width: 100%;
        height: 1;
    }
    """

    indexing = reactive("")
    """The progress of the search index; an empty text hides it."""
    store = reactive("")
    """The name of the store, for as long as the program runs; an empty text hides it."""

    def __init__(self) -> None:
        super().__init__()
        self._status: SessionStatus | None = None

    def show(self, status: SessionStatus) -> None:
        """Show a status; paint only if its words have changed."""
        before, self._status = self._laid_out(), status
        # The time of the last save changes more often than its minute.
        if self._laid_out() != before:
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y or self._status is None:
            return Strip.blank(width, self.rich_style)
        margin, shown = self._laid_out()
        left, right = self._side(shown, _LEFT), self._side(shown, _RIGHT)
        used = Segment.get_line_length(left) + Segment.get_line_length(right)
        edge = Segment(" " * margin, self.rich_style)
        middle = Segment(" " * max(0, width - 2 * margin - used), self.rich_style)
        strip = Strip([edge, *left, middle, *right, edge])
        return strip.adjust_cell_length(width, self.rich_style)

    def on_click(self, event: Click) -> None:
        """Copy the id of the session, whole, after a click on it."""
        margin, shown = self._laid_out()
        if self._status is not None and event.x < margin + cell_len(shown.get("id", "")):
            self.post_message(CopyRequested(self._status.session_id))

    def _laid_out(self) -> tuple[int, dict[Place, str]]:
        """The cells of both margins, and the texts between them."""
        if self._status is None:
            return 0, {}
        # No margin where it would cost letters of the id.
        margin = int(cell_len(self._status.session_id) + 2 <= self.size.width)
        width = self.size.width - 2 * margin
        return margin, lay_out(self._status, width, self.indexing, self.store)

    def _side(self, shown: dict[Place, str], places: Sequence[Place]) -> list[Segment]:
        segments: list[Segment] = []
        for place in places:
            if place not in shown:
                continue
            if segments:
                segments.append(Segment(" " * _GAP, self.rich_style))
            style = self.get_component_rich_style(f"status-bar--{place}")
            segments.append(Segment(shown[place], style))
        return segments
