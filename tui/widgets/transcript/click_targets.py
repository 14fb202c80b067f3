"""What a click on a row of the transcript is for."""

from textual.message import Message

from tui.widgets.intents import CopyRequested
from tui.widgets.transcript.document import DocumentRow
from tui.widgets.transcript.foldable import PictureLine
from tui.widgets.transcript.row_blocks import Code, FoldLine, code_of
from tui.widgets.transcript.transcript_messages import LinksWanted


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
    if isinstance(block, PictureLine):
        return LinksWanted((), (block.picture,))
    if item.message is None or not _may_be_link(row, cell):
        return None
    from tui.widgets.transcript.message_links import link_at, links_of

    place = len(row.strip.crop(0, cell).text)
    links = link_at(links_of(item.message), row.strip.text, place)
    return LinksWanted([(link.target, link.text) for link in links]) if links else None


def _may_be_link(row: DocumentRow, cell: int) -> bool:
    """True if a cell is underlined or its row has an address: parsing the message is slower."""
    style = next((segment.style for segment in row.strip.crop(cell, cell + 1)), None)
    return bool(style and style.underline) or "://" in row.strip.text
