"""The kill ring: the text that keys cut last, as in a shell."""


class KillRing:
    """A ring of one text; consecutive cuts at the same place are joined."""

    def __init__(self) -> None:
        self._text = ""
        self._place: object = None

    @property
    def text(self) -> str:
        """The text to insert; empty while nothing was cut."""
        return self._text

    def add(self, cut: str, *, backwards: bool, before: object, now: object) -> None:
        """Add a cut text; ``before`` and ``now`` identify the caret's place around the cut."""
        if self._place != before:
            self._text = ""
        self._text = cut + self._text if backwards else self._text + cut
        self._place = now
