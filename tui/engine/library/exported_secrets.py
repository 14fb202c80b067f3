"""What looks like a secret in exported sessions: counted, and masked where that is asked for."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from tui.domain.journal.json_text import journal_json
from tui.domain.json_limits import parse
from tui.domain.text.labels import plural
from tui.domain.text.secrets import mask_secrets
from tui.engine.library.conversation import Conversation

MASK = "--mask-secrets"


class ExportedSecrets(msgspec.Struct):
    """The secrets of an export, of one or more sessions."""

    masks: bool
    found: int = 0

    def titled(self, conversation: Conversation) -> Conversation:
        """The conversation with the title that its file is called by."""
        if not self.masks:
            return conversation
        name, label = conversation.listed.name, conversation.listed.label
        shown = {"name": mask_secrets(name).text, "label": mask_secrets(label).text}
        listed = msgspec.structs.replace(conversation.listed, **shown)
        return msgspec.structs.replace(conversation, listed=listed)

    def texts(self, pieces: Iterable[str]) -> Iterator[str]:
        """The pieces of a file, each with whole messages."""
        return map(self._checked, pieces)

    def objects(self, records: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Records as objects of JSON."""
        for each in records:
            found, text = self.found, self._checked(journal_json(each).decode())
            yield parse(text.encode()) if self.masks and self.found > found else each

    def _checked(self, text: str) -> str:
        masked, secrets = mask_secrets(text)
        self.found += secrets
        return masked if self.masks else text

    @property
    def words(self) -> str:
        """What is said of them; empty if there are none."""
        if not self.found:
            return ""
        secrets = plural(self.found, "secret")
        return f"Masked {secrets}." if self.masks else f"Found {secrets}; {MASK} masks them."
