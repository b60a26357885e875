"""Imports: what import-linter's contracts in pyproject.toml can't say. A broken rule is shown as its line."""

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted([ROOT / "app.py", *(ROOT / "lib").rglob("*.py"), *(ROOT / "pages").glob("*.py")])
SCREENS = ("app", "desk", "pages", "ui")
SERVED = ("service", "routes", "engines", "warehouse", "writer", "stored", "ingest", "store", "compose")


BY_NAME = {"fastapi-swagger", "python-multipart"}
"""Packages whose files or presence are asked for by name, without an import of ours."""
OPTIONAL = {
    "clickhouse_connect": "clickhouse-connect",
    "deltalake": "deltalake",
    "pyiceberg": "pyiceberg",
    "pyspark": "pyspark-client",
}
"""What extras bring, which need not be installed."""


@dataclass(frozen=True)
class Import:
    """One import of one module, and the line on which it stands."""

    path: Path
    line: int
    module: str
    is_on_top: bool

    def __str__(self) -> str:
        text = self.path.read_text().splitlines()[self.line - 1].strip()
        return f"{self.path.relative_to(ROOT)}:{self.line}: {text}"


def _name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in FILES}


def _room(module: str) -> str:
    """`lib.slicers.dates` lies in slicers, `pages.audience` in pages, `app` in app."""
    parts = module.split(".")
    return parts[1] if parts[0] == "lib" and len(parts) > 1 else parts[0]


def _imports(path: Path) -> Iterator[Import]:
    tree = ast.parse(path.read_text())
    top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        is_on_top = id(node) in top
        if isinstance(node, ast.Import):
            yield from (Import(path, node.lineno, alias.name, is_on_top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = "." * node.level + (node.module or "")
            for alias in node.names:
                whole = f"{origin}.{alias.name}"
                yield Import(path, node.lineno, whole if whole in MODULES else origin, is_on_top)


@functools.cache
def _all_imports() -> list[Import]:
    return [import_ for path in FILES for import_ in _imports(path)]


@functools.cache
def _ours() -> list[Import]:
    return [import_ for import_ in _all_imports() if import_.module in MODULES]


def _shown(broken: list[Import]) -> str:
    return "\n" + "\n".join(str(import_) for import_ in broken)


def test_there_are_imports_to_check() -> None:
    """The walk finds the house, and imports between its rooms."""
    assert {"app", "desk", "pages", "ui", "serving", "reporting", "wire"} <= {_room(name) for name in MODULES}
    assert len(_ours()) > 50


def test_streamlit_stays_in_the_screens() -> None:
    """streamlit is imported in app, desk, pages and ui alone; for a password's hash its authenticator too."""
    screens = [import_ for import_ in _all_imports() if import_.module.split(".")[0].startswith("streamlit")]
    broken = [screen for screen in screens if _room(_name(screen.path)) not in SCREENS]
    assert {_name(import_.path) for import_ in broken} == {"lib.people.passwords"}, _shown(broken)
    assert not any(import_.is_on_top for import_ in broken), "the command line is quick to start"


def test_the_server_and_pages_go_through_the_doors() -> None:
    """What lies outside lib, where import-linter does not look, imports no locked room past its door."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    locked = [room.rstrip("*") for contract in contracts for room in contract.get("protected_modules", ())]
    outside = [import_ for import_ in _ours() if _room(_name(import_.path)) in ("app", "pages")]
    broken = [import_ for import_ in outside if import_.module.startswith(tuple(locked))]
    assert locked
    assert not broken, _shown(broken)


def test_benches_go_through_the_doors() -> None:
    """Benches import locked rooms by their doors, but for the very part that they measure."""
    parts = {
        "checksums": ("engines.resident",), "range_coverage": ("engines.resident",),
        "appends": ("engines.resident",), "limits": ("engines.resident", "share."),
        "tools": ("engines.resident",),
        "engines": ("engines.plain_pandas",), "hand_written": ("engines.connected.spark",),
        "statements": ("insight.discrepancy", "insight.evidence", "insight.forecast"),
        "statements_health": ("insight.change_point", "insight.diagnosis"),
    }  # fmt: skip
    doors = ("ingest", "engines", "insight", "agents", "share")
    for path in (ROOT / "bench").rglob("*.py"):
        for module, name in re.findall(r"^from lib\.(\S+) import (.*)", path.read_text("utf-8"), re.M):
            inside = [part for part in name.split(", ") if (ROOT / "lib" / module / f"{part}.py").exists()]
            names = [f"{module}.{part}" for part in inside] or [module]
            behind = [part for part in names if part.split(".")[0] in doors and "." in part]
            assert all(part.startswith(parts.get(path.stem, "none")) for part in behind), (path.name, behind)


def test_imports_start_at_lib() -> None:
    """No relative imports, and none that would find a second copy because lib stands first on sys.path."""
    copies = {path.stem for path in (ROOT / "lib").iterdir()} - {"__init__", "__pycache__"}
    broken = [import_ for import_ in _all_imports() if import_.module.split(".")[0] in {*copies, ""}]
    assert not broken, _shown(broken)


@pytest.mark.parametrize("api", ["reporting", "deals"])
def test_a_client_never_sees_its_service(api: str) -> None:
    """A client, and what it needs, imports nothing of the service's side; nor do pages and ui."""
    served = {name for name in MODULES if name.startswith(f"lib.{api}.") and name.split(".")[2] in SERVED}
    reached = _reached(f"lib.{api}.client")
    reached |= {name for name in MODULES if _room(name) in ("pages", "ui")}
    broken = [import_ for import_ in _ours() if import_.module in served and _name(import_.path) in reached]
    assert not broken, _shown(broken)


def test_services_of_other_makers_are_apart() -> None:
    """The embedded way is without what is done for them."""
    folder = "lib.deals.compat"
    assert folder in MODULES
    for embedded in ("lib.deals.client", "lib.deals.service", "lib.deals.routes"):
        assert folder not in _reached(embedded)


def test_only_connect_makes_clients() -> None:
    """Pages and ui import clients as types at most: none is constructed outside connect."""
    makers = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in FILES
        if _room(_name(path)) in SCREENS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] in ("Reporting", "Deals", "Client")
    ]
    assert not makers, "\n" + "\n".join(makers)


def test_every_page_begins_with_the_sign_in() -> None:
    """The first thing that a page does after its imports is to ask who is signed in."""
    for path in sorted((ROOT / "pages").glob("*.py")):
        body = [
            node
            for node in ast.parse(path.read_text()).body
            if not isinstance(node, ast.Import | ast.ImportFrom)
        ]
        first = next(
            node for node in body if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        )
        assert "frame.signed_in()" in ast.unparse(first), f"{path.name}:{first.lineno}: {ast.unparse(first)}"


def test_no_circles() -> None:
    """No module imports itself by way of others: neither while it is loaded, nor later, nor for its types."""
    circles = [name for name in MODULES if name in _reached(name)]
    assert not circles, f"these import one another in a circle: {', '.join(circles)}"


def _reached(module: str) -> set[str]:
    """Every module that importing this one loads, but for itself (unless it comes back to it)."""
    edges = _edges()
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        for near in edges.get(waiting.pop(), set()) - reached:
            reached.add(near)
            waiting.append(near)
    return reached


@functools.cache
def _edges() -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports."""
    edges: dict[str, set[str]] = {}
    for import_ in _ours():
        edges.setdefault(_name(import_.path), set()).add(import_.module)
    return edges


def test_ibis_has_one_folder() -> None:
    """Ibis is imported in one folder, so that another compiler of queries can take its place."""
    names = {
        import_.path.parent.name for import_ in _all_imports() if import_.module.partition(".")[0] == "ibis"
    }
    assert names == {"connected"}


def test_what_is_imported_is_declared() -> None:
    """No package is imported that another one happens to bring, and none is declared for nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = list(project["dependencies"])
    needed += [package for name in extras.keys() - {"build", "test"} for package in extras[name]]
    declared = {_plain(re.split(r"[\[<>=~!;, ]", requirement)[0]) for requirement in needed}
    installed = packages_distributions()
    modules = {line.module.split(".")[0] for line in _all_imports()} - {"lib", "pages", "app", "tranche", ""}
    imported = {
        _plain(OPTIONAL.get(module) or installed[module][0]) for module in modules - sys.stdlib_module_names
    }
    assert imported - declared == set()
    assert declared - imported == BY_NAME


def _plain(distribution: str) -> str:
    """The name as an index compares it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", distribution).lower()
