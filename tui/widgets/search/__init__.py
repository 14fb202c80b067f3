"""The parts of the search screen."""

from tui.widgets.search.hit_list import HitList
from tui.widgets.search.preview_pane import PreviewPane
from tui.widgets.search.query_line import QueryLine

__all__ = ["HitList", "PreviewPane", "QueryLine"]
