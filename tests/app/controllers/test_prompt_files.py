import asyncio
import threading
from types import SimpleNamespace

import pytest

from tests.app.controllers.stand_ins import shared
from tests.waiting import until
from tui.app.controllers import prompt_files
from tui.app.controllers.prompt_files import SECONDS_KEPT, PromptFiles
from tui.widgets.prompt import Paste, Prompt


class Chat:
    def __init__(self):
        self.prompt = self.editor = self
        self.shown, self.put = [], []

    def show_files(self, listing):
        self.shown.append((listing.folder, *listing.names.matching("")))

    def replace_paste(self, paste, text):
        self.put.append(text)


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
    parts = SimpleNamespace(stopwatch=lambda: seconds[0])
    return PromptFiles(*shared(chat=chat, parts=parts, workspace=workspace))


async def test_a_list_is_kept_for_some_seconds_and_then_made_anew(lists, chat, seconds, tmp_path):
    (tmp_path / "a").write_text("")
    await lists.show_listing("")
    (tmp_path / "b").write_text("")
    await lists.show_listing("")
    assert chat.shown == [("", "a"), ("", "a")]
    seconds[0] += SECONDS_KEPT
    await lists.show_listing("")
    assert chat.shown[-1] == ("", "a", "b")


async def test_a_folder_is_listed_with_the_path_that_was_typed(lists, chat, tmp_path, monkeypatch):
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path))
    for folder in ("sub/", "~/sub/", f"{tmp_path}/sub/", "sub/../sub/"):
        await lists.show_listing(folder)
        assert chat.shown[-1] == (folder, f"{folder}deep/")


async def test_a_disk_that_hangs_is_asked_once_and_shown_only_where_it_was_asked_for(
    lists, chat, workspace, monkeypatch
):
    asked, answers = [], threading.Event()

    def hanging(project):
        asked.append(project)
        answers.wait()
        return ["slow"]

    monkeypatch.setattr(prompt_files, "project_files", hanging)
    waiting = [asyncio.create_task(lists.show_listing("")) for _ in range(3)]
    await until(lambda: asked)
    workspace.current = session("/elsewhere")
    answers.set()
    await asyncio.gather(*waiting)
    assert len(asked) == 1
    assert chat.shown == []


@pytest.fixture
def project(tmp_path):
    (tmp_path / "cart.py").write_text("")
    (tmp_path / "bad\nname").write_text("")
    return tmp_path


@pytest.fixture
def drop(project):
    async def dropped(*readings):
        chat = Chat()
        workspace = SimpleNamespace(current=session(project))
        files = PromptFiles(*shared(chat=chat, workspace=workspace))
        await files.replace_dropped(Prompt.FilesDropped(Paste("", (0, 0), (0, 0)), readings))
        return chat.put

    return dropped


async def test_paths_that_are_not_all_there_stay_as_they_were_pasted(drop, project):
    there, gone = str(project / "cart.py"), str(project / "gone.py")
    assert await drop([gone]) == []
    assert await drop([there, gone]) == []


async def test_the_reading_whose_files_are_all_there_counts(drop, project):
    assert await drop([str(project / "cart.py x")], [str(project / "cart.py")]) == ["@cart.py "]


async def test_a_name_that_nobody_can_type_stays_as_it_was_pasted(drop, project):
    assert await drop([str(project / "bad\nname")]) == []
    assert await drop(["/a\0b"]) == []
