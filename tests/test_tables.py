"""A table fails when any of its rows does, and says which."""

import pytest

from tests.tables import each_row


def test_every_row_is_tried_and_what_failed_is_named():
    tried = []

    @each_row("given, wanted", [(1, 1), (2, 3), (4, None), (5, 6)])
    def table(given, wanted):
        tried.append(given)
        assert given == wanted or given == int(wanted)

    with pytest.raises(BaseExceptionGroup, match="3 of 4 rows failed") as failed:
        table()
    assert tried == [1, 2, 4, 5]
    notes = [note for each in failed.value.exceptions for note in each.__notes__]
    assert notes == ["in given=2, wanted=3", "in given=4, wanted=None", "in given=5, wanted=6"]


async def test_an_error_that_does_not_come_fails_its_row():
    @each_row("divisor", [0, 1])
    async def table(divisor):
        with pytest.raises(ZeroDivisionError):
            divmod(1, divisor)

    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE") as failed:
        await table()
    assert failed.value.__notes__ == ["in divisor=1"]


def test_a_table_without_rows_or_with_one_of_another_width_is_refused():
    for rows in ([], [(1, 2, 3)]):
        with pytest.raises((AssertionError, ValueError)):
            each_row("given, wanted", rows)
