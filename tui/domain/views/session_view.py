"""What the screen shows of one session."""

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.todo import TodoItem
from tui.domain.views.approval import Question
from tui.domain.views.notice import Shown


class SessionView(msgspec.Struct, frozen=True):
    """A session as it is put on screen.

    ``earlier`` says that there is more before ``entries``, ``later`` that there is more after
    them; ``arriving`` is the id of the answer that is still coming. ``read_only`` says why
    nothing can be added, else it is empty. ``pastes`` are what of the draft is shown as one mark.
    """

    session_id: str
    entries: tuple[Shown, ...]
    earlier: bool
    arriving: str | None
    draft: str
    queued: tuple[str, ...]
    prompt_count: int
    read_only: str
    todos: tuple[TodoItem, ...] = ()
    asking: Question | None = None
    later: bool = False
    pastes: tuple[str, ...] = ()

    @property
    def prompts(self) -> tuple[str, ...]:
        """What the user said earlier, oldest first, as far as it is at hand."""
        return tuple(
            entry.text
            for entry in self.entries
            if isinstance(entry, Message) and entry.role == "user"
        )

    @property
    def read_only_in_short(self) -> str:
        """Why nothing can be added, where its id is on screen already; else empty."""
        if not self.read_only:
            return ""
        said = self.read_only.removesuffix("; opened read-only.")
        for known in (f"Session {self.session_id} is ", f"Session {self.session_id} "):
            said = said.removeprefix(known)
        return f"read-only: {said}"
