"""The records behind a figure (*extension*): which columns a caller may ask for, and what is in them.

Columns are those of fields: time to the slicer's own granularity, key fields, and the numbers that data
fields are made of. What fields only count (users, different values) stays hidden, unless the definition lists
its column under `records`.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pandas as pd

from lib.engines import Question, RecordsQuestion
from lib.reporting.answers.records import RecordColumn, RecordTable, frame_of
from lib.reporting.files.table import FileColumn, FileTable, Kind, time_title
from lib.reporting.models import RecordsQuery
from lib.slicers.formulas import parse
from lib.slicers.granularities import SPAN_KEY_FIELDS, TIME_KEY_FIELDS
from lib.slicers.models import KeyField, Order
from lib.slicers.warehouse import StoredSlicer
from lib.wire.errors import BadRequest, UnknownName

BETWEEN = "; "  # between the elements of a multi-valued field in a file


class RecordsPlan:
    """A checked query about records, and the columns of its answer. BadRequest names what can't be shown."""

    def __init__(self, query: RecordsQuery, slicer: StoredSlicer) -> None:
        self.query, self._slicer, info = query, slicer, slicer.info()
        times = [_key(field) for field in info.key_fields if field.name in TIME_KEY_FIELDS]
        finest = [column for column in times if column.name in SPAN_KEY_FIELDS][-1]
        usual = (finest, *_fields(slicer))
        self._available = {column.name: column for column in (*usual, *times)}
        self._data = {field.name: field for field in info.data_fields}
        names = [column.name for column in usual] if query.columns is None else self._names(query.columns)
        self.columns = tuple(self._available[name] for name in dict.fromkeys(names))
        self._order_by = query.order_by or (Order(name=finest.name),)
        for order in self._order_by:
            if order.name not in self._available:
                raise UnknownName("column to order by", order.name, self._available)
            if self._available[order.name].kind == "texts":
                raise BadRequest(f"order_by: {order.name} has several values in a record")

    def engine_query(self, question: Question) -> RecordsQuestion:
        """What an engine is asked, about the records of that question."""
        names = tuple(column.name for column in self.columns)
        return RecordsQuestion(question, names, self._order_by, self.query.limit)

    def answer(self, frame: pd.DataFrame, count: int) -> RecordTable:
        """The answer of an engine's frame, with descriptions of coded values where they are asked for."""
        columns: list[RecordColumn] = []
        cells: list[Iterable[object]] = []
        key_fields = self._slicer.definition.key_fields if self.query.include_mappings else ()
        mappings = {field.name: field.mapping for field in key_fields}
        for column in self.columns:
            columns.append(column)
            cells.append(frame[column.name])
            if mapping := mappings.get(column.name):
                codes = self._slicer.mapping(mapping)
                name, words = f"{column.name}.description", f"{column.description} (description)"
                columns.append(replace(column, name=name, description=words))
                cells.append([_describe(value, codes) for value in frame[column.name]])
        return RecordTable(tuple(columns), frame_of(columns, cells), count)

    def file(self, records: RecordTable) -> FileTable:
        """The records as the table of a file."""
        slicer, columns = self._slicer.info(), []
        for column in records.columns:
            title, cells = column.description, records.frame[column.name]
            if column.name in TIME_KEY_FIELDS:
                title = time_title(title, self.query, slicer)
            if column.kind == "number":
                kind: Kind = "float" if column.decimals else "int"
                columns.append(FileColumn(column.name, title, cells, kind, column.decimals))
            else:
                texts = cells.map(BETWEEN.join).astype("str") if column.kind == "texts" else cells
                columns.append(FileColumn(column.name, title, texts, "text", role="key"))
        escapes, full = bool(self.query.escape_formulas), bool(self.query.full_digits)
        return FileTable(tuple(columns), escape_formulas=escapes, full_digits=full)

    def _names(self, names: Iterable[str]) -> Iterator[str]:
        """The names of columns; those of a formula's data fields in its place."""
        for name in names:
            if name not in self._available and name not in self._data:
                raise UnknownName("column", name, self._available)
            parts = list(self._parts(name))
            if not parts:
                raise BadRequest(
                    f"{name} counts different values, which records don't show: the slicer's definition can "
                    "list their column under records"
                )
            yield from parts

    def _parts(self, name: str) -> Iterator[str]:
        if name in self._available:
            yield name
        elif (formula := self._data[name].formula) is not None:
            for part in sorted(parse(formula).fields()):
                yield from self._parts(part)


def _fields(slicer: StoredSlicer) -> Iterator[RecordColumn]:
    """The columns of key fields, of data fields that are no counts of different values, and those listed."""
    definition, info = slicer.definition, slicer.info()
    for key_field in definition.key_fields:
        yield _key(info.key_field(key_field.name))
    for data_field in definition.data_fields:
        if data_field.formula is None and data_field.aggregate != "distinct":
            field = info.data_field(data_field.name)
            decimals = 0 if field.display_type == "int" else field.display_precision
            yield RecordColumn(field.name, field.description or field.name, "number", decimals)
    for name in definition.records:
        yield RecordColumn(name, name)


def _key(field: KeyField) -> RecordColumn:
    return RecordColumn(
        field.name, field.description or field.name, "texts" if field.is_segmented else "text"
    )


def _describe(value: str | list[str], codes: Mapping[str, str]) -> str | list[str]:
    return codes.get(value, value) if isinstance(value, str) else [codes.get(text, text) for text in value]
