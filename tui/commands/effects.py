"""What a command asks the program to do on screen, once its own work is done."""

import msgspec

from tui.domain.notice import Notice, Severity


class Say(msgspec.Struct, frozen=True):
    """Tell the user; it also stands in the conversation, unsaved."""

    notice: Notice


class ShowSession(msgspec.Struct, frozen=True):
    """Another session is current, or the current one has changed."""


class RetryTurn(msgspec.Struct, frozen=True):
    """Ask again where the current session's last answer failed or was stopped."""


class OpenHelp(msgspec.Struct, frozen=True):
    """Show keys and commands."""


class Exit(msgspec.Struct, frozen=True):
    """Save everything and leave."""


Effect = Say | ShowSession | RetryTurn | OpenHelp | Exit


def say(text: str, severity: Severity = "information") -> tuple[Effect, ...]:
    """Only tell the user something."""
    return (Say(Notice(text, severity)),)
