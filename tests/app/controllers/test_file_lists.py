import asyncio
import threading
from types import SimpleNamespace

import pytest

from tests.waiting import until
from tui.app.controllers import file_lists
from tui.app.controllers.file_lists import SECONDS_KEPT, FileLists


class Chat:
    def __init__(self):
        self.prompt, self.shown = self, []

    def show_files(self, listing):
        self.shown.append((listing.folder, *listing.names.matching("")))


def session(project):
    header = SimpleNamespace(project_path=str(project))
    return SimpleNamespace(session=SimpleNamespace(header=header))


@pytest.fixture
def chat():
    return Chat()


@pytest.fixture
def workspace(tmp_path):
    return SimpleNamespace(current=session(tmp_path))


@pytest.fixture
def seconds():
    return [0.0]


@pytest.fixture
def lists(chat, workspace, seconds):
    return FileLists(chat, workspace, lambda: seconds[0])


async def test_a_list_is_kept_for_some_seconds_and_then_made_anew(lists, chat, seconds, tmp_path):
    (tmp_path / "a").write_text("")
    await lists.show("")
    (tmp_path / "b").write_text("")
    await lists.show("")
    assert chat.shown == [("", "a"), ("", "a")]
    seconds[0] += SECONDS_KEPT
    await lists.show("")
    assert chat.shown[-1] == ("", "a", "b")


async def test_a_folder_is_listed_with_the_path_that_was_typed(lists, chat, tmp_path, monkeypatch):
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("sub/", "~/sub/", f"{tmp_path}/sub/", "sub/../sub/"):
        await lists.show(folder)
        assert chat.shown[-1] == (folder, f"{folder}deep/")


async def test_a_disk_that_hangs_is_asked_once_and_shown_only_where_it_was_asked_for(
    lists, chat, workspace, monkeypatch
):
    asked, answers = [], threading.Event()

    def hanging(project):
        asked.append(project)
        answers.wait()
        return ["slow"]

    monkeypatch.setattr(file_lists, "project_files", hanging)
    waiting = [asyncio.create_task(lists.show("")) for _ in range(3)]
    await until(lambda: asked)
    workspace.current = session("/elsewhere")
    answers.set()
    await asyncio.gather(*waiting)
    assert len(asked) == 1
    assert chat.shown == []
