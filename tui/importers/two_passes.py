"""Long files that are read twice: all lines for facts, places and links, then those with words.

Nothing of what is said stays in memory between the two.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import msgspec

from tui.files import open_regular
from tui.importers.contents import title
from tui.importers.json_lines import decode_again
from tui.importers.protocol import Heading
from tui.importers.times import utc

_Line = TypeVar("_Line")


class Place(NamedTuple):
    """The place of a line: offset and length in bytes, and a number of its own."""

    offset: int
    length: int = 0
    number: int = -1


class Facts(msgspec.Struct):
    """The facts of a heading, as they are found."""

    source_id: str
    name: str = ""
    project: str = ""
    created: Any = None
    updated: Any = None
    """The last one; it is converted once, at the end."""
    model: str = ""
    version: str = ""
    root: str = ""

    def heading(self) -> Heading:
        return Heading(
            self.source_id,
            name=title(self.name),
            project_path=self.project,
            created_at=utc(self.created),
            updated_at=utc(self.updated),
            model=self.model,
            version=self.version,
            root=self.root,
        )


@contextmanager
def read_again(
    path: Path, decoder: msgspec.json.Decoder[_Line]
) -> Generator[Callable[[Place], _Line]]:
    """Open a file whose lines are read by their places. Raises ``OSError``, ``SourceChanged``."""
    descriptor = open_regular(path, follow=True)
    try:
        yield lambda place: decode_again(descriptor, place.offset, place.length, decoder)
    finally:
        os.close(descriptor)
