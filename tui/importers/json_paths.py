"""The fields of JSON objects by their paths, whatever else may be in their place.

A path is a name, or several with dots between, which lead through objects: ``message.usage``. Of
several paths the first that leads somewhere counts.
"""

from functools import cache
from typing import Any, cast

from tui.importers.json_lines import object_in, objects_in
from tui.importers.protocol import Json
from tui.importers.times import utc


@cache
def _names(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def value_at(record: Json, *paths: str) -> Any:
    """The first value that is there and not null; ``None`` without any."""
    for path in paths:
        if "." not in path:
            value: Any = record.get(path)
        else:
            value = record
            for name in _names(path):
                value = cast("Json", value).get(name) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


def text_at(record: Json, *paths: str) -> str:
    """The first text that is not empty."""
    for path in paths:
        value = record.get(path) if "." not in path else value_at(record, path)
        if value and isinstance(value, str):
            return value
    return ""


def object_at(record: Json, *paths: str) -> Json:
    """The first object that is not empty."""
    for path in paths:
        if found := object_in(value_at(record, path)):
            return found
    return {}


def objects_at(record: Json, *paths: str) -> list[Json]:
    """The objects of the first array that has any."""
    return next(
        (found for path in paths if (found := objects_in(value_at(record, path)))), list[Json]()
    )


def time_at(record: Json, *paths: str) -> str | None:
    """The first that is a time."""
    for path in paths:
        value = value_at(record, path)
        if value is not None and (time := utc(value)):
            return time
    return None
