"""Private members of libraries: where they are touched, and whether they are still there."""

import ast
import importlib
import inspect
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

LIBRARIES = {"rich", "textual", "httpx2"}
# Underscored, and public all the same.
_OF_NAMED_TUPLES = {"_asdict", "_fields", "_make", "_replace"}


def touched(module: Path) -> set[str]:
    """Collect the private names that a module imports, overrides, reads or writes."""
    tree = ast.parse(module.read_text("utf-8"))
    return {name for node in ast.walk(tree) for name in _names(node)}


def _names(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Attribute(attr=name) | ast.FunctionDef(name=name):
            return filter(_is_private, [name])
        case ast.ImportFrom(module=module, names=aliases):
            names = [*(module or "").split("."), *(alias.name for alias in aliases)]
            return filter(_is_private, names)
        case _:
            return ()


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in _OF_NAMED_TUPLES


def touched_on_others(source: str) -> list[str]:
    """Find imports of the libraries' private modules, and private members of other objects."""
    tree = ast.parse(source)
    found = [
        (line, name)
        for line, name in imported(tree)
        if name.partition(".")[0] in LIBRARIES and any(map(_is_private, name.split(".")))
    ]
    found += [
        (node.lineno, ast.unparse(node))
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_of_self(node)
    ]
    return [f"{line}: {name}" for line, name in sorted(found)]


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give the line and the whole name of each import."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                yield from ((node.lineno, alias.name) for alias in aliases)
            case ast.ImportFrom(module=module, names=aliases):
                yield from ((node.lineno, f"{module or ''}.{alias.name}") for alias in aliases)
            case _:
                pass


def shared_with_library(owner: type) -> set[str]:
    """Collect the private names of a class that its bases in the libraries have as well.

    Such a name overrides theirs, reads it, or takes it by accident.
    """
    bases = [each for each in owner.__mro__ if each.__module__.partition(".")[0] in LIBRARIES]
    if not bases:
        return set()
    theirs = {name for base in bases for name in _defined(base)}
    used = {node.attr for node in ast.walk(_tree(owner)) if _is_of_self(node)}
    return {name for name in _defined(owner) | used if _is_private(name)} & theirs


def is_there(owner: type, member: str) -> bool:
    """Whether a class has a member: ``_name``, or ``_name(self, other=1)`` for a method."""
    name, is_method, _ = member.partition("(")
    if is_method:
        return f"{name}{_parameters(owner, name)}" == member
    return any(name in _defined(each) for each in owner.__mro__ if each is not object)


def _parameters(owner: type, name: str) -> str:
    """The parameters of a method without their types; empty if there is none."""
    method = inspect.getattr_static(owner, name, None)
    if not inspect.isfunction(method):
        return ""
    found = inspect.signature(method)
    bare = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def _tree(owner: type) -> ast.AST:
    # None where it was made at run time, as a named tuple's base is.
    return _classes_in(owner.__module__).get(owner.__name__, ast.Module(body=[], type_ignores=[]))


@cache
def _classes_in(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    return {node.name: node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


@cache
def _defined(owner: type) -> set[str]:
    """The names of a class: its methods, and the attributes that it assigns."""
    stored = (node for node in ast.walk(_tree(owner)) if _is_of_self(node))
    names = {node.attr for node in stored if isinstance(node.ctx, ast.Store)}
    return names | {name for name in vars(owner) if name not in _made_by_textual()}


@cache
def _made_by_textual() -> set[str]:
    """What Textual gives to each class of a widget by itself."""
    from textual.widget import Widget

    class Bare(Widget):
        pass

    return set(vars(Bare)) | {"_abc_impl"}


def _is_of_self(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id in {"self", "cls"}
    )


def classes(modules: Iterable[str]) -> Iterator[type]:
    """Import modules, and give the classes that they define."""
    for name in modules:
        for found in vars(importlib.import_module(name)).values():
            if inspect.isclass(found) and found.__module__ == name:
                yield found
