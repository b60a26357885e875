"""Every example of README and docs works as it is written: shell, Python, JavaScript, YAML and TOML."""

import contextlib
import io
import json
import os
import re
import runpy
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from conftest import started
from documents import DOCUMENTS, ROOT, blocks

ADDRESS = "http://localhost:8501"
TEMPORARY = "/tmp/"  # noqa: S108
ROWS = 10_000
RUN = ("sh", "python", *(["js"] if shutil.which("node") else []))
READ = ("js", "", "csv", "yaml", "toml", "json", "nginx", "mermaid")
PASSWORDS = "a long enough password\n" * 2
WITH_EXAMPLES = [path for path in DOCUMENTS if any(block.language in RUN for block in blocks(path))]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the demo, smaller."""
    home = tmp_path_factory.mktemp("examples") / "home"
    command = [sys.executable, "-c", "from lib.cli import main; main()", "demo", "--rows", str(ROWS)]
    environment = {**os.environ, "TRANCHE_HOME": str(home)}
    subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
    return home


@pytest.fixture(scope="module")
def address(demo: Path) -> Iterator[str]:
    """Where the APIs over it answer: a process of its own, on a socket."""
    command = [sys.executable, "-c", "from lib.cli import main; main()", "serve", "--port", "0"]
    with started(command, demo) as url:
        yield url


def wait_for_health(home: Path) -> None:
    """Until the server has computed what guaranteed deals delivered, in the background."""
    question = "SELECT count(*) FROM deal_health WHERE units_projected IS NOT NULL"
    deadline = time.monotonic() + 120
    with contextlib.closing(sqlite3.connect(home / "tranche.db")) as database:
        while not database.execute(question).fetchone()[0]:
            assert time.monotonic() < deadline, "the server computes no health of deals"
            time.sleep(0.1)


class Reader:
    """Somebody who follows a document, block by block, in a folder and with variables of their own."""

    def __init__(self, folder: Path, home: Path, address: str) -> None:
        self.folder, self._address, self.printed = folder, address, ""
        (folder / ".venv").symlink_to(sys.prefix)
        (folder / ".curlrc").write_text("fail-with-body\n")  # curl itself ends well after a 400
        self._environment = {
            **os.environ,
            "TRANCHE_HOME": str(home),
            "PYTHONPATH": str(ROOT),
            "CURL_HOME": str(folder),
        }

    def run(self, language: str, text: str) -> None:
        """Run one block as it stands there, at the address of the test and below its folder."""
        block = text.replace(ADDRESS, self._address).replace(TEMPORARY, f"{self.folder}/")
        if language == "js":
            (self.folder / "block.mjs").write_text(block)
            block = "node block.mjs"
        self.printed = self._run_script(block) if language == "python" else self._run_shell(block)

    def _run_shell(self, commands: str) -> str:
        """What they print, in a shell with the variables that earlier blocks exported."""
        whole = f"set -euo pipefail\n[ ! -f .kept ] || . ./.kept\n{commands}\nexport -p > .kept\n"
        done = subprocess.run(
            ["bash", "-c", whole],
            cwd=self.folder,
            env=self._environment,
            input=PASSWORDS,
            capture_output=True,
            text=True,
            start_new_session=True,  # without a terminal, passwords are read from the input
        )
        assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def _run_script(self, script: str) -> str:
        """What it prints. In this process: in one of its own each would import the same again."""
        (self.folder / "block.py").write_text(script)
        variables = dict(line.split("=", 1) for line in self._run_shell("env -0").split("\0") if line)
        with (
            patch.dict(os.environ, variables, clear=True),
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            runpy.run_path("block.py", run_name="__main__")
        return printed.getvalue()


@pytest.mark.parametrize("document", WITH_EXAMPLES, ids=lambda path: path.name)
def test_examples_run(document: Path, demo: Path, address: str, tmp_path: Path) -> None:
    """The commands and scripts of a document run in its order, and return what it shows."""
    if not shutil.which("curl"):
        pytest.skip("the examples of the documents need curl")
    text = document.read_text(encoding="utf-8")
    over_http = ADDRESS in text
    if "delivery=true" in text:
        wait_for_health(demo)
    follow(document, Reader(tmp_path, demo if over_http else tmp_path / "home", address))


def test_the_import_guide_works_after_the_readme(address: str, tmp_path: Path) -> None:
    """Who has followed the README's import can follow that of the guide, in the same folder and home."""
    reader = Reader(tmp_path, tmp_path / "home", address)
    readme = [block for block in blocks(ROOT / "README.md") if block.language in RUN]
    (imports,) = [block for block in readme if "tranche import auctions.csv" in block.text]
    (rows,) = [block for block in blocks(ROOT / "README.md") if block.value == "auctions.csv"]
    (tmp_path / rows.value).write_text(rows.text)
    reader.run(imports.language, imports.text)
    follow(ROOT / "docs" / "importing.md", reader)


def follow(document: Path, reader: Reader) -> None:
    """Run a document's blocks in their order, and compare what they return with what it shows."""
    for block in blocks(document):
        if block.note == "file":
            (reader.folder / block.value).write_text(block.text)
        elif block.note.startswith("returned"):
            assert not missing(json.loads(block.text), json.loads(reader.printed))
        elif block.language in RUN and block.note != "not run":
            reader.run(block.language, block.text)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_no_example_is_left_out(document: Path) -> None:
    """Every block is run, read or a file; one that is not run says why."""
    for block in blocks(document):
        assert block.language in (*RUN, *READ), block
        assert block.note != "not run" or block.value, block


@pytest.mark.parametrize("document", WITH_EXAMPLES, ids=lambda path: path.name)
def test_no_file_is_hidden(document: Path) -> None:
    """What an example needs is there for readers: comments hold no lines of a file."""
    hidden = re.findall(r"<!--(?:(?!-->).)*\n(?:(?!-->).)*-->", document.read_text(encoding="utf-8"), re.S)
    assert not hidden


def test_blocks_are_found() -> None:
    """Both APIs, the import and the README are among the documents with examples."""
    names = {path.name for path in WITH_EXAMPLES}
    assert {"README.md", "importing.md", "reporting-api.md", "deals-api.md"} <= names
    for path in WITH_EXAMPLES:
        assert len(re.findall(r"^```\w", path.read_text(encoding="utf-8"), re.M)) == sum(
            bool(block.language) for block in blocks(path)
        )


def missing(shown: Any, returned: Any, place: str = "") -> list[str]:
    """Where the response lacks what a document shows: names, and the kinds of their values."""
    if isinstance(shown, dict):
        if not isinstance(returned, dict):
            return [place]
        absent = [f"{place}.{name}" for name in shown if name not in returned]
        return absent + [
            problem
            for name in shown.keys() & returned.keys()
            for problem in missing(shown[name], returned[name], f"{place}.{name}")
        ]
    if isinstance(shown, list):
        if not isinstance(returned, list) or (shown and not returned):
            return [place]
        return missing(shown[0], returned[0], f"{place}[0]") if shown else []
    number = (int, float)
    alike = isinstance(returned, number) if isinstance(shown, number) else isinstance(returned, type(shown))
    return [] if alike else [place]
