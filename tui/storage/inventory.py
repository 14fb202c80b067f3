"""The sizes of a data directory, for a bug report. Nothing here raises for what is not readable."""

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tui.domain.text import plural
from tui.storage.attachments import is_picture
from tui.storage.folders import SUFFIX, Folder, Folders


def folder_sizes(root: Path) -> dict[str, str]:
    """Describe each folder of a data directory."""
    folders = Folders(root)
    return {each.value: _described(folders.of(each), "session", _is_journal) for each in Folder}


def pictures_size(root: Path) -> str:
    """Describe the pictures of a data directory."""
    return _described(Folders(root).attachments, "picture", is_picture)


def index_state(root: Path) -> str:
    """Describe the search index, without building or changing it."""
    # Imported here: it loads SQLite.
    import sqlite3

    from tui.storage.index import database

    path = root / database.NAME
    try:
        with closing(database.connect(path)) as connection:
            counts = [
                int(connection.execute(f"select count(*) from {table}").fetchone()[0])  # noqa: S608 - no name from outside
                for table in ("messages", "sessions")
            ]
            size = path.stat().st_size
    except database.Unusable as error:
        return f"{error.kind} ({error})"
    except (OSError, sqlite3.Error) as error:
        return f"unreadable ({type(error).__name__})"
    messages, sessions = plural(counts[0], "message"), plural(counts[1], "session")
    return f"version {database.VERSION}, {messages} of {sessions}, {size:,} bytes"


def _is_journal(name: str) -> bool:
    return name.endswith(SUFFIX) and not name.startswith(".")


def _described(directory: Path, kind: str, counts: Callable[[str], bool]) -> str:
    try:
        with os.scandir(directory) as entries:
            sizes = [
                each.stat(follow_symlinks=False).st_size for each in entries if counts(each.name)
            ]
    except FileNotFoundError:
        return "none"
    except OSError as error:
        return f"unreadable ({error.strerror})"
    return f"{plural(len(sizes), kind)}, {sum(sizes):,} bytes"
