"""Prints every text that a user can meet: ``python -m tests.messages``.

Read from the code, so that all texts can be compared side by side. A string is taken for a text by
its looks: two words, or one that begins with a capital. Patterns, SQL, styles, names of classes
and strings that other code looks up are left out.
"""

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent

_TWO_WORDS = re.compile(r"[^\W\d_]{2,}['\"’]?[,.:;)]? ['\"(/{<\[]*(?:[^\W\d_]|\d)")
_LABEL = re.compile(r"[A-Z][a-z]+(?:-[a-z]+)?[.:…]?")
_ARGUMENTS = re.compile(r"[<\[][a-zA-Z]{2,}[^{]*[>\]]")
_SQL = (
    r"^\W*(?:select|insert|update|delete from|create|pragma|begin immediate)\b"
    r"|\binsert into\b|\bcreate (?:virtual )?table\b"
    r"|\bwhere \w+ = |\bmatch \?|\bcross join\b|\border by\b|\bunion all\b"
    r"|%\(|%s|\bdesc\b|_ns\b|\bcoalesce\b|\bset local\b|^with \w+ as|\{LEASED\}|<> '"
    r"|\bsessions\.\w|::\w|\b(?:re)?set statement_timeout\b"
    r"|\breturning\b|\bwhere scopes\b|\bpinned(?: and \{|$)|^name, id$|\{NEWEST\}|\{condition\}"
)
_PATTERN = r"\x1b|\(\?|\\[swd]|\[\^"
_STYLE = r"\{{1,2} *\n|\{ *[\w-]+: |\bnot bold$|^auto \{"
_VERBS = r"^(?:sessions|index|config) [a-z]+$|^invoke\("
_NO_TEXT = re.compile(f"{_SQL}|{_PATTERN}|{_STYLE}|{_VERBS}")
_SILENT = {
    "compile",
    "sub",
    "getattr",
    "cast",
    "info",
    "RuntimeError",
    "TypeError",
    "AttributeError",
}
"""Calls with arguments that no user meets."""
_NAMES = {"__all__", "_MODIFIERS", "_KEY_NAMES", "_ARROWS"}
"""Lists of names, of keys among them."""
_MODULES = {"tui/domain/search/filters.py"}
"""Modules of words that are compared."""
_LEFT_OUT = {"Authorization", "Infinity", "warm up", "closed session", "at once", "[x]", "<think>"}


def lines(package: Path = ROOT / "tui") -> Iterator[str]:
    """Give a line for each text, module by module."""
    for module in sorted(package.rglob("*.py")):
        name = module.relative_to(package.parent).as_posix()
        texts = [] if name in _MODULES else texts_of(module.read_text("utf-8"))
        yield from (f"{name}: {text!r}\n" for text in dict.fromkeys(texts))


def texts_of(source: str) -> Iterator[str]:
    """Collect the texts of a module, in their order there."""
    tree = ast.parse(source)
    left_out = {id(each) for node in ast.walk(tree) for each in _no_texts(node)}
    yield from _texts(tree, left_out)


def _texts(node: ast.AST, left_out: set[int]) -> Iterator[str]:
    if id(node) in left_out:
        return
    match node:
        case ast.Constant(value=str(value)):
            yield from filter(_is_text, [value])
        case ast.JoinedStr(values=values):
            yield from filter(_is_text, [_shown(node)])
            for each in values:
                yield from _texts(each, left_out | {id(each)})
        case ast.FormattedValue():
            return
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _texts(child, left_out)


def _no_texts(node: ast.AST) -> Sequence[ast.AST | None]:
    """Name the parts of a node that hold no text: docstrings, annotations, patterns, keys."""
    parts: Sequence[ast.AST | None] = ()
    match node:
        case ast.AnnAssign(annotation=part) | ast.arg(annotation=part):
            parts = [part]
        case ast.FunctionDef(returns=part) | ast.AsyncFunctionDef(returns=part):
            parts = [part]
        case ast.Expr(value=ast.Constant() as part) | ast.Subscript(slice=part):
            parts = [part]
        case ast.Assign(targets=[ast.Name(id=name)], value=part) if name in _NAMES:
            parts = [part]
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _SILENT:
            parts = node.args
        case _:
            pass
    return parts


def _is_text(text: str) -> bool:
    if text in _LEFT_OUT or _NO_TEXT.search(text):
        return False
    return bool(_TWO_WORDS.search(text) or _LABEL.fullmatch(text) or _ARGUMENTS.fullmatch(text))


def _shown(text: ast.JoinedStr) -> str:
    return "".join(
        str(each.value) if isinstance(each, ast.Constant) else f"{{{_name(each)}}}"
        for each in text.values
    )


def _name(node: ast.AST) -> str:
    """Shorten an inserted expression to a name: ``known.label()`` is ``label``."""
    match node:
        case ast.Call(func=ast.Name(id="plural"), args=[count, ast.Constant(value=noun)]):
            name = f"{_name(count)} {noun}s"
        case (
            ast.Call(func=ast.Attribute(value=part), args=[ast.Constant()])
            | ast.FormattedValue(value=part)
            | ast.Subscript(value=part)
            | ast.Call(args=[part, *_])
            | ast.Call(func=part)
        ):
            name = _name(part)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            name = name.strip("_")
        case _:
            name = ast.unparse(node)
    return name


if __name__ == "__main__":
    sys.stdout.writelines(lines())
