"""The reader of a file, by its format."""

import datetime as dt
import io
import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook

from lib.reporting.definition import Definition
from lib.reporting.ingest.delimited import delimited
from lib.reporting.ingest.files import (
    DataFile,
    Format,
    Progress,
    RawRows,
    Reader,
    Refuse,
    check_width,
    data_file,
)
from lib.reporting.ingest.layout import Record, table_layout
from lib.reporting.ingest.ndjson import column, ndjson
from lib.reporting.ingest.parquet import Parquet, plain_table
from lib.wire.errors import ImportRefused

Row = list[Any]
_BATCH_ROWS = 20_000
_SNIFFED = 200
_MAX_SHEET = 1 << 30


class Workbook:
    """A workbook's first sheet; see Reader. Lines are the sheet's rows, as the spreadsheet counts them.

    A sheet has at most 1,048,576 rows, and is held in memory while it is read: some 80 bytes a cell.
    """

    def __init__(
        self, file: DataFile, wanted: Collection[str], header: bool | None, names: Sequence[str]
    ) -> None:
        self.file = file
        _refuse_huge(file)
        with self._sheet() as (sheet, count):
            found = [Record(line, list(map(_text, row))) for line, row in islice(_rows(sheet), _SNIFFED)]
            layout = table_layout(found, file.name, "\t", wanted, header).named(names, file.name)
        check_width(file.name, layout.names)
        used = [any(record.cells[place] for record in found) for place in range(len(layout.names))]
        self._names = [name if is_used else "" for name, is_used in zip(layout.names, used, strict=True)]
        self._first_line, self.has_header = layout.first_line, layout.has_header
        self.columns: tuple[str, ...] | None = tuple(name for name in self._names if name)
        self.seen = dict.fromkeys(self.columns)
        parts = ["workbook", f"sheet '{sheet.name}'", f"{len(self.columns)} columns", *layout.description]
        parts += [f"the first of {count} sheets"] if count > 1 else []
        self.description = ", ".join(parts)

    def rows(
        self,
        wanted: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches; empty ones are no rows."""
        chosen = [
            (place, name)
            for place, name in enumerate(self._names)
            if name and (wanted is None or name in wanted)
        ]
        with self._sheet() as (sheet, _):
            told, total = 0, max(sheet.total_height, 1)
            below = (found for found in _rows(sheet) if found[0] >= self._first_line)
            while batch := list(islice(below, _BATCH_ROWS)):
                done = self.file.size * batch[-1][0] // total
                if progress:
                    progress(done - told)
                told = done
                columns = [(name, _column([row[place] for _, row in batch])) for place, name in chosen]
                lines = np.array([line for line, _ in batch], np.int64)
                yield RawRows(plain_table(columns), lines, _row_text([row for _, row in batch]))
            if progress:
                progress(self.file.size - told)

    @contextmanager
    def _sheet(self) -> Iterator[tuple[CalamineSheet, int]]:
        """The first sheet, and how many there are."""
        try:
            with self.file.opened() as content:
                workbook = CalamineWorkbook.from_filelike(io.BytesIO(content.read()))
            yield workbook.get_sheet_by_index(0), len(workbook.sheet_names)
        except (CalamineError, IndexError, zipfile.BadZipFile) as error:
            reason = (
                f"{self.file.name} can't be read as a workbook ({error}); an archive has to be unpacked first"
            )
            raise ImportRefused(reason) from None


def _refuse_huge(file: DataFile) -> None:
    """ImportRefused for a sheet that would not fit into memory, or an archive made to burst it."""
    with file.opened() as content:
        data = io.BytesIO(content.read())
    if not zipfile.is_zipfile(data):
        return
    size = sum(part.file_size for part in zipfile.ZipFile(data).infolist())
    if size > _MAX_SHEET:
        raise ImportRefused(
            f"{file.name} unpacks to {size >> 20:,} MiB, more than the {_MAX_SHEET >> 20:,} MiB that a "
            "workbook may have; save the sheet as CSV"
        )


def _rows(sheet: CalamineSheet) -> Iterator[tuple[int, Row]]:
    """The rows that have a value, and their numbers from 1."""
    for number, row in enumerate(sheet.iter_rows(), 1):
        if any(cell != "" for cell in row):
            yield number, row


def _column(cells: Iterable[Any]) -> pa.Array:
    values = [None if cell == "" else cell for cell in cells]
    if any(isinstance(value, dt.datetime) for value in values):
        values = [_moment(value) for value in values]
    return column(values)


def _moment(value: Any) -> Any:
    """A date as its midnight, so that a column of hours has one type."""
    is_date = isinstance(value, dt.date) and not isinstance(value, dt.datetime)
    return dt.datetime(value.year, value.month, value.day) if is_date else value  # noqa: DTZ001


def _text(cell: Any) -> str:
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def _row_text(rows: Sequence[Row]) -> Callable[[int], str]:
    return lambda position: orjson.dumps(rows[position], default=str).decode()


def reader(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
) -> Reader:
    """The reader of the file at `path`; what is not given is recognised. ImportRefused when it can't be.

    `definition`, where there is one already, says which columns to look for.
    """
    file = data_file(path, format)
    if file.format == "parquet":
        return Parquet(file)
    if file.format == "ndjson":
        return ndjson(file, encoding)
    wanted: list[str] = []
    names: tuple[str, ...] = ()
    if definition is not None:
        wanted, names, header = definition.source_columns(), definition.names, definition.header
    if file.format == "xlsx":
        return Workbook(file, wanted, header, names)
    return delimited(file, encoding, delimiter, wanted, header, names)
