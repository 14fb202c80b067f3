"""The list of this run's notices."""

from tests.builders import Clock
from tui.domain.views.notice import LoggedNotice, Notice, NoticeLog


def test_equal_notices_in_a_row_are_one_with_the_last_time():
    log, clock = NoticeLog(), Clock()
    said = [LoggedNotice(clock(), Notice(text), title) for text, title in SAID]
    for each in said:
        log.add(each)
    assert log.newest_first == (said[5], said[4], said[3], said[2])


SAID = (
    ("away", ""),
    ("away", ""),
    ("away", ""),
    ("away", "another session"),
    ("back", ""),
    ("away", ""),
)
