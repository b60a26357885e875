"""An Audience as the table of an export file: key columns, descriptions, data columns, total."""

import pandas as pd

from lib.reporting.answers import Audience
from lib.reporting.files import Column, Table
from lib.reporting.files.table import Kind
from lib.reporting.models import DataField, ExportQuery, KeyField, Slicer


def table(query: ExportQuery, slicer: Slicer, audience: Audience) -> Table:
    """The table: after each mapped key column one with its descriptions, where those are included."""
    columns: list[Column] = []
    for name in query.split_by:
        field = slicer.key_field(name)
        columns.append(_key(field, audience.names[name]))
        if audience.descriptions is not None and field.mapping:
            columns.append(Column.of_mapping(columns[-1], audience.descriptions[name]))
    columns += [_data(slicer.data_field(name), audience.values[name]) for name in map(str, audience.values)]
    total = (
        tuple(audience.total.values[name] for name in map(str, audience.values))
        if query.include_total
        else None
    )
    return Table(columns=tuple(columns), total=total)


def _key(field: KeyField, values: pd.Series) -> Column:
    kind: Kind = "int" if field.type == "int" else "text"
    return Column(field.name, field.description, values, kind=kind, role="key")


def _data(field: DataField, values: pd.Series) -> Column:
    kind: Kind = "int" if field.display_type == "int" else "float"
    return Column(
        field.name, field.description, values, kind=kind, precision=field.display_precision, role="data"
    )
