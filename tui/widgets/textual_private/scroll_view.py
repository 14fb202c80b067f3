"""A scroll view that can tell its reader's scrolling from its own."""

from textual.geometry import Size
from textual.scroll_view import ScrollView


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
