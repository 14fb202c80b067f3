"""The message about damaged records."""

from tui.domain.text.labels import plural


def damage_words(damaged: int, place: str) -> str:
    """Count the records that could not be read; ``place`` is a title, an id or a file."""
    return f"{plural(damaged, 'damaged record')} skipped in {place}; the file is unchanged"
