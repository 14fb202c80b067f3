"""The parts of the search screen."""

from tui.widgets.search.hit_list import HitList
from tui.widgets.search.preview_pane import PreviewPane

__all__ = ["HitList", "PreviewPane"]
