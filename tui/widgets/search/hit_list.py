"""The hits of a search, one of them highlighted."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import ClassVar

from tui.domain.search.query import Hit
from tui.domain.search.search_results import Results, SessionHits
from tui.widgets.line_list import LineList
from tui.widgets.search.hit_drawing import Piece, heading_pieces, hit_pieces

Line = SessionHits | Hit


class HitList(LineList[Line], can_focus=False):
    """A virtual list of hits under their sessions. The keys are its screen's."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "line-list--own",
        "line-list--answer",
        "line-list--heading",
        "line-list--mark",
    }
    DEFAULT_CSS = """
    HitList {
        background: $background;
        scrollbar-background: $background;
        scrollbar-color: $panel;

        & > .line-list--heading { text-style: bold; }
        & > .line-list--own { color: $text-primary; text-style: bold; }
        & > .line-list--answer { color: $text-accent; }
        & > .line-list--mark { color: $text-warning; text-style: bold underline; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = datetime.min.replace(tzinfo=UTC)

    def is_heading(self, line: Line) -> bool:
        return isinstance(line, SessionHits)

    def pieces(self, line: Line, width: int) -> Iterable[Piece]:
        if isinstance(line, SessionHits):
            return heading_pieces(line, self._now, width)
        return hit_pieces(line, self._now, width)

    @property
    def highlighted(self) -> Hit | None:
        """The highlighted hit."""
        line = self.line_at(self.place)
        return line if isinstance(line, Hit) else None

    def show(self, results: Results, now: datetime, highlighted: Hit | None = None) -> None:
        """Show other hits, with the highlight on ``highlighted`` or else on the first."""
        before = self.highlighted
        self._now = now
        self._lines = [line for session in results.sessions for line in (session, *session.hits)]
        places = [place for place, line in enumerate(self._lines) if _is_at(line, highlighted)]
        self.update_size()
        self.highlight_place(places[0] if places else self.stop_beyond(0, 1))
        if self.highlighted != before or self.highlighted is None:
            self.post_message(self.Highlighted())


def _is_at(line: Line, hit: Hit | None) -> bool:
    return isinstance(line, Hit) and hit is not None and line.place == hit.place
