# ruff: noqa: E501
"""Parquet: columns of their own types, structs flattened, lists as lists."""

import datetime as dt
import decimal
import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingesting import Place, definition, reader

from lib.ingest import ImportJob, Rejects, import_files
from lib.ingest.inference import infer
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
    source, told = reader(written(place, table)), list[int]()
    for _ in source.rows(None, lambda reject: None, told.append):
        pass
    assert sum(told) == source.file.size and len(told) > 1


def test_damaged_parquet_is_refused(place: Place) -> None:
    """A file that begins as Parquet and goes on otherwise is refused in words."""
    path = written(place, pa.table({"a": range(1000)}))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ImportRefused, match="can't be read as Parquet"):
        reader(path)
    with pytest.raises(ImportRefused, match="can't be read as Parquet"):
        reader(place.file("b.parquet.gz", gzip.decompress(gzip.compress(b"PAR1 and nothing else"))))


TIMES = pa.array([dt.datetime(2026, 1, 1, hour) for hour in (1, 2)])  # noqa: DTZ001


def guessed(place: Place, table: pa.Table) -> list[dict[str, Any]]:
    """The rows of a Parquet file of this table, imported by the definition that is guessed of it."""
    path = written(place, table)
    return place.rows(path, definition=infer(reader(path)).definition)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_timestamps_finer_than_a_microsecond_are_read(place: Place, zone: str | None) -> None:
    """Nanoseconds are cut, not refused: time is kept by the hour."""
    stamps = pa.array([1767243600123456789, 1767247200999999999], pa.timestamp("ns", tz=zone))
    rows = guessed(place, pa.table({"time": stamps, "n": [1, 2]}))
    assert [row["time"].hour for row in rows] == [5, 6] and [row["n"] for row in rows] == [1, 2]


def test_two_columns_of_one_name_are_both_there(place: Place) -> None:
    """The second one gets a number, in a file read as a whole and by a definition alike."""
    table = pa.Table.from_arrays([TIMES, pa.array([1, 2]), pa.array([30, 40])], ["time", "n", "n"])
    assert [(row["n"], row["n_2"]) for row in guessed(place, table)] == [(1, 30), (2, 40)]
    wanted = definition(key_fields=[], data_fields=[{"name": "n_2"}])
    assert [
        row["n_2"] for row in place.rows(place.folder / "a.parquet", definition=wanted, mode="replace")
    ] == [30, 40]


@pytest.mark.parametrize(
    ("column", "stored"),
    [
        (pa.array([{"b": "x", "c": {"d": "y"}}, None]), {"x.b": ["x", None], "x.c.d": ["y", None]}),
        (pa.array([[{"k": "a", "v": None}, {"k": "b", "v": "c"}], None]), {"x.k": [["a", "b"], None], "x.v": [["c"], None]}),
        (pa.array([[("a", "b")], []], pa.map_(pa.string(), pa.string())), {"x.key": [["a"], None], "x.value": [["b"], None]}),
        (pa.array([[["a"], ["b", "c"]], [[], None]]), {"x": [["a", "b", "c"], None]}),
        (pa.array([["a", "b"], None], pa.list_(pa.string(), 2)), {"x": [["a", "b"], None]}),
        (pa.array([{"t": [{"u": "a"}]}, {"t": []}]), {"x.t.u": [["a"], None]}),
        (pa.array([dt.timedelta(seconds=90), None]), {"x": [90.0, None]}),
        (pa.array(["a", "b"], pa.string_view()), {"x": ["a", "b"]}),
        (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes(range(16)), None], pa.binary(16))),
         {"x": ["00010203-0405-0607-0809-0a0b0c0d0e0f", None]}),
    ],
    ids=lambda value: str(value.type)[:40] if isinstance(value, pa.Array) else "",
)  # fmt: skip
def test_a_guess_fits_nested_columns(place: Place, column: pa.Array, stored: dict[str, list[Any]]) -> None:
    """Whatever a column holds, the guess imports it: structs as a.b, lists of anything as lists."""
    rows = guessed(place, pa.table({"time": TIMES, "x": column}))
    assert {name: [row[name] for row in rows] for name in rows[0] if name != "time"} == stored


def test_the_time_is_a_column_that_all_rows_have(place: Place) -> None:
    """Of two timestamps, the one without gaps is the time, whatever its name."""
    table = pa.table({"timestamp": pa.array([None, TIMES[1].as_py()], TIMES.type), "seen": TIMES})
    assert infer(reader(written(place, table))).time.column == "seen"


@pytest.mark.parametrize("rows", [1, 40])
def test_texts_that_come_again_are_read_as_any_others(place: Place, rows: int) -> None:
    """Whether a file has its texts in dictionaries or one by one: the same rows, rejects and missing words."""
    texts = {
        "time": ["2026-01-01T10:00", None, "2026-01-02T11:00"],
        "country": ["DE", "FR", None],
        "site": ["n/a", "", "x" * 9000],
        "users": ["u", None, "u"],
    }
    table = pa.table({name: pa.array(rows * values, pa.string()) for name, values in texts.items()})
    table = table.append_column("imps", pa.array(rows * [1, None, 3], pa.int32()))
    wanted = definition(
        key_fields=[{"name": "country"}, {"name": "site"}],
        data_fields=[{"name": "imps"}, {"name": "sites", "column": "site", "aggregate": "distinct"}],
        audience_sources=[{"name": "users"}],
    )
    outcomes = []
    for name, has_dictionary in (("coded", True), ("plain", False)):
        path = place.folder / f"{name}.parquet"
        pq.write_table(table, path, use_dictionary=has_dictionary)
        part = Place(place.folder / name)
        part.folder.mkdir()
        rejects = Rejects(None)
        job = ImportJob("p", "s", [reader(path, definition=wanted)], wanted, max_rejects=1)
        stored = import_files(job, job.digests(), part.warehouse, rejects)
        outcomes.append((stored.read(stored.files), rejects.faults, rejects.missing_words))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0].num_rows == rows
