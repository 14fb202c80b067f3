"""The editor inside the prompt: a text area with the keys of a shell, and folded pastes."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import TextArea
from textual.widgets.text_area import Edit, EditResult, Location, Selection

from tui.domain.references import OWN_SIGN, SIGN, own_words, unmarked, without_marks
from tui.widgets.graphemes import JOINERS, word_around
from tui.widgets.intents import CommandInvoked, CopyRequested
from tui.widgets.keys import PROMPT, PROMPT_COMPLETION
from tui.widgets.line_input import GraphemeText
from tui.widgets.prompt.prompt_document import (
    Paste,
    PromptDocument,
    PromptNavigator,
    PromptRow,
    Rows,
    WholeCharacters,
    is_long,
    marked_rows,
)
from tui.widgets.textual_bases import TextAreaBase

PLACEHOLDERS = (
    "Message · / commands · @ files · ? help",
    "/ commands · @ files · ? help",
    "/ · @ · ?",
)
MOST_PASTES = 20
"""Of those that are folded again where they occur."""
LINE_BREAK_KEYS = frozenset({"shift+enter", "alt+enter", "ctrl+j"})

# Textual's editor has another action for them or none.
_SHELL_KEYS = (
    Binding("ctrl+a", "line_start", "Go to the beginning of the line", show=False),
    Binding("ctrl+e", "line_end", "Go to the end of the line", show=False),
    Binding("alt+left", "cursor_word_left", "Go a word left", show=False),
    Binding("alt+right", "cursor_word_right", "Go a word right", show=False),
    Binding("alt+d,ctrl+delete", "delete_word_right", "Cut the next word", show=False),
    # Textual has it from 8.2.8 on.
    Binding("alt+backspace", "delete_word_left", "Cut the last word", show=False),
    Binding("ctrl+underscore", "undo", "Undo", show=False),
)
_REBOUND = frozenset({"ctrl+a", "ctrl+e"})


class Editor(TextAreaBase, inherit_bindings=False):
    """A multi-line editor of plain text.

    ``press`` is offered each key first and returns whether it handled it. ``edited`` is called
    right after each change, before the next key; ``pasted`` after a paste.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *[each for each in Binding.make_bindings(TextArea.BINDINGS) if each.key not in _REBOUND],
        *_SHELL_KEYS,
        *PROMPT,
        PROMPT_COMPLETION,
    ]

    document: PromptDocument  # pyright: ignore[reportIncompatibleVariableOverride]
    navigator: PromptNavigator  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(
        self,
        press: Callable[[str], bool],
        edited: Callable[[], None],
        pasted: Callable[[Paste], None],
    ) -> None:
        self._press = press
        self._edited = edited
        self._pasted = pasted
        self._pastes: tuple[str, ...] = ()
        """The last long pastes, the newest first."""
        self._killed: tuple[str, object] = "", None
        """The text that was cut last, and the caret and its row then."""
        super().__init__(
            theme="css", highlight_cursor_line=False, placeholder=Content(PLACEHOLDERS[0])
        )

    # The text.

    def fold_pastes(self, texts: Sequence[str]) -> None:
        """Show these texts folded, wherever they occur in the prompt from now on."""
        self._pastes = tuple(dict.fromkeys((*texts, *self._pastes)))[:MOST_PASTES]

    def _marked(self, text: str, own: Collection[str]) -> Rows:
        """Cut a text into rows; ``own`` are the user's references in it."""
        return Rows(marked_rows(text, self._pastes, own))

    def load_text(self, text: str, own: Collection[str] = ()) -> None:
        """Show another text with the caret at its end, and forget the undo history.

        ``own`` are the references in it that are the user's own.
        """
        super().load_text(self._marked(text, own))
        self.move_cursor(self.document.end)

    def replace_text(self, text: str, own: Collection[str] = ()) -> None:
        """Replace the whole text, as an edit that can be undone."""
        rows = self._marked(text, own)
        self.replace(rows, (0, 0), self.document.end, maintain_selection_offset=False)

    @property
    def before_caret(self) -> str:
        """The text of the caret's row before it; empty where something is selected."""
        row, _ = caret = self.cursor_location
        if self.document.is_folded(row) or not self.selection.is_empty:
            return ""
        return self.document.get_text_range((row, 0), caret)

    def put_reference(self, text: str, start: int) -> None:
        """Replace the reference from a column to the caret; one to a folder can be continued."""
        row, end = self.cursor_location
        behind = self.document[row][end : end + 1]
        # Of a folder it was continued in.
        end += behind == '"' and text.rstrip().endswith('"')
        end += text.endswith(" ") and self.document[row][end : end + 1] == " "
        self.replace(_own(text), (row, start), (row, end), maintain_selection_offset=False)
        if text.endswith('/"'):
            self.move_cursor_relative(columns=-1)

    def replace_typed(self, insert: str, start: Location, end: Location) -> EditResult | None:
        # Terminals send line breaks in a paste as carriage returns.
        text = without_marks(insert).replace("\r\n", "\n").replace("\r", "\n")
        if is_long(text):
            self.fold_pastes([text])
            text = Rows([PromptRow(text, folded=True)])
        return super().replace_typed(text, start, end)

    def edit(self, edit: Edit) -> EditResult:
        top, bottom = self.document.beside_folds(edit.top, edit.bottom)
        edit = replace(edit, from_location=top, to_location=bottom)
        # Textual undoes several edits as a batch, but expects each to stay within a row.
        if self.document.stays_in_row(top, bottom, edit.text):
            return super().edit(edit)
        self.history.checkpoint()
        result = super().edit(edit)
        self.history.checkpoint()
        return result

    def make_document(self, text: str) -> tuple[PromptDocument, WholeCharacters, PromptNavigator]:
        document = PromptDocument(text)
        wrapped = WholeCharacters(document, tab_width=self.indent_width)
        return document, wrapped, PromptNavigator(wrapped, document)

    def update_suggestion(self) -> None:
        # Textual calls no other hook right after each edit, undo, redo and load.
        self._edited()

    def break_at_backslash(self) -> bool:
        """Put a line break in the place of a backslash before the caret.

        Not of one that another backslash makes a character, as in a shell.
        """
        before = self.before_caret
        if (len(before) - len(before.rstrip("\\"))) % 2 == 0:
            return False
        self.replace_typed("\n", self.get_cursor_left_location(), self.cursor_location)
        return True

    # The caret.

    @property
    def in_first_row(self) -> bool:
        """Check whether Up would leave the text."""
        return self.navigator.is_first_wrapped_line(self.cursor_location)

    def clamp_visitable(self, location: Location) -> Location:
        row, column = super().clamp_visitable(location)
        if not self.document.is_folded(row):
            return row, column
        length = len(self.document[row])
        return row, 0 if column < length // 2 else length

    def get_cursor_word_left_location(self) -> Location:
        return self.navigator.word_left(self.cursor_location)

    def get_cursor_word_right_location(self) -> Location:
        return self.navigator.word_right(self.cursor_location)

    def action_line_start(self) -> None:
        """Move the caret to the beginning of its line."""
        self.move_cursor(self.navigator.line_start(self.cursor_location))

    def action_line_end(self) -> None:
        """Move the caret to the end of its line."""
        self.move_cursor(self.navigator.line_end(self.cursor_location))

    def action_cursor_page_up(self) -> None:
        self._skip_if_all_is_visible()
        super().action_cursor_page_up()

    def action_cursor_page_down(self) -> None:
        self._skip_if_all_is_visible()
        super().action_cursor_page_down()

    def _skip_if_all_is_visible(self) -> None:
        # The key is meant for the transcript then.
        if self.wrapped_document.height <= self.content_size.height:
            raise SkipAction

    def action_cursor_line_end(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        if not self.text:
            # The key is meant for the transcript: go to its end.
            raise SkipAction
        super().action_cursor_line_end(select)

    def action_cursor_down(self, select: bool = False) -> None:  # noqa: FBT001, FBT002 - Textual's signature
        if not self.text:
            # The key is meant for a question below.
            raise SkipAction
        super().action_cursor_down(select)

    def on_click(self, event: events.Click) -> None:
        """Select a word on a double click, a row on a triple click."""
        if event.chain == 1:
            return
        row, column = self.get_target_document_location(event)
        line = self.document[row]
        start, end = word_around(line, column) if event.chain == 2 else (0, len(line))
        self.selection = Selection((row, start), (row, end))

    # Keys and pastes.

    async def on_key(self, event: events.Key) -> None:
        if event.key in LINE_BREAK_KEYS:
            self.replace_typed("\n", *self.selection)
        elif event.character in JOINERS:
            self.replace_typed(event.character, *self.selection)
        elif event.character == SIGN:
            super().replace_typed(OWN_SIGN, *self.selection)
        elif not self._press(event.key) and not await self._run_binding(event):
            return
        self.restart_blink()
        event.stop()
        event.prevent_default()

    async def _run_binding(self, event: events.Key) -> bool:
        """Run a key's action at once: Textual would run it after the letters typed behind it."""
        if event.is_printable and not event.key.startswith("alt+"):
            return False
        # The active bindings: the user may have chosen other keys.
        bound = self.screen.active_bindings.get(event.key)
        if bound is None or bound.node is not self:
            return False
        return await self.app.run_action(bound.binding.action, self)  # pyright: ignore[reportUnknownMemberType]

    def on_paste(self, event: events.Paste) -> None:
        # Instead of Textual's own handler, which would run next and let the event bubble.
        event.stop()
        event.prevent_default()
        start = min(self.selection)
        result = self.replace_typed(event.text, *self.selection)
        if result is not None:
            self.move_cursor(result.end_location)
            text = self.document.get_text_range(start, result.end_location)
            self._pasted(Paste(text, start, result.end_location))

    def replace_paste(self, paste: Paste, text: str) -> None:
        """Put references in the place of a paste, unless something has changed there."""
        row, column = paste.start
        is_reference = self.document[row][:column].endswith(SIGN)
        if is_reference or self.document.get_text_range(paste.start, paste.end) != paste.text:
            return
        self.replace(_own(text, self.document[row][:column]), paste.start, paste.end)

    def insert_reference(self, word: str) -> None:
        """Put a reference in the place of the selection, apart from the text beside it."""
        start, end = sorted(self.selection)
        word = _own(f"{word} ", self.document[start[0]][: start[1]])
        self.replace(word, start, end, maintain_selection_offset=False)

    def action_copy(self) -> None:
        if not self.selected_text:
            raise SkipAction
        self.post_message(CopyRequested(self.selected_text))

    def action_unfold(self) -> None:
        """Show the text of the nearest folded paste above the caret, else of the first below."""
        caret = self.cursor_location[0]
        nearest = [*range(caret, -1, -1), *range(caret + 1, self.document.line_count)]
        row = next((each for each in nearest if self.document.is_folded(each)), None)
        if row is None:
            raise SkipAction
        start, end = (row, 0), (row, len(self.document[row]))
        text = self.document.get_text_range(start, end)
        self._pastes = tuple(paste for paste in self._pastes if paste != text)
        self.replace(text, start, end, maintain_selection_offset=False)

    def action_paste(self) -> None:
        if self.app.clipboard:  # pyright: ignore[reportUnknownMemberType]
            super().action_paste()
        else:
            # Nothing was copied here: the desktop's clipboard may have a picture.
            self.post_message(CommandInvoked("paste"))

    # Cutting, and putting back what was cut.

    def action_cut(self) -> None:
        if self.selection.is_empty:
            self.select_line(self.cursor_location[0])
        if self.selected_text:
            self.post_message(CopyRequested(self.selected_text))
            self.delete(*self.selection, maintain_selection_offset=False)

    def _kill(self, end: Location) -> None:
        """Cut the selection, or the text between the caret and ``end``.

        Consecutive cuts at the same place are joined.
        """
        selection = self.selection
        start, end = (self.cursor_location, end) if selection.is_empty else selection
        killed, place = self._killed
        earlier = killed if place == self._caret else ""
        cut = self.delete(start, end, maintain_selection_offset=False).replaced_text
        if cut:
            self._killed = cut + earlier if end < start else earlier + cut, self._caret

    @property
    def _caret(self) -> tuple[Location, str]:
        """The caret and its row: another value after every change."""
        return self.cursor_location, self.document[self.cursor_location[0]]

    def action_delete_word_left(self) -> None:
        self._kill(self.get_cursor_word_left_location())

    def action_delete_word_right(self) -> None:
        self._kill(self.get_cursor_word_right_location())

    def action_delete_to_start_of_line(self) -> None:
        start = self.navigator.line_start(self.cursor_location)
        is_there = self.cursor_location == start
        self._kill(self.get_cursor_left_location() if is_there else start)

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        end = self.navigator.line_end(self.cursor_location)
        is_there = self.cursor_location == end
        self._kill(self.get_cursor_right_location() if is_there else end)

    def action_redo(self) -> None:
        """Redo; with nothing to redo, insert the text that was cut last."""
        if self.history.redo_stack:
            super().action_redo()
        elif cut := self._killed[0]:
            rows = self._marked(unmarked(cut), own_words(cut))
            self.replace(rows, *self.selection, maintain_selection_offset=False)

    # Drawing.

    def on_resize(self) -> None:
        # A longer placeholder would wrap, and only its first row be visible.
        room = self.content_size.width
        fitting = (words for words in PLACEHOLDERS if len(words) < room)
        self.placeholder = Content(next(fitting, PLACEHOLDERS[-1]))

    def get_line(self, line_index: int) -> GraphemeText:
        return GraphemeText(self.document.get_line(line_index), end="", no_wrap=True)

    def find_matching_bracket(
        self,
        bracket: str,  # noqa: ARG002 - Textual's signature
        search_from: Location,  # noqa: ARG002 - the same
    ) -> Location | None:
        # Nothing shows the match, and the search would walk through all of a long text.
        return None


def _own(text: str, before: str = "") -> str:
    """Mark references that the program writes for the user, apart from the text before them."""
    return (" " if before and not before[-1].isspace() else "") + text.replace(SIGN, OWN_SIGN)
