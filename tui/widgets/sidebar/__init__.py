"""The sidebar: sessions under headings, with a filter."""

from tui.widgets.sidebar.sidebar import Sidebar

__all__ = ["Sidebar"]
