"""The preview of a file: its first rows, the number of rows and sheets, and what prevents it.

Asked through `audience` with the largest rows limit, so that the first rows are those of the file wherever
that limit covers the records; with the least one where the service would send every row for it. With data
filters our own service is asked for a file of the rows that pass, which has their total.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import IO

import pandas as pd

from lib.figures.numbers import Numbers
from lib.figures.query import precision
from lib.reporting.answers import Audience, Total
from lib.reporting.files import FileTable
from lib.reporting.files.delimited import unescape
from lib.reporting.files.formats import FORMATS
from lib.reporting.files.table import export_table
from lib.reporting.models import DESK_ROWS_LIMIT, ROWS_LIMITS, AudienceQuery, ExportQuery
from lib.reporting.requests import usual_fields
from lib.slicers.models import Slicer

Export = Callable[[ExportQuery], IO[bytes]]
DESCRIPTION = ".description"
Ask = Callable[[AudienceQuery], Audience]
FIRST_ROWS = 10
READ_TO_FILTER = 100_000


@dataclass(frozen=True)
class RawFile:
    """The lines of a file as text, a column per title; the last is the total where `has_total`."""

    lines: pd.DataFrame
    split_by: tuple[str, ...]
    has_total: bool

    @property
    def rows(self) -> int:
        """The number of rows without the total."""
        return len(self.lines) - self.has_total

    @property
    def data_fields(self) -> list[str]:
        """The titles of its data columns, which come last."""
        keys = {*self.split_by, *(f"{name}{DESCRIPTION}" for name in self.split_by)}
        return [str(title) for title in self.lines if title not in keys]

    def first(self, count: int) -> Audience:
        """The first rows as an Audience with the file's total; missing values if the file has no total."""
        part = self.lines.head(min(count, self.rows))
        titles = [title for name in self.split_by if (title := f"{name}{DESCRIPTION}") in part]
        texts = part[titles].rename(columns=lambda title: title.removesuffix(DESCRIPTION))
        total = self.lines.iloc[-1] if self.has_total else pd.Series("", self.lines.columns)
        return Audience(
            keys=part[list(self.split_by)],
            values=part[self.data_fields].map(_number).astype("float64"),
            percents=pd.DataFrame(index=part.index),
            total=Total({name: _number(total[name]) for name in self.data_fields}, self.rows),
            descriptions=texts if titles else None,
        )


def read(export: Export, query: ExportQuery, slicer: Slicer) -> RawFile:
    """Export `query` as tsv2 of our own service, and read the file. Raises what `export` does."""
    query = query.model_copy(update={"export_format": "tsv2"})
    lines = pd.read_csv(
        export(query), sep="\t", dtype=str, na_filter=False, lineterminator="\n", skip_blank_lines=False,
        quoting=csv.QUOTE_NONE,
    ).map(unescape)  # fmt: skip
    return RawFile(lines, query.split_by, bool(query.include_total and query.split_by))


def _number(cell: str) -> float | None:
    return float(cell) if cell else None


@dataclass(frozen=True)
class Preview:
    """The preview of a file.

    `rows` are its first rows, with the totals of the whole question; it will have `row_count` rows beside the
    Total, or at least so many where `is_counted` is false. `is_exact` is false where the question has more
    records than an audience answer reads: then the rows are estimates, and the file's are not. The total is
    not known before the file is made where `has_total` is false. The file of a service that knows the
    specification alone (`is_plain`) is laid out otherwise.
    """

    query: ExportQuery
    rows: Audience
    row_count: int
    is_counted: bool
    is_exact: bool
    is_plain: bool = False
    has_total: bool = True

    @property
    def adds_total(self) -> bool:
        """Whether the file ends in a row of totals: without a split its one row is the total."""
        return bool(self.query.include_total and self.query.split_by)


def preview(ask: Ask, export: Export, query: ExportQuery, slicer: Slicer) -> Preview:
    """The preview of the file for `query`. Raises the errors of both calls, and the row limit's."""
    if query.data_filters and slicer.knows("limit"):
        # The preview with data filters, from a tsv2 file of the rows that pass them.
        most = min(READ_TO_FILTER, query.limit or READ_TO_FILTER)
        file = read(export, query.model_copy(update={"limit": most}), slicer)
        is_whole = file.rows < READ_TO_FILTER
        return Preview(query, file.first(FIRST_ROWS), file.rows, is_whole, is_exact=True, has_total=is_whole)
    data_fields = query.data_fields or usual_fields(query, slicer)
    same = query.model_dump(include=set(AudienceQuery.model_fields) & set(ExportQuery.model_fields))
    own = {
        "data_fields": data_fields,
        "include_mappings": int(query.with_mappings),
        "limit": min(FIRST_ROWS, query.limit or FIRST_ROWS),
        "audience_rows_limit": ROWS_LIMITS[1] if slicer.knows("limit") else DESK_ROWS_LIMIT,
    }
    answer = ask(AudienceQuery.model_validate(same | own))
    is_exact = answer.confidence_range is None
    return Preview(
        query, rows=replace(answer, values=answer.values[list(data_fields)]),
        row_count=min(answer.total.records_found, query.limit or answer.total.records_found),
        is_counted=is_exact, is_exact=is_exact, is_plain=precision.is_plain(slicer),
        has_total=not query.data_filters,
    )  # fmt: skip


def sheets(file: Preview) -> int | None:
    """The number of sheets for the rows; None for a format without sheets."""
    limits = FORMATS[file.query.export_format].limits
    rows = file.row_count + file.adds_total
    return None if limits is None else max(1, -(-rows // limits.rows))


def first_rows(file: Preview, slicer: Slicer) -> FileTable:
    """The columns of the file with its first rows, and its total if requested and known."""
    file_table = export_table(file.query, slicer, file.rows)
    return file_table if file.has_total else replace(file_table, total=None)


def hindrance(file: Preview, columns: int) -> str | None:
    """Why the format can't hold the file, as a sentence that says what to do; None if it can."""
    limits = FORMATS[file.query.export_format].limits
    if limits is None or columns <= limits.columns:
        return None
    return (
        f"A sheet of {limits.name} holds {limits.columns} columns and this file has {columns}: "
        "choose fewer data fields, or csv."
    )


def summary(file: Preview, numbers: Numbers) -> str:
    """A sentence with the number of rows and sheets of the file."""
    text = f"{numbers.number(file.row_count)} row{'' if file.row_count == 1 else 's'}"
    text = text if file.is_counted else f"At least {text}"
    text += " and a total row" if file.adds_total else ""
    limits, number = FORMATS[file.query.export_format].limits, sheets(file)
    if limits is not None and number is not None and number > 1:
        least = "" if file.is_counted else "at least "
        text += f" on {least}{number} sheets: one of {limits.name} holds {numbers.number(limits.rows)}"
    return text
