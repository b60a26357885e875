"""Rows in a database, as somebody else keeps them, and definitions that name the table."""

import io
import json
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import sqlite_rows
from psycopg import sql

from lib.engines.connected.backends import open_backend
from lib.slicers.definition import TIME, Definition, RowSource

CONNECTION = "rows"
TYPES = {
    "string": "text",
    "double": "double precision",
    "date32[day]": "date",
    "timestamp[s, tz=UTC]": "timestamptz",
}


def connected(definition: Definition, table: str) -> Definition:
    """The same slicer, over a table of the connection."""
    return definition.model_copy(update={"source": RowSource(connection=CONNECTION, table=table)})


def without_lists(definition: Definition) -> Definition:
    """The same slicer for a database without lists: segmented key fields are left out."""
    fields = tuple(field for field in definition.key_fields if not field.segmented)
    return definition.model_copy(update={"key_fields": fields})


def publish(stored: pa.Table, definition: Definition, url: str, table: str) -> None:
    """Put rows, typed as `definition.schema()`, into a table under the names that the definition reads."""
    columns = columns_of(stored, definition)
    if url.startswith("parquet://"):
        pq.write_table(columns, Path(urlsplit(url).path) / f"{table}.parquet")
    elif url.startswith("sc://"):
        pq.write_table(columns, Path(dict(parse_qsl(urlsplit(url).query))["folder"]) / f"{table}.parquet")
    elif url.startswith("clickhouse://"):
        _into_clickhouse(columns, url, table)
    elif url.startswith("sqlite://"):
        sqlite_rows.publish(columns, url, table)
    else:
        _into_postgresql(columns, url, table)


def columns_of(stored: pa.Table, definition: Definition) -> pa.Table:
    """The columns that a definition reads: a day as a date, an hour as an instant."""
    time = stored[TIME]
    if definition.time.granularity == "day":
        time = time.cast(pa.timestamp("s")).cast(pa.date32())
    columns = {definition.time.sources[0]: time}
    for field in sorted(definition.data_fields, key=lambda field: field.aggregate != "count"):
        if field.source is not None:
            columns[field.source] = stored[field.name]
    columns |= {field.source: stored[field.name] for field in definition.key_fields}
    columns |= {source.source: stored[source.name] for source in definition.audience_sources}
    return pa.table(columns)


def _into_postgresql(columns: pa.Table, url: str, table: str) -> None:
    kinds = {name: _type(columns.schema.field(name).type) for name in columns.column_names}
    made = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(kind)) for name, kind in kinds.items()
    )
    content = io.BytesIO()
    written = pa.table({name: _written(columns[name]) for name in columns.column_names})
    pyarrow.csv.write_csv(written, content, pyarrow.csv.WriteOptions(include_header=False))
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(sql.Identifier(table), made))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN (FORMAT csv)").format(sql.Identifier(table))) as copy:
            copy.write(content.getvalue())


def _into_clickhouse(columns: pa.Table, url: str, table: str) -> None:
    """By a file that a server on this machine reads."""
    opened = open_backend(url)
    with tempfile.NamedTemporaryFile(suffix=".parquet") as file:
        pq.write_table(columns, file.name)
        opened.ibis.raw_sql(
            f"CREATE TABLE `{table}` ENGINE = MergeTree ORDER BY tuple() AS SELECT * FROM "
            f"file('{file.name}', Parquet)"
        )
    opened.ibis.disconnect()


def _type(kind: pa.DataType) -> Any:
    if pa.types.is_decimal(kind):
        return "numeric"
    return "text[]" if pa.types.is_list(kind) else TYPES[str(kind)]


def _written(column: pa.ChunkedArray) -> pa.ChunkedArray | pa.Array:
    if pa.types.is_list(column.type):
        return pa.array([None if cell is None else _array(cell) for cell in column.to_pylist()], pa.string())
    if pa.types.is_timestamp(column.type):
        return pc.binary_join_element_wise(column.cast(pa.timestamp("s")).cast(pa.string()), "+00", "")
    return column


def _array(cell: list[str | None]) -> str:
    """PostgreSQL's way of writing a list (its manual, 8.15.2)."""
    return (
        "{"
        + ",".join("NULL" if text is None else json.dumps(text, ensure_ascii=False) for text in cell)
        + "}"
    )
