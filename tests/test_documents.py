"""The papers of the repository: what they say of files, records and each other is so."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.reference import FOLDER, pages
from tests.tables import each_row
from tui.config.loading import Flags
from tui.domain.journal.fold import Fold
from tui.domain.journal.records import VERSION, Record, SessionHeader, decode, encode
from tui.domain.json_text import DIGITS, LINE_BYTES, NESTING
from tui.storage.disk import JOURNAL_BYTES
from tui.storage.journal_lines import LINES

ROOT = Path(__file__).parent.parent
FORMAT = (ROOT / "docs/journal-format.md").read_text("utf-8")
PAPERS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FIELDS = {kind.__struct_config__.tag: kind.__struct_fields__ for kind in Record.__args__}


def example_lines() -> list[bytes]:
    (block,) = re.findall(r"^```json\n(.*?)^```$", FORMAT, re.DOTALL | re.MULTILINE)
    return block.encode().splitlines()


def test_the_format_names_each_record_and_its_fields():
    missing = [
        f"{kind}.{field}"
        for kind, fields in FIELDS.items()
        for field in ("", *fields)
        if f"`{field or kind}`" not in FORMAT
    ]
    assert missing == []


def test_the_format_has_an_example_of_each_record():
    assert {decode(line).__struct_config__.tag for line in example_lines()} == set(FIELDS)


def test_the_lines_of_the_example_are_what_the_program_writes():
    assert [encode(decode(line)) for line in example_lines()] == [
        line + b"\n" for line in example_lines()
    ]


def test_the_state_of_the_example_says_what_its_lines_amount_to():
    header, *records = map(decode, example_lines())
    assert isinstance(header, SessionHeader)
    fold, offset = Fold(header), len(encode(header))
    for record in records:
        if record.__struct_config__.tag == "state":
            told = fold.session(held=True)
            assert record.offsets == told.offsets
            assert record.message_count == told.message_count
            assert record.total_count == told.total_count
            assert record.prompt_count == told.prompt_count
        fold.add(record, offset)
        offset += len(encode(record))


def test_the_format_names_the_limits():
    for limit in (
        f"version {VERSION}",
        f"a line {LINE_BYTES // 1024**2} MiB",
        f"nesting {NESTING}",
        f"a number {DIGITS:,} digits",
        f"a file {JOURNAL_BYTES // 1024**3} GiB",
        f"and {LINES:,} lines",
    ):
        assert limit in FORMAT


def anchors(paper: Path) -> set[str]:
    """The anchors of a paper: its headings as the site and GitHub make them, and its own."""
    text = re.sub(r"^```.*?^```$", "", paper.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", each.lower()).strip().replace(" ", "-") for each in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)">', text))


@each_row("paper", PAPERS)
def test_what_a_paper_links_to_is_there(paper):
    missing = []
    for link, anchor in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", paper.read_text("utf-8")):
        if "://" in link or link.startswith("mailto:"):
            continue
        target = paper.parent / link if link else paper
        if not target.exists() or (anchor and anchor not in anchors(target)):
            missing.append(f"{link}#{anchor}")
    assert missing == []


def definitions(node: ast.AST, within: str = "") -> Iterator[str]:
    """The names of a module, and of its classes as ``Class.name``."""
    for each in ast.iter_child_nodes(node):
        match each:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield within + name
            case ast.ClassDef(name=name):
                yield within + name
                yield from definitions(each, f"{within}{name}.")
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                yield within + name
            case _:
                pass


@each_row("paper", PAPERS)
def test_a_path_that_a_paper_names_is_there(paper):
    paths = re.findall(r"`((?:tui|tests|styles|docs)/[\w./]*)`", paper.read_text("utf-8"))
    assert [path for path in paths if not (ROOT / path).exists()] == []


@each_row("paper", PAPERS)
def test_a_name_that_a_paper_looks_for_in_a_module_is_there(paper):
    found = re.findall(r"`(tui/[\w/]+\.py)`\s+`([\w.]+)`", paper.read_text("utf-8"))
    names = {
        path: set(definitions(ast.parse((ROOT / path).read_text("utf-8")))) for path, _ in found
    }
    assert [f"{path} {name}" for path, name in found if name not in names[path]] == []


def test_no_file_cites_a_paper_that_is_not_in_the_repository():
    suffixes = {".py", ".md", ".toml", ".tcss", ".yml", ".yaml"}
    folders = (ROOT / name for name in ("tui", "tests", "docs", "styles", ".github", ".ci"))
    texts = [
        path
        for path in (*ROOT.glob("*.*"), *(path for folder in folders for path in folder.rglob("*")))
        if path.is_file() and (path.suffix in suffixes or path.parent.name == ".ci")
    ]
    # The last one is the beginning of a text by which Codex's own words are told from the user's.
    names = {*(path.name for path in texts), "AGENTS.md"}
    cited = {
        f"{path.relative_to(ROOT)}: {paper}"
        for path in texts
        for paper in re.findall(r"\b[A-Z]{3,}\.md\b", path.read_text("utf-8"))
        if paper not in names
    }
    assert cited == set()


@each_row("name", pages())
def test_a_page_of_the_reference_has_what_the_tables_say(name):
    written = (FOLDER / name).read_text("utf-8")
    assert written == pages()[name], "python -m tests.reference writes it anew"


def test_each_page_of_the_manual_is_in_its_list():
    pages = {
        path.relative_to(ROOT / "docs").as_posix() for path in PAPERS if "manual/" in str(path)
    }
    listed = set(re.findall(r"\((manual/[^)]+)\)", (ROOT / "docs/manual.md").read_text("utf-8")))
    assert pages == listed


def test_the_manual_names_each_variable_of_the_program():
    named = (ROOT / "docs/manual/configure.md").read_text("utf-8")
    code = "".join(path.read_text("utf-8") for path in (ROOT / "tui").rglob("*.py"))
    variables = {*re.findall(r"\bSIBYL_[A-Z_]+\b", code)}
    # A flag of a setting has one, too.
    variables |= {f"SIBYL_{name.upper()}" for name in (*Flags.__struct_fields__, "scope")}
    assert {"SIBYL_CONFIG", "SIBYL_MODEL"} <= variables
    assert {name for name in variables if name not in named} == set()
