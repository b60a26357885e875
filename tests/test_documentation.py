"""Files that the code and the documents refer to exist."""

import importlib.metadata
import re
import runpy
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from documents import DOCUMENTS, ROOT

from lib.cli import main

SOURCES = [path for folder in ("lib", "pages", "tests", "bench") for path in (ROOT / folder).rglob("*.py")]
FILE = re.compile(r"[\w./-]*\b[\w-]+\.md\b")
LINK = re.compile(r"""(?:\]\(|srcset="|src=")(?!https?:|#)([^)#\s"]+)""")
PATH = re.compile(r"`((?:lib|pages|tests|docs|\.streamlit)/[\w./-]+|app\.py)`")
CITED = re.compile(r"(?<![\w./{])(?:[a-z_]+/)+[a-z_0-9]+\.(?:py|js|css)\b")
REQUESTS = {
    "an export format": 3,
    "a deal field": 4,
    "a kind of chart of the split": 2,
    "a relative date": 1,
    "the range of a ratio": 2,
    "a throttle": 1,
    "a column of Deals": 1,
    "the status code of an error": 2,
    "a way to sign in": 2,
    "the color of a falling figure": 1,
}
RELEASE = re.compile(r"^## (\d+\.\d+\.\d+)", re.M)


def cited(path: Path) -> set[str]:
    """The documents that a source file names."""
    return set(FILE.findall(path.read_text()))


def test_cited_documents_exist() -> None:
    """Every document that a source file cites is in the repository, under the name that it gives."""
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in SOURCES
        for name in cited(path)
        if path != Path(__file__) and not any((folder / name).exists() for folder in (ROOT, ROOT / "docs"))
    }
    assert not missing
    assert any(cited(path) for path in SOURCES if path.is_relative_to(ROOT / "lib"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link and picture of a document leads to a file of the repository."""
    links = LINK.findall(document.read_text())
    assert not [link for link in links if not (document.parent / link).exists()]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_files_exist(document: Path) -> None:
    """Every file and folder of the code that a document names is there."""
    named = PATH.findall(document.read_text(encoding="utf-8"))
    assert not [name for name in named if not (ROOT / name).exists()]


def test_files_that_the_code_names_exist() -> None:
    """Every file that the code names with its folder is there, such as `kit/widgets.py` in a comment."""
    sources = [path for path in (ROOT / "lib").rglob("*") if path.suffix in (".py", ".js", ".css")]
    paths = [
        f"/{path.relative_to(ROOT)}"
        for folder in ("lib", "bench", "docs", "tests")
        for path in (ROOT / folder).rglob("*.*")
    ]
    named = {
        (path.name, name) for path in sources for name in CITED.findall(path.read_text(encoding="utf-8"))
    }
    assert named
    assert not [
        (path, name) for path, name in named if not any(known.endswith(f"/{name}") for known in paths)
    ]


@pytest.mark.parametrize(("request_", "most"), REQUESTS.items())
def test_a_change_takes_few_files(request_: str, most: int) -> None:
    """What is often changed is in so many files at the most, by the table of CONTRIBUTING; a test is one."""
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    where = re.search(rf"^\| {request_} \| (.*) \|$", table, re.M)
    assert where
    first = where[1].split("; ")[0]
    files = {*PATH.findall(first)} | ({"a test"} if re.search(r"\ba test\b", first) else set())
    assert 0 < len(files) <= most


def test_the_readme_is_short() -> None:
    """The README has at most 150 lines; guides are in docs."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_the_drawing_is_up_to_date() -> None:
    """The drawing of the architecture is that of the imports; `python docs/drawing.py` renews it."""
    drawing = runpy.run_path(str(ROOT / "docs" / "drawing.py"))["drawing"]
    assert drawing() == (ROOT / "docs" / "architecture.svg").read_text(encoding="utf-8")


def test_no_flow_takes_more_files_than_written() -> None:
    """The flows of the architecture take no more files than it says; `python docs/flows.py` renews it."""
    script = runpy.run_path(str(ROOT / "docs" / "flows.py"))
    written, traced = script["written_counts"](), script["traces"]()
    assert written.keys() == traced.keys()
    more = {
        name: len(trace.functions) for name, trace in traced.items() if len(trace.functions) > written[name]
    }
    assert not more
    assert all(trace.functions for trace in traced.values())


@pytest.mark.parametrize("slicer", ["delivery", "curation"])
def test_the_demo_is_explained(slicer: str) -> None:
    """docs/demo.md has a row for each field of the demo, with its label, its name and what it counts."""
    text = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8").split(f"## The slicer {slicer}")[1]
    definition = yaml.safe_load((ROOT / "lib" / "demo" / f"{slicer}.yaml").read_text(encoding="utf-8"))
    for field in (*definition["key_fields"], *definition["data_fields"]):
        meaning = field.get("annotation") or field.get("formula_description", "")
        assert f"| {field['description']} | `{field['name']}` | {meaning}" in text


def test_one_version() -> None:
    """`tranche --version` prints the version of the package, which is the changelog's latest release."""
    version = importlib.metadata.version("tranche")
    assert CliRunner().invoke(main, ["--version"]).output == f"tranche {version}\n"
    assert RELEASE.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))[0] == version
