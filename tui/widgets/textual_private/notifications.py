"""The notifications on screen: no public member gives them."""

# pyright: reportPrivateUsage=false

from collections.abc import Iterable

from textual.notifications import Notification
from textual.widget import Widget


def notifications(widget: Widget) -> Iterable[Notification]:
    """Return those of the application that are still shown."""
    return widget.app._notifications  # pyright: ignore[reportUnknownMemberType]
