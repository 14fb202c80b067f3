"""Homes in which programs of the past were used, and what they said of them.

``COMMIT.tar.xz`` is the home of a user whose program was that commit's. It was really used there,
on a terminal and by its command line: sessions of several projects, tools, versions, a fork, a
summary, an archive, a trash, drafts, an import, settings, and a kill in the middle of an answer.
``said`` has what that program printed of it all at the end. Such a file is never changed.
"""

import json
import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import sibyl  # noqa: F401 - a fixture
from tests.terminal.conftest import start  # noqa: F401 - a fixture

HERE = Path(__file__).parent
_PLACES = {".local/share": "data", ".local/state": "state", ".config": "config"}


class OldHome:
    """A home as a program of the past has left it, unpacked at the places of today's tests."""

    def __init__(self, commit: str, home: Path) -> None:
        self.commit = commit
        self.home = home
        with tarfile.open(HERE / f"{commit}.tar.xz") as packed:
            packed.extractall(home, filter="tar")
        for place, new in _PLACES.items():
            (home / new).mkdir(exist_ok=True)
            shutil.move(home / place / "sibyl", home / new / "sibyl")
        self.data = home / "data/sibyl"
        self.config = home / "config/sibyl"
        self.state = home / "state/sibyl"

    def said(self, name: str) -> Any:
        return json.loads((self.home / "said" / name).read_text("utf-8"))

    @property
    def listed(self) -> list[dict[str, Any]]:
        """All sessions, as its program listed them."""
        return self.said("listed.json")

    def named(self, words: str) -> str:
        """The id of the newest session with these words in its title or first question."""
        shown = self.said("shown.json")
        return next(
            entry["id"]
            for entry in self.listed
            if words
            in json.dumps([entry["name"], shown[entry["id"]]["messages"][:1]], ensure_ascii=False)
        )

    def journal(self, session_id: str) -> Path:
        (path,) = self.data.glob(f"*/{session_id}.jsonl")
        return path

    def files(self) -> Iterator[Path]:
        """All files of data, configuration and state but locks, which are only held."""
        for top in (self.data, self.config, self.state):
            yield from (
                path for path in top.rglob("*") if path.is_file() and "lock" not in path.name
            )


@pytest.fixture(params=["b889b05", "c0f0c5ed"])
def old(request: pytest.FixtureRequest, private_home: Path) -> OldHome:
    return OldHome(request.param, private_home)


@pytest.fixture
def newest(private_home: Path) -> OldHome:
    """The newest one, which has everything."""
    return OldHome("c0f0c5ed", private_home)


@pytest.fixture
def data(private_home: Path) -> Path:
    return private_home / "data/sibyl"
