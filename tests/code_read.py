"""Parses the project's code: modules, functions, classes, and the meaning of names."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.Lambda | ast.Module


class Module:
    """One file."""

    def __init__(self, path: Path, root: Path) -> None:
        self.path = path
        self.name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Those at the top."""
        return {node.name: node for node in self.tree.body if isinstance(node, Function)}

    @cached_property
    def imported(self) -> dict[str, str]:
        """The targets of imported names: `lib.ui.facts` for a module, `lib.ui.facts.title` for its part."""
        return {
            alias.asname or alias.name: f"{node.module}.{alias.name}"
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }

    def scopes(self, node: ast.AST) -> Iterator[Scope]:
        """The functions that a node is in, innermost first, then the module."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, Function | ast.Lambda | ast.Module):
                yield node


@dataclass(frozen=True)
class Place:
    """An expression, or a function, and the module that it is in."""

    module: Module
    node: ast.AST

    def at(self, node: ast.AST) -> "Place":
        """Another node of the same module."""
        return Place(self.module, node)

    def __str__(self) -> str:
        where = f"{self.module.name}:{getattr(self.node, 'lineno', 0)}"
        return f"{where}: {ast.unparse(self.node)}"


class Code:
    """All modules of the project in this folder."""

    def __init__(self, root: Path = ROOT) -> None:
        paths = sorted([*(root / "lib").rglob("*.py"), *(root / "pages").glob("*.py")])
        self.modules = {module.name: module for module in (Module(path, root) for path in paths)}
        self.members: dict[str, list[Place]] = defaultdict(list)
        for module in self.modules.values():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    for member in node.body:
                        self._member(Place(module, member))

    def _member(self, member: Place) -> None:
        if isinstance(member.node, Function):
            self.members[member.node.name].append(member)
        elif isinstance(member.node, ast.AnnAssign) and isinstance(member.node.target, ast.Name):
            self.members[member.node.target.id].append(member)

    def function(self, called: Place) -> list[Place]:
        """The functions that an expression may name: one of a module, or all methods of that name."""
        node, module = called.node, called.module
        if isinstance(node, ast.Name):
            return self._named(module, node.id) or self._bound_method(called)
        if isinstance(node, ast.Attribute):
            if (
                isinstance(node.value, ast.Name)
                and (inside := module.imported.get(node.value.id)) in self.modules
            ):
                return self._named(self.modules[inside], node.attr)
            return [place for place in self.members[node.attr] if isinstance(place.node, Function)]
        return []

    def _bound_method(self, called: Place) -> list[Place]:
        """`number = numbers.number`, called by its short name."""
        assert isinstance(called.node, ast.Name)
        scope = next(called.module.scopes(called.node))
        values = [value for name, value in bindings(scope) if name == called.node.id]
        return [
            found
            for value in values
            if isinstance(value, ast.Attribute)
            for found in self.function(called.at(value))
        ]

    def _named(self, module: Module, name: str) -> list[Place]:
        if name in module.functions:
            return [Place(module, module.functions[name])]
        origin, _, original = module.imported.get(name, "").rpartition(".")
        return self._named(self.modules[origin], original) if origin in self.modules else []

    def is_class(self, module: Module, name: str) -> bool:
        """Whether a name is that of a class of the project."""
        origin, _, original = module.imported.get(name, "").rpartition(".")
        body = self.modules[origin].tree.body if origin in self.modules else module.tree.body
        return any(isinstance(node, ast.ClassDef) and node.name in (name, original) for node in body)

    def constant(self, module: Module, name: str) -> list[Place]:
        """The value assigned to a name at the top of its module."""
        found = [Place(module, value) for target, value in bindings(module.tree) if target == name]
        if found:
            return found
        origin, _, original = module.imported.get(name, "").rpartition(".")
        return self.constant(self.modules[origin], original) if origin in self.modules else []

    @cached_property
    def calls(self) -> dict[int, list[Place]]:
        """The calls of each function, by the identity of its node."""
        found: dict[int, list[Place]] = defaultdict(list)
        for module in self.modules.values():
            for node in ast.walk(module.tree):
                if isinstance(node, ast.Call):
                    for function in self.function(Place(module, node.func)):
                        found[id(function.node)].append(Place(module, node))
        return found


def annotations(scope: ast.AST) -> dict[str, ast.expr]:
    """The types of a scope's names that are written there."""
    found = (node for node in ast.walk(scope) if isinstance(node, ast.AnnAssign))
    return {node.target.id: node.annotation for node in found if isinstance(node.target, ast.Name)}


def bindings(scope: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The names that are bound in a scope (not in functions in it), each with what it, or its whole, is."""
    waiting = list(ast.iter_child_nodes(scope))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _bound(target, node.value)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
            yield from _bound(node.target, node.value)
        elif isinstance(node, ast.For | ast.comprehension):
            yield from _bound(node.target, node.iter)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from _bound(node.optional_vars, node.context_expr)
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            waiting += ast.iter_child_nodes(node)


def _bound(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple | ast.List):
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
        whole = len(parts) == len(target.elts) and not any(isinstance(part, ast.Starred) for part in parts)
        for place, one in enumerate(target.elts):
            inner = one.value if isinstance(one, ast.Starred) else one
            yield from _bound(inner, parts[place] if whole else value)
