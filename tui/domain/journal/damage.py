"""How damage to a session is told."""


def damage_words(damaged: int, place: str) -> str:
    """Say how many records could not be read; ``place`` is the session's id."""
    records = "record" if damaged == 1 else "records"
    return f"{damaged} damaged {records} skipped in {place}; the file is unchanged"
