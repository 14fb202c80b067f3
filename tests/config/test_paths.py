"""Where things are."""

import os
from pathlib import Path

import platformdirs
import pytest
from platformdirs.macos import MacOS

from tui.config import paths


@pytest.mark.parametrize(
    ("variable", "flag", "place"),
    [
        (None, None, ""),
        ("", None, ""),
        ("/srv/chats", None, "/srv/chats"),
        ("/srv/chats", "/tmp/mine", "/tmp/mine"),
        (None, "chats", "{here}/chats"),
        (None, "~/chats", "{home}/chats"),
    ],
)
def test_the_data_directory_is_that_of_the_flag_the_variable_or_the_platform(
    variable, flag, place, tmp_path: Path, private_home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    environ = {} if variable is None else {"SIBYL_DATA_DIR": variable}
    wanted = place.format(here=tmp_path, home=private_home)
    platforms = platformdirs.user_data_path("sibyl", appauthor=False)
    assert paths.data_directory(environ, flag) == Path(wanted or platforms)
    assert not (tmp_path / "chats").exists()


def test_config_and_state_are_in_the_platforms_places_unless_told_otherwise():
    place = platformdirs.user_config_path("sibyl", appauthor=False)
    assert paths.config_file({}) == place / "config.toml"
    assert paths.config_file({"SIBYL_CONFIG": "/etc/my.toml"}) == Path("/etc/my.toml")
    assert paths.state_directory() == platformdirs.user_state_path("sibyl", appauthor=False)


class TestOnMacosWithPlacesOfTheUsersOwn:
    """platformdirs before 4.6 did not look at XDG_* there."""

    @pytest.fixture(autouse=True)
    def macos(self, private_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("sys.platform", "darwin")
        monkeypatch.setattr("platformdirs.PlatformDirs", MacOS)
        for kind in ("DATA", "CONFIG", "STATE"):
            monkeypatch.setenv(f"XDG_{kind}_HOME", str(private_home / kind))

    @pytest.fixture
    def earlier(self, private_home: Path) -> Path:
        place = private_home / "Library" / "Application Support" / "sibyl"
        place.mkdir(parents=True)
        (place / "config.toml").touch()
        return place

    def test_a_new_user_gets_them(self, private_home: Path):
        assert paths.data_directory({}) == private_home / "DATA" / "sibyl"
        assert paths.config_file({}) == private_home / "CONFIG" / "sibyl" / "config.toml"
        assert paths.state_directory() == private_home / "STATE" / "sibyl"

    def test_what_was_kept_before_they_counted_is_found(self, earlier: Path):
        assert paths.data_directory({}) == earlier
        assert paths.config_file({}) == earlier / "config.toml"
        assert paths.state_directory() == earlier

    def test_what_is_in_them_comes_first(self, private_home: Path, earlier: Path):
        for kind in ("DATA", "CONFIG", "STATE"):
            (private_home / kind / "sibyl").mkdir(parents=True)
        (private_home / "CONFIG" / "sibyl" / "config.toml").touch()
        self.test_a_new_user_gets_them(private_home)

    def test_elsewhere_that_place_means_nothing(
        self, private_home: Path, earlier: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr("sys.platform", "linux")
        self.test_a_new_user_gets_them(private_home)


class TestTheProject:
    def test_is_the_work_tree_around_the_directory_else_the_directory_itself(self, tmp_path: Path):
        place = tmp_path / "a" / "b"
        place.mkdir(parents=True)
        assert paths.project_path(place) == place.resolve()

        (tmp_path / "shop" / ".git").mkdir(parents=True)
        inside = tmp_path / "shop" / "src" / "deep"
        inside.mkdir(parents=True)
        assert paths.project_path(inside) == (tmp_path / "shop").resolve()
        assert paths.project_path(tmp_path / "shop") == (tmp_path / "shop").resolve()

    def test_is_a_linked_work_tree_or_submodule_whose_git_is_a_file(self, tmp_path: Path):
        inner = tmp_path / "shop" / "vendor" / "lib"
        (inner / "src").mkdir(parents=True)
        (tmp_path / "shop" / ".git").mkdir()
        (inner / ".git").write_text("gitdir: ../../.git/modules/lib\n")
        assert paths.project_path(inner / "src") == inner.resolve()

    def test_is_the_real_one_behind_links_with_any_name(self, tmp_path: Path):
        (tmp_path / "shop" / ".git").mkdir(parents=True)
        (tmp_path / "shop" / "src").mkdir()
        link = tmp_path / "elsewhere"
        link.symlink_to(tmp_path / "shop" / "src")
        assert paths.project_path(link) == (tmp_path / "shop").resolve()

        odd = tmp_path / os.fsdecode(b"caf\xe9 \xf0\x9f\x98\x80\n")
        odd.mkdir()
        assert paths.project_path(odd) == odd.resolve()


class TestTheCommandThatStartsItAgain:
    @pytest.fixture
    def installed(self, tmp_path, monkeypatch):
        """Programs of this name in two directories, the first of which a shell looks into."""
        for name in ("known", "my own"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "sibyl-tui").touch(mode=0o755)
        monkeypatch.setenv("PATH", str(tmp_path / "known"))
        monkeypatch.chdir(tmp_path)
        return tmp_path

    def test_is_its_name_only_where_a_shell_finds_it_by_that(self, installed, monkeypatch):
        assert paths.command(f"{installed}/known/sibyl-tui") == "sibyl-tui"
        assert paths.command("my own/sibyl-tui") == "'my own/sibyl-tui'"
        monkeypatch.setenv("PATH", str(installed / "nowhere"))
        assert paths.command(".venv/bin/sibyl-tui") == ".venv/bin/sibyl-tui"

    @pytest.mark.parametrize(
        "called",
        ["", "-c", "sibyl-tui", "tui/__main__.py", "a\x1b[2Jb/sibyl-tui", "a\n/sibyl-tui"],
    )
    def test_is_its_name_where_it_was_started_in_another_way(self, installed, called):
        assert paths.command(called) == "sibyl-tui"
