"""The log of imports: the sources that were read, and the sessions that came from them."""

from collections.abc import Iterable

import msgspec

from tui.domain.journal.json_text import journal_json
from tui.domain.json_limits import Count

PROMPTS_ONLY = "Prompts only: "
"""Begins the name of a session of which its program had deleted all but the prompts."""


class ImportLine(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """A line of the log: a conversation that became a session, or the end of a source.

    The last line about a session counts, and the last ``whole`` one about a source.
    """

    at: str
    program: str
    path: str
    """Of the source."""
    device: int = 0
    inode: int = 0
    size: Count = 0
    """Of the source, in bytes, when its reading began."""
    mtime: int = 0
    """Of the source, in nanoseconds since 1970, when its reading began."""
    source_id: str = ""
    """The program's own id of the conversation; empty in a line about the source only."""
    root: str = ""
    """The tree that the conversation is part of, if it is not the only part."""
    id: str = ""
    """The session's id here."""
    beginning: tuple[str, ...] = ()
    """The ids here of its first messages, if other conversations may have its ``source_id``."""
    prompts_only: bool = False
    """True if its program had deleted all of the conversation but the prompts."""
    revision: int = 0
    """Of the reader: a higher one reads the source again."""
    replaced: bool = False
    """True if its messages are in another session of the source, which was cut off before."""
    whole: bool = False
    """True in the last line of a source that was read to its end."""


def came_from(name: str, lines: Iterable[ImportLine]) -> list[str]:
    """The sessions here of an id in a program, which may stand before it: ``claude-code:ID``."""
    if not name:
        return []
    named = (each for each in lines if name in (each.source_id, f"{each.program}:{each.source_id}"))
    return [*dict.fromkeys(each.id for each in named if each.id)]


def bytes_naming(name: str) -> bytes:
    """The bytes that all encoded lines have from which such a session came."""
    return journal_json(name.partition(":")[2] or name)[1:-1]


def is_unknown(reason: str) -> bool:
    """Tell a shape that a reader does not know from one that it leaves out by rule."""
    return reason.startswith("unknown ")


def is_block(reason: str) -> bool:
    """Tell a block of an unknown type, which is kept as text, from a record that is left out."""
    return reason.startswith("unknown block")
