from types import SimpleNamespace

import pytest

from tui.app.controllers.dropped_files import DroppedFiles
from tui.widgets.prompt import Paste, Prompt


class Chat:
    def __init__(self):
        self.prompt, self.put = self, []

    def replace_paste(self, paste, text):
        self.put.append(text)


@pytest.fixture
def project(tmp_path):
    (tmp_path / "cart.py").write_text("")
    (tmp_path / "bad\nname").write_text("")
    return tmp_path


@pytest.fixture
def drop(project):
    async def dropped(*readings):
        chat = Chat()
        header = SimpleNamespace(project_path=str(project))
        session = SimpleNamespace(session=SimpleNamespace(header=header))
        files = DroppedFiles(chat, SimpleNamespace(current=session))
        await files.take(Prompt.FilesDropped(Paste("", (0, 0), (0, 0)), readings))
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
