"""Private members of a library: which of them a module touches, and which are still there."""

import ast
import inspect
import textwrap
from pathlib import Path


def touched(*modules: Path) -> set[str]:
    """The private names that modules import, override, read or write."""
    trees = (ast.parse(module.read_text("utf-8")) for module in modules)
    names = {name for tree in trees for node in ast.walk(tree) for name in _names(node)}
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


def _names(node: ast.AST) -> list[str]:
    match node:
        case ast.Attribute(attr=name) | ast.FunctionDef(name=name):
            return [name]
        case ast.ImportFrom(module=module, names=aliases):
            return [*(module or "").split("."), *(alias.name for alias in aliases)]
        case _:
            return []


def is_there(owner: type, member: str) -> bool:
    """Whether a class has a member: ``_name``, or ``_name(self, other=1)`` for a method."""
    name, is_method, _ = member.partition("(")
    if is_method:
        return f"{name}{signature(owner, name)}" == member
    return hasattr(owner, name) or name in _assigned(owner)


def signature(owner: type, name: str) -> str:
    """The parameters of a method without their types; empty if there is none."""
    method = inspect.getattr_static(owner, name, None)
    if not inspect.isfunction(method):
        return ""
    found = inspect.signature(method)
    bare = [each.replace(annotation=each.empty) for each in found.parameters.values()]
    return str(found.replace(parameters=bare, return_annotation=found.empty))


def _assigned(owner: type) -> set[str]:
    """The attributes that the methods of a class and its bases give to ``self``."""
    sources = (inspect.getsource(each) for each in owner.__mro__ if each is not object)
    return {
        node.attr
        for source in sources
        for node in ast.walk(ast.parse(textwrap.dedent(source)))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
        if isinstance(node.value, ast.Name) and node.value.id == "self"
    }
