"""Files of JSON lines survive what may be done to them."""

import os

import pytest

from tests.builders import Clock
from tui.domain.imports import ImportLine
from tui.storage.file_store import FileStore
from tui.storage.json_lines import IMPORTS

LINE = ImportLine("2026-01-11T14:30:22.500Z", "pi", "/a", whole=True)


def test_without_a_log_nothing_was_imported(tmp_path):
    assert list(FileStore(tmp_path, Clock()).imports()) == []


@pytest.mark.parametrize("durably", [True, False])
def test_a_torn_last_line_is_closed_and_damage_hides_nothing(tmp_path, durably):
    path = tmp_path / "imports.jsonl"
    IMPORTS.append(path, [LINE], durably=durably)
    with path.open("ab") as file:
        file.write(b"\xff\n" + b"[" * 999 + b'\n[]\n{"at":1}\n{"at":"2026')
    IMPORTS.append(path, [LINE], durably=durably)
    assert list(FileStore(tmp_path, Clock()).imports()) == [LINE, LINE]
    assert list(IMPORTS.decoded_whole(path.read_bytes())) == [LINE, LINE]
    assert IMPORTS.damaged(path.read_bytes()) == 5
    assert path.stat().st_mode & 0o777 == 0o600


def test_lines_that_find_no_room_leave_nothing(tmp_path, monkeypatch):
    path = tmp_path / "imports.jsonl"
    IMPORTS.append(path, [LINE])
    before, write = path.read_bytes(), os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:5]))
    with pytest.raises(OSError, match="short write"):
        IMPORTS.append(path, [LINE])
    assert path.read_bytes() == before
