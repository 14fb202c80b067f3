"""Longer answers of commands, which open over the conversation."""

import msgspec


class Report(msgspec.Struct, frozen=True):
    """A text of several lines with a title."""

    title: str
    text: str
