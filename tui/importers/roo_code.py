"""Roo Code's tasks: Cline's format, with times, and summaries beside what they stand for."""

from collections.abc import Iterator

from tui.importers.cline_tasks import extension_tasks, reader, sources
from tui.importers.protocol import Places, Source


def _find(places: Places) -> Iterator[Source]:
    yield from sources(extension_tasks(places, "rooveterinaryinc.roo-cline"))


READER = reader("roo-code", "Roo Code", _find)
