"""Twenty messages among five hundred, and what somebody who looks for one of them may ask."""

from itertools import product
from pathlib import Path

import msgspec

from tests.builders import answer, user


class Remembered(msgspec.Struct):
    """A message that somebody looks for."""

    said: str
    words: str
    """A query in its own words."""
    question: str
    """In other words."""
    queries: tuple[str, ...]
    """What a model may make of the question."""


_SAMPLES = Path(__file__).with_name("samples")
REMEMBERED = [
    msgspec.json.decode(line, type=Remembered)
    for line in (_SAMPLES / "remembered.jsonl").read_bytes().splitlines()
]


def five_hundred():
    """The messages, those that are looked for spread among the others."""
    parts = msgspec.json.decode((_SAMPLES / "others.json").read_bytes())
    others = [" ".join(each).capitalize() for each in product(*parts.values())]
    messages = []
    for number, text in enumerate(others[:480]):
        if number % 24 == 7:
            messages.append(
                answer(f"looked-for-{number // 24}", REMEMBERED[number // 24].said, number)
            )
        messages.append((user if number % 2 else answer)(f"other-{number}", text, number))
    return messages
