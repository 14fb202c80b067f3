"""The private members of Textual and Rich that widgets need, under public names.

Each has its reason here, and a test that fails by its name when they change it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import rich._wrap
import rich.cells
from rich.text import Text
from textual.document import _wrapped_document
from textual.geometry import Size
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.widgets import Input, TextArea
from textual.widgets.text_area import (
    DocumentBase,
    DocumentNavigator,
    EditResult,
    Location,
    WrappedDocument,
)

if TYPE_CHECKING:
    from textual.selection import SelectState
    from textual.widget import Widget


class InputBase(Input):
    """Textual counts code points in both, which parts what is drawn as one character."""

    def shown_text(self) -> Text:
        """The text as it is drawn."""
        return super()._value

    def index_at(self, cells: int) -> int:
        """The index of the character so many cells from the left edge."""
        return super()._cell_offset_to_index(cells)

    @property
    def _value(self) -> Text:
        return self.shown_text()

    def _cell_offset_to_index(self, offset: int) -> int:
        return self.index_at(offset)


class ScreenBase(Screen[None]):
    """Textual knows only the widget under the pointer, and says of it in no message."""

    def adjusted_selection(self, state: "SelectState") -> "SelectState":
        """A selection as it is to be shown; called whenever the pointer moves or scrolls."""
        return state

    def adjusted_scrolling(
        self,
        state: "SelectState",  # noqa: ARG002 - for subclasses
        widget: "Widget",
        pointer: tuple[float, float],
    ) -> "tuple[Widget, tuple[float, float]]":
        """The widget that a selection scrolls, and the place of the pointer over it."""
        return widget, pointer

    def _watch__select_state(self, select_state: "SelectState | None") -> None:
        if select_state is not None:
            select_state = self.adjusted_selection(select_state)
            self.set_reactive(Screen._select_state, select_state)  # pyright: ignore[reportArgumentType]
        super()._watch__select_state(select_state)

    def _check_auto_scroll(
        self, select_widget: "Widget", mouse_coordinate: tuple[float, float], delta_y: float
    ) -> None:
        state = self._select_state
        if state is not None:
            select_widget, mouse_coordinate = self.adjusted_scrolling(
                state, select_widget, mouse_coordinate
            )
        super()._check_auto_scroll(select_widget, mouse_coordinate, delta_y)


class ScrollViewBase(ScrollView):
    """While Textual gives it another size, ``is_resizing``: what scrolls then is no reader."""

    is_resizing = False

    def _size_updated(
        self,
        size: Size,
        virtual_size: Size,
        container_size: Size,
        layout: bool = True,  # noqa: FBT001, FBT002 - Textual's signature
    ) -> bool:
        self.is_resizing = True
        try:
            return super()._size_updated(size, virtual_size, container_size, layout)
        finally:
            self.is_resizing = False


class TextAreaBase(TextArea, inherit_bindings=False):
    """A text area of which a subclass makes the document, and sees each text that is typed.

    The terminal's cursor follows the caret: input methods open their window at it, and Textual
    leaves it where it was when the widget moves.
    """

    _wrapped: tuple[WrappedDocument, int] | None = None

    def make_document(self, text: str) -> tuple[DocumentBase, WrappedDocument, DocumentNavigator]:
        """Make the document of a text, its rows as they are seen, and the moves of the caret."""
        raise NotImplementedError

    def replace_typed(self, insert: str, start: Location, end: Location) -> EditResult | None:
        """Put a text that was typed or pasted in the place of a range."""
        return super()._replace_via_keyboard(insert, start, end)

    def restart_blink(self) -> None:
        """Show the caret now, as after a key that was handled elsewhere."""
        self._restart_blink()

    def _replace_via_keyboard(
        self, insert: str, start: Location, end: Location
    ) -> EditResult | None:
        return self.replace_typed(insert, start, end)

    def _set_document(
        self,
        text: str,
        language: str | None,  # noqa: ARG002 - Textual's signature
    ) -> None:
        self.document, self.wrapped_document, self.navigator = self.make_document(text)
        self._build_highlight_map()
        self.move_cursor((0, 0))
        self._rewrap_and_refresh_virtual_size()

    def _rewrap_and_refresh_virtual_size(self) -> None:
        if self._wrapped == (self.wrapped_document, self.wrap_width):
            # Only the height changed; a long text takes a third of a second to wrap.
            self._refresh_size()
        else:
            super()._rewrap_and_refresh_virtual_size()
            # Wrapping may have brought the scrollbar, and with it another width.
            self._wrapped = self.wrapped_document, self.wrap_width
        if self.is_mounted:
            self.scroll_cursor_visible()
            self._place_terminal_cursor()

    def _size_updated(
        self,
        size: Size,
        virtual_size: Size,
        container_size: Size,
        layout: bool = True,  # noqa: FBT001, FBT002 - Textual's signature
    ) -> bool:
        has_changed = super()._size_updated(size, virtual_size, container_size, layout)
        self._place_terminal_cursor()
        return has_changed

    def _place_terminal_cursor(self) -> None:
        if self.has_focus:
            self.app.cursor_position = self.cursor_screen_offset  # pyright: ignore[reportUnknownMemberType]


def adjust_wrapping(adjust: Callable[[str, list[int]], list[int]]) -> None:
    """Let ``adjust`` change the columns at which every wrapped line of the process breaks.

    Textual calls a function of its own module, which nothing else can reach.
    """
    compute = _wrapped_document.compute_wrap_offsets  # pyright: ignore[reportPrivateImportUsage]

    def compute_adjusted(text: str, *arguments: Any, **options: Any) -> list[int]:
        return adjust(text, compute(text, *arguments, **options))

    _wrapped_document.compute_wrap_offsets = compute_adjusted  # pyright: ignore[reportPrivateImportUsage]


def adjust_cells(adjust: Callable[[str], str]) -> None:
    """Let Rich count and cut what ``adjust`` makes of a text, which must be as long.

    Rich takes every zero width joiner for one that joins, and has no setting for it.
    """
    split, count = rich.cells.split_graphemes, rich.cells._cell_len  # pyright: ignore[reportPrivateUsage]

    def split_adjusted(text: str, *version: Any) -> tuple[list[rich.cells.CellSpan], int]:
        return split(adjust(text), *version)

    def count_adjusted(text: str, *version: Any) -> int:
        return count(adjust(text), *version)

    rich.cells.split_graphemes = split_adjusted
    rich.cells._cell_len = count_adjusted  # pyright: ignore[reportPrivateUsage]


def wrap_narrow_widgets() -> None:
    """Wrap at one cell where a widget has no column left: Rich and Textual fail with an error."""
    chop = rich.cells.chop_cells

    def chop_at_least_one(text: str, width: int, *version: Any) -> list[str]:
        return chop(text, max(width, 1), *version)

    rich._wrap.chop_cells = chop_at_least_one  # pyright: ignore[reportPrivateImportUsage]
