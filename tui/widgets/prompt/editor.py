"""The editor inside the prompt: Textual's, with what it gets wrong for a prompt put right."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets import TextArea
from textual.widgets.text_area import DocumentBase, Edit, EditResult, Location

from tui.widgets.graphemes import JOINERS
from tui.widgets.prompt.caret import CaretArea, WholeCharacters
from tui.widgets.prompt.document import ROW_CHARACTERS, PromptDocument, Rows, cut, folded, is_long
from tui.widgets.prompt.editing_keys import with_shell_keys
from tui.widgets.prompt.kill_ring import KillRing

PLACEHOLDER, SHORT_PLACEHOLDER = "Message, or / for commands", "Message, or /"
# xterm's modifyOtherKeys makes of them a modifier and a literal carriage return.
LINE_BREAK_KEYS = frozenset({"shift+enter", "shift+\r", "alt+enter", "alt+\r", "ctrl+j"})
_PASTES = 20
"""How many pastes are folded again where their text comes back."""


class Editor(CaretArea, inherit_bindings=False):
    """Several lines of plain text.

    Each key is first offered to ``press``, which says whether it took it; ``edited`` is called at
    once after each change, before the next key is looked at.
    """

    OWN_BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+o", "unfold", "Show a folded paste whole", id="prompt-unfold", show=False)
    ]
    BINDINGS: ClassVar[list[BindingType]] = [
        *with_shell_keys(TextArea.BINDINGS),
        *OWN_BINDINGS,
        # What it does is the prompt's: it is here for the line of keys.
        Binding("tab", "complete", "Complete", id="prompt-complete", show=False),
    ]

    class CopyRequested(Message):
        """The user wants this text on the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, press: Callable[[str], bool], edited: Callable[[], None]) -> None:
        self._press = press
        self._edited = edited
        self._pastes: tuple[str, ...] = ()
        self._kills = KillRing()
        super().__init__(theme="css", highlight_cursor_line=False, placeholder=Content(PLACEHOLDER))

    @property
    def in_first_row(self) -> bool:
        """Whether the caret is where Up leads out of the text."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    @property
    def in_last_row(self) -> bool:
        """Whether the caret is where Down leads out of the text."""
        return self.navigator.is_last_wrapped_line(self.cursor_location)

    @property
    def pastes(self) -> Sequence[str]:
        """The texts that are shown as one mark, from the top."""
        document = self.document
        return document.pastes if isinstance(document, PromptDocument) else ()

    def remember_pastes(self, pastes: Sequence[str]) -> None:
        """Fold these again where they occur in what is loaded."""
        self._pastes = tuple(dict.fromkeys((*pastes, *self._pastes)))[:_PASTES]

    def load_text(self, text: str) -> None:
        """Show another text, the caret at its end; what was before cannot be undone."""
        super().load_text(text)
        self.move_cursor(self.document.end)

    def replace_text(self, text: str) -> None:
        """Put another text in the place of the whole, as an edit that can be undone."""
        rows = Rows(cut(text, self._pastes))
        self.replace(rows, (0, 0), self.document.end, maintain_selection_offset=False)

    def move_to_first_row(self) -> None:
        """Put the caret at the end of the first row."""
        self.move_cursor(self.navigator.get_location_end((0, 0)))

    def on_resize(self) -> None:
        # It would be wrapped, and only its first row be seen.
        has_room = self.content_size.width > len(PLACEHOLDER)
        self.placeholder = Content(PLACEHOLDER if has_room else SHORT_PLACEHOLDER)

    async def on_key(self, event: events.Key) -> None:
        if event.key in LINE_BREAK_KEYS:
            self.replace_typed("\n", *self.selection)
        elif event.character in JOINERS:
            self.replace_typed(event.character, *self.selection)
        elif not self._press(event.key) and not await self._act(event):
            return
        self.restart_blink()
        event.stop()
        event.prevent_default()

    async def _act(self, event: events.Key) -> bool:
        """Do at once what a key is bound to here; Textual would after the letters that follow."""
        if event.is_printable and not event.key.startswith("alt+"):
            return False
        # The active ones: the user may have chosen other keys.
        bound = self.screen.active_bindings.get(event.key)
        if bound is None or bound.node is not self:
            return False
        return await self.app.run_action(bound.binding.action, self)  # pyright: ignore[reportUnknownMemberType]

    def on_paste(self, event: events.Paste) -> None:
        # Textual's own handler goes on with it, and would let it bubble.
        event.stop()

    def action_copy(self) -> None:
        if not self.selected_text:
            raise SkipAction
        self.post_message(self.CopyRequested(self.selected_text))

    def action_unfold(self) -> None:
        """Show whole what the nearest mark above the caret stands for, else the first."""
        row = self.cursor_location[0]
        marks = [*range(row, -1, -1), *range(row + 1, self.document.line_count)]
        found = next((each for each in marks if self._is_folded(each)), None)
        if found is None:
            raise SkipAction
        start, end = (found, 0), (found, len(self.document[found]))
        text = self.document.get_text_range(start, end)
        self._pastes = tuple(paste for paste in self._pastes if paste != text)
        self.replace(text, start, end, maintain_selection_offset=False)

    def action_cut(self) -> None:
        if self.selection.is_empty:
            self.select_line(self.cursor_location[0])
        if self.selected_text:
            self.post_message(self.CopyRequested(self.selected_text))
            self.delete(*self.selection, maintain_selection_offset=False)

    def action_delete_word_left(self) -> None:
        self._kill(self.get_cursor_word_left_location())

    def action_delete_word_right(self) -> None:
        self._kill(self.get_cursor_word_right_location())

    def action_delete_to_start_of_line(self) -> None:
        at_start = self.cursor_location == self.line_start
        self._kill(self.get_cursor_left_location() if at_start else self.line_start)

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        at_end = self.cursor_location == self.line_end
        self._kill(self.get_cursor_right_location() if at_end else self.line_end)

    def _kill(self, end: Location) -> None:
        """Cut what is selected, else what is between the caret and a place."""
        start, end = (self.cursor_location, end) if self.selection.is_empty else self.selection
        before = self._caret
        result = self.delete(start, end, maintain_selection_offset=False)
        if result.replaced_text:
            self._kills.add(
                result.replaced_text, backwards=end < start, before=before, now=self._caret
            )

    @property
    def _caret(self) -> tuple[Location, str]:
        """Where the caret is in what: another after every change."""
        return self.cursor_location, self.document[self.cursor_location[0]]

    def action_redo(self) -> None:
        """Do again what was undone; if nothing was, put back what was cut."""
        if self.history.redo_stack:
            super().action_redo()
        elif self._kills.text:
            rows = Rows(cut(self._kills.text, self._pastes))
            self.replace(rows, *self.selection, maintain_selection_offset=False)

    def action_cursor_page_up(self) -> None:
        self._leave_if_all_is_seen()
        super().action_cursor_page_up()

    def action_cursor_page_down(self) -> None:
        self._leave_if_all_is_seen()
        super().action_cursor_page_down()

    def action_cursor_line_end(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's
        if not self.text:
            # It is the end of the conversation that is meant.
            raise SkipAction
        super().action_cursor_line_end(select)

    def update_suggestion(self) -> None:
        # The one hook that Textual calls at once, after each edit, undo, redo and load.
        self._edited()

    def edit(self, edit: Edit) -> EditResult:
        edit = self._beside_marks(edit)
        # Textual undoes several edits at once, but reckons only with those inside of a row.
        if self._stays_in_row(edit):
            return super().edit(edit)
        self.history.checkpoint()
        result = super().edit(edit)
        self.history.checkpoint()
        return result

    def find_matching_bracket(
        self,
        bracket: str,  # noqa: ARG002 - the signature is Textual's
        search_from: Location,  # noqa: ARG002 - the same
    ) -> Location | None:
        # Nothing shows it, and looking for it would walk through all of a long text.
        return None

    def _leave_if_all_is_seen(self) -> None:
        # The reader means the conversation then.
        if self.wrapped_document.height <= self.content_size.height:
            raise SkipAction

    def _beside_marks(self, edit: Edit) -> Edit:
        """The same edit, taking in the ends of the rows beside a mark that they belong to.

        Else what is deleted would leave two rows of one line, and what is typed begin a new one.
        """
        top, bottom = edit.top, edit.bottom
        before = (top[0] - 1, len(self.document[top[0] - 1])) if top[0] else top
        is_deletion = top != bottom
        if self._is_folded(top[0]) and top[1] == 0 and self._goes_on(top[0] - 1):
            if is_deletion:
                top = before
            elif not self._is_folded(before[0]):
                top = bottom = before
        row, column = bottom
        if self._is_folded(row) and column == len(self.document[row]) and self._goes_on(row):
            if is_deletion:
                bottom = row + 1, 0
            elif not self._is_folded(row + 1):
                top = bottom = row + 1, 0
        return replace(edit, from_location=top, to_location=bottom)

    def _stays_in_row(self, edit: Edit) -> bool:
        if edit.top[0] != edit.bottom[0] or self._is_folded(edit.top[0]):
            return False
        is_short = "\n" not in edit.text and len(edit.text) <= ROW_CHARACTERS
        return is_short and not isinstance(edit.text, Rows)

    def replace_typed(self, insert: str, start: Location, end: Location) -> EditResult | None:
        # Terminals send line breaks in a paste as carriage returns.
        lines = insert.replace("\r\n", "\n").replace("\r", "\n")
        if is_long(lines):
            self.remember_pastes([lines])
            lines = folded(lines)
        return super().replace_typed(lines, start, end)

    def new_document(self, text: str) -> PromptDocument:
        return PromptDocument(text, self._pastes)

    def new_wrapped_document(self, document: DocumentBase) -> WholeCharacters:
        return WholeCharacters(document, tab_width=self.indent_width)
