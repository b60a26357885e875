# ruff: noqa: E501
"""Parquet: columns of their own types, structs flattened, lists as lists."""

import datetime as dt
import decimal
import gzip
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingesting import Place, definition

from lib.reporting.ingest.readers import reader
from lib.wire.errors import ImportRefused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


def written(place: Place, table: pa.Table, name: str = "a.parquet") -> Path:
    """A table as a Parquet file, gzipped if its name says so."""
    path = place.folder / name.removesuffix(".gz")
    pq.write_table(table, path, row_group_size=100)
    if not name.endswith(".gz"):
        return path
    return place.file(name, path.read_bytes())


@pytest.mark.parametrize("name", ["a.parquet", "a.parquet.gz", "without_suffix"])
def test_types_are_taken_as_they_are(place: Place, name: str) -> None:
    """Timestamps, structs, lists, dictionaries, decimals, dates and booleans need no telling."""
    stamp = dt.datetime(2026, 1, 1, 10, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    table = pa.table(
        {
            "time": pa.array([stamp, stamp], pa.timestamp("us", tz="Europe/Helsinki")),
            "user": [{"geo": {"country": "DE"}, "is_new": True}, None],
            "tags": [["a", "b"], None],
            "site": pa.array(["x", "y"]).dictionary_encode(),
            "cost": pa.array([decimal.Decimal("1.50"), None], pa.decimal128(9, 2)),
            "day": pa.array([dt.date(2026, 1, 1), None]),
        }
    )
    wanted = definition(
        key_fields=[
            {"name": "user.geo.country"}, {"name": "user.is_new"}, {"name": "tags", "segmented": True},
            {"name": "site"}, {"name": "day"},
        ],
        data_fields=[{"name": "cost"}],
    )  # fmt: skip
    assert place.rows(written(place, table, name), definition=wanted) == [
        {
            "time": dt.datetime(2026, 1, 1, 8, tzinfo=dt.UTC), "user.geo.country": "DE", "user.is_new": "true",
            "tags": ["a", "b"], "site": "x", "day": "2026-01-01", "cost": 1.5,
        },
        {
            "time": dt.datetime(2026, 1, 1, 8, tzinfo=dt.UTC), "user.geo.country": None, "user.is_new": None,
            "tags": None, "site": "y", "day": None, "cost": None,
        },
    ]  # fmt: skip


def test_numbers_as_pandas_writes_them(place: Place) -> None:
    """A column of whole numbers with gaps is a float column: its codes are whole again, its gaps missing."""
    table = pa.table(
        {"time": ["2026-01-01"] * 3, "dma": [501.0, float("nan"), None], "imps": [1.0, float("nan"), 2.5]}
    )
    wanted = definition(key_fields=[{"name": "dma", "type": "int"}])
    rows = place.rows(written(place, table), definition=wanted)
    assert [(row["dma"], row["imps"]) for row in rows] == [("501", 1.0), (None, None), (None, 2.5)]


def test_rows_are_numbered_and_told(place: Place) -> None:
    """A row that can't be read is told by its number in the file and its values, over all row groups."""
    table = pa.table({"time": ["2026-01-01"] * 250, "site": ["a"] * 250, "imps": ["1"] * 249 + ["one"]})
    place.take(written(place, table), definition=definition())
    line = place.rejects.read_text().splitlines()[1]
    assert line.startswith("a.parquet,250,not a number in column 'imps',one,")
    assert '""imps"":""one""' in line


def test_a_list_needs_a_segmented_key_field(place: Place) -> None:
    """A list column in a plain field is refused, with what would be right."""
    table = pa.table({"time": ["2026-01-01"], "site": [["a"]], "imps": [1]})
    with pytest.raises(ImportRefused, match=r"'site' holds list<.*segmented: true"):
        place.take(written(place, table), definition=definition())


def test_progress_adds_up_to_the_size_of_the_file(place: Place) -> None:
    """Whoever watches sees the whole file go by."""
    table = pa.table({"time": ["2026-01-01"] * 200_000, "n": range(200_000)})
    found, told = reader(written(place, table)), list[int]()
    for _ in found.rows(None, lambda reject: None, told.append):
        pass
    assert sum(told) == found.file.size and len(told) > 1


def test_damaged_parquet_is_refused(place: Place) -> None:
    """A file that begins as Parquet and goes on otherwise is refused in words."""
    path = written(place, pa.table({"a": range(1000)}))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ImportRefused, match="can't be read as Parquet"):
        reader(path)
    with pytest.raises(ImportRefused, match="can't be read as Parquet"):
        reader(place.file("b.parquet.gz", gzip.decompress(gzip.compress(b"PAR1 and nothing else"))))
