"""A command line in this process, and sessions for it to work on."""

import io
import json
import sys
from dataclasses import dataclass

import msgspec
import pytest

from tui.cli import run
from tui.domain.journal.message import Message
from tui.domain.journal.records import Opened
from tui.storage.file_store import FileStore


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


@pytest.fixture
def data(tmp_path):
    return tmp_path / "data"


@pytest.fixture
def sibyl(data, capsys, monkeypatch, tmp_path):
    """Runs a command on the data directory; gives its exit code and what it printed."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        try:
            code = run([*map(str, arguments), "--data-dir", str(data)])
        except SystemExit as leaving:
            code = leaving.code
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return call


@pytest.fixture
def config(tmp_path, monkeypatch):
    """The file of the settings, which is empty until a test writes it."""
    file = tmp_path / "config.toml"
    file.touch()
    monkeypatch.setenv("SIBYL_CONFIG", str(file))
    return file


@pytest.fixture
def store(data):
    return FileStore(data)


@pytest.fixture
def saved(store):
    """Writes a session of these texts, user and model in turn, and gives its id."""
    numbers = iter(range(1000))

    def save(*texts, scope="project:/shop", name="", **fields):
        lease = store.create(scope, "/shop", "offline:guide")
        records = [Opened(at="2026-01-11T14:30:00.000Z")]
        for text in texts:
            number = next(numbers)
            role = "assistant" if len(records) % 2 == 0 else "user"
            moment = f"2026-01-11T14:{30 + number // 60}:{number % 60:02d}.000Z"
            records.append(Message(f"m{number}", role, text, moment, **fields))
        store.append(lease, records)
        if name:
            session = store.journal(lease.session_id).load()
            state = session.state("2026-01-11T15:00:00.000Z")
            store.append(lease, [msgspec.structs.replace(state, name=name)])
        lease.release()
        return lease.session_id

    return save
