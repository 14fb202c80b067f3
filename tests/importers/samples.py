"""Samples: other people's files, kept beside the repository, by which readers are tried.

``check`` says what is true of every reading, ``check_mutants`` of damaged files, and
``check_junk_lines`` of files whose records are lines. Samples of our own making, in ``sources``,
are checked alike.
"""

import json
import os
import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tui.domain.timestamps import parse_utc
from tui.importers.protocol import (
    ForeignMessage,
    ForeignSummary,
    Heading,
    Item,
    Ledger,
    Places,
    Reader,
    Source,
)
from tui.importers.readers import reader

FOLDER = Path(
    os.environ.get("SIBYL_SAMPLES") or Path(__file__).parents[3] / "shared" / "fixtures" / "import"
)
SOURCES = Path(__file__).with_name("sources")
"""Small samples of our own making: a home directory for each case of a program."""
_CHANGED = 1_780_000_000
ABSENT = f"no samples of other programs' files: {FOLDER} (or SIBYL_SAMPLES) is missing"
_DEEP = 100_000
_LONG_LINE = 2 * 1024 * 1024
_SEED = 15


class Reading(NamedTuple):
    """A source as its reader gives it."""

    conversations: list[tuple[Heading, list[Item]]]
    ledger: Ledger

    @property
    def messages(self) -> list[ForeignMessage]:
        return [
            item
            for _, items in self.conversations
            for item in items
            if isinstance(item, ForeignMessage)
        ]


def samples(*patterns: str) -> list[Any]:
    """Find samples for ``parametrize``, files or folders; without any, one test that is skipped."""
    if not FOLDER.is_dir():
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT), id="absent")]
    found = sorted({path for pattern in patterns for path in FOLDER.glob(pattern)})
    assert found, f"no sample matches {patterns}"
    return [pytest.param(path, id=str(path.relative_to(FOLDER))) for path in found]


def laid_out(case: Path, home: Path) -> tuple[Reader, list[Path]]:
    """Make the home directory of a case; give the reader, and the sources that it finds there."""
    program = reader(case.parent.name)
    shutil.copytree(case.with_suffix(""), home)
    for script in home.rglob("*.sql"):
        with closing(sqlite3.connect(script.with_suffix(""))) as database:
            database.executescript(script.read_bytes().decode())
        script.unlink()
    for file in files_in(home):
        os.utime(file, (_CHANGED, _CHANGED))
    found = [each.path for each in program.find(Places(home, {}))]
    exports = [each for each in files_in(home) if program.recognises(each, beginning(each))]
    return program, found or exports


def beginning(path: Path) -> bytes:
    """The first bytes of a file, as a reader sees them to recognise it."""
    return b"" if path.is_dir() else path.read_bytes()[:4096]


def source_of(path: Path) -> Source:
    """Make the source of a file, or of a folder with all its files."""
    return Source.of(path, *files_in(path)) if path.is_dir() else Source.of(path)


def files_in(path: Path) -> list[Path]:
    """List the files of a folder, or the file itself."""
    if not path.is_dir():
        return [path]
    return sorted(each for each in path.rglob("*") if each.is_file())


def read_all(reader: Reader, path: Path) -> Reading:
    """Read a whole source."""
    ledger = Ledger()
    conversations: list[tuple[Heading, list[Item]]] = []
    for conversation in reader.read(source_of(path), ledger):
        conversations.append((conversation.heading, list(conversation.items())))
        ledger.add(conversation.ledger)
    return Reading(conversations, ledger)


def lines_in(path: Path) -> int:
    """Count the lines of a file, a last one without line feed included."""
    lines = path.read_bytes().split(b"\n")
    return len(lines) - (not lines[-1])


def elements_in(path: Path) -> int:
    """Count the elements of a file that is one JSON array."""
    return len(json.loads(path.read_bytes()))


def check(reader: Reader, path: Path, records: Callable[[Path], int] = lines_in) -> Reading:
    """Read a source twice, and check what must be true of every reading.

    ``records`` counts the records of the source in a way of its own.
    """
    before = looks(path)
    reading, again = read_all(reader, path), read_all(reader, path)
    assert looks(path) == before, "the source was changed"
    assert reading.conversations == again.conversations
    assert _counts(reading.ledger) == _counts(again.ledger)
    assert reading.ledger.total == records(path), dict(reading.ledger.skipped)
    for heading, items in reading.conversations:
        _check_heading(heading)
        _check_items(items)
    return reading


def check_junk_lines(reader: Reader, path: Path, tmp_path: Path) -> None:
    """Check that lines that are no records are counted, and hide nothing, wherever they are."""
    expected = read_all(reader, path)
    copy = _copied(path, tmp_path / "junk")
    for file in files_in(copy):
        lines = file.read_bytes().split(b"\n")
        file.write_bytes(b"\n".join(part for line in lines for part in (*_JUNK, line)))
    _keep_times(path, copy)
    reading = read_all(reader, copy)
    # Ids may be made from the places of lines.
    assert list(map(_said, reading.messages)) == list(map(_said, expected.messages))
    assert reading.ledger.read == expected.ledger.read
    assert reading.ledger.total > expected.ledger.total


def check_mutants(reader: Reader, path: Path, tmp_path: Path, root: Path | None = None) -> None:
    """Check that no damage to a source raises anything but ``OSError``.

    ``root`` is the folder around ``path`` that its reader needs, if it needs one.
    """
    top = _copied(root or path, tmp_path / "mutants")
    copy = top / path.relative_to(root) if root else top
    for file in files_in(copy):
        whole = file.read_bytes()
        for name, mutant in mutants(whole):
            file.write_bytes(mutant)
            _check_mutant(reader, copy, f"{file.name}: {name}")
        file.write_bytes(whole)


def mutants(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Make damaged versions of a file; the same ones each time."""
    chance = random.Random(_SEED)
    middle = data.find(b"\n", len(data) // 2) + 1
    yield "empty", b""
    for _ in range(8):
        cut = chance.randrange(len(data) + 1)
        yield f"cut at {cut}", data[:cut]
        yield f"begins at {cut}", data[cut:]
    for _ in range(16):
        flipped = bytearray(data)
        for place in chance.choices(range(len(data)), k=min(len(data), 8)):
            flipped[place] ^= 1 << chance.randrange(8)
        yield "flipped", bytes(flipped)
    for name, part in _insertions():
        yield name, data[:middle] + part + data[middle:]
    for old, new in _REPLACEMENTS:
        yield f"{old!r} is {new!r}", data.replace(old, new)


_JUNK = (
    b'{"type": "user", "message"',
    b"[" * 300 + b"]" * 300,
    b"\x00" * 40,
    b"\xff\xfe not JSON",
    b"17",
)


def _insertions() -> Iterator[tuple[str, bytes]]:
    yield "NUL", b"\x00" * 4096
    yield "NUL line", b"\x00" * 4096 + b"\n"
    yield "long line", b'{"type": "' + b"x" * _LONG_LINE + b'"}\n'
    yield "deep nesting", b"[" * _DEEP + b"]" * _DEEP + b"\n"
    yield "deep objects", b'{"a":' * _DEEP + b"1" + b"}" * _DEEP + b"\n"
    yield "no UTF-8", b"\xff\xfe\xed\xa0\x80\xc0\x80\n"
    yield "huge number", b'{"type": ' + b"9" * 10_000 + b"}\n"
    yield "many line feeds", b"\n" * 1000
    for junk in _JUNK:
        yield "junk", junk + b"\n"


_REPLACEMENTS = (
    (b": ", b": \xed\xa0\x80"),
    (b'"text"', b'"text\\ud800"'),
    (b"the", b"\\ud800"),
    (b"e", b"\x00"),
    (b"\n", b"\r\n"),
    (b"\n", b" "),
    (b"{", b"["),
    (b'":"', b'":["'),
    (b'":{', b'":null,"x":{'),
    (b'": {', b'": null,"x":{'),
    (b'":[', b'":7,"x":['),
    (b'": [', b'": 7,"x":['),
    (b'":"', b'":7,"x":"'),
    (b'": "', b'": null,"x":"'),
    (b"1", b"1e999"),
    (b"2", b"-2"),
    (b"true", b'"true"'),
    (b"null", b"{}"),
)


def _check_mutant(reader: Reader, path: Path, name: str) -> None:
    for each in files_in(path):
        reader.recognises(each, each.read_bytes()[:4096])
    try:
        reading = read_all(reader, path)
    except OSError:
        return
    except Exception as error:
        raise AssertionError(f"{reader.program}: {name} raised {error!r}") from error
    for heading, items in reading.conversations:
        assert heading.source_id, name
        _check_items(items)


def _check_heading(heading: Heading) -> None:
    assert heading.source_id
    assert heading.name == " ".join(heading.name.split())
    for time in (heading.created_at, heading.updated_at):
        assert time is None or parse_utc(time)


def _check_items(items: list[Item]) -> None:
    seen: set[str] = set()
    for item in items:
        match item:
            case ForeignMessage():
                assert item.id
                assert item.id not in seen, f"twice: {item.id}"
                assert not item.parent or item.parent in seen, f"parent comes later: {item.parent}"
                assert item.timestamp is None or parse_utc(item.timestamp)
                assert item.content is None or isinstance(item.content, str)
                seen.add(item.id)
            case ForeignSummary():
                assert item.through in seen
            case _:
                pass


def _said(message: ForeignMessage) -> tuple[Any, ...]:
    return message.role, message.content, message.timestamp, message.tool_calls, message.status


def _counts(ledger: Ledger) -> tuple[int, dict[str, int]]:
    return ledger.read, dict(ledger.skipped)


def looks(path: Path) -> dict[Path, tuple[bytes, int]]:
    """Look at a source, and at whatever its reader might leave beside it."""
    top = path if path.is_dir() else path.parent
    return {
        each: (each.read_bytes() if each.is_file() else b"", each.stat().st_mtime_ns)
        for each in sorted(top.rglob("*"))
    }


def _copied(path: Path, folder: Path) -> Path:
    copy = folder / path.name
    if path.is_dir():
        shutil.copytree(path, copy)
    else:
        folder.mkdir(parents=True)
        shutil.copy2(path, copy)
    return copy


def _keep_times(path: Path, copy: Path) -> None:
    for one, other in zip(files_in(path), files_in(copy), strict=True):
        status = one.stat()
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
