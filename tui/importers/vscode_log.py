"""VS Code's log of a chat: a snapshot of an object, and the changes made to it since, a line each.

``{"kind": 0, "v"}`` is the snapshot; 1 sets what is at a path ``k``, 2 cuts the array there to
``i`` elements and adds those of ``v``, 3 deletes. So since version 1.109.
"""

from pathlib import Path
from typing import Any, cast

from tui.importers.json_lines import UNREADABLE, object_in, objects
from tui.importers.protocol import Json, Ledger

_SNAPSHOT, _SET, _PUSH, _DELETE = range(4)
_DEEPEST = 32


def last_state(path: Path, ledger: Ledger) -> Json:
    """Make the object as it was last; a change that fits nowhere is counted. Raises ``OSError``."""
    state: Json = {}
    for line in objects(path, ledger):
        change = line.value
        if change.get("kind") == _SNAPSHOT and isinstance(change.get("v"), dict):
            state = object_in(change["v"])
        elif not _change(state, change):
            ledger.skipped[UNREADABLE] += 1
    return state


def _change(state: Json, change: Json) -> bool:
    """Make a change, if it fits."""
    path = change.get("k")
    if not isinstance(path, list) or not 0 < len(cast("list[Any]", path)) <= _DEEPEST:
        return False
    *way, last = cast("list[Any]", path)
    place: Any = state
    for step in way:
        place = _at(place, step)
    kind = change.get("kind")
    if kind == _PUSH:
        return _push(place, last, change)
    value = change.get("v") if kind == _SET else None
    return kind in (_SET, _DELETE) and _put(place, last, value)


def _at(place: Any, step: Any) -> Any:
    if not _leads(place, step):
        return None
    return cast("Json", place).get(step) if isinstance(place, dict) else place[step]


def _put(place: Any, step: Any, value: Any) -> bool:
    fits = _leads(place, step)
    if fits:
        place[step] = value
    return fits


def _push(place: Any, step: Any, change: Json) -> bool:
    array = _at(place, step)
    if not isinstance(array, list):
        array = []
        if not _put(place, step, array):
            return False
    known, start = cast("list[Any]", array), change.get("i")
    if isinstance(start, int) and start >= 0:
        del known[start:]
    added = change.get("v")
    known.extend(cast("list[Any]", added) if isinstance(added, list) else [])
    return True


def _leads(place: Any, step: Any) -> bool:
    """Tell whether a step is a key of an object, or one of the places of an array."""
    if isinstance(place, dict):
        return isinstance(step, str)
    is_number = isinstance(step, int) and not isinstance(step, bool)
    return isinstance(place, list) and is_number and 0 <= step < len(cast("list[Any]", place))
