"""Moving code to the left and right: that of a message, or all that is in sight."""

from collections.abc import Sequence

from tui.widgets.transcript.document.document import Document, DocumentRow
from tui.widgets.transcript.document.items import Item
from tui.widgets.transcript.rendering.code_blocks import Code, Sideways


def move_code(
    conversation: Document, rows: Sequence[DocumentRow], item: Item | None, cells: int
) -> bool:
    """Move the code of an item that is on screen, else all on screen; whether anything moved."""
    codes = {part: row.spot.item for row in rows if isinstance(part := row.part, Code)}
    if item in codes.values():
        codes = {part: owner for part, owner in codes.items() if owner is item}
    moved = False
    for sideways, (owner, room) in _fences(codes).items():
        if sideways.move(cells, room):
            redraw_fence(conversation, owner, sideways)
            moved = True
    return moved


def redraw_fence(conversation: Document, item: Item, sideways: Sideways) -> None:
    """The code of a fence was moved: its rows are no longer what they were."""
    parts = item.parts()
    conversation.redraw([p for p in parts if isinstance(p, Code) and p.sideways is sideways])


def _fences(codes: dict[Code, Item]) -> dict[Sideways, tuple[Item, int]]:
    return {part.sideways: (item, part.room) for part, item in codes.items()}
