"""How fast export files are written, beside what one would use instead: `python -m bench.files [rows]`.

Each line: the median of three runs in thousands of cells a second, the file's size, and the ratio to pandas
(csv, tsv) or to the library's own way, cell by cell (xls, xlsx). Spreadsheets are measured on 100,000 rows.
"""

import io
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
import xlsxwriter
import xlwt

from lib.reporting.files import FileColumn, FileTable, make_file
from lib.reporting.models import ExportFormat

SPREADSHEET_ROWS = 100_000
RUNS = 3


def report(rows: int) -> FileTable:
    """Two key columns, five integers and five numbers with two decimal places."""
    rng = np.random.default_rng(7)
    sites = pd.Series([f"site{n}.example" for n in range(5_000)])
    keys = FileColumn(
        "site", "Site", sites.take(rng.integers(0, 5_000, rows)).reset_index(drop=True), "text", role="key"
    )
    areas = FileColumn(
        "dma", "DMA", rng.integers(500, 800, rows).astype(str).astype(object), "int", role="key"
    )
    counts = [FileColumn(f"n{n}", f"Count {n}", np.rint(rng.exponential(1e4, rows)), "int") for n in range(5)]
    costs = [
        FileColumn(f"c{n}", f"Cost {n}", rng.exponential(1e3, rows), "float", precision=2) for n in range(5)
    ]
    return FileTable((keys, areas, *counts, *costs))


def frame(table: FileTable) -> pd.DataFrame:
    """The table as pandas has it, whole numbers as integers."""
    columns = {column.description: pd.Series(column.values) for column in table.columns}
    integers = {name: "int64" for name in columns if name.startswith("Count")}
    return pd.DataFrame(columns).astype(integers)


def by_pandas(separator: str) -> Callable[[FileTable], int]:
    """pandas' own text writer."""
    return lambda table: len(frame(table).to_csv(None, sep=separator, index=False, float_format="%.2f") or "")


def by_xlwt(table: FileTable) -> int:
    """xlwt, cell by cell, in sheets of 65,536 rows."""
    book = xlwt.Workbook(encoding="utf-8")
    style, lists = xlwt.easyxf(num_format_str="0.00"), [pd.Series(c.values).tolist() for c in table.columns]
    for row, values in enumerate(zip(*lists, strict=True)):
        if row % 65_536 == 0:
            sheet = book.add_sheet(f"Report {row}")
        for index, value in enumerate(values):
            sheet.write(row % 65_536, index, value, style)
    file = io.BytesIO()
    book.save(file)
    return file.tell()


def by_xlsxwriter(table: FileTable) -> int:
    """XlsxWriter in constant memory, cell by cell."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"constant_memory": True})
    sheet, style = book.add_worksheet(), book.add_format({"num_format": "0.00"})
    lists = [pd.Series(column.values).tolist() for column in table.columns]
    for row, values in enumerate(zip(*lists, strict=True)):
        for index, value in enumerate(values):
            sheet.write(row, index, value, style)
    book.close()
    return file.tell()


def measured(work: Callable[[FileTable], int], table: FileTable, runs: int = RUNS) -> tuple[float, int]:
    """Thousands of cells a second, the median; and the bytes written."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        size = work(table)
        seconds.append(time.perf_counter() - start)
    return len(table.columns) * table.rows / statistics.median(seconds) / 1000, size


def main(rows: int) -> None:
    """Measure every format."""
    others: dict[ExportFormat, Callable[[FileTable], int] | None] = {
        "csv": by_pandas(","), "tsv": by_pandas("\t"), "tsv2": None, "xls": by_xlwt, "xlsx": by_xlsxwriter,
    }  # fmt: skip
    print(f"{'format':8}{'rows':>10}{'k cells/s':>12}{'MB':>8}{'instead':>12}{'ratio':>8}")
    for export_format, other in others.items():
        table = report(min(rows, SPREADSHEET_ROWS) if export_format.startswith("xls") else rows)
        speed, size = measured(lambda t, f=export_format: len(make_file(t, f).read()), table)  # type: ignore[misc]
        instead = measured(other, table, runs=1)[0] if other else None
        beside = f"{instead:>12,.0f}{speed / instead:>8.1f}" if instead else ""
        print(f"{export_format:8}{table.rows:>10,}{speed:>12,.0f}{size / 1e6:>8.1f}{beside}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
