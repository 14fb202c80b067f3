"""What a user gets who installs the wheel, and what the project's own papers promise."""

import ast
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = tmp_path_factory.mktemp("wheel")
    # The backend itself and not pip, which would ask the network for it.
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        check=True,
        capture_output=True,
        cwd=ROOT,
    )
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def _project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def _plain_name(requirement: str) -> str:
    return re.split(r"[^\w.-]", requirement)[0].lower().replace("_", "-")


def _libraries(path: Path) -> set[str]:
    """What a module imports that is neither Python's nor ours."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add((node.module or "").partition(".")[0])
    return found - set(sys.stdlib_module_names) - {"tui"}


def test_the_wheel_has_every_file_of_the_package(wheel: zipfile.ZipFile):
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tui").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert "tui/py.typed" in expected
    assert expected <= set(wheel.namelist())


def test_the_wheel_has_the_style_sheets_inside_the_package(wheel: zipfile.ZipFile):
    names = {path.name for path in (ROOT / "styles").iterdir()}
    assert names
    assert {f"tui/styles/{name}" for name in names} <= set(wheel.namelist())


def test_the_wheel_has_the_manual_inside_the_package(wheel: zipfile.ZipFile):
    pages = {path.relative_to(ROOT) for path in (ROOT / "docs/manual").rglob("*.md")}
    assert pages
    assert {f"tui/{page.as_posix()}" for page in pages} <= set(wheel.namelist())
    assert wheel.read("tui/CHANGELOG.md") == (ROOT / "CHANGELOG.md").read_bytes()


def test_the_wheel_has_nothing_beside_the_package(wheel: zipfile.ZipFile):
    tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert tops == {"tui", f"sibyl_tui-{_project()['version']}.dist-info"}


def test_the_wheel_has_the_command(wheel: zipfile.ZipFile):
    (points,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert "sibyl-tui = tui.__main__:main" in wheel.read(points).decode()


def test_every_library_that_is_imported_is_asked_for():
    extras = _project()["optional-dependencies"]
    named = ("bedrock", "postgres")
    wanted = [*_project()["dependencies"], *(each for name in named for each in extras[name])]
    asked = {re.split(r"[^\w.-]", each)[0] for each in wanted}
    makers = packages_distributions()
    missing = {
        name
        for path in (ROOT / "tui").rglob("*.py")
        for name in _libraries(path)
        if not asked & {maker.lower() for maker in makers.get(name, [name])}
    }
    # That is in the standard library from 3.14 on.
    assert missing == {"compression"} - sys.stdlib_module_names


def test_the_lock_has_an_exact_version_of_every_package_asked_for():
    wanted = [*_project()["dependencies"], *_project()["optional-dependencies"]["dev"]]
    lines = (ROOT / ".ci" / "lock.txt").read_text("utf-8").splitlines()
    locked = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in locked)
    names = {_plain_name(line) for line in locked}
    assert {_plain_name(each) for each in wanted} <= names


def test_the_package_knows_its_version():
    import tui

    assert tui.__version__ == _project()["version"]


def test_the_package_refuses_a_name_that_it_does_not_have():
    import tui

    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = tui.missing


def test_the_changelog_tells_of_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert _project()["version"] in headings


def test_the_program_starts_as_a_module():
    done = subprocess.run(
        [sys.executable, "-m", "tui", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["sibyl-tui", _project()["version"]]
    assert done.stderr == ""


def test_the_program_starts_by_its_command():
    command = Path(sys.executable).with_name("sibyl-tui")
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["sibyl-tui", _project()["version"]]


def test_without_a_terminal_the_program_says_what_works_without_one():
    done = subprocess.run(
        [sys.executable, "-m", "tui"], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert "sibyl-tui ask" in done.stderr
