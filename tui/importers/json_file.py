"""Files that are one JSON object with an array of records: read whole, or what is left of them."""

import io
import re
from pathlib import Path
from typing import NamedTuple

from tui.files import read_bounded
from tui.importers.json_elements import elements
from tui.importers.json_lines import FILE_BYTES, UNREADABLE, items_in, object_in, objects_in, parse
from tui.importers.protocol import Json, Ledger

DAMAGED = "damaged file"


class Content(NamedTuple):
    """The object of a file, empty if it is damaged, and its records."""

    fields: Json
    records: list[Json]


def content(path: Path, key: str, ledger: Ledger, most: int = FILE_BYTES) -> Content:
    """Read a file whose records are in an array of one key. Raises ``OSError``.

    A file that is damaged is counted, and its records are read that are whole.
    """
    data = read_bounded(path, most, follow=True)
    fields = object_in(parse(data))
    if not fields:
        ledger.skipped[DAMAGED] += 1
        start = re.search(rb'"' + re.escape(key.encode()) + rb'"\s*+:\s*+(?=\[)', data)
        return Content({}, list(elements(io.BytesIO(data[start.end() :]), ledger)) if start else [])
    found = fields.get(key)
    if not isinstance(found, list | None):
        ledger.skipped["unknown format"] += 1
    records = objects_in(found)
    if others := len(items_in(found)) - len(records):
        ledger.skipped[UNREADABLE] += others
    return Content(fields, records)


def records_or_rest(path: Path, key: str, ledger: Ledger) -> list[Json]:
    """Read the records of a file that is their array, or an object with it. Raises ``OSError``."""
    data = read_bounded(path, FILE_BYTES, follow=True)
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        return content(path, key, ledger).records
    return list(elements(io.BytesIO(data), ledger))
