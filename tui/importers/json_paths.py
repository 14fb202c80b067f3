"""The fields of JSON objects by their paths, whatever else may be in their place.

A path is a name, or several with dots between, which lead through objects: ``message.usage``. Of
several paths the first that leads somewhere counts.
"""

from typing import Any

from tui.importers.json_lines import object_in, objects_in, text_in
from tui.importers.protocol import Json
from tui.importers.times import utc


def value_at(record: Json, *paths: str) -> Any:
    """The first value that is there and not null; ``None`` without any."""
    for path in paths:
        value: Any = record
        for name in path.split("."):
            value = object_in(value).get(name)
        if value is not None:
            return value
    return None


def text_at(record: Json, *paths: str) -> str:
    """The first text that is not empty."""
    return next((text for path in paths if (text := text_in(value_at(record, path)))), "")


def object_at(record: Json, *paths: str) -> Json:
    """The first object that is not empty."""
    return next((found for path in paths if (found := object_in(value_at(record, path)))), Json())


def objects_at(record: Json, *paths: str) -> list[Json]:
    """The objects of the first array that has any."""
    return next(
        (found for path in paths if (found := objects_in(value_at(record, path)))), list[Json]()
    )


def time_at(record: Json, *paths: str) -> str | None:
    """The first that is a time."""
    return next((time for path in paths if (time := utc(value_at(record, path)))), None)
