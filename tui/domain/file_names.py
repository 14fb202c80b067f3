"""Files offered for a reference that is being typed in a prompt."""

import re
import shlex
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from urllib.parse import unquote, urlsplit

import msgspec

from tui.domain.completion import Completion
from tui.domain.references import Reference, reference_to

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
        paths = (self._paths[line] for line in lines)
        found: dict[str, None] = {}
        for path in paths:
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
            yield from self._whole.beginning(wanted)
        else:
            yield from self._last.beginning(wanted)
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

    def beginning(self, wanted: str) -> Iterator[int]:
        """The numbers of the lines that begin with a text."""
        return self.containing(f"\n{wanted}")

    def containing(self, wanted: str) -> Iterator[int]:
        """The numbers of the lines that contain a text."""
        place = self._text.find(wanted)
        while place >= 0:
            line = self._line_at(place + len(wanted) - 1)
            yield line
            place = self._text.find(wanted, self._starts[line + 1] - 1)

    def in_order(self, wanted: str) -> Iterator[int]:
        """The numbers of the lines that have all characters of a text in its order."""
        first, *others = map(re.escape, wanted)
        # Possessive: each character is looked for once in a line.
        pattern = first + "".join(rf"[^{each}\n]*+{each}" for each in others) + r"[^\n]*+"
        for match in re.compile(pattern).finditer(self._text, 0, _MOST_SEARCHED):
            yield self._line_at(match.start())

    def _line_at(self, place: int) -> int:
        return bisect_right(self._starts, place) - 1


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
