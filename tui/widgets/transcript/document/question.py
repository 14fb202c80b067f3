"""The item of a question that came with files and pictures."""

from collections.abc import Sequence

from tui.domain.journal.blocks import Attachment, FileBlock
from tui.domain.journal.message import Message
from tui.domain.text.fences import codes
from tui.widgets.transcript.document.items import ASKED, Item, question_blocks
from tui.widgets.transcript.rendering.foldable import FileLine, PictureLine, attachment_blocks
from tui.widgets.transcript.rendering.row_blocks import LineBlock, RowBlock
from tui.widgets.wrapping import guess_rows


class QuestionItem(Item):
    """A question with a line for each of its files and pictures; each file folds on its own."""

    __slots__ = ("unfolded_files",)
    entry: Message  # pyright: ignore[reportIncompatibleVariableOverride]

    def __init__(self, entry: Message) -> None:
        super().__init__(entry, entry.id)
        self.unfolded_files: frozenset[int] = frozenset()

    def guess(self, width: int) -> int:
        return guess_rows(self.entry.typed_text, width) + 2 + len(self.entry.attachments)

    def make_blocks(self) -> list[RowBlock]:
        typed = self.entry.typed_text
        blocks = question_blocks(typed) if typed.strip() else []
        for place, attachment in enumerate(self.entry.attachments):
            blocks += attachment_blocks(attachment, unfolded=place in self.unfolded_files)
        first = blocks[0]
        if isinstance(first, LineBlock):
            first.mark, first.spaced = ASKED, True
        return blocks

    @property
    def foldable(self) -> bool:
        return bool(self._files)

    @property
    def fold_state(self) -> object:
        return self.unfolded_files

    @property
    def codes(self) -> list[str]:
        """The code of the question, and the unfolded files."""
        files = self._files
        return [*codes(self.entry.typed_text), *(files[place].text for place in self._shown)]

    @property
    def has_code(self) -> bool:
        typed = self.entry.typed_text
        return bool(self.unfolded_files) or "```" in typed or "~~~" in typed

    def fold(self, block: int | None = None) -> None:
        """Fold all files, or unfold all if none is; with a ``block`` only the file of that line."""
        if block is None:
            self.unfolded_files = frozenset() if self.unfolded_files else frozenset(self._files)
        else:
            self.unfolded_files ^= {self._place(block)}
        self.remake()

    def fold_as(self, other: Item) -> None:
        if isinstance(other, QuestionItem):
            self.unfolded_files = other.unfolded_files

    def _place(self, block: int) -> int:
        """The place among the attachments of the one that has a line."""
        return sum(isinstance(each, FileLine | PictureLine) for each in self.blocks()[:block])

    @property
    def _files(self) -> dict[int, FileBlock]:
        """The files, by their place among the attachments."""
        attachments: Sequence[Attachment] = self.entry.attachments
        return {n: each for n, each in enumerate(attachments) if isinstance(each, FileBlock)}

    @property
    def _shown(self) -> Sequence[int]:
        return sorted(self.unfolded_files & self._files.keys())
