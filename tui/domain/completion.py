"""Completion of a prompt: names of commands, then their arguments."""

from collections.abc import Iterable, Sequence

import msgspec

from tui.domain.commands import ALIASES, BY_NAME, COMMANDS, Command, command_called

_SESSION_PREFIX = "session-"
_PARTS = (("code", "its last block of code"), ("id", "the id of this session"))


class Target(msgspec.Struct, frozen=True):
    """A session offered as an argument."""

    id: str
    label: str
    project: str = ""
    """The short form of its scope."""
    is_open: bool = False
    """Open in this window."""


class Completion(msgspec.Struct, frozen=True):
    """One entry of the completion list."""

    text: str
    """The whole prompt once the entry is selected."""
    name: str
    help: str = ""
    brief: str = ""
    """Shown instead of ``name`` where there is no room for name and help."""


def completions(
    text: str,
    targets: Sequence[Target] = (),
    models: Sequence[str] = (),
    themes: Sequence[str] = (),
    own: Sequence[Command] = (),
) -> tuple[Completion, ...]:
    """List the completions of a prompt; none for a text that is no command, or a complete one.

    ``own`` are the user's own commands.
    """
    if not text.startswith("/") or "\n" in text:
        return ()
    word, blank, argument = text[1:].partition(" ")
    command = command_called(word) or next((c for c in own if c.name == word.lower()), None)
    if not blank:
        offered = [*_commands(word, own)] or _aliases(word)
        found = tuple(each for each in offered if each.text != text)
        return found or (() if command else _as_text(text, word))
    if command is None:
        return _as_text(text, word)
    argument = argument.lstrip(" ")
    start = text.removesuffix(argument)
    is_theme = command.takes == "theme"
    verbs = command.values if " " in argument else command.verbs
    return tuple(
        Completion(start + name, name, note)
        for name, note in (
            *((verb, "") for verb in verbs if verb.startswith(argument.lower())),
            *_arguments(command, argument, targets, themes if is_theme else models, own),
        )
        if name != argument
    )


def _as_text(text: str, word: str) -> tuple[Completion, ...]:
    """Offer to send an unknown command as text."""
    if not (word.isascii() and word.isalpha()):
        return ()
    return (Completion(f"/{text}", f"//{word}", f"no command: sends /{word} as text"),)


def common_text(text: str, found: Sequence[Completion]) -> str:
    """Extend a prompt by the text that all completions share; the prompt itself if none."""
    if len(found) <= 1:
        return found[0].text if found else text
    texts = [each.text for each in found]
    # The prefix shared by the first and the last in sort order is shared by all.
    first, last = min(texts), max(texts)
    pairs = enumerate(zip(first, last, strict=False))
    common = first[: next((place for place, (a, b) in pairs if a != b), len(first))]
    goes_on = common.casefold().startswith(text.casefold()) and len(common) > len(text)
    return common if goes_on else text


def _commands(word: str, own: Sequence[Command]) -> Iterable[Completion]:
    if word and not (word.isascii() and word.isalpha()):
        return
    for command in (*COMMANDS, *own):
        if command.name.startswith(word.lower()):
            brief = f"/{command.name}"
            # Of the arguments only the verbs.
            line = f"{brief} {'|'.join(command.verbs)}" if command.verbs else command.line
            yield Completion(f"{brief}{_blank(command)}", line, command.help, brief)


def _aliases(word: str) -> Iterable[Completion]:
    """Other names of commands, for a word with which no command begins."""
    for alias, name in ALIASES.items():
        if word and alias.startswith(word.lower()):
            command = BY_NAME[name]
            yield Completion(f"/{alias}{_blank(command)}", f"/{alias}", command.help)


def _blank(command: Command) -> str:
    return "" if command.takes == "nothing" else " "


def _arguments(
    command: Command,
    argument: str,
    targets: Sequence[Target],
    names: Sequence[str],
    own: Sequence[Command],
) -> Iterable[tuple[str, str]]:
    match command.takes:
        case "command":
            wanted = argument.lower().removeprefix("/")
            return [(c.name, c.help) for c in (*COMMANDS, *own) if c.name.startswith(wanted)]
        case "model" | "theme":
            wanted = argument.casefold()
            return [(name, "") for name in names if wanted in name.casefold()]
        case "part":
            return [part for part in _PARTS if part[0].startswith(argument.lower())]
        case "session":
            return _sessions(argument, targets)
        case "closed session":
            return _sessions(argument, [each for each in targets if not each.is_open])
        case _:
            return ()


def _sessions(argument: str, targets: Iterable[Target]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    words = argument.casefold().split()
    for each in targets:
        note = f"{each.label} · {each.project}" if each.project else each.label
        label = note.casefold()
        is_by_id = each.id.startswith((argument, _SESSION_PREFIX + argument))
        if is_by_id or all(word in label for word in words):
            found.append((each.id, note))
    return found
