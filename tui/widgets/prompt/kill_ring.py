"""What keys cut away last, to be put back as in a shell."""


class KillRing:
    """One text: what is cut beside what was cut just before belongs to it."""

    def __init__(self) -> None:
        self._text = ""
        self._place: object = None

    @property
    def text(self) -> str:
        """What is put back; empty while nothing was cut."""
        return self._text

    def add(self, cut: str, *, backwards: bool, before: object, now: object) -> None:
        """Take what was cut from one place or the other of the text: where the caret is."""
        if self._place != before:
            self._text = ""
        self._text = cut + self._text if backwards else self._text + cut
        self._place = now
