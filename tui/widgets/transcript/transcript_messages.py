"""The messages of the transcript, and which of them a click is."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from textual.message import Message

from tui.domain.journal.blocks import ImageBlock
from tui.widgets.intents import CopyRequested
from tui.widgets.transcript.row_blocks import Code, FoldLine, LineBlock, code_of
from tui.widgets.transcript.viewport import DocumentRow


@dataclass(eq=False, repr=False)
class PageWanted(Message, namespace="transcript"):
    """Messages of the session that are not loaded are wanted.

    The ``earlier`` or ``later`` ones, as the end of the others came near, or an end of the session.
    """

    which: Literal["earlier", "later", "beginning", "end"]


class PromptWanted(Message, namespace="transcript"):
    """The transcript was clicked: keys typed next go to the prompt."""


@dataclass(eq=False, repr=False)
class CodeWrapChanged(Message, namespace="transcript"):
    """Long lines of code wrap from now on, or are cut."""

    wraps: bool


@dataclass(eq=False, repr=False)
class MatchWanted(Message, namespace="transcript"):
    """The next match of the last search is wanted, or the one before."""

    count: int


@dataclass(eq=False, repr=False)
class VersionIntent(Message, namespace="transcript"):
    """Something is to be done with a message and its versions.

    Another answer to its question is wanted, it is to be edited and sent in its place, the session
    up to it is to be copied, or a version ``step`` further is to be shown.
    """

    message_id: str
    what: Literal["again", "edit", "fork", "step"]
    step: int = 0


@dataclass(eq=False, repr=False)
class LinksWanted(Message, namespace="transcript"):
    """One of these links or pictures is to be opened; each link is a target and its text."""

    links: Sequence[tuple[str, str]]
    pictures: Sequence[ImageBlock] = ()


def target_at(row: DocumentRow, cell: int) -> Message | FoldLine | None:
    """The intent of a click on a cell, or the line whose rows it folds."""
    block, item = row.block, row.spot.item
    code = ""
    if isinstance(block, Code) and block.copies_at(row.spot.row, row.strip, cell):
        code = code_of(block, item.blocks(), item.codes)
    if code:
        return CopyRequested(code)
    if isinstance(block, FoldLine):
        return block
    if isinstance(block, LineBlock) and isinstance(block.part, ImageBlock):
        return LinksWanted((), (block.part,))
    # Only if the cell is underlined or its row has an address: parsing the message is slower.
    style = next((segment.style for segment in row.strip.crop(cell, cell + 1)), None)
    may_be_link = (style and style.underline) or "://" in row.strip.text
    if item.message is None or not may_be_link:
        return None
    from tui.widgets.transcript.message_links import link_at, links_of

    place = len(row.strip.crop(0, cell).text)
    links = link_at(links_of(item.message), row.strip.text, place)
    return LinksWanted([(link.target, link.text) for link in links]) if links else None
