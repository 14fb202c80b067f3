"""Sizes of the chat screen, in cells: one source for the first frame, the screen and the sidebar.

The first frame imports this before anything else: constants only.
"""

LEAST_COLUMNS, LEAST_ROWS = 40, 10
"""A smaller screen shows nothing but these numbers."""

SIDEBAR_FROM_COLUMNS = 100
"""On a narrower screen the sidebar comes over the conversation while it is used."""

KEY_LINE_FROM_ROWS = 15

LEAST_SIDEBAR, MOST_SIDEBAR = 20, 60
"""Bounds of a width that the user has set, its edge included."""

MOST_SIDEBAR_PERCENT = 60
USUAL_SIDEBAR_PERCENT = 25
LEAST_USUAL_SIDEBAR, MOST_USUAL_SIDEBAR = 24, 60
"""Bounds of the width while the user has set none."""
