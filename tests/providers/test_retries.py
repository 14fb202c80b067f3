"""The pauses between the attempts of one request."""

from tui.providers.chat_model import Backoff


def pauses(backoff: Backoff, asked: float | None = None) -> list[float]:
    """All that it gives until it gives none."""
    found: list[float] = []
    while (pause := backoff.next_pause(asked)) is not None:
        found.append(pause)
    return found


class TestAPause:
    def test_has_a_limit_that_doubles_up_to_a_bound(self):
        assert pauses(Backoff(6, lambda: 1.0)) == [0.5, 1, 2, 4, 8, 8]

    def test_is_a_part_of_its_limit_by_chance(self):
        chances = iter([0.5, 0.0, 0.25])
        assert pauses(Backoff(2, lambda: next(chances))) == [0.25, 0.0]

    def test_is_different_each_time_if_nobody_says_otherwise(self):
        assert len({tuple(pauses(Backoff(3))) for _ in range(20)}) > 1

    def test_is_as_long_as_the_server_asks(self):
        assert pauses(Backoff(3, lambda: 0.5), asked=7.0) == [7.0, 7.0, 7.0]

    def test_is_none_if_the_server_asks_for_too_long_a_one(self):
        assert pauses(Backoff(3), asked=61.0) == []

    def test_is_none_if_all_of_them_together_take_too_long(self):
        assert pauses(Backoff(10), asked=50.0) == [50.0, 50.0]

    def test_is_none_without_retries(self):
        assert pauses(Backoff(0)) == []


def test_attempts_are_counted_from_one():
    backoff = Backoff(2)
    assert backoff.tries == 1
    backoff.next_pause(None)
    assert backoff.tries == 2
