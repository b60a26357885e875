"""Rows of totals among others, and words for missing values: asked about and counted, never silent."""

import datetime as dt
import math
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingesting import Place, reader

from lib.ingest.importing import ImportJob, import_files
from lib.ingest.inference import infer
from lib.ingest.rejects import TOTAL, Rejects
from lib.slicers.definition import Definition
from lib.slicers.definition.file import definition_yaml, parse_definition
from lib.wire.errors import ImportRefused

DAYS, SITES = range(1, 29), "abc"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


def report(place: Place, word: str = "Total") -> Path:
    """Sites by day, and after those of each day a row that adds them up."""
    lines = ["day,site,device,imps"]
    for day in DAYS:
        lines += [f"2026-01-{day:02},{site},phone,{day}" for site in SITES]
        lines.append(f"2026-01-{day:02},{word},,{day * len(SITES)}")
    return place.file("report.csv", "\n".join(lines) + "\n")


def guess(path: Path, totals: str | None) -> Definition:
    """The inferred definition with what to do about totals."""
    return infer(reader(path)).definition.model_copy(update={"totals": totals})


@pytest.mark.parametrize("word", ["Total", "Grand total", "Gesamt", "Итого"])
def test_totals_among_rows_are_a_question(place: Place, word: str) -> None:
    """A row of totals per day, which would double each figure, stops the import."""
    path = report(place, word)
    with pytest.raises(ImportRefused, match=rf"In 28 rows column 'site' has '{word}'.*--drop-totals.*--keep"):
        place.take(path, definition=guess(path, None))
    assert not place.warehouse.has("p", "s")


def test_totals_are_left_out(place: Place) -> None:
    """With totals: drop the figures are those of the other rows, as DuckDB adds them up."""
    path = report(place)
    stored = place.take(path, definition=guess(path, "drop"))
    expected = duckdb.sql(f"select sum(imps) from '{path}' where site != 'Total'").fetchall()[0][0]
    assert sum(row["imps"] for row in stored.read(stored.files).to_pylist()) == expected


def test_totals_that_were_left_out_are_counted(place: Place) -> None:
    """They are among the rows left out, not among those that can't be read."""
    path = report(place)
    job = ImportJob("p", "s", [reader(path)], guess(path, "drop"))
    with Rejects(None) as rejects:
        import_files(job, job.digests(), place.warehouse, rejects)
    assert rejects.counts[TOTAL] == len(DAYS) and rejects.unreadable == 0


@pytest.mark.parametrize(("code", "totals"), [("EUR", 1), ("USA", 0)])
def test_a_last_row_of_a_country_is_no_total(place: Place, code: str, totals: int) -> None:
    """Figures below the table with a currency beside them are totals; with another code they are a row."""
    rows = "".join(f"2026-01-{day:02},{code},{day}\n" for day in DAYS)
    path = place.file("report.csv", f"day,code,imps\n{rows},{code},406\n")
    file = reader(path)
    job = ImportJob("p", "s", [file], infer(file).definition, max_rejects=1.0)
    with Rejects(None) as rejects:
        import_files(job, job.digests(), place.warehouse, rejects)
    assert (rejects.counts[TOTAL], rejects.unreadable) == (totals, 1 - totals)


def test_totals_are_kept(place: Place) -> None:
    """With totals: keep they are rows as others; the word may be a name."""
    path = report(place)
    stored = place.take(path, definition=guess(path, "keep"))
    assert stored.row_count == len(DAYS) * (len(SITES) + 1)


def test_a_name_that_is_a_word_for_a_total(place: Place) -> None:
    """Somme is a region of France: rows that come to little of what others of the day do are no totals."""
    lines = ["day,region,imps"]
    for day in DAYS:
        lines += [f"2026-01-{day:02},{region},{imps}" for region, imps in (("Paris", 90), ("Somme", 10))]
    path = place.file("regions.csv", "\n".join(lines) + "\n")
    assert place.take(path, definition=guess(path, None)).row_count == 2 * len(DAYS)


def test_totals_without_anything_that_adds_up(place: Place) -> None:
    """Where there are only rates, a word for totals on most days is a question."""
    lines = ["day,site,ctr", *(f"2026-01-{day:02},{site},0.5" for day in DAYS for site in ("a", "Total"))]
    path = place.file("rates.csv", "\n".join(lines) + "\n")
    with pytest.raises(ImportRefused, match="column 'site' has 'Total'"):
        place.take(path, definition=guess(path, None))


@pytest.mark.parametrize("totals", ["drop", "keep", None])
def test_the_definition_says_it(place: Place, totals: str | None) -> None:
    """What to do about totals, and which sheets to read, is written to YAML and read back."""
    definition = guess(report(place), totals).model_copy(update={"sheets": ("Jan", "Feb")})
    read = parse_definition(definition_yaml(definition))
    assert (read.totals, read.sheets) == (totals, ("Jan", "Feb"))


def test_words_for_missing_values_are_counted(place: Place) -> None:
    """Each word that became a missing value is counted by its column; empty cells are not."""
    rows = ["2026-01-01,#N/A,-", "2026-01-02,#N/A,3", "2026-01-03,n/a,4", "2026-01-04,,5", "2026-01-05,x,6"]
    path = place.file("a.csv", "day,site,imps\n" + "\n".join(rows) + "\n")
    file = reader(path)
    inference = infer(file)
    job = ImportJob("p", "s", [file], inference.definition)
    with Rejects(None) as rejects:
        import_files(job, job.digests(), place.warehouse, rejects)
    assert rejects.missing_words == {("site", "#N/A"): 2, ("site", "n/a"): 1, ("imps", "-"): 1}
    assert any("'#N/A' 2 times" in note and "'site'" in note for note in inference.notes)


def test_nan_in_columns_of_numbers_is_counted(place: Place) -> None:
    """NaN of a Parquet file's doubles is missing and counted, NULL is missing alone."""
    path = place.file("a.parquet", "")
    days = pa.array([dt.date(2026, 1, day) for day in (1, 2, 3, 4)])
    costs = pa.array([math.nan, 1.5, None, math.nan])
    pq.write_table(pa.table({"day": days, "cost": costs, "fee": [1.5, 2.5, 3.5, 4.5]}), path)
    file = reader(path)
    job = ImportJob("p", "s", [file], infer(file).definition)
    with Rejects(None) as rejects:
        import_files(job, job.digests(), place.warehouse, rejects)
    assert rejects.missing_words == {("cost", "NaN"): 2}
