"""What values mean in connected tables: missing and awkward texts, NaN, types that compare otherwise."""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_connected_plans import HOUR, Slicer

from lib.wire.filters import Filter

ODD = ['"', ",", "a\nb", "\\.", "NULL", "'", " ", "é", "a,b\r\n"]
DAY = dt.datetime(2026, 3, 16, tzinfo=dt.UTC)
FRAME = pd.DataFrame(
    {
        "at": [DAY] * 8 + [DAY + dt.timedelta(hours=1) - dt.timedelta(microseconds=1)] * len(ODD),
        "country": ["US", "US", None, "", "DE", None, "", "US", *ODD],
        "bids": [1.0, np.nan, 2.0, 4.0, 8.0, 16.0, np.nan, 32.0] + [64.0] * len(ODD),
    }
)


@pytest.fixture(params=["duckdb", "postgresql"])
def slicer(request: pytest.FixtureRequest, tmp_path: Path) -> Slicer:
    """A slicer over these rows, once per database."""
    if request.param == "duckdb":
        (tmp_path / "lake").mkdir()
        pq.write_table(pa.Table.from_pandas(FRAME), tmp_path / "lake" / "sales.parquet")
        return Slicer(tmp_path, f"parquet://{tmp_path}/lake")
    url = str(request.getfixturevalue("postgres")).replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url) as admin, admin.cursor() as cursor:
        cursor.execute("CREATE TABLE sales (at timestamptz, country text, bids float8)")
        cursor.executemany(
            "INSERT INTO sales VALUES (%s, %s, %s)",
            [(at, None if pd.isna(name) else name, bids) for at, name, bids in FRAME.itertuples(index=False)],
        )
    return Slicer(tmp_path, url)


def by_country(slicer: Slicer, *filters: Filter, **given: Any) -> dict[str, float]:
    """The bids of each country."""
    sums = slicer.ask(split_by=("country",), filters=filters, **given)
    return dict(zip(sums.groups["country"], sums.rows.estimate["sum:bids"].tolist(), strict=True))


def expected(frame: pd.DataFrame) -> dict[str, float]:
    """The same, by pandas."""
    return frame.assign(country=frame.country.fillna("")).groupby("country").bids.sum().to_dict()


def test_missing_and_empty_texts_are_one_group(slicer: Slicer) -> None:
    """A text that is NULL and one that is empty are one group, and odd texts come back as they are stored."""
    assert by_country(slicer) == expected(FRAME)


def test_numbers_that_are_none_are_left_out(slicer: Slicer) -> None:
    """NaN is no value: neither of a sum, nor of the least and greatest, nor of how many there are."""
    atoms = frozenset({"records", "sum:bids", "min:bids", "max:bids", "present:bids"})
    total = slicer.ask(atoms=atoms).total.estimate
    bids = FRAME.bids.dropna()
    lists = {name: values.tolist() for name, values in total.items()}
    figures = {"records": len(FRAME), "sum": bids.sum(), "min": bids.min(), "max": bids.max()}
    assert lists == {
        f"{name}:bids" if name != "records" else name: [value] for name, value in figures.items()
    } | {"present:bids": [len(bids)]}


@pytest.mark.parametrize("values", [("US",), ("",), ("US", ""), ("nowhere",), ("'", "a\nb", "\\.")])
def test_a_filter_and_its_opposite_share_the_rows(slicer: Slicer, values: tuple[str, ...]) -> None:
    """Equal texts and those that aren't are all rows, with the missing ones among the empty."""
    is_one = FRAME.country.fillna("").isin(values)
    for match, rows in (("equals", FRAME[is_one]), ("not equals", FRAME[~is_one])):
        assert by_country(slicer, Filter(name="country", match=match, value=values)) == expected(rows)


@pytest.mark.parametrize("match", ["contains", "not contains", "begins with"])
def test_parts_of_texts(slicer: Slicer, match: str) -> None:
    """A part of a text is found in no missing text, unless the part is empty."""
    for value in ("U", ""):
        texts = FRAME.country.fillna("")
        holds = (
            texts.str.startswith(value) if match == "begins with" else texts.str.contains(value, regex=False)
        )
        rows = FRAME[~holds if match == "not contains" else holds]
        assert by_country(slicer, Filter(name="country", match=match, value=(value,))) == expected(rows)


def test_the_end_of_an_hour_is_of_that_hour(slicer: Slicer) -> None:
    """A record of the last microsecond of an hour is one of that hour, in every zone."""
    assert slicer.ask(split_by=(HOUR,)).groups[HOUR].tolist() == ["2026-03-16 00:00"]
    assert slicer.ask(split_by=(HOUR,), timezone=-3).groups[HOUR].tolist() == ["2026-03-15 21:00"]


def test_types_that_are_no_texts_of_their_own(tmp_path: Path, postgres: str) -> None:
    """An enumeration is compared as text: a value that it doesn't have is found nowhere, and is no error."""
    url = postgres.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(url) as admin:
        admin.execute("CREATE TYPE device AS ENUM ('phone', 'tablet')")
        admin.execute("CREATE TABLE sales (at timestamptz, country device, bids float8)")
        admin.execute("INSERT INTO sales VALUES ('2026-03-16', 'phone', 1), ('2026-03-16', NULL, 2)")
    slicer = Slicer(tmp_path, url)
    assert by_country(slicer) == {"": 2.0, "phone": 1.0}
    one_of = Filter(name="country", match="equals", value=("phone", "watch"))
    assert by_country(slicer, one_of) == {"phone": 1.0}


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(21, 2)])
def test_micros_are_divided_once(tmp_path: Path, kind: pa.DataType) -> None:
    """Sums, means and maxima of millionths are those of the decimals, of any type of number."""
    micros = [100_001] * 99_999 + [7_250_000]
    table = pa.table({"at": [DAY] * len(micros), "country": ["US"] * len(micros), "bids": micros})
    table = table.set_column(2, "bids", table["bids"].cast(kind))
    pq.write_table(table, tmp_path / "sales.parquet")
    fields = [{"name": "bids", "scale": 10**6}]
    slicer = Slicer(tmp_path, f"parquet://{tmp_path}", data_fields=fields)
    atoms = frozenset({"sum:bids", "min:bids", "max:bids", "present:bids"})
    for sums in (slicer.ask(atoms=atoms), slicer.ask(atoms=atoms, split_by=("country",))):
        for part in (sums.total, sums.rows):
            lists = {name: part.estimate[name].tolist() for name in sorted(atoms)}
            assert lists == {
                "max:bids": [7.25], "min:bids": [0.100001], "present:bids": [100_000.0],
                "sum:bids": [10_007.249999],
            }  # fmt: skip
