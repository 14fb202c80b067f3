"""A sidebar alone on a screen, and rows for it."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from textual import on
from textual.app import App

from tests.waiting import until
from tui.app.input_queue import InputQueue
from tui.domain.timestamps import format_utc
from tui.domain.views.session_rows import Group, SessionRow, SessionRows
from tui.widgets import intents
from tui.widgets.intents import CommandInvoked
from tui.widgets.sidebar import Sidebar
from tui.widgets.sidebar.rows_view import RowsView

NOW = datetime(2026, 1, 20, 12, 0, 0, tzinfo=UTC)
STYLES = Path(__file__).parents[3] / "styles"


class World(App):
    """A sidebar alone on a screen, and what it said."""

    CSS_PATH = STYLES / "sidebar.tcss"

    def __init__(self):
        super().__init__()
        self.said = []
        self.input_queue = InputQueue(self, super().on_event)

    async def on_event(self, event):
        await self.input_queue.on_event(event)

    def compose(self):
        yield Sidebar()

    @on(intents.SessionSelected)
    @on(intents.MoreWanted)
    @on(intents.ScopeToggled)
    @on(intents.DeletionConfirmed)
    @on(intents.SessionRenamed)
    @on(intents.GroupUnfolded)
    @on(intents.SessionPinned)
    @on(intents.WidthChanged)
    @on(CommandInvoked)
    def hear(self, event):
        self.said.append(event)

    def heard(self, kind):
        return [message for message in self.said if isinstance(message, kind)]

    @property
    def sidebar(self):
        return self.query_one(Sidebar)

    @property
    def list(self):
        return self.query_one(RowsView)

    @property
    def highlighted(self):
        """The id of the highlighted session; ``None`` on a heading."""
        return self.list.highlighted.id if self.list.highlighted else None

    @property
    def lines(self):
        """The lines of the list as they are drawn, without blank ones at the end."""
        drawn = [self.list.render_line(y).text.rstrip() for y in range(self.list.size.height)]
        while drawn and not drawn[-1]:
            drawn.pop()
        return drawn

    @property
    def note(self):
        return str(self.query_one(".sidebar--note").render()).splitlines()

    def line_of(self, words):
        """Where on the list the line with these words is."""
        (found,) = [y for y, line in enumerate(self.lines) if words in line]
        return found


def row(number, group=Group.TODAY, minutes=0, **fields):
    known = {
        "id": f"session-{number}",
        "label": f"Session {number}",
        "group": group,
        "last_used_at": format_utc(NOW - timedelta(minutes=minutes)),
        "message_count": 3,
    }
    return SessionRow(**{**known, **fields})


def rows(*found, current="", **fields):
    return SessionRows(found, current or (found[0].id if found else ""), **fields)


def many(count, start=0, **fields):
    return rows(*(row(f"{number:05}") for number in range(start, start + count)), **fields)


async def ask(app, pilot, *keys):
    """Press keys and ``d``, until the question is on screen."""
    await pilot.press(*keys, "d")
    await until(lambda: app.list.can_be_answered, "the question")


@asynccontextmanager
async def shown(given_rows=None, size=(128, 20)):
    """A world that shows rows and has the focus on them."""
    app = World()
    async with app.run_test(size=size) as pilot:
        if given_rows is not None:
            app.sidebar.show_rows(given_rows, NOW)
        app.sidebar.focus()
        await until(lambda: app.list.has_focus and app.list.size.height, "the focus")
        yield app, pilot


async def scrolled(app, top):
    """Scroll as a mouse does, which leaves the highlight where it is."""
    await until(lambda: app.list.show_vertical_scrollbar, "the scroll bar")
    app.list.scroll_to(y=top, animate=False)
