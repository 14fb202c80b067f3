import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.strategies import any_text
from tui.domain.views.notice import Notice
from tui.widgets.notice_queue import fit_notice

ARCHIVED = 'Archived "Fix the login page that fails on Safari". /undo brings it back'


def fit(text, width):
    return fit_notice(Notice(text), width)


def test_where_there_is_room_all_is_said():
    assert fit(ARCHIVED, 80) == ARCHIVED


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (60, 'Archived "Fix the login page that fa…". /undo brings it back'),
        (44, 'Archived "Fix the lo…". /undo brings it back'),
        (37, 'Archived "Fix t…". /undo brings it b…'),
    ],
)
def test_the_title_gives_way_before_the_words_that_undo_it(width, words):
    assert fit(ARCHIVED, width) == words


def test_only_the_first_line_is_shown_and_says_that_there_are_more():
    assert fit("Could not save.\nThe rest is in /tmp/x.", 80) == "Could not save. …"


@given(text=any_text(), width=st.integers(0, 60))
def test_it_never_takes_more_room_than_there_is(text, width):
    assert cell_len(fit(text, width)) <= width
    assert "\n" not in fit(text, width)
