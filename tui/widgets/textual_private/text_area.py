"""A text area with a document of its own, and whole characters in every wrapped row."""

from collections.abc import Callable
from typing import Any

from textual.document import _wrapped_document
from textual.geometry import Size
from textual.widgets import TextArea
from textual.widgets.text_area import (
    DocumentBase,
    DocumentNavigator,
    EditResult,
    Location,
    WrappedDocument,
)


class TextAreaBase(TextArea, inherit_bindings=False):
    """A text area of which a subclass makes the document, and sees each text that is typed.

    The terminal's cursor follows the caret: input methods open their window at it, and Textual
    leaves it where it was when the widget moves.
    """

    _wrapped: tuple[WrappedDocument, int] | None = None

    def new_document(self, text: str) -> DocumentBase:
        """Make the document for a text that is loaded."""
        raise NotImplementedError

    def new_wrapped_document(self, document: DocumentBase) -> WrappedDocument:
        """Make the rows of a document as they are seen."""
        return WrappedDocument(document, tab_width=self.indent_width)

    def new_navigator(self, wrapped: WrappedDocument) -> DocumentNavigator:
        """Make the object that knows where each key moves the caret."""
        return DocumentNavigator(wrapped)

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
        self.document = self.new_document(text)
        self.wrapped_document = self.new_wrapped_document(self.document)
        self.navigator = self.new_navigator(self.wrapped_document)
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
