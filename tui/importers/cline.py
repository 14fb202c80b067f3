"""Cline's tasks: of its extension in editors, and of its command line."""

from collections.abc import Iterator

from tui.importers.cline_tasks import extension_tasks, newest_sources, reader, sources
from tui.importers.protocol import Places, Source


def _find(places: Places) -> Iterator[Source]:
    data = places.home / ".cline" / "data"
    yield from sources(extension_tasks(places, "saoudrizwan.claude-dev"))
    yield from sources(iter(places.glob(data, "tasks/*")))
    yield from newest_sources(places, data / "sessions")


READER = reader("cline", "Cline", _find)
