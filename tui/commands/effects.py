"""What a command asks the program to do on screen, once its own work is done."""

from dataclasses import dataclass

from tui.domain.notice import Notice, Severity


@dataclass(frozen=True, slots=True)
class Say:
    """Tell the user; it also stands in the conversation, unsaved."""

    notice: Notice


@dataclass(frozen=True, slots=True)
class ShowSession:
    """Another session is current, or the current one has changed."""


@dataclass(frozen=True, slots=True)
class FillPrompt:
    """Put a text into the prompt, for the user to go on with."""

    text: str


@dataclass(frozen=True, slots=True)
class StartTurn:
    """Send a prompt in the current session."""

    prompt: str


@dataclass(frozen=True, slots=True)
class RetryTurn:
    """Ask again where the current session's last answer failed or was stopped."""


@dataclass(frozen=True, slots=True)
class OpenHelp:
    """Show keys and commands."""


@dataclass(frozen=True, slots=True)
class Exit:
    """Save everything and leave."""


Effect = Say | ShowSession | FillPrompt | StartTurn | RetryTurn | OpenHelp | Exit


def say(text: str, severity: Severity = "information") -> tuple[Effect, ...]:
    """Only tell the user something."""
    return (Say(Notice(text, severity)),)
