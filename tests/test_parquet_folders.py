"""Folders of Parquet as other programs write them: files of different types, and what isn't data."""

import datetime as dt
import decimal
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from test_connected_plans import Slicer

from lib.cli import main
from lib.engines.connected import Connections, LiveSlicers
from lib.slicers.definition import Definition, RowSource
from lib.wire.errors import BadDefinition, BadRequest, Misconfigured
from lib.wire.filters import Filter

DAY = dt.datetime(2026, 3, 16, tzinfo=dt.UTC)
TEXTS = {"02134", "10", "x"}


def write(lake: Path, name: str, **columns: Any) -> None:
    """A file below the table `sales`, one record per value, all of one day."""
    path = lake / "sales" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = max((len(values) for values in columns.values()), default=1)
    pq.write_table(pa.table({"at": [DAY] * rows} | columns), path)


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    """A folder of tables."""
    (tmp_path / "lake" / "sales").mkdir(parents=True)
    return tmp_path / "lake"


def slicer(lake: Path, key: str = "country", data: str = "bids") -> Slicer:
    """A slicer over the table `sales`."""
    fields = {"key_fields": [{"name": key}], "data_fields": [{"name": data}]}
    return Slicer(lake.parent, f"parquet://{lake}", **fields)


def check(lake: Path, data: str = "bids") -> None:
    """Compare a definition with the table, as `tranche connect` does."""
    content = {
        "time": {"column": "at"},
        "key_fields": [{"name": "country"}],
        "data_fields": [{"name": data}],
        "source": {"connection": "rows", "table": "sales"},
    }
    LiveSlicers(Connections({"rows": f"parquet://{lake}"})).check(Definition.model_validate(content))


def split(table: Slicer, key: str = "country", data: str = "bids", *filters: Filter) -> dict[str, float]:
    """The sum of a data field by the values of a key field."""
    sums = table.ask(
        split_by=(key,), filters=filters, first=DAY.date(), atoms=frozenset({"records", f"sum:{data}"})
    )
    return dict(zip(sums.groups[key], sums.rows.estimate[f"sum:{data}"].tolist(), strict=True))


@pytest.mark.parametrize("folders", [("", ""), ("country=US/", "country=DE/")])
def test_the_widest_type_counts(lake: Path, folders: tuple[str, str]) -> None:
    """A whole number in one file and 2.75 in another add up to 3.75, whichever comes first."""
    first, second = folders
    write(
        lake, f"{first}a.parquet", bids=pa.array([1, 2**24 + 1]), **({} if first else {"country": ["US"] * 2})
    )
    write(
        lake,
        f"{second}b.parquet",
        bids=pa.array([2.75], pa.float32()),
        **({} if first else {"country": ["DE"]}),
    )
    assert split(slicer(lake)) == {"US": 2**24 + 2, "DE": 2.75}


def test_decimals_of_different_scale(lake: Path) -> None:
    """No digit of a decimal is lost to the scale of another file."""
    write(lake, "a.parquet", country=["US"], bids=pa.array([decimal.Decimal("1.25")], pa.decimal128(10, 2)))
    write(
        lake, "b.parquet", country=["DE"], bids=pa.array([decimal.Decimal("2.12345")], pa.decimal128(18, 5))
    )
    assert split(slicer(lake)) == {"US": 1.25, "DE": 2.12345}


@pytest.mark.parametrize("folder", ["", "day=2026-03-16/"])
def test_text_wins_over_numbers(lake: Path, folder: str) -> None:
    """A zip that is a number in one file and 02134 in another is text, and is found as text."""
    write(lake, f"{folder}a.parquet", country=pa.array([2134]), bids=[1.0])
    write(lake, f"{folder}b.parquet", country=["02134"], bids=[2.0])
    table = slicer(lake)
    assert split(table) == {"2134": 1, "02134": 2}
    assert split(table, "country", "bids", Filter(name="country", match="equals", value=("02134",))) == {
        "02134": 2
    }
    assert split(table, "country", "bids", Filter(name="country", match="equals", value=("2134",))) == {
        "2134": 1
    }


def test_folders_named_by_a_code_keep_its_zeros(lake: Path) -> None:
    """The value of a folder such as country=02134 is text where any of them isn't written as a number is."""
    for country in ("10", "02134"):
        write(lake, f"country={country}/a.parquet", bids=[1.0])
    assert split(slicer(lake)) == {"10": 1, "02134": 1}


def test_columns_of_later_files(lake: Path) -> None:
    """A column that only a later file has is there, and missing in the others; order doesn't matter."""
    write(lake, "a.parquet", bids=[1.0])
    write(lake, "b.parquet", country=["US"], bids=[2.0])
    assert split(slicer(lake)) == {"": 1, "US": 2}


def test_letters_of_names(lake: Path) -> None:
    """Bids here and bids there are one column, as DuckDB has it; of two in one file, one is left out."""
    write(lake, "a.parquet", country=["US"], Bids=[1.0])
    write(lake, "b.parquet", country=["US"], bids=[2.0])
    write(lake, "c.parquet", country=["DE"], Bids=[4.0], bids=[8.0])
    assert split(slicer(lake, data="Bids"), data="Bids") == {"US": 3, "DE": 4}


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_of_any_unit(lake: Path, unit: str, zone: str | None) -> None:
    """A time counts in whatever unit it is written, for periods of any length."""
    at = pa.array([DAY], pa.timestamp(unit, zone))
    pq.write_table(pa.table({"at": at, "country": ["US"], "bids": [1.0]}), lake / "sales" / "a.parquet")
    table = slicer(lake)
    assert split(table) == {"US": 1}
    assert table.ask(first=dt.date(1, 1, 3), last=dt.date(9998, 1, 1)).total.estimate[
        "sum:bids"
    ].tolist() == [1]


def test_a_column_without_values_fits_any_type(lake: Path) -> None:
    """pandas writes a column that has no values as one of no type: it takes the type of the other files."""
    write(lake, "a.parquet", country=pa.nulls(1), bids=pa.nulls(1))
    write(lake, "b.parquet", country=["US"], bids=[2.5])
    assert split(slicer(lake)) == {"": 0, "US": 2.5}


def test_types_that_contradict_are_named_with_both_files(lake: Path) -> None:
    """A column that is a number here and a date there is refused with both files; other columns are used."""
    write(lake, "a.parquet", country=["US"], bids=[1.0], odd=[1])
    write(lake, "b.parquet", country=["US"], bids=[2.0], odd=[dt.date(2026, 1, 1)])
    assert split(slicer(lake)) == {"US": 3}
    with pytest.raises(BadDefinition, match=r"'odd': it is BIGINT in a\.parquet and DATE in b\.parquet"):
        check(lake, "odd")


def test_a_new_file_of_another_type_shows(lake: Path) -> None:
    """Types are read again once files change: no restart, and no figure by the types of before."""
    now = [0.0]
    write(lake, "a.parquet", country=["US"], bids=pa.array([1]))
    live = LiveSlicers(Connections({"rows": f"parquet://{lake}"}), lambda: now[0], patience=60)
    source = RowSource(connection="rows", table="sales")
    assert live.sample(source, 10).rows["bids"].to_pylist() == [1]
    write(lake, "b.parquet", country=["US"], bids=pa.array([2.75]))
    assert sorted(live.sample(source, 10).rows["bids"].to_pylist()) == [1, 2.75]


@pytest.mark.parametrize(
    "name", ["_temporary/0/x.parquet", ".hidden/x.parquet", "_SUCCESS", "_x.parquet", ".x.parquet"]
)
def test_what_begins_with_an_underscore_or_dot_is_no_data(lake: Path, name: str) -> None:
    """Spark's unfinished files, hidden folders and marks are left out, as Spark itself leaves them out."""
    write(lake, "a.parquet", country=["US"], bids=[1.0])
    write(lake, name, country=["US"], bids=[110.0])
    write(lake, "_day=2026-03-16/b.parquet", country=["US"], bids=[0.5])
    assert split(slicer(lake)) == {"US": 1.5}


def test_tables_with_versions_that_have_no_reader_are_refused(lake: Path) -> None:
    """Files beside Hudi's log aren't all of the table: a sentence instead of both versions added up."""
    write(lake, "data/a.parquet", country=["US"], bids=[1.0])
    (lake / "sales" / ".hoodie").mkdir()
    with pytest.raises(BadRequest, match=r"sales has a table of Hudi .* Write its current rows to another"):
        check(lake)


def test_a_folder_without_files(lake: Path) -> None:
    """An empty folder is refused with a sentence; one that isn't there is no table."""
    with pytest.raises(BadRequest, match=r"The folder .*sales has no Parquet file"):
        check(lake)
    (lake / "sales").rmdir()
    with pytest.raises(BadRequest, match="The connection rows has no table 'sales'"):
        check(lake)


def test_a_file_that_is_no_parquet_is_named(lake: Path) -> None:
    """A file that is being written, or damaged, is named."""
    write(lake, "a.parquet", country=["US"], bids=[1.0])
    (lake / "sales" / "b.parquet").write_bytes(b"PAR1 not yet")
    with pytest.raises(Misconfigured, match=r"b\.parquet can't be read as Parquet"):
        check(lake)


def test_names_with_marks_of_patterns(lake: Path) -> None:
    """Brackets, stars and quotes in names of folders and files are no patterns."""
    write(lake, "part [1]/it's*.parquet", country=["US"], bids=[1.0])
    write(lake, "part 1/its.parquet", country=["US"], bids=[2.0])
    assert split(slicer(lake)) == {"US": 3}


def test_random_files_add_up(lake: Path) -> None:
    """Files of random types, columns and orders add up as Python adds them, under every filter."""
    chance = random.Random(5)  # noqa: S311
    kinds: Sequence[Any] = [
        pa.int8(),
        pa.int64(),
        pa.float32(),
        pa.float64(),
        pa.decimal128(12, 2),
        pa.uint16(),
    ]
    totals: dict[str, float] = {}
    for number in range(60):
        bids = [chance.randrange(100) for _ in range(20)]
        as_number = chance.random() < 0.5
        zips = [chance.choice(["10", "7"] if as_number else sorted(TEXTS)) for _ in bids]
        columns: Mapping[str, Any] = {
            "bids": pa.array(bids, pa.int32()).cast(chance.choice(kinds), safe=False),
            "country": pa.array([int(text) for text in zips]) if as_number else zips,
        } | ({f"more{number % 5}": [number] * 20} if number % 2 else {})
        write(lake, f"{number}.parquet", **dict(chance.sample(sorted(columns.items()), len(columns))))
        for text, bid in zip(zips, bids, strict=True):
            totals[text] = totals.get(text, 0) + bid
    table = slicer(lake)
    assert split(table) == totals
    for text in totals:
        only = Filter(name="country", match="equals", value=(text,))
        assert split(table, "country", "bids", only) == {text: totals[text]}


def test_types_that_cannot_be_used_block_no_table(
    lake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`tranche connect` uses what it can, and names what it leaves out with its type."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRANCHE_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TRANCHE_CONNECTIONS", f'{{"rows": {{"url": "parquet://{lake}"}}}}')
    column = pa.array
    pq.write_table(
        pa.table(
            {
                "at": column([DAY], pa.timestamp("ns", "UTC")),
                "country": ["US"],
                "bids": [1.5],
                "big": column([decimal.Decimal(2**60)], pa.decimal128(38, 0)),
                "place": column([{"a": 1}]),
                "map": column([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
                "raw": [b"\x00\xff"],
                "items": column([[{"a": 1}]]),
                "matrix": column([[[1]]]),
                "time": column([dt.time(1)]),
                "nothing": pa.nulls(1),
                "labels": column([["a", "b"]]),
            }
        ),
        lake / "sales" / "a.parquet",
    )
    result = CliRunner().invoke(main, ["connect", "rows", "sales", "--project", "p", "--slicer", "s"])
    assert result.exit_code == 0, result.output
    assert "1 row, its days are 2026-03-16" in result.output
    definition = (tmp_path / "s.yaml").read_text()
    for name in ("place", "map", "raw", "items", "matrix"):
        assert f"Left out: '{name}'" in result.output
        assert f"column: {name}" not in definition and f"name: {name}" not in definition
    for name in ("country", "bids", "big", "labels"):
        assert name in definition
