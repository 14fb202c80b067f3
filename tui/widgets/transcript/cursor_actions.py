"""The keys that are about the message at the cursor."""

from collections.abc import Sequence

from tui.domain.journal.blocks import ImageBlock
from tui.domain.journal.message import Message, Role
from tui.widgets.hints import hint
from tui.widgets.intents import CopyRequested
from tui.widgets.transcript import messages
from tui.widgets.transcript.state import TranscriptState

_NO_VERSIONS = "This message has one version; r asks again, e edits a question."
_NO_CODE = "No code to copy; y copies the message."


class CursorActions:
    """Moves the message cursor, and acts on its message."""

    def __init__(self, state: TranscriptState) -> None:
        self._state = state

    def step(self, count: int, role: Role | None = None) -> None:
        """Put the cursor on the next message of a role, or the one before."""
        cursor = self._state.cursor
        cursor.step(count, self._state.rows, role)
        if cursor.item:
            self._state.document.reader.reveal(cursor.item)
        self._state.redraw()

    def show(self) -> None:
        """Put the cursor on a message in sight."""
        self._state.cursor.go_into_sight(self._state.rows)
        self._state.redraw()

    def copy_message(self) -> None:
        """Ask for a copy of the message at the cursor, or of the last one."""
        cursor = self._state.cursor
        if message := cursor.message or cursor.last():
            self._state.widget.post_message(CopyRequested(message.typed_text or message.text))

    def copy_code(self) -> None:
        """Ask for a copy of a code block; each press takes the next block of the message."""
        cursor = self._state.cursor
        code, number = cursor.next_code(self._state.rows)
        if code:
            self._state.widget.post_message(CopyRequested(code, number))
        else:
            hint(self._state.widget, _NO_CODE)

    def open_link(self) -> None:
        """Ask for a link or picture of the message at the cursor, or of the last, to be opened."""
        from tui.widgets.transcript.links import links_of

        message = self._state.cursor.message or self._state.cursor.last()
        links = links_of(message) if message else ()
        pairs = [(link.target, link.text) for link in links]
        pictures = _pictures(message) if message else ()
        self._state.widget.post_message(messages.LinksWanted(pairs, pictures))

    def ask_again(self) -> None:
        """Request another version of the answer at the cursor, or of the last one."""
        self._post(messages.AskAgainWanted)

    def edit_question(self) -> None:
        """Request to edit the question at the cursor, or the last one."""
        self._post(messages.EditWanted)

    def fork(self) -> None:
        """Request a copy of the session up to the message at the cursor, or the last one."""
        self._post(messages.ForkWanted)

    def version(self, step: int) -> None:
        """Request another version of the message at the cursor, or of the last that has some."""
        document, message = self._state.document, self._state.cursor.message
        message_id = message.id if message else document.last_with_versions
        if message_id not in document.versions:
            hint(self._state.widget, _NO_VERSIONS)
        else:
            self._state.widget.post_message(messages.VersionWanted(message_id, step))

    def _post(self, intent: type[messages.VersionIntent]) -> None:
        cursor = self._state.cursor
        if message := cursor.message or cursor.last():
            self._state.widget.post_message(intent(message.id))

    def match(self, count: int) -> None:
        """Ask for the next match, or the one before."""
        self._state.widget.post_message(messages.MatchWanted(count))

    @property
    def useful(self) -> frozenset[str]:
        """Keys with something to act on now; the others always have something."""
        item, message = self._state.cursor.item, self._state.cursor.message
        has_use = {
            "copy-code": item is None or item.has_code,
            "open-link": message is not None and _may_open(message),
            "ask-again": message is not None and message.role == "assistant",
            "edit": message is not None and message.role == "user",
            "version-previous": message is not None and message.id in self._state.document.versions,
            "fold": self._state.cursor.foldable(self._state.rows) is not None,
        }
        return frozenset(f"conversation-{key}" for key, has in has_use.items() if has)


def _pictures(message: Message) -> Sequence[ImageBlock]:
    return [each for each in message.attachments if isinstance(each, ImageBlock)]


def _may_open(message: Message) -> bool:
    """True if a message has pictures, or the beginning of an address."""
    return "://" in message.typed_text or bool(_pictures(message))
