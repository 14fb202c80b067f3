"""Search in a ``MemoryStore``: a scan of all its records."""

import time
from collections.abc import Callable, Mapping

import msgspec

from tui.domain.journal.message import Message
from tui.domain.journal.records import State
from tui.domain.search.filters import origin_of
from tui.domain.search.query import Candidate, Query, SearchResult, SessionScan, parse, rank
from tui.domain.timestamps import MILLISECOND_NS
from tui.storage.memory_shelf import Box


def search_boxes(
    boxes: Mapping[str, Box],
    text: str,
    limit: int,
    seconds: float,
    wanted: Callable[[], bool] | None,
) -> SearchResult:
    """Search sessions as ``SessionStore.search``."""
    query, deadline = parse(text), time.monotonic() + seconds
    candidates: list[Candidate] = []
    late = False
    for session_id, box in () if query.is_empty else list(boxes.items()):
        late = time.monotonic() >= deadline or (wanted is not None and not wanted())
        if late:
            break
        if box.place != "trashed":
            candidates += _candidates(session_id, box, query)
    found = rank(query, candidates, limit)
    return msgspec.structs.replace(found, late=late, notice=query.filters.fault)


def _candidates(session_id: str, box: Box, query: Query) -> list[Candidate]:
    scan = SessionScan(session_id, query, box.used_ns // MILLISECOND_NS)
    passes = box.damage is None and query.filters.pass_session(origin_of(box.header))
    for record in reversed(box.records if passes else ()):
        if isinstance(record, Message | State):
            scan.add(record)
    return scan.candidates
