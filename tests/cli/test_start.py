"""What commands import before they answer: lists and refusals don't wait for what they don't use."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT

HEAVY = (
    "ibis",
    "duckdb",
    "scipy",
    "matplotlib",
    "typst",
    "mcp",
    "streamlit",
    "pandas",
    "fastapi",
    "plotly",
    "alembic",
)
ROWS = "time,site,imps\n2026-01-01 05:30,a,1\n"
TO = ["--project", "acme", "--slicer", "auctions"]
RUN = """
import json, sys
from lib.cli import main
try:
    main(json.loads(sys.argv[1]))
finally:
    print("\\n" + json.dumps([name for name in json.loads(sys.argv[2]) if name in sys.modules]))
"""


def run(home: Path, *arguments: str) -> tuple[int, list[str]]:
    """The exit code of a command over this data directory, and what it imported of the heavy modules."""
    ended = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(arguments), json.dumps(HEAVY)],
        cwd=home.parent, env={"TRANCHE_HOME": str(home), "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True,
    )  # fmt: skip
    return ended.returncode, json.loads(ended.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a slicer and a database that is up to date."""
    home = tmp_path_factory.mktemp("start") / "home"
    (home.parent / "rows.csv").write_text(ROWS)
    assert run(home, "import", "rows.csv", *TO)[0] == 0
    assert run(home, "token", "list")[0] == 0
    return home


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [
        (["--help"], 0),
        (["slicers"], 0),
        (["token", "list"], 0),
        (["user", "list"], 0),
        (["log"], 0),
        (["import", "missing.csv", *TO], 2),
        (["import", "rows.csv"], 2),
        (["slicer", "remove", "acme/missing"], 1),
        (["token", "revoke", "7"], 1),
        (["user", "remove", "nobody", "--yes"], 1),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_lists_and_refusals_import_nothing_heavy(home: Path, arguments: list[str], exit_code: int) -> None:
    """They need neither an engine nor a screen, and no migration where none is missing."""
    assert run(home, *arguments) == (exit_code, [])
