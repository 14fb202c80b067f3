"""The pause between two frames: short, and a share of what a frame takes."""

import pytest

from tui.widgets.transcript import transcript
from tui.widgets.transcript.transcript import FRAMES_A_SECOND, LONGEST_WAIT, Throttle


@pytest.mark.parametrize(
    ("took", "wait"), [(0.001, 1 / FRAMES_A_SECOND), (0.1, 0.3), (5, LONGEST_WAIT)]
)
def test_a_slow_frame_is_followed_by_a_longer_pause_within_bounds(monkeypatch, took, wait):
    now = [100.0]
    monkeypatch.setattr(transcript.time, "monotonic", lambda: now[0])
    frames = Throttle()
    frames.begin()
    now[0] += took
    frames.end()
    assert frames.wait == pytest.approx(wait)
