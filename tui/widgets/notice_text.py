"""Fits a notice into one line: a long title is cut, and the end, such as "/undo…", stays."""

from rich.cells import cell_len

from tui.domain.text.patterns import late_pattern
from tui.domain.text.safe_text import make_visible_line
from tui.domain.views.notice import Notice
from tui.widgets.cells import cut

SIGNS = {"information": "·", "warning": "!", "error": "✗"}
_QUOTED = late_pattern(r'"([^"]+)"')
_LEAST_TITLE = 6


def fit_notice(notice: Notice, width: int) -> str:
    """Fit the first line of a notice into so many cells; an ellipsis stands for the rest."""
    first, *more = notice.text.strip().split("\n")
    text = make_visible_line(first) + (" …" if more else "")
    return cut(_with_short_title(text, cell_len(text) - width), width)


def _with_short_title(text: str, excess: int) -> str:
    titles = sorted(_QUOTED.findall(text), key=cell_len)
    if excess <= 0 or not titles:
        return text
    room = max(_LEAST_TITLE, cell_len(titles[-1]) - excess)
    return text.replace(f'"{titles[-1]}"', f'"{cut(titles[-1], room)}"', 1)
