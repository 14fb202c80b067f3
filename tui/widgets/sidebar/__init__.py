"""The list of sessions at the side: rows under headings, a filter, and what they are rows of."""

from tui.widgets.sidebar.sidebar import Sidebar

__all__ = ["Sidebar"]
