"""The world in which faults strike."""

import pytest

from tests.faults import commands


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A data directory to begin with, and the files beside it."""
    directory = tmp_path_factory.mktemp("template")
    commands.fill(directory / "data", directory)
    return directory
