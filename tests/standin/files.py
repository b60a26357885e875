"""Export files of the stand-in: its own header, line feeds, and no names for the formats beyond its own."""

import csv
import io
import operator
from collections.abc import Mapping
from typing import Any

import pandas as pd
import xlwt

from standin.figures import Refused, answer
from standin.known import CachedSlicer

FORMATS = ("csv", "tsv", "tsv2", "xls")
COMPARE = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip
Table = list[list[Any]]


def file(known: CachedSlicer, asked: Mapping[str, Any]) -> bytes:
    """The file that was asked for; records are never sampled for it."""
    if (wanted := asked.get("export_format")) not in FORMATS:
        raise Refused("bad_request", f"Unknown export_format {wanted}")
    figures = answer(known, dict(asked))
    rows = figures.table
    for condition in asked.get("data_filters") or ():
        rows = rows[COMPARE[condition["match"]](rows[condition["name"]], float(condition["value"]))]
    table = _table(known, asked, rows, figures.total, wanted == "tsv2")
    if wanted == "xls":
        return _xls(table)
    sink = io.StringIO()
    quoting = csv.QUOTE_NONNUMERIC if wanted == "csv" else csv.QUOTE_MINIMAL
    delimiter = "," if wanted == "csv" else "\t"
    csv.writer(sink, delimiter=delimiter, lineterminator="\n", quoting=quoting).writerows(table)
    return sink.getvalue().encode()


def _table(
    known: CachedSlicer, asked: Mapping[str, Any], rows: pd.DataFrame, total: pd.Series, is_raw: bool
) -> Table:
    """A header of its own making, then the lines, their values followed by their texts where mapped."""
    split = list(asked.get("split_by") or ())
    with_texts = bool(int(asked.get("include_mappings", len(split) == 1)))
    header: list[Any] = []
    for name in split:
        header.append(name if is_raw else known.key_field[name].get("description"))
        if with_texts and known.described(name):
            header.append(f"{header[-1]} (text)")
    header += [name if is_raw else known.data_field.get(name, {}).get("description", name) for name in rows]
    lines: Table = []
    for key, values in zip(rows.index.tolist(), rows.to_numpy().tolist(), strict=True):
        line: list[Any] = []
        for name, code in zip(split, key if isinstance(key, tuple) else (key,), strict=bool(split)):
            line.append(code)
            if with_texts and known.described(name):
                line.append(known.described(name).get(code, code))
        lines.append([*line, *map(_number, values)])
    if int(asked.get("include_total") or 0):
        keys = len(header) - len(rows.columns)
        lines.append([*["Total", *[""] * keys][:keys], *map(_number, total.tolist())])
    return [header, *lines]


def _number(value: float) -> Any:
    if pd.isna(value):
        return None
    return int(value) if float(value).is_integer() else value


def _xls(table: Table) -> bytes:
    book = xlwt.Workbook()
    sheet = book.add_sheet("Report")
    for place, line in enumerate(table):
        for column, cell in enumerate(line):
            sheet.write(place, column, cell)
    sink = io.BytesIO()
    book.save(sink)
    return sink.getvalue()
