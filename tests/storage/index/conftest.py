"""A data directory with sessions in it, and what a fresh index would say of it."""

import shutil
import sqlite3
from contextlib import closing

import pytest

from tests.builders import answer, user
from tests.storage.contract import state
from tui.storage.file_store import FileStore

QUERIES = ["needle", "hay*", '"the needle"', "検索", "n*", "nowhere"]


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def index(data):
    return data / "index.sqlite3"


@pytest.fixture
def say(data):
    """Writes messages to a session, as another program would."""
    numbers = iter(range(100_000))

    def write(session_id, *texts):
        store = FileStore(data)
        if (data / "sessions" / f"{session_id}.jsonl").exists():
            lease = store.lease(session_id)
        else:
            lease = store.create("s", "/", "m", session_id=session_id)
        records = [
            (user if number % 2 else answer)(f"m{number}", text, number)
            for text, number in zip(texts, numbers, strict=False)
        ]
        store.append(lease, records)
        lease.release()

    return write


@pytest.fixture
def name(data):
    """Gives a session another name, as another program would."""

    def write(session_id, text):
        store = FileStore(data)
        lease = store.lease(session_id)
        store.append(lease, [state(text)])
        lease.release()

    return write


@pytest.fixture
def filled(data, say):
    """Some sessions that ``QUERIES`` find something in."""
    for number in range(12):
        say(f"s{number}", *("the needle", "in the haystack", "全文検索", f"word{number} " * 40))
    return FileStore(data)


def change(index, *statements):
    """Change the index behind the back of its programs."""
    with closing(sqlite3.connect(index, isolation_level=None)) as connection:
        for each in statements:
            connection.execute(each)


def hits(store, query):
    found = store.search(query, 300, seconds=60)
    return sorted((hit.session_id, hit.message_id or "", hit.snippet) for hit in found.hits)


def answers(data):
    """What each query finds, asked by a program that has just begun."""
    store = FileStore(data)
    return {query: hits(store, query) for query in QUERIES}


@pytest.fixture
def fresh(data, tmp_path):
    """What a fresh index of the same sessions answers."""

    def ask():
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(data, copy, ignore=shutil.ignore_patterns("index.*"))
        return answers(copy)

    return ask
