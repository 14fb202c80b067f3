"""What was sent and is not known to be taken yet."""


class Unacknowledged:
    """Prompts that were submitted and still stand at the beginning of the text, in order.

    Keys may come faster than the program takes a prompt; what is typed after it is another.
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._overdue = False

    def unsent(self, text: str) -> str:
        """What of a text is to be sent; all of it if an earlier sending was not taken in time."""
        sent = "".join(self._texts)
        if self._overdue or not text.startswith(sent):
            self.forget()
            return text
        return text[len(sent) :]

    def standing(self, text: str) -> str:
        """What of a text was submitted and is not taken: its beginning."""
        sent = "".join(self._texts)
        return sent if text.startswith(sent) else ""

    def submit(self, text: str) -> None:
        """Remember that this was sent."""
        self._texts.append(text)

    @property
    def oldest(self) -> str:
        """The prompt that is to be taken next; empty if none is being sent."""
        return self._texts[0] if self._texts else ""

    def take(self, text: str) -> str:
        """What is left of a text when the oldest prompt was taken; all of it if it is gone."""
        if not self._texts:
            return text
        return text.removeprefix(self._texts.pop(0))

    def expire(self) -> None:
        """Whatever was not taken by now may be sent again."""
        self._overdue = bool(self._texts)

    def forget(self) -> None:
        """Nothing is being sent."""
        self._texts.clear()
        self._overdue = False
