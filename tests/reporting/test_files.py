"""Export files in the text formats, and their names; what was written is opened with independent readers."""

import csv
import dataclasses
import datetime as dt
import importlib.util
import io
import itertools
import json
import math
import re
import subprocess
import sys
import tracemalloc
import unicodedata
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any, get_args
from urllib.parse import unquote

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pytest
import xlrd
from hypothesis import example, given
from hypothesis import strategies as st
from tsv2 import read_tsv2

from lib.figures.numbers import Numbers
from lib.reporting.files import (
    FileColumn,
    FileTable,
    content_disposition,
    delimited,
    filename,
    make_file,
    media_type,
)
from lib.reporting.files.table import Kind, display, exact
from lib.reporting.models import ExportFormat
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest, DeadlineExceeded
from lib.wire.text import csv_records, escape, unescape

DAY = dt.date(2026, 11, 1)
Pair = tuple[str, str]
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NASTY = [
    "=1+1", "+1", "-1", "@x", "\tx", "\rx", 'a"b', '"', "a,b", "a\tb", "a\nb", "a\r\nb",
    "\\n", "\0", "'=1", " ö€😀 ", "＝1+1", "＋1", "－1", "＠SUM(1)", "\n=1", "\r\n=1", " =1",
    "\u00a0=1", "\ufeff@x",
    "+cmd|' /C calc'!A0", "\u200b=1", "''-", "﹣1", "'x", "x=1", "-5",
]  # fmt: skip
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


def _text_key(values: Any) -> FileColumn:
    return FileColumn("site_id", "Site", np.array(values, dtype=object), "text", role="key")


def _report(total: tuple[float | None, ...] | None = None) -> FileTable:
    campaigns = FileColumn(
        "campaign_id", "Campaign ID", np.array(["c1", 'Say "hi"', ""], dtype=object), "text", role="key"
    )
    names = FileColumn.of_mapping(campaigns, np.array(["First, best", None, "=SUM(A1)"], dtype=object))
    zips = FileColumn("zip", "Zip", np.array(["501", "K1A", ""], dtype=object), "int", role="key")
    imps = FileColumn("imps", "Impressions", np.array([1500, 2.5e15, np.nan]), "int")
    ctr = FileColumn("ctr", "CTR", np.array([0.125, -0.004, np.nan]), "float", precision=2)
    return FileTable((campaigns, names, zips, imps, ctr), total)


def _written(table: FileTable, export_format: ExportFormat) -> str:
    return make_file(table, export_format).read().decode()


def _read(text: str, delimiter: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))


def _is_blank(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in {"Cc", "Cf", "Zs", "Zl", "Zp"}


def _is_run(text: str) -> bool:
    """Whether a spreadsheet may run the text, by Unicode's own tables: the first character that it sees."""
    seen = "".join(itertools.dropwhile(_is_blank, text))
    return unicodedata.normalize("NFKC", seen[:1])[:1] in {*"=+-@"} or text[:1] in {*"\t\r\n"}


def _harmless(text: str) -> str:
    return f"'{text}" if _is_run(text.lstrip("'")) else text


def test_csv_to_the_letter() -> None:
    """csv has a quoted header, quoted texts, bare numbers at display precision, CRLF, and the total last."""
    assert _written(_report(total=(3000, None)), "csv") == (
        '"Campaign ID","Campaign ID (description)","Zip","Impressions","CTR"\r\n'
        '"c1","First, best",501,1500,0.13\r\n'
        '"Say ""hi""","","K1A",2500000000000000,0.00\r\n'
        '"","\'=SUM(A1)",,,\r\n'
        '"Total","",,3000,\r\n'
    )


def test_tsv_to_the_letter() -> None:
    """tsv has the csv's columns and values between tabs, and quotes only where they are needed."""
    assert _written(_report(total=(3000, None)), "tsv") == (
        "Campaign ID\tCampaign ID (description)\tZip\tImpressions\tCTR\r\n"
        "c1\tFirst, best\t501\t1500\t0.13\r\n"
        '"Say ""hi"""\t\tK1A\t2500000000000000\t0.00\r\n'
        "\t'=SUM(A1)\t\t\t\r\n"
        "Total\t\t\t3000\t\r\n"
    )


def test_tsv2_to_the_letter() -> None:
    """tsv2 has field names and numbers with all their digits; no quotes, and no apostrophes even if asked."""
    table = _report(total=(3000, 1 / 3))
    assert _written(table, "tsv2") == _written(dataclasses.replace(table, escape_formulas=False), "tsv2")
    assert _written(table, "tsv2") == (
        "campaign_id\tcampaign_id.description\tzip\timps\tctr\n"
        "c1\tFirst, best\t501\t1500\t0.125\n"
        'Say "hi"\t\tK1A\t2500000000000000\t-0.004\n'
        "\t=SUM(A1)\t\\N\t\\N\t\\N\n"
        "Total\t\t\\N\t3000\t0.3333333333333333\n"
    )


def test_without_key_fields_the_total_is_only_numbers() -> None:
    """Without a split there is one row, and the total beside it has no cell to say so."""
    table = FileTable((FileColumn("imps", "Impressions", np.array([7.0]), "int"),), total=(7,))
    assert _written(table, "csv") == '"Impressions"\r\n7\r\n7\r\n'


@pytest.mark.parametrize("export_format", ["csv", "tsv"])
def test_no_line_is_empty(export_format: ExportFormat) -> None:
    """A single column's missing value is a pair of quotes, since readers skip empty lines."""
    table = FileTable((FileColumn("ctr", "CTR", np.array([np.nan, 1.0]), "int"),))
    assert _read(_written(table, export_format), ",") == [["CTR"], [""], ["1"]]
    assert len(pd.read_csv(io.StringIO(_written(FileTable((_text_key(["", "a"]),)), export_format)))) == 2


@pytest.mark.parametrize(("export_format", "delimiter"), [("csv", ","), ("tsv", "\t")])
@given(texts=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=6))
@example(texts=list(zip(NASTY, reversed(NASTY), strict=True)))
def test_any_text_survives(export_format: ExportFormat, delimiter: str, texts: list[Pair]) -> None:
    """Python's reader finds every text as it was, but for the apostrophe before a would-be formula."""
    values = [np.array([pair[n] for pair in texts], dtype=object) for n in (0, 1)]
    keys = tuple(FileColumn(f"={n}", f"={n}", values[n], "text", role="key") for n in (0, 1))
    rows = _read(_written(FileTable(keys), export_format), delimiter)
    assert rows == [["'=0", "'=1"], *[[_harmless(first), _harmless(second)] for first, second in texts]]


@given(texts=st.lists(st.tuples(ANY_TEXT, ANY_TEXT), max_size=6))
@example(texts=list(zip(NASTY, reversed(NASTY), strict=True)))
@example(texts=[("\\N", "\\\\N"), ("\\", "\\t\t")])
def test_tsv2_gives_back_what_is_stored(texts: list[Pair]) -> None:
    """A strict reader of its escapes finds the raw texts, and so does the one of the preview."""
    file = make_file(FileTable(tuple(_text_key([pair[n] for pair in texts]) for n in (0, 1))), "tsv2").read()
    assert read_tsv2(file)[1:] == [list(pair) for pair in texts]
    cells = [line.split("\t") for line in file.decode()[:-1].split("\n")[1:]]
    assert [[*map(delimited.unescape, line)] for line in cells] == [list(pair) for pair in texts]


CLICKHOUSE = """
import json, sys
import chdb
print(chdb.query(f"SELECT * FROM file('{sys.argv[1]}', TSVWithNames)", "JSONCompact").bytes().decode())
"""


def test_clickhouse_reads_tsv2(tmp_path: Path) -> None:
    """ClickHouse infers the types of a tsv2 file as TSVWithNames, and reads each text and figure of it."""
    if importlib.util.find_spec("chdb") is None:
        pytest.skip("NOT RUN on ClickHouse: not installed: chdb (CONTRIBUTING.md)")
    figures = [1e16, 2.0**53, -0.5, 1e-7, 2.702159776422e16, 1 / 3, np.nan, 1.005]
    texts = [*NASTY, "\\N", "\\", ""]
    values = np.array([figures[n % len(figures)] for n in range(len(texts))])
    zips = FileColumn("zip", "Zip", np.array(["501", ""] * len(texts))[: len(texts)], "int", role="key")
    columns = (_text_key(texts), zips, FileColumn("n", "N", values, "float", 2))
    path = tmp_path / "file.tsv"
    path.write_bytes(make_file(FileTable(columns), "tsv2").read())
    ran = subprocess.run([sys.executable, "-c", CLICKHOUSE, path], capture_output=True, check=True)
    answer = json.loads(ran.stdout)
    assert [(column["name"], column["type"]) for column in answer["meta"]] == [
        ("site_id", "Nullable(String)"), ("zip", "Nullable(Int64)"), ("n", "Nullable(Float64)"),
    ]  # fmt: skip
    expected = zip(texts, zips.values, values.tolist(), strict=True)
    assert [(text, zip_code, number) for text, zip_code, number in answer["data"]] == [
        (text, int(code) if code else None, None if math.isnan(number) else number)
        for text, code, number in expected
    ]


@pytest.mark.parametrize("export_format", ["csv", "tsv"])
def test_full_digits(export_format: ExportFormat) -> None:
    """Figures have the decimals of their field, or all of their digits, in the total too."""
    table = FileTable((FileColumn("n", "N", np.array([1 / 3]), "float", 2),), (2 / 3,))
    assert _read(_written(table, export_format), "\t")[1:] == [["0.33"], ["0.67"]]
    full = dataclasses.replace(table, full_digits=True)
    assert _read(_written(full, export_format), "\t")[1:] == [[repr(1 / 3)], [repr(2 / 3)]]


@pytest.mark.parametrize(("export_format", "separator"), [("csv", ","), ("tsv", "\t")])
@pytest.mark.parametrize("text", [text for text in NASTY if _is_run(text)])
def test_no_cell_begins_a_formula(export_format: ExportFormat, separator: str, text: str) -> None:
    """Neither in csv nor in tsv does a header, a key or a description begin with what a spreadsheet runs."""
    key = FileColumn(text, text, np.array([text], dtype=object), "text", role="key")
    table = FileTable((key, FileColumn.of_mapping(key, key.values)))
    cells = [cell for row in _read(_written(table, export_format), separator) for cell in row]
    assert len(cells) == 4
    assert not [cell for cell in cells if _is_run(cell)]


def test_numbers_are_no_formulas() -> None:
    """A negative number stays bare in every text format, in a data field and in a key field of type int."""
    keys = FileColumn("k", "K", np.array(["-5", "-x"], dtype=object), "int", role="key")
    table = FileTable((keys, FileColumn("n", "N", np.array([-5.0, -0.5]), "float", precision=1)))
    assert _written(table, "csv") == '"K","N"\r\n-5,-5.0\r\n"\'-x",-0.5\r\n'
    assert _written(table, "tsv2") == "k\tn\n-5\t-5\n-x\t-0.5\n"


@given(text=ANY_TEXT)
def test_an_escape_can_be_taken_back(text: str) -> None:
    """What was escaped is restored to the letter, also a text that had an apostrophe before a formula."""
    assert unescape(escape(text)) == text
    assert escape(text) == _harmless(text)


@pytest.mark.parametrize("text", NASTY)
def test_our_own_csv(text: str) -> None:
    """Every CSV that the screens write has its header and texts escaped, and numbers bare."""
    lines = csv_records([{f"{text}": text, "n": -5, "none": None}]).decode()
    assert _read(lines, ",") == [[_harmless(text), "n", "none"], [_harmless(text), "-5", ""]]
    assert ",-5," in lines


def test_pandas_reads_csv_and_tsv() -> None:
    """pandas reads both as the frame that was written."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {"Site": rng.choice(["a", "b,c", "d\te", 'f"g'], 50_000), "Imps": rng.integers(0, 10**9, 50_000)}
    )
    frame["Cost"] = rng.normal(0, 1000, 50_000).round(4)
    table = FileTable((
        FileColumn("site", "Site", frame["Site"].astype("category"), "text", role="key"),
        FileColumn("imps", "Imps", frame["Imps"], "int"),
        FileColumn("cost", "Cost", frame["Cost"], "float", precision=4),
    ))  # fmt: skip
    for export_format, separator in (("csv", ","), ("tsv", "\t")):
        frame_read = pd.read_csv(io.BytesIO(make_file(table, export_format).read()), sep=separator)  # type: ignore[arg-type]
        pd.testing.assert_frame_equal(frame_read, frame)


@given(meant=st.decimals(-(10**10), 10**10, places=5), decimals=st.integers(0, 5))
@example(meant=Decimal("1.005"), decimals=2)
@example(meant=Decimal("2.675"), decimals=2)
@example(meant=Decimal("0.145"), decimals=2)
@example(meant=Decimal("2.5"), decimals=0)
@example(meant=Decimal("-0.5"), decimals=0)
@example(meant=Decimal("-0.004"), decimals=2)
def test_halves_are_rounded_up_everywhere(meant: Decimal, decimals: int) -> None:
    """In csv, tsv and on screen a half is rounded up, by the decimal that was meant, as spreadsheets do."""
    expected = meant.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    text = f"{expected if expected else abs(expected):f}"
    assert display(np.array([float(meant), np.nan]), decimals).to_pylist() == [text, ""]
    assert Numbers("", ".").number(float(meant), decimals) == text.replace("-", "\u2212")


def test_workbooks_have_the_whole_number() -> None:
    """What a spreadsheet rounds as it shows it is whole in its cell: 1.005, with two decimals."""
    table = FileTable((FileColumn("n", "N", np.array([1.005]), "float", 2),))
    (cell,) = openpyxl.load_workbook(make_file(table, "xlsx")).worksheets[0][2]
    assert (cell.value, cell.number_format) == (1.005, "0.00")
    book = xlrd.open_workbook(file_contents=make_file(table, "xls").read(), formatting_info=True)
    cell = book.sheet_by_index(0).cell(1, 0)
    assert (cell.value, book.format_map[book.xf_list[cell.xf_index].format_key].format_str) == (1.005, "0.00")


@given(value=NUMBERS, decimals=st.integers(0, 8))
@example(value=-0.0, decimals=3)
@example(value=1e300, decimals=2)
@example(value=2.0**53, decimals=0)
def test_displayed_numbers_against_decimals(value: float, decimals: int) -> None:
    """A number is rounded to the nearest, to 15 digits at most, without exponent or minus zero."""
    (text,) = display(np.array([value]), decimals).to_pylist()
    with localcontext(prec=400):
        off = abs(Decimal(text) - Decimal(value))
        assert off <= Decimal(5).scaleb(-decimals - 1) + abs(Decimal(value)) * Decimal("1e-14")
    assert re.fullmatch(r"-?[0-9]+" + (rf"\.[0-9]{{{decimals}}}" if decimals else ""), text)
    assert not re.fullmatch(r"-[0.]+", text)


@given(st.lists(NUMBERS | st.integers(-(10**18), 10**18).map(float) | st.just(float("nan"))))
def test_exact_numbers_read_back(values: list[float]) -> None:
    """tsv2's numbers read back as the same floats; whole ones have no decimal point."""
    for text, value in zip(exact(np.array(values, dtype=np.float64)).to_pylist(), values, strict=True):
        assert (text == "") if np.isnan(value) else (float(text) == value)
        assert "e" not in text
        assert not (value.is_integer() and "." in text)


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(["a", None, "b"]),
        pd.Series(["a", None, "b"], dtype=object),
        pd.Series(["a", None, "b"], dtype="category"),
        pd.Series(["a", None, "b"], dtype=pd.ArrowDtype(pa.string())),
        pd.Series(["x", "a", None, "b"])[1:],
        np.array(["a", "", "b"]),
        np.array(["a", None, "b"], dtype=object),
    ],
)
def test_texts_may_come_in_many_types(values: Any) -> None:
    """Arrays, Series and categories of text are written alike; null is the empty string."""
    table = FileTable(
        (FileColumn("k", "K", values, "text", role="key"), FileColumn("n", "N", np.arange(3), "int"))
    )
    assert _written(table, "csv") == '"K","N"\r\n"a",0\r\n"",1\r\n"b",2\r\n'


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, 2.4, np.nan]),
        np.array([1, 2.4, np.inf]),
        np.array([1, 2.4, None], dtype=object),
        pd.Series([1, 2.4, None], dtype="Float64"),
        pd.Series([0, 1, 2.4, None])[1:],
    ],
)
def test_numbers_may_come_in_many_types(values: Any) -> None:
    """Arrays and Series of numbers are written alike; what is missing or infinite is empty."""
    table = FileTable((_text_key(["a", "b", "c"]), FileColumn("n", "N", values, "int")))
    assert _written(table, "csv") == '"Site","N"\r\n"a",1\r\n"b",2\r\n"c",\r\n'


@pytest.mark.parametrize("export_format", ["csv", "tsv", "tsv2"])
def test_key_fields_of_type_int(export_format: ExportFormat) -> None:
    """Digits of an int key field are bare as they stand, with leading zeros; anything else is text."""
    values = ["501", "007", "-3", "", "12345678901234567890", "=1", "5.0"]
    keys = FileColumn("dma", "DMA", np.array(values, dtype=object), "int", role="key")
    lines = _written(
        FileTable((keys, FileColumn("n", "N", np.arange(7), "int"))), export_format
    ).splitlines()[1:]
    cells = [re.split("[,\t]", line)[0] for line in lines]
    odd = {"csv": ['"\'=1"', '"5.0"'], "tsv": ["'=1", "5.0"], "tsv2": ["=1", "5.0"]}[export_format]
    missing = "\\N" if export_format == "tsv2" else ""
    assert cells == [*values[:3], missing, values[4], *odd]


@pytest.mark.parametrize(("kind", "cell"), [("int", "501"), ("text", '"501"')])
def test_key_fields_that_come_as_numbers(kind: Kind, cell: str) -> None:
    """A key column of numbers is bare where its field is an int, and quoted where it is a text."""
    keys = FileColumn("dma", "DMA", np.array([501]), kind, role="key")
    assert _written(FileTable((keys, FileColumn("n", "N", np.arange(1), "int")), (0,)), "csv") == (
        f'"DMA","N"\r\n{cell},0\r\n"Total",0\r\n'
    )


@pytest.mark.parametrize("export_format", ["csv", "tsv", "tsv2"])
def test_a_large_file_is_made_in_pieces(export_format: ExportFormat) -> None:
    """A file goes to disk in pieces whose size doesn't grow with the table; Python holds few of them."""
    rows = 200_000
    table = FileTable(
        (_text_key([f"site {n % 1000}" for n in range(rows)]), FileColumn("n", "N", np.arange(rows), "int"))
    )
    tracemalloc.start()
    with make_file(table, export_format) as file:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert sum(1 for _ in file) == rows + 1
    assert peak < 16 * 2**20


@pytest.mark.parametrize("export_format", get_args(ExportFormat))
def test_the_deadline_ends_a_file(export_format: ExportFormat) -> None:
    """Once the time is over, there is no file, of any format: none is cut off."""
    with pytest.raises(DeadlineExceeded):
        make_file(_report(), export_format, Deadline(-1))


def test_what_is_no_table() -> None:
    """No columns is a bad request; columns of different lengths and a total that doesn't fit are mistakes."""
    with pytest.raises(BadRequest, match="nothing to write"):
        FileTable(())
    with pytest.raises(ValueError, match="same number of rows"):
        FileTable((_text_key(["a"]), _text_key(["a", "b"])))
    with pytest.raises(ValueError, match="one value for each data column"):
        FileTable((_text_key(["a"]),), total=(1.0,))


@pytest.mark.parametrize("export_format", ["csv", "tsv", "tsv2"])
def test_no_rows(export_format: ExportFormat) -> None:
    """A table without rows is a header."""
    table = FileTable((_text_key([]), FileColumn("n", "N", np.array([]), "int")))
    assert len(_written(table, export_format).splitlines()) == 1


def test_names_and_media_types() -> None:
    """A file is named after slicer, dates and format."""
    assert filename("delivery", DAY, dt.date(2026, 11, 7), "csv") == "delivery_2026-11-01_2026-11-07.csv"
    assert media_type("csv") == "text/csv; charset=utf-8"
    assert media_type("tsv2") == media_type("tsv") == "text/tab-separated-values; charset=utf-8"
    assert media_type("xls") == "application/vnd.ms-excel"
    assert content_disposition("Größe 1", DAY, DAY, "xlsx") == (
        'attachment; filename="Gr__e_1_2026-11-01_2026-11-01.xlsx"; '
        "filename*=UTF-8''Gr%C3%B6%C3%9Fe_1_2026-11-01_2026-11-01.xlsx"
    )


@given(slicer=st.text(max_size=200))
@example(slicer='../../etc/passwd"; filename="x.exe')
@example(slicer="a\r\nSet-Cookie: x")
@example(slicer="evil\u202excod")
@example(slicer="..")
@example(slicer="")
def test_any_slicer_name_is_safe(slicer: str) -> None:
    """Whatever a slicer is called, its file's name holds no path, and its header is one line of ASCII."""
    name = filename(slicer, DAY, DAY, "csv")
    assert re.fullmatch(r'[^\\/:*?"<>|\x00-\x20\x7f\u202e]+_2026-11-01_2026-11-01\.csv', name)
    assert not name.startswith(".")
    header = content_disposition(slicer, DAY, DAY, "csv")
    match = re.fullmatch(
        r"attachment; filename=\"([^\"\\%;]+)\"; filename\*=UTF-8''([\w.%~-]+)", header, re.ASCII
    )
    assert match
    assert match[1].isprintable()
    assert match[1].isascii()
    assert unquote(match[2]) == name
