"""No file ends `tranche import` in a traceback: samples with bytes cut out, and cells and lines swapped."""

import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from platform_exports import EXPORTS, table

from lib.cli import main

DRAWS = 40
FEW = 3
ODD = Path(os.environ.get("TRANCHE_TEST_DATA", "/nonexistent")) / "odd"
SAMPLES = {export.name: export for export in EXPORTS}


def content(name: str) -> bytes:
    """A sample's bytes."""
    if name not in SAMPLES:
        return (ODD / name).read_bytes()
    text = SAMPLES[name].write(table(SAMPLES[name].columns))
    return text.encode() if isinstance(text, str) else text


def damaged(data: bytes, draw: np.random.Generator) -> bytes:
    """The bytes with a piece cut out or at the end, two cells or lines swapped, or one byte changed."""
    first, second = sorted(draw.integers(0, len(data) + 1, 2).tolist())
    kind = draw.integers(5)
    if kind == 0:
        return data[:second]
    if kind == 1:
        return data[:first] + data[min(second, first + int(draw.integers(1, 40))) :]
    if kind == 2:
        return data[:first] + bytes([int(draw.integers(256))]) + data[first + 1 :]
    parts = data.split(b"\n" if kind == 3 else b",")
    index, other = draw.integers(0, len(parts), 2).tolist()
    parts[index], parts[other] = parts[other], parts[index]
    return (b"\n" if kind == 3 else b",").join(parts)


def try_import(folder: Path, name: str, draws: int) -> None:
    """Import so many damaged copies of a sample: each is imported, or refused in words."""
    data, draw = content(name), np.random.default_rng(list(name.encode()))
    for number in range(draws):
        path = folder / f"{number} {name}"
        path.write_bytes(damaged(data, draw))
        words = ["import", str(path), "--project", "p", "--slicer", f"s{number}", "--max-rejects", "50%"]
        answer = CliRunner().invoke(main, words)
        assert answer.exception is None or isinstance(answer.exception, SystemExit), (path, answer.exception)
        assert answer.exit_code in (0, 1), answer.output


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A current folder with a home in it."""
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", list(SAMPLES)[::20])
def test_a_damaged_file_is_read_or_refused(folder: Path, name: str) -> None:
    """A few copies of a few samples, with each commit."""
    try_import(folder, name, FEW)


@pytest.mark.parametrize(
    "name", [*SAMPLES, *(path.name for path in sorted(ODD.glob("*")) if path.suffix not in (".md", ".txt"))]
)
def test_many_damaged_files_are_read_or_refused(folder: Path, name: str) -> None:
    """Many copies of all samples, and of the odd files where they are at hand, at night."""
    try_import(folder, name, DRAWS)
