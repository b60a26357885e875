"""The arrows of the house: who may import whom. A broken rule is shown as the line that breaks it."""

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILES = sorted([ROOT / "app.py", *(ROOT / "lib").rglob("*.py"), *(ROOT / "pages").glob("*.py")])
SCREENS = ("app", "desk", "pages", "ui")
ARROWS = {
    "app": {
        "agents",
        "alerts",
        "connect",
        "deal_health",
        "mail",
        "operations",
        "settings",
        "private",
        "start",
        "ui",
        "front",
        "wire",
    },
    "desk": {"ui", "people"},
    "pages": {"ui", "reporting", "deals", "people", "wire"},
    "ui": {
        "check",
        "connect",
        "insight",
        "mail",
        "reporting",
        "deals",
        "tokens",
        "views",
        "people",
        "settings",
        "front",
        "snapshot",
        "wire",
    },
    "insight": {"reporting", "deals", "wire"},
    "agents": {
        "python_client",
        "connect",
        "insight",
        "reporting",
        "deals",
        "tokens",
        "settings",
        "front",
        "wire",
    },
    "python_client": {"connect", "insight", "reporting", "deals", "settings", "wire"},
    "cli": {
        "agents",
        "backup",
        "check",
        "connect",
        "demo",
        "reporting",
        "deals",
        "tokens",
        "people",
        "python_client",
        "database",
        "settings",
        "private",
        "front",
        "snapshot",
        "ui",
        "views",
        "wire",
    },
    "alerts": {"connect", "reporting", "views", "people", "database", "settings", "private", "wire"},
    "deal_health": {"connect", "insight", "reporting", "deals", "database", "settings", "wire"},
    "mail": {"connect", "tokens", "views", "people", "database", "settings", "wire"},
    "connect": {
        "database",
        "operations",
        "remote",
        "reporting",
        "deals",
        "tokens",
        "views",
        "people",
        "settings",
        "private",
        "wire",
    },
    "backup": {"reporting", "database", "settings", "private", "wire"},
    "operations": {"remote", "database", "wire"},
    "check": {"connect", "mail", "remote", "reporting", "deals", "tokens", "settings", "wire"},
    "remote": {"deals", "tokens", "people", "settings", "wire"},
    "demo": {"reporting", "deals", "tokens", "people", "settings", "private", "wire"},
    "reporting": {"tokens", "settings", "private", "wire"},
    "deals": {"tokens", "people", "database", "settings", "private", "wire"},
    "tokens": {"people", "database", "settings", "private", "wire"},
    "views": {"people", "database", "wire"},
    "database": {"settings", "private", "wire"},
    "people": {"database", "private", "wire"},
    "settings": {"private", "wire"},
    "start": {"front", "settings", "private", "wire"},
    "private": {"wire"},
    "front": {"wire"},
    "snapshot": {"wire"},
    "wire": set(),
}
UI: dict[str, set[str]] = {
    "streamlit_compat": set(),
    "kit": set(),
    "charts": set(),
    "query": {"kit", "charts"},
    "audience": {"kit", "charts", "query"},
    "explore": {"kit", "charts", "query"},
    "export": {"kit", "charts", "query"},
    "deals": {"kit", "charts", "query"},
    "admin": {"kit", "charts", "query"},
}
SERVED = ("service", "routes", "engines", "warehouse", "writer", "stored", "ingest", "store", "compose")


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


def _ui_folder(module: str) -> str:
    """`lib.ui.kit.frame` lies in frame; what is not in ui lies in none."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["lib", "ui"] and len(parts) > 2 else ""


def _room(module: str) -> str:
    """`lib.slicers.dates` lies in reporting, `pages.audience` in pages, `app` in app."""
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
    return [found for path in FILES for found in _imports(path)]


@functools.cache
def _ours() -> list[Import]:
    return [found for found in _all_imports() if found.module in MODULES]


def _shown(broken: list[Import]) -> str:
    return "\n" + "\n".join(str(found) for found in broken)


def test_there_are_imports_to_check() -> None:
    """The walk finds the house: every room has its arrows, and there are imports between them."""
    rooms = {_room(name) for name in MODULES} - {"lib"}
    assert rooms <= ARROWS.keys(), f"rooms without arrows: {rooms - ARROWS.keys()}"
    assert {"app", "desk", "pages", "ui", "connect", "reporting", "tokens", "wire"} <= rooms
    assert len(_ours()) > 50


def test_streamlit_stays_in_the_screens() -> None:
    """streamlit is imported in app, desk, pages and ui alone; for a password's hash its authenticator too."""
    screens = [found for found in _all_imports() if found.module.split(".")[0].startswith("streamlit")]
    broken = [found for found in screens if _room(_name(found.path)) not in SCREENS]
    assert {_name(found.path) for found in broken} == {"lib.people.passwords"}, _shown(broken)
    assert not any(found.is_on_top for found in broken), "the command line is quick to start"


def test_imports_start_at_lib() -> None:
    """No relative imports, and none that would find a second copy because lib stands first on sys.path."""
    copies = {path.stem for path in (ROOT / "lib").iterdir()} - {"__init__", "__pycache__"}
    broken = [found for found in _all_imports() if found.module.split(".")[0] in {*copies, ""}]
    assert not broken, _shown(broken)


@pytest.mark.parametrize("room", ARROWS)
def test_arrows(room: str) -> None:
    """A room imports from itself and from the rooms that its arrows point to."""
    allowed = {room, "lib", *ARROWS[room]}
    mine = [found for found in _ours() if _room(_name(found.path)) == room]
    broken = [found for found in mine if _room(found.module) not in allowed]
    assert not broken, _shown(broken)


@pytest.mark.parametrize("folder", UI)
def test_arrows_between_the_parts_of_the_screens(folder: str) -> None:
    """A folder of ui imports from itself, from the folders that its arrows point to, and streamlit_compat."""
    allowed = {folder, "streamlit_compat", *UI[folder]}
    mine = [found for found in _ours() if _ui_folder(_name(found.path)) == folder]
    broken = [found for found in mine if _ui_folder(found.module) not in {*allowed, ""}]
    assert not broken, _shown(broken)


def test_every_part_of_the_screens_has_its_arrows() -> None:
    """One file lies in ui itself, streamlit_compat, and every folder of it is named above."""
    assert {path.name for path in (ROOT / "lib/ui").glob("*.py")} == {"__init__.py", "streamlit_compat.py"}
    assert {_ui_folder(name) for name in MODULES} - {""} == UI.keys()


@pytest.mark.parametrize("api", ["reporting", "deals"])
def test_a_client_never_sees_its_service(api: str) -> None:
    """A client, and what it needs, imports nothing of the service's side; nor do pages and ui."""
    served = {name for name in MODULES if name.startswith(f"lib.{api}.") and name.split(".")[2] in SERVED}
    reached = _reached(f"lib.{api}.client")
    reached |= {name for name in MODULES if _room(name) in ("pages", "ui")}
    broken = [found for found in _ours() if found.module in served and _name(found.path) in reached]
    assert not broken, _shown(broken)


def test_services_of_other_makers_have_one_door() -> None:
    """What is done for them is imported from lib.deals.compat itself, and the embedded way is without."""
    folder = "lib.deals.compat"
    inside = {name for name in MODULES if name.startswith(f"{folder}.")}
    assert inside
    others = [found for found in _ours() if not _name(found.path).startswith(folder)]
    broken = [found for found in others if found.module in inside]
    assert not broken, _shown(broken)
    for embedded in ("lib.deals.client", "lib.deals.service", "lib.deals.routes"):
        assert folder not in _reached(embedded)


@pytest.mark.parametrize("api", ["reporting", "deals"])
def test_models_stand_alone(api: str) -> None:
    """The models import neither client nor service."""
    mine = [found for found in _ours() if _name(found.path) == f"lib.{api}.models"]
    broken = [found for found in mine if found.module.split(".")[-1] in ("client", *SERVED)]
    assert not broken, _shown(broken)


def test_engines_do_not_know_who_asks() -> None:
    """An engine imports neither service, routes nor client."""
    engines = [found for found in _ours() if ".engines" in _name(found.path)]
    broken = [found for found in engines if found.module.split(".")[-1] in ("service", "routes", "client")]
    assert not broken, _shown(broken)


def test_only_connect_makes_clients() -> None:
    """Pages and ui import clients as types at most: none is constructed outside connect."""
    made = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in FILES
        if _room(_name(path)) in SCREENS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).split(".")[-1] in ("Reporting", "Deals", "Client")
    ]
    assert not made, "\n" + "\n".join(made)


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
    """No module imports itself by way of others while it is loaded."""
    circles = [name for name in MODULES if name in _reached(name, only_on_top=True)]
    assert not circles, f"these import one another in a circle: {', '.join(circles)}"


def _reached(module: str, only_on_top: bool = False) -> set[str]:
    """Every module that importing this one loads, but for itself (unless it comes back to it)."""
    edges = _edges(only_on_top)
    reached: set[str] = set()
    waiting = [module]
    while waiting:
        for near in edges.get(waiting.pop(), set()) - reached:
            reached.add(near)
            waiting.append(near)
    return reached


@functools.cache
def _edges(only_on_top: bool) -> dict[str, set[str]]:
    """Module -> the modules of ours that it imports."""
    edges: dict[str, set[str]] = {}
    for found in _ours():
        if found.is_on_top or not only_on_top:
            edges.setdefault(_name(found.path), set()).add(found.module)
    return edges


def test_ibis_has_one_folder() -> None:
    """Ibis is imported in one folder, so that another compiler of queries can take its place."""
    found = {found.path.parent.name for found in _all_imports() if found.module.partition(".")[0] == "ibis"}
    assert found == {"connected"}
