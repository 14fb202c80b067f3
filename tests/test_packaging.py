"""What a user gets who installs the wheel, and what the project's own papers promise."""

import ast
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.shell_files import COMPLETIONS, files
from tui.app import session_imports
from tui.cli.debug_log import TEXTUAL

ROOT = Path(__file__).parent.parent


def _build(kind: str, source: Path, folder: Path) -> Path:
    # The backend itself and not pip, which would ask the network for it.
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)],
        check=True,
        capture_output=True,
        cwd=source,
    )
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    return zipfile.ZipFile(_build("wheel", ROOT, tmp_path_factory.mktemp("wheel")))


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("sdist", ROOT, tmp_path_factory.mktemp("sdist"))


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


def test_the_wheel_has_every_file_of_the_package_and_nothing_beside_it(wheel: zipfile.ZipFile):
    names = set(wheel.namelist())
    expected = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "tui").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert {"tui/py.typed", "tui/widgets/approval_panel.tcss"} <= expected
    first_screen = {f"tui/styles/{path.name}" for path in (ROOT / "styles").iterdir()}
    pages = {path.relative_to(ROOT) for path in (ROOT / "docs/manual").rglob("*.md")}
    assert first_screen
    assert pages
    assert expected | first_screen | {f"tui/{page.as_posix()}" for page in pages} <= names
    assert wheel.read("tui/CHANGELOG.md") == (ROOT / "CHANGELOG.md").read_bytes()
    name = f"sibyl_tui-{_project()['version']}"
    tops = {each.partition("/")[0] for each in names}
    assert tops == {"tui", "sibyl_tui.py", f"{name}.dist-info", f"{name}.data"}
    assert {each for each in names if "__pycache__" in each or "/." in each} == set()
    own = f"{name}.dist-info"
    assert wheel.read(f"{own}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert "sibyl-tui = sibyl_tui:main" in wheel.read(f"{own}/entry_points.txt").decode()


def test_links_and_pictures_of_the_page_lead_to_this_version(wheel: zipfile.ZipFile):
    (metadata,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    page = wheel.read(metadata).decode()
    version = _project()["version"]
    targets = re.findall(r"\]\((.*?)\)", page)
    assert f"https://github.com/sibyl-tui/sibyl-tui/blob/v{version}/docs/manual.md" in targets
    raw = f"https://raw.githubusercontent.com/sibyl-tui/sibyl-tui/v{version}/snapshots/tour.svg"
    assert raw in targets
    assert [target for target in targets if not target.startswith("https://")] == []


@pytest.mark.parametrize("path", files())
def test_the_wheel_has_completions_and_a_man_page_that_are_current(wheel: zipfile.ZipFile, path):
    assert files()[path] == (ROOT / path).read_text("utf-8"), "run python -m tests.shell_files"
    assert f"sibyl_tui-{_project()['version']}.data/data/{path}" in wheel.namelist()


def test_bash_completes_commands_options_and_choices():
    def offered(*words: str) -> list[str]:
        code = (
            'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
            'COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; '
            '_shtab_sibyl_tui sibyl-tui "${COMP_WORDS[COMP_CWORD]}"; '
            'printf "%s\\n" "${COMPREPLY[@]}"'
        )
        command = ["bash", "-c", code, "bash", ROOT / COMPLETIONS["bash"], "sibyl-tui", *words]
        return subprocess.run(command, capture_output=True, text=True).stdout.split()

    assert offered("sess") == ["sessions"]
    assert offered("sessions", "re") == ["restore"]
    assert offered("sessions", "export", "--format", "") == ["markdown", "jsonl"]
    assert "--mask-secrets" in offered("sessions", "export", "--m")


def test_the_sdist_has_what_the_repository_has(sdist: Path):
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    expected = {each for each in listed.stdout.split("\0") if each}
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert expected - names == {".gitattributes", ".pre-commit-config.yaml"}
    assert "PKG-INFO" in names


def test_the_sdist_makes_the_same_wheel_and_the_checkout_the_same_sdist(
    sdist: Path, wheel: zipfile.ZipFile, tmp_path
):
    again = _build("sdist", ROOT, tmp_path / "again")
    assert again.read_bytes() == sdist.read_bytes()
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    made = _build("wheel", tmp_path / sdist.name.removesuffix(".tar.gz"), tmp_path / "made")
    assert made.read_bytes() == Path(wheel.filename).read_bytes()


@pytest.fixture
def installed(wheel: zipfile.ZipFile, tmp_path: Path) -> Path:
    """The files of the wheel where an environment would have them, without a start script."""
    wheel.extractall(tmp_path / "site")
    return tmp_path / "site"


@pytest.mark.parametrize("where", ["working directory", "PYTHONPATH"])
@pytest.mark.parametrize(
    "code",
    ["import sibyl_tui; sibyl_tui.main()", session_imports._CODE],
    ids=["by the user", "by automatic imports"],
)
def test_a_foreign_package_of_our_name_is_passed_over(installed: Path, tmp_path: Path, where, code):
    foreign = tmp_path / "foreign/tui"
    foreign.mkdir(parents=True)
    (foreign / "__init__.py").write_text("raise SystemExit('the foreign one')")
    path = f"{foreign.parent}{os.pathsep}{installed}" if where == "PYTHONPATH" else str(installed)
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, "--version"],
        env=os.environ | {"PYTHONPATH": path},
        cwd=foreign.parent,
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == (f"sibyl-tui {_project()['version']}\n", "")


def test_a_foreign_package_that_has_replaced_ours_is_named(installed: Path, tmp_path: Path):
    (installed / "tui/__init__.py").write_text('"""Something else."""\n')
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sibyl_tui"],
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f'Another package named "tui" has replaced ours: {installed}/tui/__init__.py.'
        " Install sibyl-tui in an environment of its own, as pipx and uv do.\n"
    )


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
    # The one is in the standard library from 3.14 on, the other does the same before.
    assert missing == {"compression" if sys.version_info < (3, 14) else "backports"}


def test_the_lock_has_an_exact_version_of_every_package_asked_for():
    wanted = [*_project()["dependencies"], *_project()["optional-dependencies"]["dev"]]
    lines = (ROOT / ".ci" / "lock.txt").read_text("utf-8").splitlines()
    locked = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[\w.-]+==[\w.]+", line) for line in locked)
    names = {_plain_name(line) for line in locked}
    assert {_plain_name(each) for each in wanted} <= names


def test_both_ends_of_the_range_of_textual_are_those_that_are_tried():
    lowest, newest = TEXTUAL
    (wanted,) = (each for each in _project()["dependencies"] if each.startswith("textual"))
    assert wanted.startswith(f"textual>={lowest},")
    assert f"textual=={newest}" in (ROOT / ".ci/lock.txt").read_text("utf-8").splitlines()


def test_the_package_knows_its_version_and_refuses_a_name_that_it_does_not_have():
    import tui

    assert tui.__version__ == _project()["version"]
    with pytest.raises(AttributeError, match="no attribute 'missing'"):
        _ = tui.missing


def test_the_changelog_tells_of_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text("utf-8")
    headings = re.findall(r"^## \[(.+?)\]", changelog, re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert _project()["version"] in headings


@pytest.mark.parametrize(
    "command",
    [[sys.executable, "-m", "tui"], [Path(sys.executable).with_name("sibyl-tui")]],
    ids=["module", "command"],
)
def test_the_program_starts(command):
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == (f"sibyl-tui {_project()['version']}\n", "")
