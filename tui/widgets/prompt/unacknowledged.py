"""Submitted prompts that the program has neither taken nor refused yet."""


class Unacknowledged:
    """The submitted prompts, in order, as they stand at the beginning of the text.

    A session that has to be opened first, or a slow disk, may take long; the user types the next
    prompt meanwhile.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._is_refused = False

    def unsent(self, text: str) -> str:
        """Leave out what is submitted already; nothing if that was refused."""
        sent = "".join(self._texts)
        if self._is_refused or not text.startswith(sent):
            self.forget()
            return text
        return text[len(sent) :]

    def sent_part(self, text: str) -> str:
        """Return the beginning of a text, as far as it is submitted and not taken."""
        sent = "".join(self._texts)
        return sent if text.startswith(sent) else ""

    def submit(self, text: str) -> None:
        """Note a prompt as submitted."""
        self._texts.append(text)

    @property
    def oldest(self) -> str:
        """The prompt that is taken next; empty if there is none."""
        return self._texts[0] if self._texts else ""

    def take(self, text: str) -> str:
        """Remove the oldest prompt from a text, if the text still begins with it."""
        if not self._texts:
            return text
        return text.removeprefix(self._texts.pop(0))

    def refuse(self) -> None:
        """Allow all that was not taken to be submitted again."""
        self._is_refused = bool(self._texts)

    def forget(self) -> None:
        """Forget all submitted prompts."""
        self._texts.clear()
        self._is_refused = False
