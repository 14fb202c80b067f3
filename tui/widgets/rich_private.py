"""The functions by which Rich counts, cuts and wraps cells, in the whole process."""

from collections.abc import Callable
from typing import Any

import rich._wrap
import rich.cells

# pyright: reportPrivateUsage=false


def adjust_cells(adjust: Callable[[str], str]) -> None:
    """Let Rich count and cut what ``adjust`` makes of a text, which must be as long.

    Rich takes every zero width joiner for one that joins, and has no setting for it.
    """
    split, count = rich.cells.split_graphemes, rich.cells._cell_len

    def split_adjusted(text: str, *version: Any) -> tuple[list[rich.cells.CellSpan], int]:
        return split(adjust(text), *version)

    def count_adjusted(text: str, *version: Any) -> int:
        return count(adjust(text), *version)

    rich.cells.split_graphemes = split_adjusted
    rich.cells._cell_len = count_adjusted


def wrap_narrow_widgets() -> None:
    """Wrap at one cell where a widget has no column left: Rich and Textual fail with an error."""
    chop = rich.cells.chop_cells

    def chop_at_least_one(text: str, width: int, *version: Any) -> list[str]:
        return chop(text, max(width, 1), *version)

    rich._wrap.chop_cells = chop_at_least_one  # pyright: ignore[reportPrivateImportUsage]
