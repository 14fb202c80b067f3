"""The log of imports survives what may be done to it."""

from tui.domain.imports import ImportLine
from tui.storage.import_log import add_lines, read_lines

LINE = ImportLine("2026-01-11T14:30:22.500Z", "pi", "/a", whole=True)


def test_without_a_log_nothing_was_imported(tmp_path):
    assert list(read_lines(tmp_path / "imports.jsonl")) == []


def test_a_torn_last_line_is_closed_and_damage_hides_nothing(tmp_path):
    path = tmp_path / "imports.jsonl"
    add_lines(path, [LINE])
    with path.open("ab") as file:
        file.write(b"\xff\n" + b"[" * 999 + b'\n[]\n{"at":1}\n{"at":"2026')
    add_lines(path, [LINE])
    assert list(read_lines(path)) == [LINE, LINE]
    assert path.stat().st_mode & 0o777 == 0o600
