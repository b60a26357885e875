"""Workbooks (xlsx, xls, ods) → raw rows: a reader for each sheet to import."""

import datetime as dt
import html
import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
from python_calamine import CalamineError, CalamineSheet, CalamineWorkbook, SheetVisibleEnum

from lib.ingest.cells import plain_table, value_column
from lib.ingest.files import ANY, DataFile, Kinds, Names, Progress, RawRows, Reader, Refuse, check_width
from lib.ingest.layout import Record, TableLayout, table_layout
from lib.ingest.sheet_extent import DAMAGE_ERRORS, column_number, sheet_extents
from lib.ingest.time_guess import DATES_1904
from lib.slicers.definition.reading import ALL_SHEETS, Sheets
from lib.wire.errors import ImportRefused, UnknownName

Row = list[Any]
_BATCH_ROWS = 20_000
_SNIFF_ROWS = 200
_FEWEST_COLUMNS = 3
_LIKE_SHARE = 0.6
_SHEET_TAG, _NAME = re.compile(rb"<(?:\w+:)?sheet [^>]*>"), re.compile(rb'\sname="([^"]*)"')
_RELATION_ID = re.compile(rb'\w+:id="([^"]*)"')
_RELATION, _TARGET = re.compile(rb"<(?:\w+:)?Relationship [^>]*>"), re.compile(rb'Target="([^"]*)"')
_DATES_1904_MARK = re.compile(rb'date1904="(?:1|true)"')
# A formula that gave "" has the type str; one that nothing computed has none.
_BARE_FORMULA = re.compile(
    rb'<c r="([A-Z]+)[0-9]+"(?:(?! t=")[^>])*>\s*<f(?:\s[^>]*)?(?:/>|>[^<]*</f>)'
    rb"\s*(?:<v\s*/>|<v>\s*</v>)?\s*</c>"
)
_MAX_SHEET = 1 << 30
_CELL_BYTES = 32  # in memory, an empty one too
_MAX_CELLS = _MAX_SHEET // _CELL_BYTES


class Sheet(NamedTuple):
    """A sheet of a workbook: its first rows, and where its table is."""

    name: str
    records: list[Record]
    layout: TableLayout
    first_column: int = 0

    @property
    def is_table(self) -> bool:
        """Whether this is a table of rows rather than a cover with a few lines of words."""
        return len(self.layout.names) >= _FEWEST_COLUMNS or len(self.records) >= _SNIFF_ROWS


class Workbook:
    """A sheet of a workbook; see Reader. Lines are the sheet's rows, as the spreadsheet counts them.

    A sheet is held in memory while it is read: some 80 bytes a cell, 32 an empty one.
    """

    def __init__(
        self,
        file: DataFile,
        sheet: Sheet,
        count: int,
        unread: Sequence[str] = (),
        has_dates_1904: bool = False,
    ) -> None:
        self.file, self._name = file, sheet.name
        layout = sheet.layout
        check_width(file.name, layout.names)
        system = [DATES_1904] if has_dates_1904 else []
        self.context = "\n".join([file.name, sheet.name, *layout.above, *system])
        self._names = layout.names
        self._first_line, self.has_header = layout.first_line, layout.has_header
        self.columns: tuple[str, ...] | None = tuple(name for name in self._names if name)
        self.names = dict.fromkeys(self.columns)
        title = f"sheet '{sheet.name}'" + (f" of {count}" if count > 1 else "")
        others = ", ".join(f"'{name}'" for name in unread)
        parts = ["workbook", title, f"{len(self.columns)} columns", *layout.description]
        parts += [f"not read: {others}"] if others else []
        self.description = ", ".join(parts)

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, kinds: Kinds = ANY
    ) -> Iterator[RawRows]:
        """All rows, in batches; empty ones are no rows."""
        positions = [
            (position, name)
            for position, name in enumerate(self._names)
            if name and (selection is None or name in selection)
        ]
        with _open_workbook(self.file) as workbook:
            sheet = workbook.get_sheet_by_name(self._name)
            last_bytes, total = 0, max(sheet.total_height, 1)
            below = (record for record in _rows(sheet) if record[0] >= self._first_line)
            while batch := list(islice(below, _BATCH_ROWS)):
                progress_bytes = self.file.size * batch[-1][0] // total
                if progress:
                    progress(progress_bytes - last_bytes)
                last_bytes = progress_bytes
                columns = [
                    (name, _column([row[position] for _, row in batch])) for position, name in positions
                ]
                lines = np.array([line for line, _ in batch], np.int64)
                yield RawRows(plain_table(columns), lines, _row_text([row for _, row in batch]))
            if progress:
                progress(self.file.size - last_bytes)


def workbooks(
    file: DataFile, columns: Collection[str], header: bool | None, names: Sequence[str], sheets: Sheets
) -> list[Reader]:
    """The readers of a workbook's sheets: of those named, of all with the same columns, or of its only table.

    Without `sheets`, ImportRefused where several have the same columns: they may be months, or versions.
    """
    _refuse_huge(file)
    with _open_workbook(file) as workbook:
        count, all_names = len(workbook.sheet_names), list(workbook.sheet_names)
        if sheets and sheets != ALL_SHEETS:
            unknown = next((name for name in sheets if name not in workbook.sheet_names), None)
            if unknown is not None:
                raise ImportRefused(f"{file.name}: {UnknownName('sheet', unknown, workbook.sheet_names)}")
        names_of_sheets = tuple(sheets) if sheets and sheets != ALL_SHEETS else ()
        visible = [
            sheet.name for sheet in workbook.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible
        ]
        candidates = [
            sheet
            for name in names_of_sheets or visible or all_names
            if (sheet := _sheet(workbook.get_sheet_by_name(name), file, columns, header, names, count == 1))
        ]
    if not candidates:
        raise ImportRefused(f"{file.name} has no sheet with a table")
    parts = _XlsxParts(file)
    tables = candidates if names_of_sheets else _same_columns(candidates, columns)
    if sheets is None and len(tables) > 1:
        sheet_names = ", ".join(f"'{sheet.name}'" for sheet in tables)
        same = "the same" if len({tuple(sheet.layout.names) for sheet in tables}) == 1 else "nearly the same"
        raise ImportRefused(
            f"{file.name} has {len(tables)} sheets with {same} columns: {sheet_names}. Import all of them "
            f"with --all-sheets, or some with --sheet '{tables[0].name}'"
        )
    for sheet in tables:
        parts.refuse_formulas(sheet, columns)
    is_only = sheets is None or count == 1
    read = [sheet.name for sheet in tables]
    unread = [name for name in all_names if name not in read and not names_of_sheets]
    has_dates_1904 = parts.has_dates_1904
    return [
        Workbook(file if is_only else replace(file, sheet=sheet.name), sheet, count, unread, has_dates_1904)
        for sheet in tables
    ]


def _sheet(
    sheet: CalamineSheet,
    file: DataFile,
    columns: Collection[str],
    header: bool | None,
    names: Sequence[str],
    is_only: bool,
) -> Sheet | None:
    """A sheet's table; None for one of several sheets that has none."""
    rows = [Record(line, list(map(_text, row))) for line, row in islice(_rows(sheet), _SNIFF_ROWS)]
    try:
        layout = table_layout(rows, file.name, "\t", columns, header, names)
    except ImportRefused:
        if is_only:
            raise
        return None
    return Sheet(sheet.name, rows, layout, (sheet.start or (0, 0))[1])


def _same_columns(sheets: Sequence[Sheet], columns: Collection[str]) -> list[Sheet]:
    """The first sheet with the wanted columns, else the first that is no cover; and others like it.

    A sheet with most of the same columns is like it: what is missing or new there is refused by name.
    """
    fitting = [sheet for sheet in sheets if columns and set(columns) <= set(sheet.layout.names)]
    first = next(iter(fitting or [sheet for sheet in sheets if sheet.is_table] or sheets))
    names = {*first.layout.names}
    return [
        sheet
        for sheet in sheets
        if len(names.intersection(sheet.layout.names)) >= _LIKE_SHARE * len(names.union(sheet.layout.names))
    ]


class _XlsxParts:
    """What calamine does not say of a workbook in XML: formulas without values, the date system.

    The parts are searched as text: their size was checked, and nothing in them is followed.
    """

    def __init__(self, file: DataFile) -> None:
        self._file = file

    @property
    def has_dates_1904(self) -> bool:
        """Whether days count from 1904, as on old Macs."""
        return _DATES_1904_MARK.search(self._part("xl/workbook.xml")) is not None

    def refuse_formulas(self, sheet: Sheet, columns: Collection[str]) -> None:
        """ImportRefused where a column of the table (of those named, if any are) has formulas without values.

        A program that computes nothing saved it; such cells would be empty ones.
        """
        below = [record.cells for record in sheet.records if record.line >= sheet.layout.first_line]
        if all(any(cells) for cells in zip(*below, strict=False)):
            return
        ids = {
            html.unescape(name.decode()): key
            for tag in _SHEET_TAG.findall(self._part("xl/workbook.xml"))
            for name, key in zip(_NAME.findall(tag), _RELATION_ID.findall(tag), strict=False)
        }
        relations = _RELATION.findall(self._part("xl/_rels/workbook.xml.rels"))
        own = (tag for tag in relations if b'"%b"' % ids.get(sheet.name, b"\0") in tag)
        target = next(filter(None, map(_TARGET.search, own)), None)
        content = self._part(f"xl/{target[1].decode().removeprefix('/xl/')}") if target else b""
        counts = Counter(match[1].decode() for match in _BARE_FORMULA.finditer(content))
        for letters, count in counts.items():
            position = column_number(letters) - 1 - sheet.first_column
            name = sheet.layout.names[position] if 0 <= position < len(sheet.layout.names) else ""
            if name and (not columns or name in columns):
                raise ImportRefused(
                    f"{self._file.name}: {name} holds formulas without stored values in {count:,} rows: open "
                    "and save it in a spreadsheet"
                )

    def _part(self, name: str) -> bytes:
        """A part of the archive; empty where there is none."""
        with self._file.open() as content:
            data = io.BytesIO(content.read())
        if not zipfile.is_zipfile(data):
            return b""
        with zipfile.ZipFile(data) as archive:
            return archive.read(name) if name in archive.namelist() else b""


@contextmanager
def _open_workbook(file: DataFile) -> Iterator[CalamineWorkbook]:
    try:
        with file.open() as content:
            workbook = CalamineWorkbook.from_filelike(io.BytesIO(content.read()))
        yield workbook
    except (CalamineError, IndexError, zipfile.BadZipFile) as error:
        raise _unreadable(file, error) from None


def _unreadable(file: DataFile, error: Exception) -> ImportRefused:
    return ImportRefused(
        f"{file.name} can't be read as a workbook ({error}); an archive has to be unpacked first"
    )


def _refuse_huge(file: DataFile) -> None:
    """ImportRefused for a sheet that would not fit into memory, or an archive made to burst it."""
    with file.open() as content:
        data = io.BytesIO(content.read(_MAX_SHEET + 1))
    if data.getbuffer().nbytes > _MAX_SHEET:
        raise ImportRefused(f"{file.name} unpacks to more than {_MAX_SHEET >> 20:,} MiB; save it as CSV")
    try:
        size = 0
        if zipfile.is_zipfile(data):
            with zipfile.ZipFile(data) as archive:
                size = sum(part.file_size for part in archive.infolist())
        if size > _MAX_SHEET:
            raise ImportRefused(
                f"{file.name} unpacks to {size >> 20:,} MiB, more than the {_MAX_SHEET >> 20:,} MiB that a "
                "workbook may have; save the sheet as CSV"
            )
        for extent in sheet_extents(data):
            if extent.cells > _MAX_CELLS:
                raise ImportRefused(
                    f"{file.name} has a sheet that reaches to {extent.corner}: {extent.cells:,} cells with "
                    f"the empty ones, more than the {_MAX_CELLS:,} that a sheet may have; delete what stands "
                    "far from the table, or save the sheet as CSV"
                )
    except DAMAGE_ERRORS as error:
        raise _unreadable(file, error) from None


def _rows(sheet: CalamineSheet) -> Iterator[tuple[int, Row]]:
    """The rows that have a value, and their numbers from 1. A label that is merged over rows is in each."""
    left = (sheet.start or (0, 0))[1]
    labels: dict[int, tuple[Any, int]] = {}
    bottoms = {first: last[0] for first, last in sheet.merged_cell_ranges or () if last[0] > first[0]}
    for number, row in enumerate(sheet.iter_rows()):
        for column, (label, bottom) in labels.items():
            if number <= bottom:
                row[column] = label
        for column, cell in enumerate(row) if bottoms else ():
            if (number, column + left) in bottoms and not isinstance(cell, int | float):
                labels[column] = cell, bottoms[number, column + left]
        if any(cell != "" for cell in row):
            yield number + 1, row


def _column(cells: Iterable[Any]) -> pa.Array:
    values = [None if cell == "" else cell for cell in cells]
    if any(isinstance(value, dt.datetime) for value in values):  # a date is its midnight then
        midnight = dt.time()
        values = [
            dt.datetime.combine(value, midnight)
            if isinstance(value, dt.date) and not isinstance(value, dt.datetime)
            else value
            for value in values
        ]
    return value_column(values)


def _text(cell: Any) -> str:
    return f"{cell:.15g}" if isinstance(cell, float) else str(cell)


def _row_text(rows: Sequence[Row]) -> Callable[[int], str]:
    return lambda position: orjson.dumps(rows[position], default=str).decode()
