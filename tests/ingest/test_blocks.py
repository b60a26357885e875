"""The stored rows do not depend on the blocks of a file, or on the number of threads."""

import csv
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from ingesting import Place, definition

from lib.ingest import files, importing
from lib.slicers.definition import Definition
from lib.slicers.warehouse import writer

ROWS = 3_000
SIZES_AND_THREADS = [(700, 1), (700, 3), (9_001, 2), (4 << 20, 2)]


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Rows of five days in no order; some cells are odd: signs, blanks, missing ones, no numbers at all."""
    random = np.random.default_rng(7)
    csv_lines = ["time,site,tags,imps,cost,user,note"]
    costs = ["0.5", "1e3", " 7 ", "+2", "-1", "N/A", "", "1,5", "inf", "12"]
    sites = ["7", "007", "+7", "12", "", "12.0", "x", "0x1F"]
    for number in range(ROWS):
        time = f"2026-01-0{random.integers(1, 6)} {random.integers(0, 24):02}:00:00"
        odd = number > 800 and random.random() < 0.02
        cost = costs[random.integers(0, len(costs))] if odd else f"{random.random():.4f}"
        site = sites[random.integers(0, len(sites))] if odd else str(random.integers(1, 50))
        cells = [
            "not a time" if odd and number % 7 == 0 else time, site, "a|b", str(number), f'"{cost}"',
            f"u{number % 9}",
            f'"line {number}\nand another, ""quoted"""' if odd else "x",
        ]  # fmt: skip
        csv_lines.append(",".join(cells[:-1] if odd and number % 11 == 0 else cells))
    return csv_lines


@pytest.fixture
def fields() -> Definition:
    """Every kind of field; -1 and N/A are words for a missing value."""
    return definition(
        missing=["N/A", "-1"],
        key_fields=[{"name": "site", "type": "int"}, {"name": "tags", "segmented": "|"}, {"name": "note"}],
        data_fields=[
            {"name": "imps"},
            {"name": "cost", "display_type": "float"},
            {"name": "noted", "column": "note", "aggregate": "count"},
        ],
        audience_sources=[{"name": "users", "column": "user"}],
    )


def brought(place: Place, path: Path, fields: Definition) -> tuple[list[pa.Table], list[list[str]]]:
    """The rows of each day, as they are stored and in their order; and the rejects, by line."""
    stored = place.take(path, definition=fields, max_rejects=1)
    with place.rejects.open(encoding="utf-8", newline="") as file:
        rejects = sorted(csv.reader(file))
    return [stored.read([day]) for day in stored.files], rejects


def test_blocks_of_any_size_and_threads_bring_the_same_rows(
    tmp_path: Path, lines: list[str], fields: Definition, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows in the same order, and the same rejects with line, reason, value and text."""
    imports = []
    for size, threads in SIZES_AND_THREADS:
        place = Place(tmp_path / f"{size}-{threads}")
        place.folder.mkdir()
        monkeypatch.setattr(importing, "BATCHES", threads)
        monkeypatch.setattr(writer, "THREADS", threads)
        monkeypatch.setattr(files, "CHUNK", size)
        monkeypatch.setattr(writer, "BUFFER_BYTES", 10 * size)
        imports.append(brought(place, place.file("a.csv", "\n".join(lines) + "\n"), fields))
    assert all(import_ == imports[0] for import_ in imports[1:])
    days, rejects = imports[0]
    assert sum(map(len, days)) + len(rejects) - 1 == ROWS
    assert {row[2].split(" in ")[0] for row in rejects[:-1]} == {
        "not a number", "not a whole number", "no time that can be read", "wrong number of columns",
    }  # fmt: skip


def test_a_number_that_means_missing_is_missing_among_numbers(tmp_path: Path) -> None:
    """Also where the column has nothing but numbers."""
    place = Place(tmp_path)
    text = "time,site,imps\n2026-01-01,0,-1\n2026-01-01,2,5\n"
    fields = definition(missing=["-1", "0"], key_fields=[{"name": "site", "type": "int"}])
    rows = place.rows(place.file("a.csv", text), definition=fields)
    assert [(row["site"], row["imps"]) for row in rows] == [(None, None), ("2", 5.0)]


def test_a_reject_shows_cells_as_they_are_written(tmp_path: Path) -> None:
    """A row of figures without a time ends a table as a total, however they are written."""
    place = Place(tmp_path)
    text = "time,site,imps,cost\n2026-01-01,a,1,1e3\n,,7,1e3\n2026-01-01,a,1,2\n,,007,2.50\n"
    fields = definition(data_fields=[{"name": "imps"}, {"name": "cost"}])
    assert len(place.rows(place.file("a.csv", text), definition=fields)) == 2
    with place.rejects.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))[1:]
    assert [(row[1], row[2], row[4]) for row in rows] == [
        ("3", "no time in column 'time'", ",,7,1e3"),
        ("5", "a total of other rows", ",,007,2.50"),
    ]
