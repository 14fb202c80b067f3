"""Files dropped on the terminal, which pastes their paths: quoted, escaped, plain, or as URIs."""

import shlex
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

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
