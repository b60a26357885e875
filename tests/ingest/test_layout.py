"""Where a table begins and ends: report lines, totals, comments, `sep=;`, no header, uneven rows."""

from pathlib import Path

import pytest
from ingesting import Place, cells, definition, reader

from lib.ingest.inference import infer
from lib.wire.errors import ImportRefused

ROWS = "".join(f"2026-01-{day:02d},site {day},{day}\n" for day in range(1, 21))
TABLE = "time,site,imps\n" + ROWS


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Campaign report\n1 Jan 2026 - 20 Jan 2026\n\n" + TABLE, "2 lines above the table left out"),
        ("Campaign report,,\nSite:,all,\n,,\n" + TABLE, "3 lines above the table left out"),
        ("# made by hand, on Monday\n" + TABLE, "1 line above the table left out"),
        ("# made, by, hand\n" + TABLE, "1 line above the table left out"),
        ("sep=;\r\n" + TABLE.replace(",", ";"), "semicolon-separated"),
        ("#" + TABLE, "3 columns"),
        ("#Fields: " + TABLE, "3 columns"),
        (TABLE.replace("imps\n", "imps,,\n"), "3 columns"),
        (TABLE.replace("\n", ",\n").replace("imps,", "imps"), "3 columns"),
        ('"Report ""A"', "3 columns"),
    ],
)
@pytest.mark.parametrize("guess", [True, False], ids=["guessed", "by a definition"])
def test_a_table_is_found_below_what_stands_above_it(place: Place, text: str, said: str, guess: bool) -> None:
    """Report lines, comments, `sep=;` and a commented header are recognized and said; no row is lost."""
    path = place.file("a.csv", text if ROWS[:10] in text.replace(";", ",") else f'{text}"\n{TABLE}')
    assert said in reader(path).description
    used_definition = infer(reader(path)).definition if guess else definition()
    rows = place.rows(path, definition=used_definition)
    assert [row["imps"] for row in rows] == list(range(1, 21)) and not place.rejects.exists()


@pytest.mark.parametrize(
    ("below", "reasons"),
    [
        ("Total,,210\n", ["a total of other rows"]),
        (",Grand total:,210\n", ["a total of other rows"]),
        ("Gesamt;210\n", ["text outside the table"]),
        ("\nReport made on 1 February\n* without tax\n", ["text outside the table"] * 2),
        ("time,site,imps\n2026-01-21,x,0\n", ["the header once more"]),
        (",,210\n", ["a total of other rows"]),
        ("Report time:,,\n", ["text outside the table"]),
    ],
)
def test_lines_below_the_table_are_left_out_and_said(place: Place, below: str, reasons: list[str]) -> None:
    """A total or footer is no row, nor one that can't be read; it is in the rejects file."""
    path = place.file("a.csv", TABLE + below)
    for wanted in (infer(reader(path)).definition, definition()):
        stored = place.take(path, definition=wanted, max_rejects=0, mode="replace")
        assert sum(stored.read(stored.files)["imps"].to_pylist()) == 210
        kept = place.rejects.read_text().splitlines()[1:]
        assert [line.split(",")[2] for line in kept] == reasons


def test_figures_without_a_time_are_a_total_only_at_the_end(place: Place) -> None:
    """Among rows such a line is one that can't be read."""
    path = place.file("a.csv", TABLE + ",,210\n2026-01-21,a,5\n,,215\n")
    place.take(path, definition=definition(), max_rejects=0.1)
    kept = [line.split(",")[1:3] for line in place.rejects.read_text().splitlines()[1:]]
    assert kept == [["22", "no time in column 'time'"], ["24", "a total of other rows"]]


def test_a_row_that_is_cut_off_is_no_footer(place: Place) -> None:
    """A last row that breaks off counts as one that can't be read."""
    path = place.file("a.csv", TABLE + "2026-01-21,a")
    with pytest.raises(ImportRefused, match=r"1 of 21 rows"):
        place.take(path, definition=definition(), max_rejects=0)


@pytest.mark.parametrize(
    ("header", "cells_in_rows"), [("time,site,imps,clicks\n", 3), ("time,site\n", 3), ("a,b,c,d,e\n", 3)]
)
def test_rows_that_are_all_short_or_long_are_named(place: Place, header: str, cells_in_rows: int) -> None:
    """Never "There are no rows": header, rows and an example are named, with what to do."""
    names = header.count(",") + 1
    with pytest.raises(ImportRefused) as caught:
        reader(place.file("a.csv", header + ROWS))
    words = f"the header in line 1 has {names} names, but 20 of the first 20 rows have {cells_in_rows} cells"
    assert words in caught.value.reason and "line 2: '2026-01-01, site 1, 1'" in caught.value.reason


def test_a_header_of_words_and_years_is_one(place: Place) -> None:
    """Numbers among the names are names where a column of values has a word above it."""
    assert list(cells(place.file("a.csv", "date,2024,2025\n2026-01-01,5,6\n"))) == ["date", "2024", "2025"]


def test_a_header_can_be_said_to_be_there_or_not(place: Place) -> None:
    """Where everything is text nobody can tell: what is said counts."""
    path = place.file("a.csv", "a,b\nc,d\n")
    assert cells(path) == {"a": ["c"], "b": ["d"]}
    assert cells(path, header=False) == {"column_1": ["a", "c"], "column_2": ["b", "d"]}


def test_names_that_do_not_fit_are_refused(place: Place) -> None:
    """A definition with two names for rows of three cells is refused, with both numbers."""
    wanted = definition(header=False, names=["time", "imps"])
    with pytest.raises(ImportRefused, match="its rows have 3 cells, the definition has 2 names"):
        reader(place.file("a.csv", ROWS), definition=wanted)


def test_dates_in_digits_need_no_name(place: Place) -> None:
    """20260131 in a file without a header is a date."""
    path = place.file("a.csv", "a,20260131,5\nb,20260201,6\n")
    assert infer(reader(path)).definition.time.column == "column_2"


def test_decimal_commas_are_no_delimiters(place: Place) -> None:
    """In a file without a header, 12,50;3,10 has two cells."""
    path = place.file("a.csv", "2026-01-01;12,50\n2026-01-02;3,10\n")
    assert cells(path)["column_2"] == ["12,50", "3,10"]


def test_several_files_are_guessed_from_the_heads_of_all(place: Place) -> None:
    """A column that only a later file has, and a decimal comma only found there, are in the definition."""
    first = place.file("a.csv", "day;site;cost\n2026-01-01;a;3\n2026-01-02;b;4\n")
    second = place.file("b.csv", "day;site;cost;zone\n2026-01-03;c;1,25;north\n2026-01-04;d;2,75;south\n")
    guess = infer(reader(first), others=[reader(second)]).definition
    assert (guess.decimal, [field.name for field in guess.key_fields]) == (",", ["site", "zone"])
    assert infer(reader(first)).definition.decimal == "unknown"
    rows = place.rows(second, definition=guess)
    assert [row["cost"] for row in rows] == [1.25, 2.75]
