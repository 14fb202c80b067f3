"""The contrast of two colours."""

import pytest

from tui.terminal.contrast import contrast

BLACK, GREY, WHITE = (0, 0, 0), (119, 119, 119), (255, 255, 255)


def test_contrast_is_that_of_wcag():
    assert contrast(BLACK, WHITE) == contrast(WHITE, BLACK) == pytest.approx(21)
    assert contrast(GREY, GREY) == 1
    assert contrast(GREY, WHITE) == pytest.approx(4.48, abs=0.01)
