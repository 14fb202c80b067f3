"""Search, over ten thousand sessions of 200 MB; ``whole`` over a gigabyte.

Every message has words of its own, drawn as oddly as people draw theirs: a few are everywhere,
most are rare.
"""

import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from itertools import groupby
from operator import itemgetter

from tests.benchmarks.journals import START
from tests.benchmarks.table import MILLISECONDS, Row, beside, median_of, percentile, timed
from tui.domain.journal.message import Message
from tui.domain.journal.records import Offsets, Opened, SessionHeader, State, encode
from tui.domain.json_text import journal_json
from tui.domain.timestamps import format_utc
from tui.storage.file_store import FileStore
from tui.storage.folders import Folder, Folders
from tui.storage.index import database
from tui.storage.index.files import message_at
from tui.storage.index.ingest import BATCH_BYTES
from tui.storage.index.maintenance import IndexMaintenance
from tui.storage.index.message_rows import as_row

SESSIONS, MESSAGES, WORDS = 10_000, 40, 80
_WHOLE = 200  # messages a session
_TIMES = 30
_BUDGET_MS = 50
_BUILD_BUDGET = 2.2  # of the time that FTS5 takes for the same rows with the same settings
_RARE = "zebrafinch"
_COMMON = ("the", "of", "and", "to", "token", "session")
_JAPANESE = "検索結果会話記録保存設定言語日本文字列関数変数型定義実行環境画面入力"
_PROJECTS = 500
_NAMED = 3  # every third session has a name
_NAME_WORDS = 5
_PLACES = """
    select folder, sessions.id, messages.id, offset, length
    from messages join sessions on number = session order by mtime desc, number, offset
"""
_QUERIES = {
    "a rare word": _RARE,
    "a common word of names": "of",
    "a common word": "token",
    "three common words": "the token session",
    "a phrase": '"the token of"',
    "a prefix": "zeb*",
    "a prefix of one letter": "z*",
    "one Japanese character": "索",
    "two Japanese characters": "検索",
    "no hit": "nowhereatall",
    "a common word of a rare project": "token in:p17",
    "a rare word of a frequent program": f"{_RARE} from:peer",
    "a common word of a year": "token before:2026-02",
    "a project alone": "in:p17",
    "a program alone": "from:peer",
}


def whole(directory):
    """The same over a gigabyte, which takes five minutes."""
    return rows(directory, _WHOLE)


def rows(directory, messages=MESSAGES):
    """Build, catch up, search: warm, cold, and beside what greps."""
    size = make_corpus(directory, messages=messages) / 1e6
    build = timed(lambda: list(IndexMaintenance(directory).build("a test")))
    store = FileStore(directory)
    speed = size / build * MILLISECONDS
    measured = [
        Row(f"index of {size:.0f} MB, MB/s", speed, "", 0, "none", kept=True),
        beside("the same", build, ("FTS5 alone", _fts5_alone(directory)), _BUILD_BUDGET),
        Row("catching up after one message", _catching_up(directory), "", 0, "none", kept=True),
    ]
    grep = _grep(directory)
    cold = median_of(lambda: _cold(directory), 5)
    for name, query in _QUERIES.items():
        times = [timed(lambda query=query: store.search(query, 20)) for _ in range(_TIMES)]
        limit = f"{_BUDGET_MS} ms"
        took = percentile(times, 95)
        measured.append(Row(f"{name}, p95", took, *grep, limit, took <= _BUDGET_MS))
    measured.append(beside("cold `sessions search`", cold, grep, 10))
    return measured


def _fts5_alone(directory):
    """The time in which FTS5 takes the rows of the index as it stands, in batches as large."""
    with closing(sqlite3.connect(directory / database.NAME)) as index:
        batches = list(_batches(directory, index.execute(_PLACES)))
    with closing(database.create(directory / "alone.sqlite3")) as alone:
        return timed(lambda: [_take(alone, batch) for batch in batches])


def _batches(directory, places):
    batch, size = [], 0
    for (path, session), found in groupby(places, itemgetter(0, 1)):
        with Folders(directory).journal(session, Folder(path)).open("rb") as journal:
            for *_, row, offset, length in found:
                said = message_at(journal.fileno(), offset, length)
                batch.append((row, f"{as_row(said.text)} p1 g1"))
                size += length
        if size >= BATCH_BYTES:
            yield sorted(batch)
            batch, size = [], 0
    yield sorted(batch)


def _take(connection, batch):
    connection.execute("begin immediate")
    connection.executemany("insert into words(rowid, text) values(?, ?)", batch)
    connection.execute("commit")


def _catching_up(directory):
    """With the look at ten thousand files that finds the message."""
    store = FileStore(directory)
    lease = store.create("project:/shop", "/shop", "m")
    times = []
    for number in range(10):
        moment = format_utc(START + timedelta(days=400, seconds=number))
        store.append(lease, [Message(f"new{number}", "user", f"brandnew{number}", moment)])
        times.append(timed(lambda number=number: store.search(f"brandnew{number}", 20)))
    lease.release()
    return percentile(times, 50)


def _grep(directory):
    """What looks for the rare word in the same files without an index, and how long it takes."""
    tool = ["rg", "-il"] if shutil.which("rg") else ["grep", "-ril"]
    command = [*tool, _RARE, str(directory / "sessions")]
    return " ".join(tool), median_of(lambda: subprocess.run(command, stdout=subprocess.DEVNULL), 3)


def _cold(directory):
    command = [sys.executable, "-m", "tui", "--data-dir", str(directory), "sessions", "search"]
    subprocess.run([*command, _RARE], check=True, stdout=subprocess.DEVNULL)


def make_corpus(root, sessions=SESSIONS, messages=MESSAGES):
    """Write the sessions; gives their size in bytes."""
    folders = Folders(root)
    folders.prepare()
    chance = random.Random(1)
    rare = rare_words(chance)
    size = 0
    for number in range(sessions):
        session_id = _id(number)
        path = folders.journal(session_id, Folder.SESSIONS)
        data = b"".join(map(encode, _records(session_id, number, messages, chance, rare)))
        path.write_bytes(data)
        size += len(data)
    folders.scopes.write_bytes(b"".join(_scope_lines(sessions)))
    return size


def _scope_lines(sessions):
    for number in range(sessions):
        line = {"scope": _scope(number), "ordinal": number + 1, "id": _id(number)}
        yield journal_json({**line, "at": format_utc(START)}) + b"\n"
    last = sessions - 1
    active = {"scope": _scope(last), "active": _id(last), "at": format_utc(START)}
    yield journal_json(active) + b"\n"


def _scope(number):
    return f"project:/p{number % _PROJECTS}"


def _id(number):
    return f"session-20260111-153000-{number:06d}"


def _records(session_id, number, messages, chance, rare):
    moment = START + timedelta(minutes=10 * number)
    created = format_utc(moment)
    theirs = f"peer:{number}" if number % 2 else None
    scope, path = _scope(number), f"/p{number % _PROJECTS}"
    yield SessionHeader(1, session_id, created, scope, number + 1, path, "m", imported_from=theirs)
    yield Opened(at=created)
    for place in range(messages):
        written = format_utc(moment + timedelta(seconds=place))
        role = "assistant" if place % 2 else "user"
        yield Message(f"{number:06d}-{place:04d}", role, _text(chance, rare), written)
    yield State(
        name=_name(number, rare),
        prompt_count=messages // 2,
        message_count=messages,
        total_count=messages,
        updated_at=created,
        offsets=Offsets(),
    )


def _name(number, rare):
    # Drawn by itself, so that what is said stays the same.
    chance = random.Random(number)
    words = [] if number % _NAMED else [word(chance, rare) for _ in range(_NAME_WORDS)]
    return " ".join(words)


def _text(chance, rare):
    words = [word(chance, rare) for _ in range(WORDS)]
    if chance.random() < 0.1:
        begin = chance.randrange(len(_JAPANESE) - 6)
        words.append(_JAPANESE[begin : begin + 6])
    if chance.random() < 0.0001:
        words.append(_RARE)
    return " ".join(words)


def rare_words(chance):
    """A hundred thousand words, the first of which are drawn most often."""
    return [f"{chance.choice('bcdfgklmnprstvz')}{number:x}e" for number in range(100_000)]


def word(chance, rare):
    """Draw a word: one of a few that are everywhere, or a rare one."""
    if chance.random() < 0.3:
        return chance.choice(_COMMON)
    return rare[int(chance.paretovariate(0.4)) % len(rare)]
