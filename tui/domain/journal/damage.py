"""The message about damaged records."""


def damage_words(damaged: int, place: str) -> str:
    """Count the records that could not be read; ``place`` is the session's id or file."""
    records = "record" if damaged == 1 else "records"
    return f"{damaged} damaged {records} skipped in {place}; the file is unchanged"
