"""Versions of imported messages, which other programs have changed since they were imported."""

from tui.domain.journal.message import Message
from tui.engine.imports.ids import version_id
from tui.engine.imports.known_session import KnownSession
from tui.engine.imports.wording import extends, wording, wording_json


class Versions:
    """The versions that one reading of a conversation finds.

    A journal is not rewritten: a message that says something else than before is a version of it,
    and so is each message that follows one.
    """

    def __init__(self, known: KnownSession) -> None:
        self._known = known
        self._latest: dict[str, str] = {}
        self._found: set[str] = set()

    def latest(self, message_id: str) -> str:
        """The id of the version that was found of a message, else its own."""
        return self._latest.get(message_id, message_id)

    def new_id(self, message: Message, parent: str) -> str:
        """Make the id of the version that a message is of a known one; ``""`` if it is none."""
        is_new = message.id not in self._known.tree
        if is_new or self.is_known(message, parent):
            return ""
        version = version_id(message.id, parent, wording_json(message))
        self._latest[message.id] = version
        self._found.add(version)
        return version

    def is_known(self, message: Message, parent: str) -> bool:
        """Tell whether a message is there as it is, or only its end is new."""
        tree = self._known.tree
        if parent in self._found and not tree.follows(message.id, parent):
            return False
        return tree.says(message.id, wording(message)) or self._is_last(message)

    def add_branch(self, message: Message) -> None:
        """Let what follows a new message be versions, as it stands where others stood before."""
        self._found.add(message.id)

    def _is_last(self, message: Message) -> bool:
        """Tell whether a message is the last one, before it ended or as it is now."""
        last = self._known.last
        if last is None or last.id != message.id:
            return False
        return extends(message, last) or extends(last, message)
