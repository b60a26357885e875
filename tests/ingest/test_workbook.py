"""Workbooks: the first sheet, with its own types, whatever stands above and below the table."""

import datetime as dt
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import xlsxwriter
import xlwt
from ingesting import Place, definition, reader

from lib.ingest.importing import ImportJob, import_files, readers
from lib.ingest.inference import infer
from lib.ingest.rejects import Rejects
from lib.slicers.definition.reading import OverlapRule, Sheets
from lib.wire.errors import ImportRefused, RowsOverlap

FIRST = dt.datetime(2026, 1, 5)  # noqa: DTZ001


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder for files."""
    return Place(tmp_path)


def workbook(
    place: Place, rows: list[list[Any]], name: str = "a.xlsx", row: int = 0, column: int = 0
) -> Path:
    """A workbook whose first sheet has these rows from a cell on, and whose second sheet has others."""
    path = place.folder / name
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm"}) as book:
        sheet = book.add_worksheet("Report")
        for number, cells in enumerate(rows, row):
            sheet.write_row(number, column, cells)
        book.add_worksheet("Notes").write(0, 0, "other")
    return path


def hours(count: int) -> list[list[Any]]:
    """Rows of time, site, imps and cost, one an hour."""
    return [
        [FIRST + dt.timedelta(hours=number), f"site {number % 3}", number, number * 1.5]
        for number in range(count)
    ]


def test_the_first_sheet_is_imported(place: Place) -> None:
    """Dates, texts and numbers are what they are in the sheet; nothing has to be said."""
    path = workbook(place, [["time", "site", "imps", "cost"], *hours(30)])
    source = reader(path)
    assert source.description == "workbook, sheet 'Report' of 2, 4 columns, not read: 'Notes'"
    rows = place.rows(path, definition=infer(source).definition)
    assert len(rows) == 30 and sum(row["cost"] for row in rows) == sum(number * 1.5 for number in range(30))
    assert rows[29]["time"] == dt.datetime(2026, 1, 6, 5, tzinfo=dt.UTC) and rows[4]["site"] == "site 1"


def test_a_report_in_a_sheet_is_found(place: Place) -> None:
    """Lines above, an empty row, totals and remarks below: left out and said, with their row numbers."""
    rows = [
        ["Campaign report"],
        [],
        ["time", "site", "imps", "cost"],
        *hours(30),
        [],
        ["Total", "", 435],
        ["by hand"],
    ]
    path = workbook(place, rows, row=2, column=1)
    source = reader(path)
    assert "1 line above the table left out, such as 'Campaign report'" in source.description
    stored = place.take(path, definition=infer(source).definition, max_rejects=0)
    assert sum(stored.read(stored.files)["imps"].to_pylist()) == 435
    kept = [line.split(",")[:3] for line in place.rejects.read_text().splitlines()[1:]]
    assert kept == [["a.xlsx", "37", "a total of other rows"], ["a.xlsx", "38", "text outside the table"]]


def test_columns_of_mixed_cells_are_never_read_wrongly(place: Place) -> None:
    """A number among texts with other marks is refused, not taken for one with a thousands mark."""
    path = workbook(
        place, [["time", "site", "imps"], [FIRST, "a", 1.285], [FIRST, "b", "1.285"], [FIRST, 7, "n/a"]]
    )
    wanted = definition(decimal=",", thousands=".")
    assert [(row["site"], row["imps"]) for row in place.rows(path, definition=wanted)] == [
        ("b", 1285),
        ("7", None),
    ]
    assert "a.xlsx,2,\"not a number in column 'imps'" in place.rejects.read_text()


@pytest.mark.parametrize("name", ["a.xlsx", "report"])
def test_a_workbook_by_another_writer(place: Place, name: str) -> None:
    """A workbook is known by its content; formulas count with their last value, errors are missing."""
    book = openpyxl.Workbook()
    for row in [["time", "site", "imps"], [FIRST, "a", 5], [FIRST, "b", "#DIV/0!"]]:
        book.active.append(row)
    book.save(place.folder / "a.xlsx")
    path = (place.folder / "a.xlsx").rename(place.folder / name)
    assert [row["imps"] for row in place.rows(path, definition=definition())] == [5, None]


def test_an_old_workbook_is_read_too(place: Place) -> None:
    """A file of Excel 97 has the same rows."""
    book = xlwt.Workbook()
    sheet, date = book.add_sheet("s"), xlwt.easyxf(num_format_str="YYYY-MM-DD")
    for number, name in enumerate(("time", "site", "imps")):
        sheet.write(0, number, name)
    sheet.write(1, 0, FIRST, date)
    sheet.write(1, 1, "a")
    sheet.write(1, 2, 5)
    book.save(str(place.folder / "a.xls"))
    (row,) = place.rows(place.folder / "a.xls", definition=definition())
    assert (row["time"], row["site"], row["imps"]) == (FIRST.replace(tzinfo=dt.UTC), "a", 5)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.xlsx", b"PK\x03\x04....", "can't be read as a workbook"),
        ("a.xls", b"\xd0\xcf\x11\xe0....", "can't be read as a workbook"),
        ("a.xlsx", b"time,site\n\x01\x02", "is named as a workbook, but is not one"),
    ],
)
def test_what_is_no_workbook_is_refused(place: Place, name: str, content: bytes, words: str) -> None:
    """Damaged files and files of another kind are refused in words."""
    with pytest.raises(ImportRefused, match=words):
        reader(place.file(name, content))


def test_a_workbook_that_would_not_fit_into_memory_is_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it is unpacked, with its size, and what to do."""
    path = workbook(place, [["time"], *hours(500)])
    with zipfile.ZipFile(path) as archive:
        largest = max(part.file_size for part in archive.infolist())
    monkeypatch.setattr("lib.ingest.workbook._MAX_SHEET", max(largest, path.stat().st_size))
    with pytest.raises(ImportRefused, match="save the sheet as CSV"):
        reader(path)


def test_progress_adds_up_to_the_size_of_the_file(place: Place) -> None:
    """Whoever watches sees the whole file go by."""
    source, told = reader(workbook(place, [["time", "site", "imps", "cost"], *hours(30)])), list[int]()
    for _ in source.rows(None, lambda reject: None, told.append):
        pass
    assert sum(told) == source.file.size


def book(place: Place, **sheets: list[list[Any]]) -> Path:
    """A workbook of these sheets."""
    path = place.folder / "book.xlsx"
    with xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm"}) as file:
        for name, rows in sheets.items():
            sheet = file.add_worksheet(name)
            for number, cells in enumerate(rows):
                sheet.write_row(number, 0, cells)
    return path


NAMES = ["time", "site", "imps", "cost"]


def test_sheets_with_the_same_columns_are_a_question(place: Place) -> None:
    """Months in a sheet each: none is imported in silence, and the sentence names sheets and options."""
    path = book(place, Jan=[NAMES, *hours(3)], Feb=[NAMES, *hours(4)], Notes=[["by", "hand"]])
    with pytest.raises(ImportRefused, match=r"2 sheets with the same columns: 'Jan', 'Feb'.*--all-sheets"):
        readers(path)


@pytest.mark.parametrize(("sheets", "count"), [("all", 7), (("Feb",), 4), (("Feb", "Jan"), 7)])
def test_the_sheets_to_import_are_named(place: Place, sheets: Sheets, count: int) -> None:
    """All with the same columns, or those named; each row once, and each sheet a source of its own."""
    path = book(place, Jan=[NAMES, *hours(3)], Feb=[NAMES, *hours(7)[3:]], Notes=[["by", "hand"]])
    sources = readers(path, definition=definition(), sheets=sheets)
    job = ImportJob("p", "s", sources, definition())
    with Rejects(None) as rejects:
        stored = import_files(job, job.digests(), place.warehouse, rejects)
    assert stored.row_count == count
    assert len({source.name for source in stored.imports[-1].sources}) == len(sources)


def test_sheets_of_a_workbook_are_compared_with_each_other(place: Place) -> None:
    """A day that is in two sheets is refused like one in two files, or left out, or added."""
    path = book(place, Jan=[NAMES, *hours(3)], Feb=[NAMES, *hours(5)])
    job = ImportJob("p", "s", readers(path, definition=definition(), sheets="all"), definition())

    def count(overlap: OverlapRule | None) -> int:
        with Rejects(None) as rejects:
            sheets = replace(job, overlap=overlap, slicer=str(overlap))
            return import_files(sheets, job.digests(), place.warehouse, rejects).row_count

    with pytest.raises(RowsOverlap, match=r"keys of 3 of 8 rows are in an earlier file or sheet"):
        count(None)
    assert (count("skip"), count("add")) == (5, 8)


def test_an_unknown_sheet(place: Place) -> None:
    """It is refused with the sheets that there are."""
    path = book(place, Jan=[NAMES, *hours(3)])
    with pytest.raises(ImportRefused, match=r"sheet 'January'.*Jan"):
        readers(path, sheets=("January",))


def test_a_cover_sheet_is_no_table(place: Place) -> None:
    """Two columns of remarks before the table: the table is read, with or without a definition."""
    cover = [["Report", "Delivery"], ["Made on", FIRST]]
    path = book(place, Cover=cover, Data=[NAMES, *hours(30)])
    for told in (None, definition()):
        (source,) = readers(path, definition=told)
        assert source.columns == tuple(NAMES)
