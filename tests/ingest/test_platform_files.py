"""Reports of ten platforms and result sets of databases, in their layouts and with their columns.

What a column is, and what its rows come to, must be that of the table; and what a second month says against a
guess of the first must be said.
"""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from ingesting import Place, imported
from platform_exports import EXPORTS, Export, sums, table

from lib.ingest import Hints, infer, readers
from lib.slicers.definition import TIME, Definition
from lib.slicers.formulas import parse


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
    fields = {field.source: field.name for field in definition.data_fields}
    assert {name: rows[fields[name]].sum() for name in own} == pytest.approx(own)
    days = rows[TIME].dt.tz_localize(None).dt.normalize()
    assert days.value_counts().to_dict() == frame[time].value_counts().to_dict()
    formulas = {name: text for name, text in export.others.items() if text not in ("mean", "max")}
    columns, sentence = export.later, export.sentence
    if formulas and not columns:  # a month in which the file's rate is another one
        columns = export.columns.replace("=", "=1 + ")
        sentence = f"'{next(iter(formulas))}' is not"
    if columns:
        later = table(columns, "2026-11-01", seed=2)
        files = readers(place.file(f"later {export.name}", export.write(later)), definition=definition)
        sentences = infer(files[0], own_time=definition.time).misfits(definition)
        assert [sentence in text for text in sentences] == [True] * bool(sentence)


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
