"""The ages at which programs delete their sessions, as their settings have it."""

import json

import pytest

from tui.importers.deletions import claude_code_days, gemini_cli_days
from tui.importers.protocol import Places


def settings(folder, told):
    folder.mkdir(parents=True)
    text = told if isinstance(told, str) else json.dumps(told)
    (folder / "settings.json").write_text(text)


@pytest.mark.parametrize(
    ("told", "days"),
    [
        (None, 30),
        ({}, 30),
        ({"cleanupPeriodDays": 7}, 7),
        ({"cleanupPeriodDays": 99999}, 99999),
        ({"cleanupPeriodDays": 0}, 0),
        ({"cleanupPeriodDays": "7"}, 0),
        ("{ // broken", 0),
    ],
)
def test_claude_code_says_the_days(told, days, tmp_path):
    if told is not None:
        settings(tmp_path / ".claude", told)
    assert claude_code_days(Places(tmp_path, {})) == days


def test_a_variable_names_the_place_of_the_settings(tmp_path):
    settings(tmp_path / "claude", {"cleanupPeriodDays": 3})
    settings(tmp_path / "gemini" / ".gemini", {"general": {"sessionRetention": {"maxAge": "2w"}}})
    named = {
        "CLAUDE_CONFIG_DIR": str(tmp_path / "claude"),
        "GEMINI_CLI_HOME": str(tmp_path / "gemini"),
    }
    places = Places(tmp_path / "elsewhere", named)
    assert (claude_code_days(places), gemini_cli_days(places)) == (3, 14)


@pytest.mark.parametrize(
    ("kept", "days"),
    [
        (None, 30),
        ({"enabled": True}, 30),
        ({"enabled": False, "maxAge": "7d"}, 0),
        ({"maxAge": "36h"}, 1.5),
        ({"maxAge": "2m"}, 60),
        ({"maxAge": "0d"}, 0),
        ({"maxAge": "12h"}, 0),
        ({"maxAge": "12h", "minRetention": "1h"}, 0.5),
        ({"maxAge": "soon"}, 0),
        ({"maxAge": 7}, 0),
    ],
)
def test_gemini_cli_says_a_period_that_it_may_refuse(kept, days, tmp_path):
    if kept is not None:
        settings(tmp_path / ".gemini", {"general": {"sessionRetention": kept}})
    assert gemini_cli_days(Places(tmp_path, {})) == days
