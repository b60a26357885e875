# ruff: noqa: E501
"""A definition from a file alone: what is guessed for which column, and that a person can tell why."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingesting import Place

from lib.reporting.definition import Definition, TimeColumn
from lib.reporting.definition.file import definition_yaml, parse_definition
from lib.reporting.ingest.inference import infer
from lib.reporting.ingest.readers import reader
from lib.wire.errors import ImportRefused


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


def guessed(place: Place, columns: dict[str, list[Any]]) -> Definition:
    """The definition that is guessed for a CSV of these columns."""
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    return infer(reader(place.file("a.csv", "\n".join(lines) + "\n"))).definition


def field(place: Place, name: str, values: list[Any]) -> tuple[str, dict[str, Any]]:
    """What a column is guessed to be: `key` or `data`, and what is told of it."""
    found = guessed(place, {"time": ["2026-01-01"] * len(values), name: values})
    parts = [("key", part) for part in found.key_fields] + [("data", part) for part in found.data_fields[1:]]
    ((kind, part),) = parts
    return kind, part.model_dump(exclude_defaults=True, exclude={"name", "description"})


@pytest.mark.parametrize(
    ("name", "values", "kind", "told"),
    [
        ("site_id", [7, 8, 9], "key", {"type": "int"}),
        ("metroCode", [501, "", 9], "key", {"type": "int"}),
        ("zip", ["01234", "12345"], "key", {}),
        ("zip", [10115, 12345], "key", {"type": "int"}),
        ("year", [2025, 2026], "key", {"type": "int"}),
        ("dma", [501, 803], "key", {"type": "int"}),
        ("campaign", [90_001, 90_002], "key", {"type": "int"}),
        ("is_app", [0, 1], "key", {"type": "int"}),
        ("isRobot", ["true", "false"], "key", {}),
        ("page", ["a", "b"], "key", {}),
        ("hardly_ever", ["", ""], "key", {}),
        ("kind", [1, 2] * 600, "key", {"type": "int"}),
        ("clicks", [0, 1] * 600, "data", {}),
        ("total_impressions", [100, 200], "data", {}),
        ("delta", [100, -200], "data", {}),
        ("anything", [100, 213], "data", {}),
        ("revenue", [1.5, 20], "data", {"display_type": "float", "display_precision": 2}),
        ("cost", [0.05, 0.2], "data", {"display_type": "float", "display_precision": 4}),
        ("avg_cpc", [0.05, 0.2], "data", {"aggregate": "mean", "display_type": "float", "display_precision": 4}),
        ("bid_max", [3, 4], "data", {"aggregate": "max"}),
        ("minPrice", [3, 4], "data", {"aggregate": "min"}),
        ("clicks", [*range(199), "n/a"], "data", {}),
        ("clicks", [*range(19), "n/a"], "key", {}),
        ("site_id", [*range(199), "none"], "key", {}),
        ("languages", ["de|en", "en", "de|en|fr", "fr"], "key", {"segmented": "|"}),
        ("sizes", ["300x250;728x90", "300x250", "728x90;300x250"], "key", {"segmented": ";"}),
        ("title", ["One; or two", "Three; or four", "x"], "key", {}),
    ],
)  # fmt: skip
def test_columns_are_told_apart(
    place: Place, name: str, values: list[Any], kind: str, told: dict[str, Any]
) -> None:
    """Numbers that add up are data fields; codes, flags, texts and lists are key fields."""
    assert field(place, name, values) == (kind, told)


@pytest.mark.parametrize(
    ("stamps", "form", "granularity"),
    [
        (["2026-01-01T05:00:00Z", "2026-01-01T06:00:00Z"], None, "hour"),
        (["2026-01-01 05:00", "2026-01-01 05:30"], None, "hour"),
        (["2026-01-01", "2026-01-02"], None, "day"),
        (["2026-01-01 05:00", "2026-01-02 05:00"], None, "day"),
        (["2026-01-01 00:00:00", "2026-01-02 00:00:00"], None, "day"),
        ([1767243600, 1767247200], None, "hour"),
        ([1767243600000, 1767247200000], None, "hour"),
        (["31.01.2026", "01.02.2026"], "%d.%m.%Y", "day"),
        (["31.01.2026 14:05", "31.01.2026 15:05"], "%d.%m.%Y %H:%M", "hour"),
        (["01/31/2026", "02/01/2026"], "%m/%d/%Y", "day"),
        (["31/01/2026", "01/02/2026"], "%d/%m/%Y", "day"),
        (["1/31/2026 2:05 PM", "1/31/2026 3:05 PM"], "%m/%d/%Y %I:%M %p", "hour"),
        (["2026-01-01 05:00:00 UTC", "2026-01-01 06:00:00 UTC"], "%Y-%m-%d %H:%M:%S %Z", "hour"),
        (["2026010105", "2026010106"], "%Y%m%d%H", "hour"),
    ],
)
def test_the_time_is_found(place: Place, stamps: list[Any], form: str | None, granularity: str) -> None:
    """In any usual form; hourly where days have several stamps, else daily."""
    found = guessed(place, {"id": range(2), "n": [3, 4], "event_date": stamps}).time
    assert found == TimeColumn(column="event_date", format=form, granularity=granularity)  # type: ignore[arg-type]


def test_the_time_is_the_column_whose_name_says_so(place: Place) -> None:
    """Of several columns with times, the best named one is taken; numbers need a name that speaks of time."""
    stamps = ["2026-01-01", "2026-01-02"]
    assert guessed(place, {"signup_day": stamps, "timestamp": stamps}).time.column == "timestamp"
    assert guessed(place, {"x": stamps, "y": stamps}).time.column == "x"
    assert guessed(place, {"campaign": [20260101, 20260102], "d": stamps}).time.column == "d"


def test_dates_that_could_be_read_two_ways_are_told(place: Place) -> None:
    """Where no day is above 12, the guess says that it is one."""
    path = place.file("a.csv", "date,n\n01/02/2026,1\n")
    assert "it could be day/month/year too" in infer(reader(path)).time.reason


def test_without_a_time_there_is_no_slicer(place: Place) -> None:
    """The refusal lists the columns and the way out."""
    with pytest.raises(ImportRefused, match=r"no column holds a time.*--definition.*: a, b"):
        infer(reader(place.file("a.csv", "a,b\n1,x\n")))


def test_a_missing_header_is_noticed(place: Place) -> None:
    """A first line of data is no header."""
    with pytest.raises(ImportRefused, match="a column is called '2026-01-01'; the first line should name"):
        infer(reader(place.file("a.csv", "2026-01-01,5\n2026-01-02,6\n")))


def test_records_are_always_counted(place: Place) -> None:
    """The first data field counts the rows, under a name that is free."""
    found = guessed(place, {"date": ["2026-01-01"], "records": [5], "time": ["x"]})
    assert [(part.name, part.aggregate) for part in found.data_fields] == [
        ("records_2", "count"),
        ("records", "sum"),
    ]
    assert [(part.name, part.column) for part in found.key_fields] == [("time_2", "time")]


def test_names_that_no_field_can_have_are_mended(place: Place) -> None:
    """Quotes leave the name of a field, not that of its column."""
    (part,) = guessed(place, {"date": ["2026-01-01"], "sid's": ["x"]}).key_fields
    assert (part.name, part.column) == ("sids", "sid's")


@pytest.mark.parametrize(
    ("name", "label"),
    [("total_impressions", "Total impressions"), ("user.geo.countryCode", "Country code"), ("Revenue (EUR)", "Revenue (EUR)"),
     ("eCPM", "eCPM"), ("Site", "Site"), ("site", "Site"), ("größe", "größe")],
)  # fmt: skip
def test_labels_are_made_for_people(place: Place, name: str, label: str) -> None:
    """Names made for machines become words; names that people wrote stay."""
    assert guessed(place, {"date": ["2026-01-01"], name: ["x"]}).key_fields[0].description == label


def test_mappings_go_to_the_columns_of_their_codes(place: Place) -> None:
    """A mapping that is given without a definition is used where the values are its codes."""
    path = place.file("a.csv", "date,country,city\n2026-01-01,DE,Köln\n2026-01-01,FR,Paris\n")
    found = infer(reader(path), {"countries": {"DE", "FR", "US"}}).definition
    assert [part.mapping for part in found.key_fields] == ["countries", None]


def test_other_formats_are_guessed_alike(place: Place) -> None:
    """NDJSON with nested objects and mixed kinds, Parquet with its own types."""
    rows = [
        {"at": "2026-01-01T05:00Z", "geo": {"dma": 501}, "tags": ["a"], "ok": True, "x": 1},
        {"at": "2026-01-01T06:00Z", "x": "y"},
    ]
    found = infer(reader(place.file("a.ndjson", "".join(json.dumps(row) + "\n" for row in rows)))).definition
    assert found.time == TimeColumn(column="at", granularity="hour")
    assert [(part.name, part.type, part.segmented) for part in found.key_fields] == [
        ("geo.dma", "int", False), ("tags", "text", True), ("ok", "text", False), ("x", "text", False),
    ]  # fmt: skip
    table = pa.table(
        {"d": pa.array([0, 1], pa.date32()), "spend": [1.0, 2.5], "s": ["a", "b"], "f": [True, False]}
    )
    pq.write_table(table, place.folder / "a.parquet")
    found = infer(reader(place.folder / "a.parquet")).definition
    assert found.time == TimeColumn(column="d", granularity="day")
    assert [part.name for part in (*found.key_fields, *found.data_fields)] == ["s", "f", "records", "spend"]


def test_a_guess_fits_its_own_file(place: Place) -> None:
    """What is guessed and written as YAML imports the file without a reject."""
    path = place.file(
        "a.csv", "Datum;Kampagne ID;Land;Klicks;Kosten\n31.12.2025;17;DE;3;0.5\n01.01.2026;18;AT;;1.25\n"
    )
    found = parse_definition(definition_yaml(infer(reader(path)).definition))
    stored = place.take(path, definition=found, max_rejects=0)
    assert stored.read(stored.files).to_pylist()[1]["Kosten"] == 1.25
