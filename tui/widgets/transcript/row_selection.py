"""Text selection with the mouse: offsets that hold while rows above them change."""

from collections.abc import Sequence

from rich.style import Style
from textual.geometry import Offset, Region
from textual.message import Message
from textual.screen import Screen
from textual.selection import Selection
from textual.strip import Strip

from tui.domain.journal.message import ImageBlock
from tui.domain.text import late_pattern
from tui.widgets.intents import CopyRequested, LinksWanted
from tui.widgets.transcript.canvas import is_text, joint
from tui.widgets.transcript.document import Document
from tui.widgets.transcript.row_blocks import Code, FoldLine, LineBlock, ProseBlock, code_of
from tui.widgets.transcript.viewport import DocumentRow, Spot

_QUOTED = late_pattern(r"^ *(?:▌ )+")

_BLOCKS = 1 << 24
"""More than the blocks of an item."""
_ROWS = 1 << 16
"""More than the rows of a block."""
_EDGE = 1 << 20


def number_of(spot: Spot) -> int:
    """A number for a row, in the order of rows, that does not change while others come and go."""
    return (spot.item.order * _BLOCKS + spot.block) * _ROWS + spot.row


def selected(strip: Strip, margin: int, y: int, selection: Selection) -> tuple[int, int] | None:
    """The selected characters of a row, without its margin."""
    span = selection.get_span(y)
    if span is None:
        return None
    length = len(strip.text.rstrip())
    start, end = span
    start, end = max(start, margin), length if end == -1 else min(end, length)
    return (start, end) if start < end else None


def look_of_selected(screen: Screen[object]) -> Style:
    """The style of selected text: most themes keep the text's colour and say transparent."""
    look = screen.get_component_rich_style("screen--selection")
    if screen.get_component_styles("screen--selection").color.a:
        return look
    # Blended with its background, a transparent colour would be the background's.
    return Style(bgcolor=look.bgcolor)


def selection_of(row: DocumentRow, *, whole_item: bool) -> Selection:
    """A selection of all rows of a row's block, or of its whole item."""
    item, block = row.spot.item, row.spot.block
    first, end = (0, len(item.blocks())) if whole_item else (block, block + 1)
    last = number_of(Spot(item, end, 0)) - 1
    return Selection(Offset(0, number_of(Spot(item, first, 0))), Offset(_EDGE, last))


def offset_at(rows: Sequence[DocumentRow], region: Region, pointer: Offset) -> Offset | None:
    """The offset of the character that is nearest to a place of the screen."""
    if not rows:
        return None
    last = len(rows) - 1
    x, y = pointer - region.offset
    row = rows[min(max(0, y), last)]
    cells = 0 if y < 0 else region.width if y > last else min(max(0, x), region.width)
    return Offset(len(row.strip.crop(0, cells).text), number_of(row.spot))


def selected_text(document: Document, selection: Selection) -> str:
    """The selected text with wrapped lines joined; an open end is that of the screen."""
    if not document.seen:
        return ""
    first, last = document.seen[0].spot, document.seen[-1].spot
    if selection.start is not None:
        first = _spot(document, selection.start.y)
    if selection.end is not None:
        last = _spot(document, selection.end.y)
    lines: list[str] = []
    for row in document.rows_between(first, last):
        if not is_text(row.strip):
            continue
        text, goes_on = _selected_part(row, selection), joint(row.strip)
        if lines and goes_on and text:
            between, begin = goes_on
            lines[-1] += between + text[max(0, begin - row.block.margin) :]
        else:
            lines.append(text)
    return "\n".join(lines)


def _selected_part(row: DocumentRow, selection: Selection) -> str:
    number, margin, text = number_of(row.spot), row.block.margin, row.strip.text
    cut = row.block.cut(row.spot.row)
    if cut is None:
        span = selected(row.strip, margin, number, selection)
        if isinstance(row.block, ProseBlock):
            # Quote marks as in Markdown.
            text = _QUOTED.sub(lambda marks: marks[0].replace("▌", ">"), text, count=1)
        return text[slice(*span)] if span else ""
    span = selection.get_span(number)
    if span is None:
        return ""
    # With the hidden text where the selection crosses an edge.
    start, end = span
    margin += cut.pad
    first = 0 if start < margin else cut.hidden + start - margin
    to_end = end == -1 or end - margin > cut.shown
    return cut.text[first : len(cut.text) if to_end else cut.hidden + max(0, end - margin)]


def _spot(document: Document, number: int) -> Spot:
    rest, row = divmod(number, _ROWS)
    order, block = divmod(rest, _BLOCKS)
    return Spot(document.layout[order - document.layout.first_order], block, row)


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
    from tui.widgets.transcript.rich_markdown import link_at, links_of

    place = len(row.strip.crop(0, cell).text)
    links = link_at(links_of(item.message), row.strip.text, place)
    return LinksWanted([(link.target, link.text) for link in links]) if links else None
