"""Records of connected slicers: one statement, whose rows are the first records in their order."""

import ibis
import ibis.expr.types as ir
import numpy as np
import pandas as pd
import pyarrow as pa

from lib.engines.connected.columns import Columns
from lib.engines.connected.statements import Statements
from lib.engines.records import RecordsQuestion
from lib.slicers.granularities import TIME_KEY_FIELDS

WHOLE_NUMBER = "^-?[0-9]{1,15}$"


def fetch_records(statements: Statements, request: RecordsQuestion) -> pd.DataFrame:
    """A frame as that of imported slicers (engines/records.py); texts are in the order of the database."""
    columns = statements.filter()
    # Plain counts are 1 for each record: PostgreSQL orders by no constant, and returns a decimal for one.
    counts = {field.name for field in columns.definition.data_fields if field.source is None}
    names = {name: f"c{place}" for place, name in enumerate(request.names) if name not in counts}
    several = [name for name in names if columns.is_segmented(name)]
    orders = [order for order in request.orders(several) if order.name in names]
    cells: dict[str, ir.Value] = {}
    for name, cell in names.items():
        if name in TIME_KEY_FIELDS:
            cells[cell] = statements.times[name].number(columns)
        else:
            is_segmented = columns.is_segmented(name)
            cells[cell] = columns.elements(name) if is_segmented else columns.record_cell(name)
    keys = {f"o{place}": _sort_key(columns, order.name) for place, order in enumerate(orders)}
    keys = {key: value for key, value in keys.items() if value is not None}
    table = columns.table.select(one=ibis.literal(1, "int64"), **cells, **keys)
    by = []
    for place, order in enumerate(orders):
        key = table[f"o{place}" if f"o{place}" in keys else names[order.name]]
        by.append(ibis.asc(key) if order.direction == "asc" else ibis.desc(key))
    table = table.order_by(by) if by else table
    rows = statements.fetch(table.limit(request.limit).select("one", *cells))
    ones = pd.Series(np.ones(rows.num_rows))
    return pd.DataFrame(
        {
            name: _values(statements, name, rows[names[name]]) if name in names else ones
            for name in request.columns
        }
    )


def _sort_key(columns: Columns, name: str) -> ir.Value | None:
    """What numbers written as text are ordered by; None where the cell itself will do."""
    field = next((field for field in columns.definition.key_fields if field.name == name), None)
    if field is None or field.type != "int":
        return None
    text = columns.text(name)
    return ibis.ifelse(text.re_search(WHOLE_NUMBER), text, ibis.null("string")).cast("float64")


def _values(statements: Statements, name: str, cells: pa.ChunkedArray) -> pd.Series:
    if name in TIME_KEY_FIELDS:
        return pd.Series(statements.times[name].names(np.asarray(cells, np.int64)), dtype="str")
    if pa.types.is_list(cells.type):
        return pd.Series([sorted(texts or ()) for texts in cells.to_pylist()], dtype="object")
    series: pd.Series = cells.to_pandas()
    return series
