"""A command line in this process, and sessions for it to work on."""

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from urllib.parse import quote

import msgspec
import pytest

from tests.engine.imports.notebook import SEVERAL, Shelf, said, told
from tests.providers.chat_server import ChatServer
from tui.cli import imports, run
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


class Terminal(io.StringIO):
    def isatty(self):
        return True


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


@pytest.fixture
def served(config):
    """Serves and configures a model until the test ends; says how long its silence is borne."""
    with ExitStack() as servers:

        def serve(*replies, timeout=30, retries=1, more=""):
            server = servers.enter_context(ChatServer(*replies))
            config.write_text(
                f'model = "local:m"\n{more}\n[providers.local]\nbase_url = "{server.base_url}"\n'
                f"timeout = {timeout}\nretries = {retries}\n"
            )
            return server

        yield serve


@pytest.fixture
def process(data, tmp_path):
    """Starts a command as a process of its own, which ends with the test."""
    with ExitStack() as processes:

        def start(*arguments, **options):
            command = [sys.executable, "-m", "tui", *arguments, "--data-dir", data]
            pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
            known = {"stdin": subprocess.DEVNULL, "cwd": tmp_path, "text": True, **pipes}
            process = subprocess.Popen(command, **{**known, **options})
            processes.enter_context(process)
            processes.callback(process.kill)
            return process

        yield start


@pytest.fixture
def shelf(private_home, monkeypatch):
    """The files of the one program that is known."""
    monkeypatch.setattr("tui.engine.imports.planning.all_readers", lambda: [SEVERAL])
    monkeypatch.setattr(imports, "PROGRAMS", {"notebook": "notebook"})
    return Shelf(private_home)


@pytest.fixture
def interrupted(shelf, monkeypatch):
    """Five sessions to import; Ctrl+C comes when two of them are there, until it is undone."""
    monkeypatch.setattr("tui.engine.imports.report._REPORT_SECONDS", 0)
    for number in range(5):
        shelf.put(f"{number}.json", told(said(f"m{number}"), source_id=f"c{number}"))
    show = imports.ProgressLine.show

    def interrupt(progress, state):
        if state.sessions == 2:
            os.kill(os.getpid(), signal.SIGINT)
        return show(progress, state)

    with monkeypatch.context() as patch:
        patch.setattr(imports.ProgressLine, "show", interrupt)
        yield patch


@pytest.fixture
def server(postgres):
    """The address of the database, as a user writes it."""
    from psycopg import conninfo

    parts = conninfo.conninfo_to_dict(postgres)
    place = f"host={quote(str(parts['host']), safe='')}&port={parts['port']}"
    return f"postgresql://{parts['user']}@/{parts['dbname']}?{place}"
