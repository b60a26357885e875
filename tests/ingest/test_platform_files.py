"""Reports of ten platforms and result sets of databases, in their layouts and with their columns.

What a column is, and what its rows come to, must be that of the table; and what a second month says against a
guess of the first must be said.
"""

import datetime as dt
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result
from ingesting import Place, imported
from platform_exports import EXPORTS, LATER, NO_RATE, Export, Later, sums, table

from lib.cli import main
from lib.ingest import Hints, readers
from lib.settings import Settings
from lib.slicers.definition import TIME, Definition
from lib.slicers.formulas import parse
from lib.slicers.warehouse import Warehouse

OCTOBER = dt.date(2026, 10, 1)
CHECKS = (" is not ", " was guessed ", " in this file")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files, with a warehouse."""
    return Place(tmp_path)


def roles(definition: Definition) -> dict[str, str]:
    """What each column is: key, sum, another aggregate, or the text of its formula."""
    keys = {field.source: "key" for field in definition.key_fields}
    return keys | {
        field.source or field.name: str(parse(field.formula)) if field.formula else field.aggregate
        for field in definition.data_fields
        if field.name != "records"
    }


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_a_platform_s_export_comes_to_its_table(place: Place, export: Export) -> None:
    """Its columns are what the table has, unmarked where name and rows agree, with the sums of pandas."""
    frame = table(export.columns, count=export.rows)
    inference, definition, rows = imported(place, export.name, export.write(frame), Hints())
    time = next(name for name in frame if frame[name].dtype.kind == "M")
    expected = {
        name: export.others.get(name, "sum" if name in sums(frame) else "key")
        for name in frame
        if name != time
    }
    assert roles(definition) == expected
    marked = {guess.column for guess in inference.columns if guess.doubt and not guess.is_key}
    assert marked == export.doubts
    own = {name: total for name, total in sums(frame).items() if name not in export.others}
    fields = {field.source: field for field in definition.data_fields}
    stored = {name: rows[fields[name].name].sum() * fields[name].scale for name in own}
    assert stored == pytest.approx(own)
    micros = {part.split(":")[0] for part in export.columns.split("; ") if part.endswith(":micros")}
    assert {fields[name].scale for name in micros} <= {1_000_000}
    days = rows[TIME].dt.tz_localize(None).dt.normalize()
    assert days.value_counts().to_dict() == frame[time].value_counts().to_dict()


def later_of(export: Export) -> Later:
    """What the second month of an export breaks: its rate, else one of the usual things in turn."""
    if export.later or any("/" in text for text in export.others.values()):
        return export.later or NO_RATE
    return LATER[EXPORTS.index(export) % len(LATER)]


@pytest.mark.parametrize("export", EXPORTS, ids=lambda export: export.name)
def test_a_second_month_that_breaks_a_guess_of_the_first(
    place: Place, export: Export, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What no longer fits is said, once; what is stored has the sums of pandas, or is as it was before."""
    monkeypatch.setenv("TRANCHE_HOME", str(place.folder / "home"))
    monkeypatch.chdir(place.folder)

    def run(frame: pd.DataFrame, name: str, *options: str) -> Result:
        command = ["import", str(place.file(name, export.write(frame))), "--project", "p", "--slicer", "s"]
        return CliRunner().invoke(main, [*command, *options])

    later = later_of(export)
    days = max(export.rows - 3, 0) if later.overlaps else 31
    first = table(export.columns + later.first, count=export.rows)
    second = table(later.change(export.columns + later.first), f"{OCTOBER + dt.timedelta(days)}", seed=2)
    assert run(first, export.name).exit_code == 0
    result = run(second, f"later {export.name}", "--append")
    assert later.says in result.output
    assert ("Check: " in result.output) == any(word in later.says for word in CHECKS)
    is_refused = later.is_refused and "json" not in export.name  # which leaves out what is empty
    assert result.exit_code == (1 if is_refused else 2 if later.overlaps else 0)
    parts = [first] if is_refused else [first, second]
    if later.overlaps:
        parts = [first.iloc[: 3 * days], second]
        assert run(second, f"later {export.name}", "--replace-days").exit_code == 0
    slicer = Warehouse(Settings.load().warehouse).open("p", "s")
    rows = slicer.read(slicer.files).to_pandas()
    assert len(rows) == sum(map(len, parts))
    for field in slicer.definition.data_fields:
        if field.source and field.aggregate == "sum":
            total = sum(part[field.source].sum() for part in parts if field.source in part) / field.scale
            assert rows[field.name].sum() == pytest.approx(total), field.name


def test_there_are_sixty() -> None:
    """Files of all ten platforms are among them."""
    assert len(EXPORTS) >= 60 and len({export.name for export in EXPORTS}) == len(EXPORTS)


def test_a_late_time_of_parquet_is_no_early_one(place: Place) -> None:
    """INT96 beyond the year 2262 is a day that no slicer has, not one of 1816."""
    times = [dt.datetime(year, 11, 1) for year in (2026, 9999)]  # noqa: DTZ001  (of no zone)
    path = place.folder / "int96.parquet"
    pa.parquet.write_table(
        pa.table({"time": pa.array(times, pa.timestamp("us"))}), path, use_deprecated_int96_timestamps=True
    )
    (raw,) = readers(path)[0].rows(None, lambda reject: None)
    assert raw.table["time"].to_pylist() == times
