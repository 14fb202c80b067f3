"""The tools that look at a project: what they show, what they refuse, and where they may."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.engine.scripted_servers import set_up
from tui.domain.journal.message import ToolCall
from tui.domain.tool_servers import Decision
from tui.engine import project_folder
from tui.engine.sessions.open_session import SessionOrigin, new_session
from tui.engine.turns import built_in_tools
from tui.engine.turns.tools import DENIED, ToolApprovals, Tools

ALL = ("list_files", "read_file", "search_files")


@pytest.fixture
def project(tmp_path):
    """A project with a file and a folder in it, beside what is not in it."""
    place = tmp_path / "shop"
    (place / "src").mkdir(parents=True)
    (place / "src" / "main.py").write_text("def main():\n    return 'Grüße'\n")
    (place / "README.md").write_text("# Shop\n")
    (tmp_path / "secret.txt").write_text("the zebra")
    return place


class Asked:
    """Answers every question alike, and counts them."""

    def __init__(self, choice="once"):
        self.choice = choice
        self.questions = []

    async def __call__(self, question):
        self.questions.append(question)
        return Decision(self.choice)


@pytest.fixture
def look(project, store, clock):
    """Has a model call a tool in a session of the project, or of another folder."""

    async def call(name, where=None, tools=None, **arguments):
        origin = SessionOrigin("scope", str(where or project), "scripted:model")
        session = new_session(store, origin, clock)
        given = tools or Tools(set_up(*ALL), Asked())

        async def nothing(*_):
            pass

        return await given.run(session, ToolCall("c", name, arguments), nothing, nothing)

    return call


async def test_a_file_is_shown_as_it_is(look, project):
    assert await look("read_file", path="src/main.py") == "def main():\n    return 'Grüße'"
    assert await look("read_file", path=str(project / "README.md")) == "# Shop"


async def test_a_long_file_comes_in_parts(look, project, monkeypatch):
    monkeypatch.setattr(built_in_tools, "MOST_LINES", 2)
    (project / "long").write_text("one\ntwo\nthree\nfour\nfive\n")
    first = await look("read_file", path="long")
    assert first == "one\ntwo\n[Lines 1 to 2 of 5. Go on with first_line 3.]"
    assert await look("read_file", path="long", first_line=5) == "five\n[Lines 5 to 5 of 5.]"
    assert await look("read_file", path="long", first_line=9) == "The file has 5 lines."


async def test_long_lines_and_files_are_cut_where_that_is_said(look, project, monkeypatch):
    monkeypatch.setattr(built_in_tools, "MOST_CHARACTERS", 10)
    (project / "wide").write_text("x" * 30 + "\nnext\n")
    said = await look("read_file", path="wide")
    assert said == f"{'x' * 10}\n[Line 1 is cut. Lines 1 to 1 of 2. Go on with first_line 2.]"
    monkeypatch.setattr(project_folder, "READ_BYTES", 7)
    assert "Only the first 7 bytes of 36 bytes count." in await look("read_file", path="wide")


async def test_files_are_listed_and_searched_by_folder_and_pattern(look, project):
    (project / "node_modules" / "x").mkdir(parents=True)
    (project / "node_modules" / "x" / "main.py").write_text("def main")
    assert await look("list_files") == "README.md\nsrc/main.py"
    assert await look("list_files", pattern="*.md") == "README.md"
    assert await look("list_files", folder="src") == "src/main.py"
    assert await look("search_files", text="GRÜSSE") == "src/main.py:2: return 'Grüße'"
    assert await look("search_files", text="main", pattern="*.md") == "No lines found."
    assert "node_modules" not in await look("search_files", text="main")


async def test_what_is_found_is_bounded(look, project, monkeypatch):
    monkeypatch.setattr(project_folder, "MOST_FOUND", 2)
    monkeypatch.setattr(project_folder, "MOST_LISTED", 1)
    (project / "many").write_text("needle\n" * 1000)
    found = await look("search_files", text="needle")
    assert found.startswith("many:1: needle\nmany:2: needle\n[There may be more: name a")
    assert "[The first 1 of 3 files.]" in await look("list_files")
    monkeypatch.setattr(project_folder, "SEARCH_SECONDS", -1.0)
    assert "There may be more" in await look("search_files", text="needle")


@pytest.mark.parametrize(
    "path", ["../secret.txt", "src/../../secret.txt", "/etc/passwd", "link", "up/secret.txt"]
)
async def test_nothing_out_of_the_project_is_shown(look, project, path):
    (project / "link").symlink_to("../secret.txt")
    (project / "up").symlink_to("..")
    said = await look("read_file", path=path)
    assert "is not in the folder of the project" in said
    assert "zebra" not in await look("search_files", text="zebra")
    assert "is not in" in await look("list_files", folder=str(Path(path).parent / "..") + "/..")


async def test_a_link_within_the_project_is_followed(look, project):
    (project / "again").symlink_to("src/main.py")
    assert "Grüße" in await look("read_file", path="again")


async def test_a_link_that_is_put_there_meanwhile_is_not_followed(look, project, monkeypatch):
    real = os.path.realpath

    def swapped(path, **options):
        found = real(path, **options)
        if str(path).endswith("main.py") and not (project / "src").is_symlink():
            (project / "src").rename(project / "old")
            (project / "src").symlink_to(project.parent)
            (project.parent / "main.py").write_text("the zebra")
        return found

    monkeypatch.setattr(os.path, "realpath", swapped)
    said = await look("read_file", path="src/main.py")
    assert said.startswith("Not shown: ")
    assert "zebra" not in said


@pytest.mark.parametrize(
    "name",
    [
        *(".env", "id_rsa", "server.pem", ".ssh/config", ".git/config", ".GIT/config"),
        *("sibyl/tools.toml", "sibyl/sign-ins/web.json"),
    ],
)
async def test_files_that_hold_secrets_are_named_and_not_read(look, project, name):
    (project / name).parent.mkdir(parents=True, exist_ok=True)
    (project / name).write_text("zebra=1\n")
    (project / "harmless").symlink_to(name)
    assert await look("read_file", path=name) == f"Not shown: {name} may hold secrets."
    assert "may hold secrets" in await look("read_file", path="harmless")
    assert "zebra" not in await look("search_files", text="zebra=")


async def test_odd_files_are_refused_and_hold_nothing_up(look, project):
    os.mkfifo(project / "pipe")
    (project / "picture").write_bytes(b"\x89PNG\0\0\xff")
    (project / "latin").write_bytes("Grüße zebra\n".encode("latin-1"))
    (project / "odd\n\x1b[31mname").write_text("zebra")
    async with asyncio.timeout(5):
        assert "a pipe" in await look("read_file", path="pipe")
        found = await look("search_files", text="zebra")
    assert "Not searched: 2 that" in found
    assert "odd␊␛[31mname:1: zebra" in found
    assert "is binary" in await look("read_file", path="picture")
    assert "not UTF-8" in await look("read_file", path="latin")
    assert "a directory" in await look("read_file", path="src")
    assert await look("read_file", path="none") == "Not shown: No such file or directory."
    assert "no name can have" in await look("read_file", path="a\0b")


async def test_all_of_a_users_files_are_no_project(look, project, monkeypatch):
    monkeypatch.setenv("HOME", str(project))
    asked = Asked()
    for folder in (project, "/", "relative"):
        said = await look("read_file", folder, Tools(set_up(*ALL), asked), path="README.md")
        assert "no project" in said or "no folder" in said
        assert said == set_up().own(str(folder))[0].about
    assert not asked.questions


async def test_allowed_for_longer_means_this_project_only(look, project, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "README.md").write_text("# Other\n")
    for choice in ("until-quit", "always"):
        file = tmp_path / choice / "approvals.json"
        asked = Asked(choice)
        tools = Tools(set_up(*ALL), asked, ToolApprovals(file))
        for _ in range(2):
            assert await look("read_file", tools=tools, path="README.md") == "# Shop"
        assert str(project) in asked.questions[0].about
        asked.choice = "deny"
        assert await look("read_file", other, tools, path="README.md") == DENIED
        assert "changed" not in asked.questions[-1].about
        assert await look("list_files", tools=tools) == DENIED
        asked.choice = choice
        assert await look("read_file", other, tools, path="README.md") == "# Other"
        assert await look("read_file", tools=tools, path="README.md") == "# Shop"
        assert len(asked.questions) == 4
