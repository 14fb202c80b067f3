"""The first page of a list of ten thousand sessions, and what a command line adds to it."""

import os

from tests.benchmarks.journals import START, write_session
from tests.benchmarks.table import beside, median_of, within
from tui.storage.file_store import FileStore
from tui.storage.folders import Folder, Folders
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.protocol import SessionFilter

SESSIONS, SCOPES, ARCHIVED = 10_000, 500, 100_000
BUDGET_MS = 50


def rows(directory):
    """Without an index: a scan, and the two ends of fifty files."""
    store = make_sessions(directory, SESSIONS)
    page = median_of(lambda: FileStore(directory).list(SessionFilter(), None, 50), 20)
    one = median_of(lambda: store.list(SessionFilter("project:/7"), None, 50), 20)
    return [
        within("first page of 10,000 sessions", page, BUDGET_MS),
        within("first page of one scope of 500", one, BUDGET_MS),
    ]


def archive(directory):
    """A hundred thousand more in the archive, without a line in the list of numbers."""
    store = make_sessions(directory, SESSIONS)
    wanted, archived = SessionFilter("project:/7"), frozenset({"archived"})
    alone = median_of(lambda: store.list(wanted, None, 50), 20)
    _fill_archive(directory)
    beside_archive = median_of(lambda: store.list(wanted, None, 50), 20)
    every = SessionFilter(statuses=archived)
    unindexed = median_of(lambda: FileStore(directory).list(every, None, 50), 5)
    for _ in IndexMaintenance(directory).build("a test"):
        pass
    indexed = median_of(lambda: FileStore(directory).list(every, None, 50), 20)
    of_scope = SessionFilter("project:/7", archived)
    narrow = median_of(lambda: FileStore(directory).list(of_scope, None, 50), 20)
    count = median_of(lambda: FileStore(directory).count(of_scope), 20)
    return [
        beside("first page beside 100,000 archived", beside_archive, ("alone", alone), 1.2),
        within("first page of the archive, no index", unindexed, 500),
        within("first page of the archive", indexed, 100),
        within("first page of the archive, one scope", narrow, 100),
        within("archived sessions of a scope, counted", count, 100),
    ]


def _fill_archive(root):
    folders = Folders(root)
    template = write_session(root, "session-20260111-153000-000000", 2)
    text = template.read_text().replace('"ordinal":1', '"ordinal":0')
    for number in range(ARCHIVED):
        session_id = f"peer-{number:06d}"
        path = folders.journal(session_id, Folder.ARCHIVE)
        path.write_text(
            text.replace("project:/shop", f"project:/{number % SCOPES}").replace(
                template.stem, session_id
            )
        )
        # In the past: the index trusts a folder that has settled.
        os.utime(path, (START.timestamp() - number,) * 2)
    os.utime(folders.of(Folder.ARCHIVE), (START.timestamp(),) * 2)


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
