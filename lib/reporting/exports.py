"""An Audience as the table of an export file: key columns, descriptions, data columns, total."""

import pandas as pd

from lib.reporting.answers import Audience
from lib.reporting.files import TOTAL, TOTAL_OF_ROWS, FileColumn, FileTable
from lib.reporting.files.table import Kind
from lib.reporting.models import DataField, ExportQuery, KeyField, Slicer


def table(query: ExportQuery, slicer: Slicer, audience: Audience) -> FileTable:
    """The table: after each mapped key column one with its descriptions, where those are included.

    The total of `audience` becomes the last row where one is wanted and there is a split: without one, the
    only row is the total. It is that of the rows in the file where data filters leave others out.
    """
    columns: list[FileColumn] = []
    for name in query.split_by:
        field = slicer.key_field(name)
        columns.append(_key(field, audience.names[name]))
        if audience.descriptions is not None and field.mapping:
            columns.append(FileColumn.of_mapping(columns[-1], audience.descriptions[name]))
    columns += [_data(slicer.data_field(name), audience.values[name]) for name in map(str, audience.values)]
    total = None
    if query.include_total and query.split_by:
        total = tuple(audience.total.values[name] for name in map(str, audience.values))
    label = TOTAL_OF_ROWS if query.data_filters else TOTAL
    return FileTable(tuple(columns), total, label, escape_formulas=bool(query.escape_formulas))


def _key(field: KeyField, values: pd.Series) -> FileColumn:
    kind: Kind = "int" if field.type == "int" else "text"
    return FileColumn(field.name, field.description, values, kind=kind, role="key")


def _data(field: DataField, values: pd.Series) -> FileColumn:
    kind: Kind = "int" if field.display_type == "int" else "float"
    return FileColumn(
        field.name, field.description, values, kind=kind, precision=field.display_precision, role="data"
    )
