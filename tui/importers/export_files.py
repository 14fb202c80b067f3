"""Export files: JSON of any size, one object at a time."""

import os
import re
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path

from tui.files import open_regular
from tui.importers.json_elements import Element, placed_elements
from tui.importers.protocol import Json, Ledger, Source

BEGINNING_BYTES = 256 * 1024
_JSON_BEGINS = re.compile(rb"(?:\xef\xbb\xbf)?\s*[\[{]\s*(?:[\[{\"\]}]|\Z)")


def records(source: Source, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Json]:
    """Read the objects of an export one at a time; see ``json_elements``. Raises ``OSError``."""
    return (element.value for element in placed_records(source, ledger, within))


def placed_records(source: Source, ledger: Ledger, within: Sequence[str] = ()) -> Iterator[Element]:
    """Read the same objects with their places. Raises ``OSError``."""
    with _opened(source.path) as stream:
        yield from placed_elements(stream, ledger, within)


def has_key(start: bytes, *names: bytes) -> bool:
    """Tell whether an export begins with objects that have some keys; no text is taken for one."""
    return all(re.search(rb'"(?:' + name + rb')"\s*+:', start) for name in names)


def beginning(path: Path, head: bytes) -> bytes:
    """The first bytes of an export: more than a head has, if the file is at hand.

    None of a file that is no JSON, such as a program that names the keys of one.
    """
    if not _JSON_BEGINS.match(head):
        return b""
    if len(head) >= BEGINNING_BYTES:
        return head
    try:
        with _opened(path) as stream:
            return stream.read(BEGINNING_BYTES)
    except OSError:
        return head


def _opened(path: Path) -> BufferedReader:
    return os.fdopen(open_regular(path, follow=True), "rb")
