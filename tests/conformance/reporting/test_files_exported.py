"""Specification, "Export": the response; and what decisions settle of the formats' layouts."""

import csv
import io
import re

import openpyxl
import pandas as pd
import pytest
import xlrd

from conformance.reporting import oracle
from conformance.reporting.caller import Caller, figures
from conformance.reporting.files import read
from conformance.reporting.hourly import DOMAINS, FIRST, LAST, ROWS
from conformance.reporting.others import WIDE_DAY, many_frame

pytestmark = pytest.mark.service

MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "tsv2": "text/tab-separated-values; charset=utf-8",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
JANUARY = {"start_date": "2026-01-01", "end_date": "2026-02-28"}
WIDE = {"start_date": str(WIDE_DAY), "end_date": str(WIDE_DAY)}
TEXTS = {text or "" for text in DOMAINS}
DANGEROUS = tuple("=+-@\t\r\n")
SMALL = {
    "csv": b'"site","imps"\r\n"b",10\r\n"a",5\r\n"Total",15\r\n',
    "tsv": b"site\timps\r\nb\t10\r\na\t5\r\nTotal\t15\r\n",
    "tsv2": b"site\timps\nb\t10\na\t5\nTotal\t15\n",
}


@pytest.mark.parametrize("export_format", MEDIA_TYPES)
def test_content_type(hourly: Caller, export_format: str) -> None:
    """The content type is that of the format."""
    assert hourly.export(export_format=export_format).headers["content-type"] == MEDIA_TYPES[export_format]


@pytest.mark.parametrize("export_format", MEDIA_TYPES)
def test_file_name(hourly: Caller, export_format: str) -> None:
    """The file is named by slicer, dates and format."""
    response = hourly.export(export_format=export_format)
    name = f"hourly_{FIRST}_{LAST}.{export_format}"
    assert response.headers["content-disposition"].startswith(f'attachment; filename="{name}"')


@pytest.mark.parametrize("export_format", SMALL)
def test_to_the_letter(daily: Caller, export_format: str) -> None:
    """csv quotes text and leaves numbers bare, tsv quotes nothing here, tsv2 ends its lines with LF."""
    fields = {"split_by": ["site"], "include_total": 1, **JANUARY}
    assert daily.export(export_format=export_format, **fields).content == SMALL[export_format]


def test_csv_header(hourly: Caller) -> None:
    """The header of a csv file has the descriptions, quoted."""
    header = hourly.export(split_by=["site_id"], data_fields=["imps", "ctr", "price"]).content
    assert header.startswith(b'"Site","Impressions","CTR","Price, mean"\r\n')


def test_csv_numbers(hourly: Caller) -> None:
    """Numbers have their field's display precision, and no quotes; keys of type int are numbers too."""
    content = hourly.export(split_by=["site_id"], filters=SITE).content.decode()
    number = r"-?\d+"
    shown = [f"{number}\\.\\d{{{places}}}" for places in (3, 2, 2)]
    integers = [number] * 5
    ratios = [rf"{number}\.\d\d", rf"{number}\.\d{{4}}", rf"{number}\.\d\d"]
    line = ",".join([number, number, number, *shown, *integers, *ratios, number, number])
    assert all(re.fullmatch(line, csv_line) for csv_line in content.split("\r\n")[1:-1])


SITE = [{"name": "site_id", "match": "not equals", "value": [""]}]


@pytest.mark.parametrize("export_format", ["csv", "tsv"])
def test_texts_that_a_spreadsheet_would_run(hourly: Caller, export_format: str) -> None:
    """In csv and tsv an apostrophe stands before texts that a spreadsheet would run, and no others."""
    file = read(hourly.export(export_format=export_format, split_by=["domain"]), export_format)
    assert set(file.column("Domain")) == {
        f"'{text}" if text.startswith(DANGEROUS) else text for text in TEXTS
    }


@pytest.mark.parametrize("export_format", ["csv", "tsv", "tsv2", "xls", "xlsx"])
def test_raw_texts(hourly: Caller, export_format: str) -> None:
    """With escape_formulas 0 every text stands as it is, and in tsv2 and workbooks always."""
    raw = {} if export_format not in ("csv", "tsv") else {"escape_formulas": 0}
    file = read(hourly.export(export_format=export_format, split_by=["domain"], **raw), export_format)
    assert {cell or "" for cell in file.column("domain" if export_format == "tsv2" else "Domain")} == TEXTS


@pytest.mark.parametrize("export_format", ["csv", "tsv"])
def test_line_ends(hourly: Caller, export_format: str) -> None:
    """csv and tsv end every line with CRLF, the last one too, and keep line breaks inside of texts."""
    content = hourly.export(export_format=export_format, split_by=["domain"]).content
    outside = re.sub(rb'"[^"]*"', b"", content)
    assert outside.endswith(b"\r\n")
    assert outside.count(b"\n") == outside.count(b"\r") == outside.count(b"\r\n") == 1 + len(TEXTS)


def test_tsv_has_the_values_of_csv(hourly: Caller) -> None:
    """tsv has the columns and values of csv, quoted only where a tab, a quote or a line break needs it."""
    texts = {
        export_format: hourly.export(export_format=export_format, split_by=["domain"]).content.decode()
        for export_format in ("csv", "tsv")
    }
    lines = [list(csv.reader(io.StringIO(texts[name], newline=""), delimiter=by)) for name, by in SEPARATED]
    assert lines[0] == lines[1]
    quoted = set(re.findall(r'"((?:[^"]|"")*)"', texts["tsv"]))
    needing = {text for text in TEXTS if re.search(r'[\t\r\n"]', text)}
    assert {text.replace('""', '"').removeprefix("'") for text in quoted} == needing


SEPARATED = [("csv", ","), ("tsv", "\t")]


def test_tsv2_header_and_precision(hourly: Caller) -> None:
    """tsv2 has field names, with those of descriptions beside them, and numbers with all their digits."""
    file = read(hourly.export(export_format="tsv2", split_by=["geo.country"]), "tsv2")
    assert file.titles[:4] == ["geo.country", "geo.country.description", "imps", "clicks"]
    answer = hourly.audience(split_by=["geo.country"])
    values = [figures(row)["revenue"] for row in answer["rows"]]
    assert [float(str(cell)) for cell in file.column("revenue")] == values


def test_text_cells_of_workbooks(hourly: Caller) -> None:
    """In xls and xlsx a text is a text cell, a number a number cell; nothing is a formula."""
    fields = {"split_by": ["domain"], "data_fields": ["imps"]}
    sheet = xlrd.open_workbook(file_contents=hourly.export(export_format="xls", **fields).content)[0]
    kinds = {cell.ctype for cell in sheet.col(0)[1:]}, {cell.ctype for cell in sheet.col(1)[1:]}
    assert kinds == ({xlrd.XL_CELL_TEXT, xlrd.XL_CELL_EMPTY}, {xlrd.XL_CELL_NUMBER})
    content = io.BytesIO(hourly.export(export_format="xlsx", **fields).content)
    cells = list(openpyxl.load_workbook(content).active.iter_rows(min_row=2))
    assert {cell.data_type for cell, _ in cells if cell.value is not None} <= {"s", "inlineStr"}
    assert {cell.data_type for _, cell in cells} == {"n"}


def test_xls_goes_on_in_further_sheets(wide: Caller) -> None:
    """Past 65,535 rows an xls file goes on in a further sheet, under the same header."""
    fields = {"split_by": ["left", "right"], "export_format": "xls", "limit": 66_000, **WIDE}
    wanted = [{"name": "case", "match": "equals", "value": ["a million"]}]
    book = xlrd.open_workbook(file_contents=wide.export(**fields, filters=wanted).content)
    assert [sheet.nrows for sheet in book.sheets()] == [65_536, 466]
    assert [sheet.row_values(0) for sheet in book.sheets()] == [["left", "right", "imps"]] * 2


@pytest.mark.parametrize("export_format", MEDIA_TYPES)
def test_missing_ratios_are_empty(hourly: Caller, export_format: str) -> None:
    """A ratio with a zero denominator is an empty cell."""
    fields = {"split_by": ["granularity_hour"], "data_fields": ["imps", "ctr"], "end_date": "-95d"}
    file = read(hourly.export(export_format=export_format, **fields), export_format)
    found = file.rows(1).values()
    assert any(imps == 0 for imps, _ in found)
    assert all((ctr is None) == (imps == 0) for imps, ctr in found)


def test_pandas_reads_csv(hourly: Caller) -> None:
    """pandas reads a csv file as it is, with the sums that the rows have."""
    frame = pd.read_csv(io.BytesIO(hourly.export(split_by=["granularity_day"]).content))
    assert frame["Impressions"].sum() == ROWS["imps"].sum()
    assert frame["Impressions"].dtype.kind == "i"


def test_a_file_is_never_sampled(many: Caller) -> None:
    """An export reads every record, also of a slicer that an audience would take a sample of."""
    fields = {"start_date": "2026-03-01", "end_date": "2026-03-31", "split_by": ["site"]}
    file = read(many.export(export_format="tsv2", **fields), "tsv2")
    sums = many_frame().groupby("site")[["imps", "revenue"]].sum()
    for (site,), numbers in file.rows(1).items():
        assert numbers[:2] == pytest.approx(sums.loc[site].tolist(), rel=1e-9)


@pytest.mark.parametrize("export_format", MEDIA_TYPES)
def test_no_rows(hourly: Caller, export_format: str) -> None:
    """A file without rows has its header alone."""
    dates = {"start_date": "1999-01-01", "end_date": "1999-01-02"}
    file = read(hourly.export(export_format=export_format, split_by=["domain"], **dates), export_format)
    assert (len(file.titles), file.lines) == (1 + len(oracle.figures(ROWS)) - 1, [])


def test_failed_requests(hourly: Caller) -> None:
    """A failed export answers with status and reason, not with a file."""
    response = hourly.post("export", split_by=["nothing"])
    assert response.headers["content-type"] == "application/json"
    assert "content-disposition" not in response.headers
