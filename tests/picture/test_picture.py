"""The film of the README can be taken, and shows what its captions promise."""

import pytest

from tests.picture.__main__ import BACK, FOUND, PICTURE, take
from tests.picture.conversations import ANSWER, UNSENT
from tests.picture.svg import film

LIMIT = 400 * 1024


def texts(frames, caption):
    """What the frames of a scene show, each as one text."""
    rows = [frame.rows for frame in frames if frame.caption == caption]
    return ["\n".join("".join(cell.data for cell in row) for row in each) for each in rows]


@pytest.mark.full
def test_the_film_shows_a_hit_and_what_a_kill_left(tmp_path):
    frames = take(tmp_path)
    assert any("3 matches" in text for text in texts(frames, FOUND))
    *_, last = texts(frames, BACK)
    assert ANSWER[-2].strip() in last
    assert UNSENT in last
    assert len(film(frames)) < LIMIT


def test_the_picture_of_the_readme_is_no_larger_than_pages_bear():
    assert PICTURE.stat().st_size < LIMIT
