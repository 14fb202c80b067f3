"""Files of folders by a pattern, as ``Path.glob`` finds them, and what it keeps silent about."""

import pytest

from tui.importers.folders import matching
from tui.importers.protocol import Places


@pytest.mark.parametrize(
    "pattern",
    ["*.json", "a.json", "*/b.json", "[!.]*/*", "*", "deep/**/b.json", "**/*.json", "no/*"],
)
def test_what_a_glob_finds_is_found(tmp_path, pattern):
    names = "a.json .h.json deep/b.json deep/er/b.json deep/.hid/b.json x/y.md"
    for name in names.split():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link").symlink_to(tmp_path / "deep")
    unread = []
    assert matching(tmp_path, pattern, unread) == sorted(tmp_path.glob(pattern))
    assert not unread


def test_a_folder_that_cannot_be_looked_at_is_told(tmp_path):
    places = Places(tmp_path, {})
    folder = tmp_path / ("x" * 300)
    assert places.glob(folder, "*/*.json") == []
    assert [error.filename for error in places.unread] == [str(folder)]


def test_a_link_that_leads_to_itself_drops_only_itself(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.json").touch()
    (tmp_path / "again").symlink_to(tmp_path / "again")
    unread = []
    assert matching(tmp_path, "*/*.json", unread) == [tmp_path / "deep" / "a.json"]
    assert not unread
