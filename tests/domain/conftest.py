import time

import pytest


@pytest.fixture
def zone(monkeypatch):
    """Sets the local time zone, by a rule that needs no data base."""

    def set_zone(rule):
        monkeypatch.setenv("TZ", rule)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()
