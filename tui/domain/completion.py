"""Completion of a prompt: names of commands, then their arguments."""

import re
import shlex
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from urllib.parse import unquote, urlsplit

import msgspec

from tui.domain.commands import ALIASES, BY_NAME, COMMANDS, Command, command_called
from tui.domain.references import Reference, reference_to

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
            brief, blank = f"/{command.name}", "" if command.takes == "nothing" else " "
            # Of the arguments only the verbs.
            line = f"{brief} {'|'.join(command.verbs)}" if command.verbs else command.line
            yield Completion(brief + blank, line, command.help, brief)


def _aliases(word: str) -> Iterable[Completion]:
    """Other names of commands, for a word with which no command begins."""
    for alias, name in ALIASES.items():
        if word and alias.startswith(word.lower()):
            command = BY_NAME[name]
            blank = "" if command.takes == "nothing" else " "
            yield Completion(f"/{alias}{blank}", f"/{alias}", command.help)


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


MOST_OFFERED = 100
_MOST_SEARCHED = 400_000
"""The characters that are searched for one text's in order: a key has some milliseconds."""
_DIRECT = ("/", "~/", "./", "../")


class FileNames:
    """Paths of files, and of folders, which end in ``/``; prepared for a search at each key.

    Names that nobody can type are left out.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        typeable = {path for path in paths if reference_to(path)}
        self._paths = sorted(typeable, key=_order)
        self._whole = _Lines(self._paths)
        self._last = _Lines([_split(path)[1] for path in self._paths])

    def matching(self, wanted: str) -> tuple[str, ...]:
        """Find the paths that fit best: first by their last name, then by all of the path.

        If nothing contains the text, its letters in their order are enough.
        """
        wanted = wanted.casefold()
        return self._first(self._containing(wanted), wanted) or self._first(
            self._in_order(wanted), wanted
        )

    def _first(self, lines: Iterable[int], wanted: str) -> tuple[str, ...]:
        found: dict[str, None] = {}
        for path in (self._paths[line] for line in lines):
            if path.casefold() != wanted:
                found[path] = None
            if len(found) == MOST_OFFERED:
                break
        return tuple(found)

    def _containing(self, wanted: str) -> Iterator[int]:
        if not wanted:
            yield from range(len(self._paths))
            return
        if "/" in wanted:
            yield from self._whole.containing(f"\n{wanted}")
        else:
            yield from self._last.containing(f"\n{wanted}")
            yield from self._last.containing(wanted)
        yield from self._whole.containing(wanted)

    def _in_order(self, wanted: str) -> Iterator[int]:
        if wanted:
            yield from self._last.in_order(wanted)
            yield from self._whole.in_order(wanted)


class FileListing(msgspec.Struct, frozen=True):
    """The files that can be offered for references that begin with ``folder``."""

    folder: str
    """As typed; empty for all files of the project."""
    names: FileNames


def folders_of(path: str) -> tuple[str, ...]:
    """The folders whose listings may have what a path begins, the first one that has counts.

    The project's own listing is made without its ignored files.
    """
    folder = path[: path.rfind("/") + 1]
    if path.startswith(_DIRECT):
        return (folder,)
    return ("", folder) if folder else ("",)


def file_completions(typed: Reference, listing: FileListing) -> tuple[Completion, ...]:
    """List the files that a reference may become; ``text`` is the reference then.

    A blank follows a file, while a folder can be continued.
    """
    return tuple(
        Completion(reference if path.endswith("/") else f"{reference} ", name, folder)
        for path in listing.names.matching(typed.path)
        if (reference := reference_to(path))
        for folder, name in [_split(path)]
    )


class _Lines:
    """Texts as the lines of a single one: it is searched without a loop over them."""

    def __init__(self, lines: Sequence[str]) -> None:
        folded = [line.casefold() for line in lines]
        self._text = "\n".join(("", *folded, ""))
        self._starts = [*accumulate((len(line) + 1 for line in folded), initial=1)]

    def containing(self, wanted: str) -> Iterator[int]:
        """The numbers of the lines with a text in them, or at their beginning after a newline."""
        place = self._text.find(wanted)
        while place >= 0:
            line = bisect_right(self._starts, place + len(wanted) - 1) - 1
            yield line
            place = self._text.find(wanted, self._starts[line + 1] - 1)

    def in_order(self, wanted: str) -> Iterator[int]:
        """The numbers of the lines that have all characters of a text in its order."""
        first, *others = map(re.escape, wanted)
        # Possessive: each character is looked for once in a line.
        pattern = first + "".join(rf"[^{each}\n]*+{each}" for each in others) + r"[^\n]*+"
        for match in re.compile(pattern).finditer(self._text, 0, _MOST_SEARCHED):
            yield bisect_right(self._starts, match.start()) - 1


def _order(path: str) -> tuple[int, bool, str, str]:
    folder, name = _split(path)
    return folder.count("/"), name.startswith("."), path.casefold(), path


def _split(path: str) -> tuple[str, str]:
    """The folder of a path, and its last name."""
    start = path.rstrip("/").rfind("/") + 1
    return path[:start], path[start:]


MOST_CHARACTERS = 20_000
_BEGINNINGS = ("/", "'/", '"/', "file:/", "'file:/", '"file:/')


def dropped_files(pasted: str) -> tuple[tuple[str, ...], ...]:
    """Read a paste as absolute paths, in each way that is possible; none for an ordinary text.

    Only who looks at the disk can tell which is right.
    """
    text = pasted.strip()
    if len(text) > MOST_CHARACTERS or not text.startswith(_BEGINNINGS):
        return ()
    lines = [line.strip() for line in text.splitlines()]
    readings = (_paths(lines), _paths(_words(text)))
    return tuple(dict.fromkeys(reading for reading in readings if reading))


def _words(text: str) -> Sequence[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return ()


def _paths(names: Sequence[str]) -> tuple[str, ...]:
    paths = tuple(map(_path, names))
    return paths if all(path.strip("/") and path.startswith("/") for path in paths) else ()


def _path(name: str) -> str:
    if not name.startswith("file:/"):
        return name
    try:
        parts = urlsplit(name)
    except ValueError:
        return ""
    is_here = parts.netloc in ("", "localhost")
    return unquote(parts.path, errors="surrogateescape") if is_here else ""
