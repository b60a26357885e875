"""Export files for spreadsheets: xls read with xlrd, xlsx with openpyxl."""

import io
import re
import zipfile
from typing import Any

import numpy as np
import openpyxl
import pytest
import xlrd
import xlwt
from hypothesis import example, given, settings
from hypothesis import strategies as st
from needs import draws
from openpyxl.utils.escape import unescape

from lib.reporting.files import FileColumn, FileTable, make_file
from lib.reporting.files.sheets import XlsBook
from lib.reporting.models import ExportFormat
from lib.wire.errors import BadRequest

ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NASTY = [
    "=1+1", "+1", "-1", "@x", "http://example.com", "12", "TRUE", " x ", "a\nb", "a\r\nb",
    "\r", "\t", "\0\x1f",
    "\ufffe", "_x0041_", "_x005F_x0041_", "<b>&amp;</b>", "<r><t>x</t></r>", "<r></is></c>\x01</r>",
    '"', "😀" * 3, "\x80ÿ", "]]>",
]  # fmt: skip
SPREADSHEETS: tuple[ExportFormat, ...] = ("xls", "xlsx")


def _key(values: Any, kind: Any = "text") -> FileColumn:
    return FileColumn("site_id", "Site", np.array(values, dtype=object), kind, role="key")


def _data(values: Any, kind: Any = "int", precision: int = 0) -> FileColumn:
    return FileColumn("n", "N", np.array(values), kind, precision)


def _rows(table: FileTable, export_format: ExportFormat) -> dict[str, list[list[Any]]]:
    """The cells of each sheet as an independent reader finds them; None where there is none."""
    file = make_file(table, export_format).read()
    if export_format == "xls":
        sheets = xlrd.open_workbook(file_contents=file).sheets()
        return {
            s.name: [[v if v != "" else None for v in s.row_values(r)] for r in range(s.nrows)]
            for s in sheets
        }
    book = openpyxl.load_workbook(io.BytesIO(file), read_only=True)
    return {
        s.title: [[_plain(value) for value in row] for row in s.iter_rows(values_only=True)] for s in book
    }


def _plain(value: Any) -> Any:
    return unescape(value) if isinstance(value, str) else value


@pytest.mark.parametrize("export_format", SPREADSHEETS)
def test_cells(export_format: ExportFormat) -> None:
    """Texts are texts, numbers have all their digits, missing values are no cells, the total is last."""
    keys = _key(["12", "=1+1", "", "b"])
    names = FileColumn.of_mapping(keys, np.array(["Twelve", None, "none", ""], dtype=object))
    table = FileTable(
        (keys, names, _data([1, 2.5, np.nan, -3]), _data([1 / 3, np.nan, 1e300, 0], "float", 2)), (5, None)
    )
    assert _rows(table, export_format) == {
        "Report": [
            ["Site", "Site (description)", "N", "N"],
            ["12", "Twelve", 1, 1 / 3],
            ["=1+1", None, 2.5, None],
            [None, "none", None, 1e300],
            ["b", None, -3, 0],
            ["Total", None, 5, None],
        ]
    }


@pytest.mark.parametrize("export_format", SPREADSHEETS)
@given(texts=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), min_size=1, max_size=6))
@example(texts=list(zip(NASTY, reversed(NASTY), strict=True)))
@settings(max_examples=draws(40))
def test_any_text_survives(export_format: ExportFormat, texts: list[tuple[str, str]]) -> None:
    """Every text is found as it was, formulas, markup, control and astral characters and all."""
    columns = tuple(_key([pair[n] for pair in texts]) for n in (0, 1))
    table = FileTable((*columns, _data(np.arange(len(texts)))))
    expected = [[first or None, second or None, n] for n, (first, second) in enumerate(texts)]
    assert _rows(table, export_format)["Report"][1:] == expected


@pytest.mark.parametrize("export_format", SPREADSHEETS)
def test_titles_survive(export_format: ExportFormat) -> None:
    """The header is text too, whatever the descriptions are."""
    columns = tuple(
        FileColumn("k", title, np.array(["a"], dtype=object), "text", role="key") for title in NASTY
    )
    assert _rows(FileTable(columns), export_format)["Report"][0] == NASTY


@pytest.mark.parametrize("export_format", SPREADSHEETS)
def test_key_fields_of_type_int(export_format: ExportFormat) -> None:
    """Values of an int key field are numbers where a number says the same, and texts where not."""
    values = ["501", "0", "-3", "007", "-0", "12345678901234567890", "123456789012345", "", "n/a"]
    rows = _rows(FileTable((_key(values, "int"), _data(np.arange(9)))), export_format)["Report"][1:]
    expected = [501, 0, -3, "007", "-0", "12345678901234567890", 123456789012345, None, "n/a"]
    assert [row[0] for row in rows] == expected


def test_xls_goes_on_in_further_sheets() -> None:
    """70,000 rows are two sheets, each with the header, none of the rows lost, the total after the last."""
    table = FileTable(
        (_key([f"site {n % 500}" for n in range(70_000)]), _data(np.arange(70_000) / 4, "float", 2)), (1.5,)
    )
    sheets = _rows(table, "xls")
    assert list(sheets) == ["Report", "Report 2"]
    assert [len(rows) for rows in sheets.values()] == [65_536, 4_467]
    assert [rows[0] for rows in sheets.values()] == [["Site", "N"]] * 2
    body = [*sheets["Report"][1:], *sheets["Report 2"][1:]]
    assert body == [*[[f"site {n % 500}", n / 4] for n in range(70_000)], ["Total", 1.5]]


@pytest.mark.parametrize(
    ("rows", "total", "sheets"), [(65_535, None, [65_536]), (65_535, (1.0,), [65_536, 2])]
)
def test_xls_at_the_edge(rows: int, total: tuple[float] | None, sheets: list[int]) -> None:
    """A full sheet stays one sheet; a total that no longer fits begins another."""
    by_sheet = _rows(FileTable((_key(["a"] * rows), _data(np.arange(rows))), total), "xls")
    assert [len(rows) for rows in by_sheet.values()] == sheets


def test_xlsx_goes_on_in_further_sheets() -> None:
    """1,048,580 rows are two sheets: 1,048,576 rows with the header, and the header with five."""
    file = make_file(FileTable((_data(np.arange(1_048_580)),)), "xlsx").read()
    with zipfile.ZipFile(io.BytesIO(file)) as parts:
        sheets = [parts.read(f"xl/worksheets/sheet{n}.xml") for n in (1, 2)]
    assert [sheet.count(b"<row ") for sheet in sheets] == [1_048_576, 6]
    assert re.findall(rb"<v>(\d+)</v>", sheets[0])[-1] == b"1048574"
    assert re.findall(rb"<v>(\d+)</v>", sheets[1]) == [
        b"1048575",
        b"1048576",
        b"1048577",
        b"1048578",
        b"1048579",
    ]


def test_xls_is_what_xlwt_itself_writes() -> None:
    """Rows laid out by numpy make the very file, byte for byte, that xlwt makes cell by cell."""
    numbers = np.random.default_rng(5).normal(size=500)
    texts = [f"site {n % 70} ö" for n in range(500)]
    ours = make_file(FileTable((_key(texts), _data(numbers, "float", 3))), "xls").read()
    book = xlwt.Workbook(encoding="utf-8")
    bold, plain = xlwt.easyxf("font: bold on"), xlwt.XFStyle()
    book.add_style(plain)
    book.add_style(xlwt.easyxf(num_format_str="0"))
    number = xlwt.easyxf(num_format_str="0.000")
    book.add_style(number)
    sheet = book.add_sheet("Report")
    sheet.set_panes_frozen(True)
    sheet.set_horz_split_pos(1)
    for index, (title, width) in enumerate([("Site", 11), ("N", 8)]):
        sheet.write(0, index, title, bold)
        sheet.col(index).width = width * 256
    for row, (text, value) in enumerate(zip(texts, numbers.tolist(), strict=True), 1):
        sheet.write(row, 0, text, plain)
        sheet.write(row, 1, value, number)
    theirs = io.BytesIO()
    book.save(theirs)
    assert ours == theirs.getvalue()


def test_xls_formats() -> None:
    """In xls the header is bold and stays in view, and numbers have the decimal places of their field."""
    table = FileTable((_key(["a"]), _data([1]), _data([2], "float", 3)))
    book = xlrd.open_workbook(file_contents=make_file(table, "xls").read(), formatting_info=True)
    sheet = book.sheet_by_index(0)
    fonts = [book.font_list[book.xf_list[sheet.cell_xf_index(row, 0)].font_index] for row in (0, 1)]
    assert [font.bold for font in fonts] == [1, 0]
    assert sheet.panes_are_frozen
    assert sheet.horz_split_pos == 1
    formats = [
        book.format_map[book.xf_list[sheet.cell_xf_index(1, col)].format_key].format_str for col in (1, 2)
    ]
    assert formats == ["0", "0.000"]
    assert [sheet.cell_type(1, col) for col in range(3)] == [
        xlrd.XL_CELL_TEXT,
        xlrd.XL_CELL_NUMBER,
        xlrd.XL_CELL_NUMBER,
    ]


def test_xlsx_formats() -> None:
    """In xlsx the header is bold and stays in view, columns fit, numbers have their decimal places."""
    table = FileTable((_key(["=1+1", "x" * 30, "y" * 500]), _data([1, 2, 3]), _data([2, 3, 4], "float", 3)))
    sheet = openpyxl.load_workbook(io.BytesIO(make_file(table, "xlsx").read()))["Report"]
    assert [sheet["A1"].font.b, sheet["A2"].font.b] == [True, False]
    assert sheet.freeze_panes == "A2"
    assert [sheet.cell(2, column).number_format for column in (2, 3)] == ["0", "0.000"]
    assert sheet["A2"].data_type == "s"
    assert not list(sheet._hyperlinks)
    assert 60 <= sheet.column_dimensions["A"].width < 62
    assert 8 <= sheet.column_dimensions["B"].width < 10


@pytest.mark.parametrize("export_format", SPREADSHEETS)
def test_texts_that_no_cell_holds(export_format: ExportFormat) -> None:
    """A text of 32,767 characters is held; a longer one is refused at once, not cut, and csv offered."""
    longest = ["x" * 32_767, "ö" * 32_767, "😀" * 16_383]
    assert [row[0] for row in _rows(FileTable((_key(longest),)), export_format)["Report"][1:]] == longest
    for text in ("x" * 32_768, "😀" * 16_384):
        with pytest.raises(BadRequest, match=r"'site_id' have up to 32,768 characters.*ask for csv"):
            make_file(FileTable((_key(["a", text]),)), export_format)
    assert len(make_file(FileTable((_key(["x" * 40_000]),)), "csv").read()) > 40_000


def test_many_astral_characters_in_xls() -> None:
    """Texts are cut where a record is full, but never inside a character: each length is read back."""
    texts = [start + "😀" * length for length in range(120) for start in ("", "x")] + [
        "😀" * 9_000,
        "x" + "😀" * 9_000,
    ]
    assert [row[0] for row in _rows(FileTable((_key(["k", *texts]),)), "xls")["Report"][2:]] == [
        t or None for t in texts
    ]


@pytest.mark.parametrize(("export_format", "columns"), [("xls", 256), ("xlsx", 300)])
def test_columns(export_format: ExportFormat, columns: int) -> None:
    """xls holds 256 columns, xlsx more; what is too wide is refused with what is possible."""
    table = FileTable((_key(["a"]), *[_data([n]) for n in range(columns - 1)]))
    assert _rows(table, export_format)["Report"][1] == ["a", *range(columns - 1)]
    if export_format == "xls":
        with pytest.raises(BadRequest, match="holds 256 columns, this file has 257"):
            make_file(FileTable((*table.columns, _data([0]))), export_format)


@pytest.mark.parametrize("export_format", SPREADSHEETS)
def test_no_rows(export_format: ExportFormat) -> None:
    """A table without rows is a header."""
    assert _rows(FileTable((_key([]), _data([]))), export_format) == {"Report": [["Site", "N"]]}


def test_limits_divide_into_steps() -> None:
    """Steps fill a sheet exactly, so that none is left with room while the next has begun."""
    assert XlsBook.limits.rows % XlsBook.limits.step == 0
