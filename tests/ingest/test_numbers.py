# ruff: noqa: E501
"""Numbers as people write them: the marks are guessed from the values, stated, and asked for in doubt."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from ingesting import Place, definition, reader

from lib.ingest import cells
from lib.ingest.inference import Hints, Inference, infer
from lib.ingest.numbers import Marks
from lib.slicers.definition import Definition
from lib.slicers.definition.file import definition_yaml, parse_definition
from lib.wire.errors import ImportRefused

GERMAN = "Datum;Seite;Impressionen;Kosten\n01.01.2026;a;1.285;12,50\n02.01.2026;b;2.114.907;1.020,00\n03.01.2026;c;45;0,75\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


def guess(place: Place, text: str, **hints: Any) -> Inference:
    """What is guessed of a CSV with this text."""
    return infer(reader(place.file("a.csv", text)), hints=Hints(**hints))


def column(place: Place, *values: str, name: str = "cost", **hints: Any) -> tuple[Definition, list[Any]]:
    """The guessed definition of a file with these cells beside dates, and the cells as they are imported."""
    text = f"date;{name}\n" + "".join(f"2026-01-01;{value}\n" for value in values)
    column_definition = guess(place, text, **hints).definition
    rows = place.rows(place.folder / "a.csv", definition=column_definition, mode="replace")
    return column_definition, [row[name] for row in rows]


def test_a_german_csv_imports_right_without_options(place: Place) -> None:
    """1.285 is 1285 and 12,50 is 12.5: the marks are guessed, said, in the definition, and the sums are right."""
    inference = guess(place, GERMAN)
    assert (inference.definition.decimal, inference.definition.thousands) == (",", ".")
    assert "decimal mark ','" in inference.notes[0] and "thousands mark '.'" in inference.notes[0]
    assert [guess.reason.split("; ")[-1] for guess in inference.columns[1:]] == [
        "2.114.907 is 2114907",
        "12,50 is 12.5",
    ]
    kept = parse_definition(definition_yaml(inference.definition))
    rows = place.rows(place.folder / "a.csv", definition=kept)
    assert sum(row["Impressionen"] for row in rows) == 1285 + 2_114_907 + 45
    assert sum(row["Kosten"] for row in rows) == 12.5 + 1020 + 0.75


@pytest.mark.parametrize(
    ("values", "decimal", "thousands", "numbers"),
    [
        (["1'285.50", "12.00"], ".", "'", [1285.5, 12]),
        (["1’285.50", "12.00"], ".", "'", [1285.5, 12]),
        (["1\u00a0285,50", "3,00"], ",", " ", [1285.5, 3]),
        (["1\u202f285,50", "3,00"], ",", " ", [1285.5, 3]),
        (["1 285 000", "3"], "unknown", " ", [1_285_000, 3]),
        (["12,34,567.89", "1,234.00"], ".", ",", [1_234_567.89, 1234]),
        (["1,285", "12.5"], ".", ",", [1285, 12.5]),
        (["1.285.000", "12.500"], ",", ".", [1_285_000, 12_500]),
        (["1.285", "0.5"], ".", None, [1.285, 0.5]),
        (["1,285", "0,5"], ",", ".", [1.285, 0.5]),
        (["1.5", "2"], ".", None, [1.5, 2]),
        (["7", "12"], "unknown", None, [7, 12]),
        (["(1,234.50)", "12-", "−3", "- 4"], ".", ",", [-1234.5, -12, -3, -4]),
    ],
)  # fmt: skip
def test_marks_are_guessed_from_the_values(
    place: Place, values: list[str], decimal: str, thousands: str | None, numbers: list[float]
) -> None:
    """Swiss, French, Indian, English, German; brackets and trailing minuses are negative."""
    column_definition, read = column(place, *values)
    assert (column_definition.decimal, column_definition.thousands, read) == (decimal, thousands, numbers)


@pytest.mark.parametrize(
    ("values", "unit", "numbers"),
    [
        (["$1,234.50", "-$3.00", "($4.25)", "$ -"], "$", [1234.5, -3, -4.25, None]),
        (["12,50 €", "1.000,00 €", "-3,10€"], "€", [12.5, 1000, -3.1]),
        (["CHF 1'285.50", "CHF 2.00"], "CHF", [1285.5, 2]),
        (["US$ 5.10", "US$ 1.00"], "US$", [5.1, 1]),
        (["12.5%", "0%", "0", "(3.25 %)"], "%", [12.5, 0, 0, -3.25]),
    ],
)  # fmt: skip
def test_units_are_read_and_stated(place: Place, values: list[str], unit: str, numbers: list[float]) -> None:
    """Currency signs and % are the field's unit; a % is averaged, a sum of money is summed."""
    column_definition, read = column(place, *values)
    (part,) = column_definition.data_fields[1:]
    assert (part.unit, part.aggregate, read) == (unit, "mean" if unit == "%" else "sum", numbers)


@pytest.mark.parametrize(
    ("values", "words"),
    [(["$1.50", "€2.50"] * 9, "don't add up"), (["12%", "0.12"] * 9, "some numbers have a %")],
)
def test_what_does_not_add_up_is_no_number(place: Place, values: list[str], words: str) -> None:
    """Two currencies in a column, or a % at some numbers alone, make no sum, and it is said why."""
    text = "date;cost\n" + "".join(f"2026-01-01;{value}\n" for value in values)
    (column_guess,) = guess(place, text).columns
    assert column_guess.is_key and words in column_guess.reason


def test_another_unit_later_is_refused(place: Place) -> None:
    """A sum in € among sums in $ is a reject, not a number."""
    wanted = definition(data_fields=[{"name": "imps", "unit": "$"}])
    path = place.file("a.csv", "time,site,imps\n2026-01-01,a,$5\n2026-01-01,a,€5\n2026-01-01,a,7\n")
    assert [row["imps"] for row in place.rows(path, definition=wanted)] == [5, 7]
    assert "not a number in column 'imps' (with decimal mark '.', unit '$')\",€5" in place.rejects.read_text()


def test_1_285_alone_is_asked_for(place: Place) -> None:
    """The refusal names the column, both readings and the options; either option then reads it that way."""
    with pytest.raises(ImportRefused) as caught:
        column(place, "1.285", "2.114", name="imps")
    assert "'1.285' in column 'imps' can be 1285 or 1.285" in caught.value.reason
    assert "--decimal ',' reads 1285, --decimal '.' reads 1.285" in caught.value.reason
    assert column(place, "1.285", "2.114", name="imps", decimal=",")[1] == [1285, 2114]
    assert column(place, "1.285", "2.114", name="imps", decimal=".")[1] == [1.285, 2.114]
    with pytest.raises(ImportRefused, match=r"'1,285' in column 'imps' can be 1285 or 1.285"):
        column(place, "1,285", "2,114", name="imps")


def test_other_columns_tell_unless_they_disagree(place: Place) -> None:
    """A column that could be either is read as the others are written; where those differ, it is asked for."""
    rows = "2026-01-01;1.285;{};{}\n"
    both = guess(place, "date;imps;cost;rev\n" + rows.format("12,5", "3,25")).definition
    assert (both.decimal, both.thousands) == (",", ".")
    with pytest.raises(ImportRefused, match=r"written in both ways: 12,5 in 'cost', 52.52 in 'lat'"):
        guess(place, "date;imps;cost;lat\n" + rows.format("12,5", "52.52"))


def test_columns_with_marks_of_their_own_state_them(place: Place) -> None:
    """Each field is read as its column is written, whatever the rest of the file does."""
    text = "date;cost;rev;lat\n2026-01-01;1.012,5;3,25;52.52\n2026-01-02;1,5;3,25;5.5\n"
    column_definition = guess(place, text).definition
    assert (column_definition.decimal, column_definition.thousands) == (",", ".")
    assert [(part.name, part.decimal) for part in column_definition.data_fields if part.decimal] == [
        ("lat", ".")
    ]
    rows = place.rows(place.folder / "a.csv", definition=parse_definition(definition_yaml(column_definition)))
    assert [(row["cost"], row["lat"]) for row in rows] == [(1012.5, 52.52), (1.5, 5.5)]


def test_groups_are_reported_from_fractions_by_their_zeros(place: Place) -> None:
    """1.280 beside 45 is a thousand: as a fraction it would be 1.28, or 45 would be 45.000."""
    grouped = [f"{number}.2{number}0" for number in range(1, 10)] + ["12.345", "45"]
    assert column(place, *grouped, name="imps")[1][0] == 1210
    with pytest.raises(ImportRefused, match="can be"):
        column(place, *[value for value in grouped if value != "45"], name="imps")


def test_a_rare_fraction_does_not_make_fractions_of_thousands(place: Place) -> None:
    """One 12,5 among many like 1,285 is no evidence: it is asked for; 0,285 is."""
    many = [f"{number},1{number}" for number in range(10, 50)]
    with pytest.raises(ImportRefused, match="can be"):
        column(place, *many, "12,5", name="imps")
    assert column(place, *many, "0,285", name="imps")[1][0] == 10.11


def test_totals_say_nothing_of_the_marks(place: Place) -> None:
    """A total that is written in another way than the rows is not imported, and no evidence."""
    text = "date;imps\n" + "".join(f"2026-01-{day};1.2{day}\n" for day in range(10, 20)) + "Total;12,5\n"
    with pytest.raises(ImportRefused, match=r"can be 1210 or 1.210"):
        guess(place, text)


def test_a_mark_that_comes_after_the_sample_is_never_read_in_the_wrong_way(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no number of the sample had a mark, 1.285 later is a reject that says what to do, and 0.5 is read."""
    monkeypatch.setattr("lib.ingest.inference.SAMPLE_ROWS", 2)
    column_definition, read = column(place, "5", "7", "1.285", "0.5", "1,285")
    assert (column_definition.decimal, read) == ("unknown", [5, 7, 0.5])
    assert "could be read in two ways" in place.rejects.read_text()


def test_the_marks_of_a_definition_are_strict(place: Place) -> None:
    """A number in another notation is a reject, never a number of another size."""
    wanted = definition(decimal=",", thousands=".")
    cells_ = ["1.285", "12.50", "1285", "12,5", "1.28", "0.285", "1.2850"]
    path = place.file("a.csv", "time;site;imps\n" + "".join(f"2026-01-01;a;{cell}\n" for cell in cells_))
    assert [row["imps"] for row in place.rows(path, definition=wanted)] == [1285, 1285, 12.5]


@pytest.mark.parametrize("word", ["NULL", "N/A", "#N/A", "-", "—", "n/a", "(not set)", "#DIV/0!", " - "])
def test_words_for_missing_values_are_missing(place: Place, word: str) -> None:
    """In numbers, codes, times and texts alike; a row without a time is refused."""
    text = f"time,site,imps,dma\n2026-01-01,{word.strip()},{word},{word}\n{word},a,5,1\n"
    wanted = definition(key_fields=[{"name": "site"}, {"name": "dma", "type": "int"}])
    (row,) = place.rows(place.file("a.csv", text), definition=wanted)
    assert (row["site"], row["imps"], row["dma"]) == (None, None, None)
    assert "no time in column 'time'" in place.rejects.read_text()


def test_the_words_for_missing_values_can_be_set(place: Place) -> None:
    """A list of one's own replaces the usual one."""
    wanted = definition(missing=["none", "?"])
    path = place.file("a.csv", "time,site,imps\n2026-01-01,none,?\n2026-01-01,-,5\n2026-01-01,a,-\n")
    assert [(row["site"], row["imps"]) for row in place.rows(path, definition=wanted)] == [
        (None, None),
        ("-", 5),
    ]


def test_how_a_file_is_written_may_change_from_import_to_import(place: Place) -> None:
    """Rows from a file with other marks can be appended: what is stored does not differ."""
    place.take(place.file("a.csv", "time,site,imps\n2026-01-01,a,1.5\n"), definition=definition())
    german = definition(decimal=",", thousands=".")
    stored = place.take(
        place.file("b.csv", "time;site;imps\n2026-01-02;a;1.285,5\n"), definition=german, mode="append"
    )
    assert stored.read(stored.files)["imps"].to_pylist() == [1.5, 1285.5]


def test_an_old_slicer_keeps_its_words(place: Place) -> None:
    """A manifest without words for missing values goes on without them: "-" stays the text that it was."""
    place.take(place.file("a.csv", "time,site,imps\n2026-01-01,-,1\n"), definition=definition(missing=[]))
    (manifest,) = place.folder.rglob("manifest.json")
    text = re.sub(r',\n "sha256": "\w+"', "", manifest.read_text())
    assert '"missing": [],' in text
    manifest.write_text(text.replace('"missing": [],', ""))
    assert place.warehouse.open("p", "s").definition.missing == ()


@pytest.mark.parametrize(
    ("text", "whole"), [("1.285.301", "1285301"), ("007", "7"), ("12", "12"), ("1.28", None)]
)
def test_codes_may_have_thousands_marks(text: str, whole: str | None) -> None:
    """A whole number of a key field is read with the same marks."""
    whole_numbers = cells.whole(pa.array([text]), Marks(",", "."))
    assert whole_numbers.values.to_pylist() == [whole] and (whole_numbers.bad is None) == (whole is not None)
