"""Tests of many rows, which are one test each.

To pytest a test costs milliseconds in each of its workers, and most rows take microseconds.
"""

import inspect
from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from reprlib import Repr
from typing import Any, Self

import pytest

_short = Repr()
_short.maxother = _short.maxstring = 120


def each_row(names: str, rows: Iterable[Any]) -> Callable[[Any], Any]:
    """Run a test for each row, as ``parametrize`` does, and fail with all that failed.

    Its fixtures are made once for all rows: no row may change what another one meets.
    """
    columns = [name.strip() for name in names.split(",")]
    values = [(row,) if len(columns) == 1 else row for row in rows]
    table = [dict(zip(columns, each, strict=True)) for each in values]
    assert table, "a table without rows proves nothing"

    def decorate(test: Any) -> Any:
        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def run(*this: Any, **fixtures: Any) -> None:
                for row, outcome in _tried(table):
                    with outcome:
                        await test(*this, **fixtures, **row)
        else:

            @wraps(test)
            def run(*this: Any, **fixtures: Any) -> None:
                for row, outcome in _tried(table):
                    with outcome:
                        test(*this, **fixtures, **row)

        signature = inspect.signature(test)
        others = [each for name, each in signature.parameters.items() if name not in columns]
        run.__signature__ = signature.replace(parameters=others)  # type: ignore[attr-defined]
        return run

    return decorate


class _Outcome:
    """Keeps how a row failed, so that the others are tried, too."""

    def __init__(self, row: dict[str, Any], failures: list[BaseException]) -> None:
        self._row = row
        self._failures = failures

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, failure: BaseException | None, __: object) -> bool:
        if not isinstance(failure, Exception | pytest.fail.Exception):
            return False
        values = (f"{name}={_short.repr(value)}" for name, value in self._row.items())
        failure.add_note(f"in {', '.join(values)}")
        self._failures.append(failure)
        return True


def _tried(table: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], _Outcome]]:
    failures: list[BaseException] = []
    for row in table:
        yield row, _Outcome(row, failures)
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows failed", failures)
