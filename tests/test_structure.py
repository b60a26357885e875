"""The structure of the code: unique names, file sizes, unused modules, and uses of private APIs."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import httpx
import xlwt

from lib.cli import COMMANDS
from lib.insight import deal_report

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "lib").rglob("*.py"))
MANY_LINES, REASON = 600, "One file, since"
STARTED = re.compile(r"lib/(desk|__init__)\.py|lib/database/migrations/.*|.*/__init__\.py|.*/__main__\.py")
PRIVATE = {"_network_backend": "lib/wire/sockets.py", "_Workbook__sst": "lib/reporting/files/sheets.py"}
SNAPSHOTS = ROOT / "lib/share/snapshot/models.py"


@cache
def _trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text()) for path in FILES}


def test_a_public_class_name_stands_once() -> None:
    """One name, one meaning: no two modules of lib have a public class of one name.

    But for the parts of a snapshot, which are read as `snapshots.Row` everywhere.
    """
    places = defaultdict(list)
    for path, tree in _trees().items():
        for node in tree.body if path != SNAPSHOTS else ():
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(ROOT)))
    twice = {name: paths for name, paths in places.items() if len(paths) > 1}
    assert not twice, twice


def test_a_long_module_says_why() -> None:
    """A module of lib of more than 600 lines says in its docstring why it is one file."""
    long = [path for path in FILES if len(path.read_text().splitlines()) > MANY_LINES]
    assert not [str(path) for path in long if REASON not in (ast.get_docstring(_trees()[path]) or "")]


def test_every_module_is_imported() -> None:
    """No module of lib lies unused: another one imports it, but for those that are started themselves."""
    imported = {f"lib.cli.{module}" for module, _ in COMMANDS.values()}
    for tree in [*_trees().values(), *(ast.parse(path.read_text()) for path in _starters())]:
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    unused = [
        name
        for name in (str(path.relative_to(ROOT)) for path in FILES)
        if not STARTED.fullmatch(name) and name.removesuffix(".py").replace("/", ".") not in imported
    ]
    assert not unused


def test_private_parts_of_others_are_where_we_know_them() -> None:
    """Where no public door exists, a private one is used: once, in the file named here, and it is there.

    httpx has no door to the sockets of a client's pool, which have to keep to a deadline; xlwt none to its
    table of texts, which xlrd can't read where a record ends inside a surrogate pair. What is private in
    Streamlit has files of its own; see test_streamlit_compat.py.
    """
    texts = {str(path.relative_to(ROOT)): path.read_text() for path in [*FILES, ROOT / "app.py"]}
    for name, place in PRIVATE.items():
        assert [path for path, text in texts.items() if f".{name}" in text] == [place]
    with httpx.Client() as client:
        assert hasattr(client._transport, "_pool")
        assert hasattr(client._transport._pool, "_network_backend")
    assert hasattr(xlwt.Workbook(), "_Workbook__sst")


def test_reports_are_asked_about_entities_and_not_about_ids() -> None:
    """Filters by the ids of deals, packages, seats and DSPs are made in one place, of entities.

    The deals API has shown those to whoever asks: an id that somebody typed makes no filter of a report.
    """
    fields = {"deal", "supply_package", "seat", "dsp"}
    names = {name for name, value in vars(deal_report).items() if isinstance(value, str) and value in fields}
    makers = {
        str(path.relative_to(ROOT))
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Filter")
        for part in (*node.args, *(keyword.value for keyword in node.keywords if keyword.arg == "name"))
        if ast.unparse(part).rpartition(".")[2].strip("'\"") in names | fields
    }
    assert {maker for maker in makers if not maker.startswith("lib/demo/")} == {"lib/insight/deal_report.py"}


def _starters() -> list[Path]:
    return [ROOT / "app.py", *(ROOT / "pages").glob("*.py")]


def test_files_are_offered_in_one_way() -> None:
    """Streamlit's download button is drawn by the one function that binds a page's context to the maker."""
    callers = [path.name for path in (ROOT / "lib").rglob("*.py") if "download_button(" in path.read_text()]
    assert callers == ["downloads.py"]


def test_threads_begin_in_few_places() -> None:
    """Screens hand calls to these alone; `tests/threads.py` holds what they are given to need no session."""
    callers = {
        str(path.relative_to(ROOT / "lib"))
        for room in ("ui", "figures")
        for path in (ROOT / "lib" / room).rglob("*.py")
        if re.search(r"\b(Thread|ThreadPoolExecutor|Timer|to_thread|run_in_executor)\(", path.read_text())
    }
    assert callers == {
        "figures/overview/moved.py", "figures/caches.py", "figures/waits.py", "ui/kit/sign_in.py",
    }  # fmt: skip


CLAUSE = re.compile(r"(?:^|[.;:]\s+)`([a-z_][a-z0-9_]*)`(?=,? [a-z]|:)")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def test_no_field_bounds_what_is_pasted() -> None:
    """No field has `max_chars`: Streamlit's client drops a paste that is longer whole, without a word.

    The store refuses the text with a sentence, and the form keeps it (tests/ui/test_too_long.py).
    """
    bounded = [
        f"{path.relative_to(ROOT)}:{node.value.lineno}"
        for path, tree in _trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword) and node.arg == "max_chars"
    ]
    assert not bounded, "\n".join(bounded)


def test_docstrings_name_what_is_there() -> None:
    """A clause of a docstring that begins with a name in backticks is about a parameter or another name.

    Of a method also about what its class has, and about a module's own names. Docstrings of routes are not
    compared: they describe bodies.
    """
    faults = []
    for path, tree in _trees().items():
        own = set().union(*(_words(part) for part in tree.body if not isinstance(part, DEFINITIONS)))
        own |= {part.name for part in tree.body if isinstance(part, DEFINITIONS)}
        for top in tree.body:
            names = own | (_words(top) if isinstance(top, ast.ClassDef) else set())
            for node in ast.walk(top):
                if isinstance(node, DEFINITIONS) and "router." not in str(
                    [*map(ast.unparse, node.decorator_list)]
                ):
                    subjects = CLAUSE.findall(ast.get_docstring(node) or "")
                    faults += [
                        f"{path.relative_to(ROOT)}:{node.lineno} {node.name}: {subject}"
                        for subject in subjects
                        if subject not in names | _words(node)
                    ]
    assert not faults, "\n".join(faults)


def _words(part: ast.AST) -> set[str]:
    """The names in a part of a module, and the words of its texts, but for docstrings."""
    words = set()
    docstrings = {id(node.body[0]) for node in ast.walk(part) if isinstance(node, DEFINITIONS)}
    nodes = [part]
    while nodes:
        node = nodes.pop()
        if id(node) in docstrings and isinstance(node, ast.Expr):
            continue
        nodes += ast.iter_child_nodes(node)
        match node:
            case ast.Constant(value=str(text)):
                words.update(re.findall(r"\w+", text))
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.keyword(arg=name):
                words.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                words.add(name)
    return words
