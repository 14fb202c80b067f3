import os
import shutil
import subprocess

import pytest

from tui.engine import project_folder as listing
from tui.engine.project_folder import folder_entries, project_files

has_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def write(root, *paths):
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")


def git(root, *arguments):
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


@has_git
def test_a_repository_has_its_files_and_new_ones_but_none_that_it_ignores(tmp_path):
    write(tmp_path, "src/a b.py", "new.txt", "build/out.o", "deep/er/x")
    (tmp_path / ".gitignore").write_text("build/\n")
    git(tmp_path, "init")
    git(tmp_path, "add", "src")
    assert set(project_files(tmp_path)) == {
        *("src/", "src/a b.py", "new.txt", ".gitignore", "deep/", "deep/er/", "deep/er/x"),
    }


@has_git
def test_a_part_of_a_repository_has_paths_of_its_own_and_nothing_that_it_names_is_run(tmp_path):
    write(tmp_path, "part/a.py", "other.py")
    ran, program = tmp_path / "ran", tmp_path / "monitor"
    program.write_text(f"#!/bin/sh\necho > {ran}\n")
    program.chmod(0o700)
    git(tmp_path, "init")
    git(tmp_path, "config", "core.fsmonitor", str(program))
    assert project_files(tmp_path / "part") == ["a.py"]
    assert not ran.exists()


def test_elsewhere_the_tree_is_walked_without_links_and_what_programs_keep_there(tmp_path):
    write(tmp_path, "a.txt", "sub/b.txt", "node_modules/x/y.js", ".venv/bin/python", ".git")
    os.symlink(tmp_path, tmp_path / "sub" / "loop")
    assert set(project_files(tmp_path)) == {"a.txt", "sub/", "sub/b.txt", "sub/loop", ".git"}


def test_a_walk_takes_nearer_files_first_and_ends_at_the_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(listing, "MOST_FILES", 3)
    write(tmp_path, "a/deep/1", "a/deep/2", "b")
    assert set(project_files(tmp_path)) == {"a/", "b", "a/deep/"}


def test_without_git_and_without_the_folder_there_is_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    write(tmp_path, "a")
    assert project_files(tmp_path) == ["a"]
    assert project_files(tmp_path / "gone") == []


def test_a_git_that_hangs_is_ended(tmp_path, monkeypatch):
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nprintf 'known\\0cut'\nexec sleep 600\n")
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(listing, "LIST_SECONDS", 0.5)
    assert project_files(tmp_path) in (["known"], [])


def test_the_entries_of_a_folder_are_its_own_and_links_to_folders_can_be_continued(tmp_path):
    write(tmp_path, "a.txt", "sub/b.txt")
    os.symlink(tmp_path / "sub", tmp_path / "link")
    assert set(folder_entries(tmp_path)) == {"a.txt", "sub/", "link/"}
    assert folder_entries(tmp_path / "gone") == []
