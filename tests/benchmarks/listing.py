"""The first page of a list of ten thousand sessions, and what a command line adds to it."""

import os

from tests.benchmarks.journals import START, write_session
from tests.benchmarks.table import Row, median_of
from tui.storage.file_store import FileStore
from tui.storage.folders import Folder, Folders
from tui.storage.protocol import SessionFilter

SESSIONS, SCOPES = 10_000, 500
BUDGET_MS = 50


def rows(directory):
    """Without an index: a scan, and the two ends of fifty files."""
    store = make_sessions(directory, SESSIONS)
    page = median_of(lambda: FileStore(directory).list(SessionFilter(), None, 50), 20)
    one = median_of(lambda: store.list(SessionFilter("project:/7"), None, 50), 20)
    kept = page <= BUDGET_MS
    return [
        Row("first page of 10,000 sessions", page, "", 0, f"{BUDGET_MS} ms", kept),
        Row("first page of one scope of 500", one, "", 0, f"{BUDGET_MS} ms", one <= BUDGET_MS),
    ]


def make_sessions(root, count):
    """Write ``count`` sessions of ten messages in 500 scopes."""
    folders = Folders(root)
    template = write_session(root, "session-20260111-153000-000000", 10)
    text = template.read_text()
    lines = []
    for number in range(count):
        session_id = f"session-20260111-153000-{number:06d}"
        scope, ordinal = f"project:/{number % SCOPES}", number // SCOPES + 1
        path = folders.journal(session_id, Folder.SESSIONS)
        path.write_text(
            text.replace("project:/shop", scope)
            .replace('"ordinal":1', f'"ordinal":{ordinal}')
            .replace(template.stem, session_id)
        )
        os.utime(path, (START.timestamp() + number,) * 2)
        lines.append(f'{{"scope":"{scope}","at":"","ordinal":{ordinal},"id":"{session_id}"}}\n')
        lines.append(f'{{"scope":"{scope}","at":"","active":"{session_id}"}}\n')
    folders.scopes.write_text("".join(lines))
    return FileStore(root)
