"""Figures of the package's size and prose, for reviews: ``python -m tests.measures [LINES]``.

All of them are a matter of degree, so nothing fails by them. Rules that hold or do not are in
``tests/test_architecture.py``.
"""

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINES = 8
"""The longest rows of each figure that are printed, unless more are asked for."""
RELATIVE = re.compile(r"(What|Who|Whose|How|Where|Which|Whether)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef
Row = tuple[int, str]


@dataclass(frozen=True)
class Figure:
    """One list of the report: its title, a summary, and rows with the largest first."""

    title: str
    summary: str
    rows: Sequence[Row] = ()


@dataclass(frozen=True)
class Module:
    """A parsed source file."""

    path: str
    source: str
    tree: ast.Module

    @property
    def dotted(self) -> str:
        return self.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @property
    def functions(self) -> list[Function]:
        return [node for node in ast.walk(self.tree) if isinstance(node, Function)]


@dataclass
class Class:
    """A class: its own methods, and the dotted names of its bases in the package."""

    methods: set[str]
    bases: list[str] = field(default_factory=list[str])


def parsed(top: Path) -> list[Module]:
    """Parse every module below a directory."""
    modules: list[Module] = []
    for path in sorted(top.rglob("*.py")):
        source = path.read_text("utf-8")
        modules.append(Module(path.relative_to(top.parent).as_posix(), source, ast.parse(source)))
    return modules


def figures(modules: Sequence[Module]) -> list[Figure]:
    """Measure everything."""
    return [
        _module_lines(modules),
        _function_lines(modules),
        _class_methods(modules),
        _folder_modules(modules),
        _repeated_class_names(modules),
        _relative_docstrings(modules),
    ]


def _module_lines(modules: Sequence[Module]) -> Figure:
    rows = [(len(module.source.splitlines()), module.path) for module in modules]
    lengths = sorted(count for count, _ in rows)
    total, middle = sum(lengths), lengths[len(lengths) // 2]
    return Figure(
        "Lines of a module", f"{len(rows)} modules, {total:,} lines, median {middle}", rows
    )


def _function_lines(modules: Sequence[Module]) -> Figure:
    rows = [
        (node.end_lineno - node.lineno + 1, f"{module.path}:{node.lineno} {node.name}")
        for module in modules
        for node in module.functions
        if node.end_lineno
    ]
    over_15, over_50 = (sum(count > most for count, _ in rows) for most in (15, 50))
    summary = f"{len(rows):,} functions, {over_15} over 15 lines, {over_50} over 50"
    return Figure("Lines of a function", summary, rows)


def _class_methods(modules: Sequence[Module]) -> Figure:
    classes = {name: found for module in modules for name, found in _classes(module)}
    rows = [(len(_all_methods(name, classes)), name) for name in classes]
    summary = f"{len(rows)} classes, {sum(count > 40 for count, _ in rows)} over 40 methods"
    return Figure("Methods of a class, with those of its bases in the package", summary, rows)


def _classes(module: Module) -> Iterator[tuple[str, Class]]:
    imported = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ClassDef):
            names = (ast.unparse(base).partition("[")[0] for base in node.bases)
            bases = [imported.get(name, f"{module.dotted}.{name}") for name in names]
            methods = {each.name for each in node.body if isinstance(each, Function)}
            yield f"{module.dotted}.{node.name}", Class(methods, bases)


def _all_methods(name: str, classes: dict[str, Class]) -> set[str]:
    if name not in classes:
        return set()
    own = classes[name]
    return own.methods.union(*(_all_methods(base, classes) for base in own.bases))


def _folder_modules(modules: Sequence[Module]) -> Figure:
    counts = Counter(module.path.rpartition("/")[0] for module in modules)
    rows = [(count, folder) for folder, count in counts.items()]
    return Figure("Modules of a folder", f"{len(rows)} folders", rows)


def _repeated_class_names(modules: Sequence[Module]) -> Figure:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(module.dotted)
    rows = [
        (len(where), f"{name}: {', '.join(where)}")
        for name, where in places.items()
        if len(where) > 1
    ]
    return Figure("Class names used more than once", f"{len(rows)} names", rows)


def _relative_docstrings(modules: Sequence[Module]) -> Figure:
    counts: Counter[str] = Counter()
    total = 0
    for module in modules:
        for text in _docstrings(module.tree):
            total += 1
            counts[module.path] += RELATIVE.match(text) is not None
    rows = [(count, path) for path, count in counts.items() if count]
    title = "Docstrings that begin with What, Who, Which, Where, Whether or How"
    return Figure(title, f"{sum(counts.values())} of {total:,}", rows)


def _docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield the documentation of modules, classes and functions, and of the names below them."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    yield text.strip()
                case _:
                    pass


def report(found: Iterable[Figure], lines: int = LINES) -> str:
    """Write the figures as text, the largest rows first."""
    parts: list[str] = []
    for figure in found:
        parts.append(f"{figure.title}: {figure.summary}")
        rows = sorted(figure.rows, key=lambda row: (-row[0], row[1]))
        parts += [f"{count:>7,}  {name}" for count, name in rows[:lines]]
        if len(rows) > lines:
            parts.append(f"         and {len(rows) - lines:,} more")
        parts.append("")
    return "\n".join(parts).rstrip()


if __name__ == "__main__":
    print(report(figures(parsed(ROOT / "tui")), *map(int, sys.argv[1:2])))
