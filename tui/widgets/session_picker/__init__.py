"""The parts of the session picker."""

from tui.widgets.session_picker.picker_list import PickerList

__all__ = ["PickerList"]
