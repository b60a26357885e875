# ruff: noqa: E501
"""A definition from a file alone: what is guessed for which column, and that a person can tell why."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from ingesting import Place, definition, reader

from lib.ingest.inference import Hints, infer
from lib.slicers.definition import Definition, TimeColumn
from lib.slicers.definition.file import definition_yaml, parse_definition
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
    guess = guessed(place, {"time": ["2026-01-01"] * len(values), name: values})
    parts = [("key", part) for part in guess.key_fields] + [("data", part) for part in guess.data_fields[1:]]
    ((kind, part),) = parts
    return kind, part.model_dump(
        exclude_defaults=True, exclude={"name", "description", "annotation", "spelling"}
    )


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
        ("bid_amount", [1.5, 2.5], "data", {"display_type": "float", "display_precision": 2}),
        ("total_price", [1.5, 2.5], "data", {"display_type": "float", "display_precision": 2}),
        ("browser_version", [10.1, 11.0], "key", {}),
        ("minPrice", [3, 4], "data", {"aggregate": "min", "display_type": "float", "display_precision": 2}),
        ("clicks", [*range(199), "n/a"], "data", {}),
        ("clicks", [*range(19), "n/a"], "data", {}),
        ("clicks", [*range(19), "many"], "key", {}),
        ("site_id", [*range(199), "none"], "key", {}),
        ("languages", ["de|en", "en", "de|en|fr", "fr"], "key", {"segmented": "|"}),
        ("sizes", ["300x250;728x90", "300x250", "728x90;300x250"], "key", {"segmented": ";"}),
        ("title", ["One; or two", "Three; or four", "x"], "key", {}),
        ("tags", ["a|b|c", "d", "e|f"], "key", {"segmented": "|"}),
        ("tag_ids", ['"48,57"', '"57,61"', '"48,61"'], "key", {"segmented": ","}),
        ("segments", ["a|b|c1", "a|b|c2", "a|b|c1"], "key", {"segmented": "|"}),
        ("placement", ["US|300x250|news", "DE|728x90|sport", "US|300x250|sport"], "key", {}),
        ("title", ["Home | News", "Sport | News", "Home | News"], "key", {}),
        ("uniqExact(user)", [120, 130, 20], "data", {}),
        ("COUNT(DISTINCT user_id)", [120, 130, 20], "data", {}),
        ("banner_pos", [0, 1, 2, 7], "key", {"type": "int"}),
        ("slot_width", [300, 728, 320], "key", {"type": "int"}),
        ("C14", [15_706, 15_704, 18_993], "key", {"type": "int"}),
        ("C14", [*range(1000, 2000)], "data", {}),
        ("bandwidth", [100, 250], "data", {}),
    ],
)  # fmt: skip
def test_columns_are_told_apart(
    place: Place, name: str, values: list[Any], kind: str, told: dict[str, Any]
) -> None:
    """Numbers that add up are data fields; codes, flags, texts and lists are key fields."""
    assert field(place, name, values) == (kind, told)


@pytest.mark.parametrize(
    "name",
    ["cpm", "price", "bid_price", "win_rate", "ctr", "bid", "floor", "bidfloor", "avg_position", "percent_viewed",
     "eCPM", "payingPrice", "cost_per_click", "Klickpreis"],
)  # fmt: skip
@pytest.mark.parametrize("values", [[3, 4], [0.5, 1.25], [300, 0] * 600])
def test_prices_and_rates_are_averaged(place: Place, name: str, values: list[float]) -> None:
    """A price or rate is a mean, never a sum, whole or not, and it is said."""
    kind, field_guess = field(place, name, values)
    assert (kind, field_guess["aggregate"]) == ("data", "mean")
    (guess,) = infer(reader(place.folder / "a.csv")).columns
    assert "a price or a rate, so it is averaged" in guess.reason and "amount" not in guess.reason


def test_rows_that_add_up_others_are_warned_of(place: Place) -> None:
    """Subtotals with a date of their own can't be told from rows: the guess warns of them."""
    path = place.file("a.csv", "date,site,imps\n2026-01-05,a,1\n2026-01-05,b,2\n2026-01-05,Total,3\n")
    assert "WARNING: rows of 'Total' count beside" in infer(reader(path)).columns[0].reason


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
        (["2026-01-01 05:00:00 UTC", "2026-01-01 06:00:00.25 UTC"], None, "hour"),
        (["2026010105", "2026010106"], "%Y%m%d%H", "hour"),
        (["14102100", "14102101"], "%y%m%d%H", "hour"),
        (["201306060001", "201306060101"], "%Y%m%d%H%M", "hour"),
        (["20130606000104", "20130606010104"], "%Y%m%d%H%M%S", "hour"),
        (["20130606000104501", "20130606010104501"], "%Y%m%d%H%M%S%f", "hour"),
        (["2026/01/05 05:00:00Z", "2026/01/05 06:00:00Z"], "%Y/%m/%d %H:%M:%S%z", "hour"),
        (["1767243600.5", "1767247200.0"], None, "hour"),
        (["1.7672436e9", "1.7672472e9"], None, "hour"),
        (["1/31/26", "2/1/26"], "%m/%d/%y", "day"),
        (["31.12.25", "30.12.25"], "%d.%m.%y", "day"),
        (["2026.01.05", "2026.01.06"], "%Y.%m.%d", "day"),
        (["5 January 2026", "6 January 2026"], "%d %b %Y", "day"),
        (["Mon 05 Jan 2026", "Tue 06 Jan 2026"], "%d %b %Y", "day"),
        (["Q1 of 2026", "Q2 of 2026"], None, None),
        (["20260105T130000Z", "20260105T140000Z"], "%Y%m%dT%H%M%S%z", "hour"),
        (["2026-1-5 3:00", "2026-1-5 4:00"], "%Y-%m-%d %H:%M", "hour"),
        (
            ["2026-01-05 13:00:00 +0000 UTC", "2026-01-05 14:00:00 +0000 UTC"],
            "%Y-%m-%d %H:%M:%S %z UTC",
            "hour",
        ),
    ],
)
def test_the_time_is_found(
    place: Place, stamps: list[Any], form: str | None, granularity: str | None
) -> None:
    """In any usual form; hourly where days have several stamps, else daily."""
    if granularity is None:
        with pytest.raises(ImportRefused, match="no column has a time"):
            guessed(place, {"event_date": stamps})
        return
    time = guessed(place, {"id": range(2), "n": [3, 4], "event_date": stamps}).time
    assert time.model_copy(update={"annotation": ""}) == TimeColumn(
        column="event_date", format=form, granularity=granularity
    )  # type: ignore[arg-type]


def test_the_time_is_the_column_whose_name_says_so(place: Place) -> None:
    """Of several columns with times, the best named one is taken; numbers need a name that speaks of time."""
    stamps = ["2026-01-01", "2026-01-02"]
    assert guessed(place, {"signup_day": stamps, "timestamp": stamps}).time.column == "timestamp"
    assert guessed(place, {"x": stamps, "y": stamps}).time.column == "x"
    assert guessed(place, {"campaign": [20260101, 20260102], "d": stamps}).time.column == "d"


def test_of_two_readings_of_dates_the_closer_days_are_taken(place: Place) -> None:
    """01/02 to 05/02 are five days of February rather than the first days of five months, and it is said."""
    path = place.file("a.csv", "date,n\n" + "".join(f"0{day}/02/2026,1\n" for day in range(1, 6)))
    time = infer(reader(path)).time
    assert time.format == "%d/%m/%Y" and "not month/day/year (2 Jan 2026 to 2 May 2026)" in time.reason


@pytest.mark.parametrize(
    ("columns", "year", "sources", "form", "stored"),
    [
        (
            {"date": ["2026-01-05", "2026-01-05"], "hour": [3, 14]},
            None,
            ("date", "hour"),
            "%Y-%m-%d %H",
            [3, 14],
        ),
        ({"date": [20260105, 20260105], "hour": [3, 14]}, None, ("date", "hour"), "%Y%m%d %H", [3, 14]),
        (
            {"Datum": ["05.01.2026"] * 2, "Uhrzeit": ["03:15", "14:00"]},
            None,
            ("Datum", "Uhrzeit"),
            "%d.%m.%Y %H:%M",
            [3, 14],
        ),
        (
            {"date": ["1/5/26"] * 2, "time": ["3 AM", "2 PM"]},
            None,
            ("date", "time"),
            "%m/%d/%y %I %p",
            [3, 14],
        ),
        (
            {"day": [5, 5], "month": [1, 1], "hour": [3, 14]},
            2026,
            ("day", "month", "hour"),
            "%d %m %H",
            [3, 14],
        ),
        ({"day": [5, 5], "month": ["Jan", "Jan"]}, 2026, ("day", "month"), "%d %b", [0, 0]),
        (
            {"day": [5, 5], "month": [1, 1], "year": [2026, 2026]},
            None,
            ("day", "month", "year"),
            "%d %m %Y",
            [0, 0],
        ),
        ({"date": ["05.01.", "05.01."]}, 2026, ("date",), "%d.%m.", [0, 0]),
    ],
)
def test_a_time_in_several_columns_is_read_whole(
    place: Place,
    columns: dict[str, list[Any]],
    year: int | None,
    sources: tuple[str, ...],
    form: str,
    stored: list[int],
) -> None:
    """Date and hour, or day and month with a year from an option; the definition says how, and imports it."""
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path = place.file("a.csv", "\n".join(lines) + "\n")
    hints = Hints(year=year, dates="mdy" if "%I" in form else None)
    guess = parse_definition(definition_yaml(infer(reader(path), hints=hints).definition))
    assert (guess.time.sources, guess.time.format) == (sources, form)
    times = [row["time"] for row in place.rows(path, definition=guess)]
    assert [(time.date().isoformat(), time.hour) for time in times] == [
        ("2026-01-05", hour) for hour in stored
    ]


def test_a_date_without_a_year_asks_for_it(place: Place) -> None:
    """The refusal names the two columns that make a date, and the option."""
    with pytest.raises(ImportRefused, match=r"'day' and 'month' make a date without a year; add --year"):
        guessed(place, {"day": [5], "month": [1], "n": [7]})


def test_a_time_that_is_nearly_right_names_the_lines_that_are_not(place: Place) -> None:
    """A column of dates with another text in it is the time, but for that line."""
    path = place.file("a.csv", "Date,n\n2026-01-05,1\n2026-01-06,1\nsoon,1\n")
    assert "5 Jan 2026 to 6 Jan 2026, but for line 4: 'soon'" in infer(reader(path)).time.reason


@pytest.mark.parametrize(
    ("name", "values", "format_"),
    [
        ("month", ["2026-03", "2026-04"], "%Y-%m"),
        ("month", ["202603", "202604"], "%Y%m"),
        ("period", ["March 2026", "April 2026"], "%b %Y"),
        ("week", ["2026-W12", "2026-W13"], "%G-W%V"),
    ],
)
def test_months_and_weeks_are_times(place: Place, name: str, values: list[str], format_: str) -> None:
    """A report by month or week is imported by its first days, and that is said."""
    lines = [f"{name},clicks", *(f"{value},1" for value in values)]
    time = infer(reader(place.file("a.csv", "\n".join(lines) + "\n"))).time
    assert (time.column, time.format, time.granularity) == (name, format_, "day")
    assert "first day" in time.reason or "Monday" in time.reason


def test_a_month_beside_days_is_a_key_field(place: Place) -> None:
    """Days are the time wherever there are any."""
    lines = ["month,served,clicks", *(f"2026-03,2026-03-{day:02},1" for day in range(1, 20))]
    guess = infer(reader(place.file("a.csv", "\n".join(lines) + "\n"))).definition
    assert guess.time.column == "served" and [part.name for part in guess.key_fields] == ["month"]


def test_without_a_time_there_is_no_slicer(place: Place) -> None:
    """The refusal lists the columns and the way out."""
    with pytest.raises(ImportRefused, match=r"no column has a time.*--definition.*: a, b"):
        infer(reader(place.file("a.csv", "a,b\n1,x\n")))


def test_a_missing_header_is_recognized(place: Place) -> None:
    """A first line of data is no header: the columns get names, which the definition has, and no row is lost."""
    path = place.file("a.csv", "2026-01-01,5,null,null\n2026-01-02,6,x,null\n")
    guess = infer(reader(path)).definition
    assert (guess.header, guess.names) == (False, ("column_1", "column_2", "column_3", "column_4"))
    assert guess.time.column == "column_1"
    assert "no header row" in reader(path).description
    mine = definition(
        header=False, names=["time", "imps", "site", "x"], time={"column": "time", "granularity": "day"}
    )
    rows = place.rows(path, definition=mine)
    assert [(row["imps"], row["site"]) for row in rows] == [(5, None), (6, "x")]


def test_records_are_always_counted(place: Place) -> None:
    """The first data field counts the rows, under a name that is free."""
    guess = guessed(place, {"date": ["2026-01-01"], "records": [5], "time": ["x"]})
    assert [(part.name, part.aggregate) for part in guess.data_fields] == [
        ("records_2", "count"),
        ("records", "sum"),
    ]
    assert [(part.name, part.column) for part in guess.key_fields] == [("time_2", "time")]


def test_invalid_field_names_are_changed(place: Place) -> None:
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
    guess = infer(reader(path), {"countries": {"DE", "FR", "US"}}).definition
    assert [part.mapping for part in guess.key_fields] == ["countries", None]


def test_other_formats_are_guessed_alike(place: Place) -> None:
    """NDJSON with nested objects and mixed kinds, Parquet with its own types."""
    rows = [
        {"at": "2026-01-01T05:00Z", "geo": {"dma": 501}, "tags": ["a"], "ok": True, "x": 1},
        {"at": "2026-01-01T06:00Z", "x": "y"},
    ]
    guess = infer(reader(place.file("a.ndjson", "".join(json.dumps(row) + "\n" for row in rows)))).definition
    assert guess.time == TimeColumn(column="at", granularity="hour")
    assert [(part.name, part.type, part.segmented) for part in guess.key_fields] == [
        ("geo.dma", "int", False), ("tags", "text", True), ("ok", "text", False), ("x", "text", False),
    ]  # fmt: skip
    table = pa.table(
        {"d": pa.array([0, 1], pa.date32()), "spend": [1.0, 2.5], "s": ["a", "b"], "f": [True, False]}
    )
    pq.write_table(table, place.folder / "a.parquet")
    guess = infer(reader(place.folder / "a.parquet")).definition
    assert guess.time == TimeColumn(column="d", granularity="day")
    assert [part.name for part in (*guess.key_fields, *guess.data_fields)] == ["s", "f", "records", "spend"]


def test_a_guess_fits_its_own_file(place: Place) -> None:
    """What is guessed and written as YAML imports the file without a reject."""
    path = place.file(
        "a.csv", "Datum;Kampagne ID;Land;Klicks;Kosten\n31.12.2025;17;DE;3;0.5\n01.01.2026;18;AT;;1.25\n"
    )
    guess = parse_definition(definition_yaml(infer(reader(path)).definition))
    stored = place.take(path, definition=guess, max_rejects=0)
    assert stored.read(stored.files).to_pylist()[1]["Kosten"] == 1.25


def test_texts_of_json_stay_texts(place: Place) -> None:
    """JSON has null: a page that is called "-" is one, unless numbers are texts there too. Only then it is said."""
    path = place.file("a.ndjson", '{"at": "2026-01-01", "page": "-", "n": 1}\n{"at": "2026-01-01", "n": 2}\n')
    inference = infer(reader(path))
    guess = parse_definition(definition_yaml(inference.definition))
    assert [row["page"] for row in place.rows(path, definition=guess)] == ["-", None]
    assert not [note for note in inference.notes if "missing" in note]
    path = place.file("b.ndjson", '{"at": "2026-01-01", "n": "1.5"}\n{"at": "2026-01-01", "n": "-"}\n')
    inference = infer(reader(path))
    assert "Read as missing in 'n': '-' 1 time." in inference.notes
    guess = inference.definition
    assert [row["n"] for row in place.rows(path, definition=guess, mode="replace")] == [1.5, None]


@pytest.mark.parametrize("sides", [("start", "end"), ("end", "start")])
def test_of_dates_in_parts_that_of_the_start_is_the_time(place: Place, sides: tuple[str, str]) -> None:
    """Where a range is in six columns, as in LinkedIn's analytics, a row counts on its first day."""
    days = {"start": [3, 4, 5], "end": [3, 4, 7]}
    columns: dict[str, list[Any]] = {}
    for side in sides:
        columns |= {f"{side}.month": [11] * 3, f"{side}.day": days[side], f"{side}.year": [2026] * 3}
    time = guessed(place, {**columns, "impressions": [100, 200, 150]}).time
    assert time.sources == ("start.day", "start.month", "start.year")
