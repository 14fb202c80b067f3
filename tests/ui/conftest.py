"""What pilot tests are made of."""

import pytest

from tests.ui.world import World


@pytest.fixture
def world(tmp_path):
    """Makes a world whose model gives these answers."""
    return lambda *answers: World(tmp_path / "data", *answers)
