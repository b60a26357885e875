"""The parts of a connected table whose changes the database shows: partitions of PostgreSQL, and files.

A mark changes with the rows of its part. Any other table (a view; ClickHouse, Spark) is one part, and has no
mark: whether it has changed is not known.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from zlib import crc32

import ibis
import ibis.expr.types as ir
from psycopg import sql

from lib.engines.connected import parquet
from lib.engines.connected.backends import FILES, POSTGRESQL, Backend
from lib.engines.connected.parquet import file_mark

DUCKDB, FILENAME = "duckdb", "filename"
Marks = Mapping[str, str | None]
NO_MARKS: Marks = {"": None}

# Counters of rows that came, changed and went, of every table or leaf of a partitioned one; the file's node
# changes with TRUNCATE, and its size with what a crash made the counters forget.
_RELATIONS = """
WITH RECURSIVE tree AS (
  SELECT to_regclass(%s)::oid AS oid
  UNION ALL SELECT inhrelid FROM pg_inherits JOIN tree ON inhparent = tree.oid
)
SELECT nspname, relname, relkind::text, pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_updated(c.oid),
  pg_stat_get_tuples_deleted(c.oid), pg_relation_filenode(c.oid), pg_relation_size(c.oid)
FROM tree JOIN pg_class c USING (oid) JOIN pg_namespace n ON n.oid = relnamespace
WHERE current_setting('track_counts')::bool ORDER BY 1, 2
"""
_LEAF, _TREE = "r", "p"


@dataclass(frozen=True)
class Counters:
    """The mark of a table of PostgreSQL: rows that came, changed and went, and its file."""

    inserts: int
    updates: int
    deletes: int
    node: int
    size: int

    @classmethod
    def of(cls, mark: str) -> "Counters":
        """The counters of a mark."""
        return cls(*json.loads(mark))

    def only_more(self, before: "Counters") -> int | None:
        """How many rows came since, if nothing else happened to the table; otherwise None."""
        same = (self.updates, self.deletes, self.node) == (before.updates, before.deletes, before.node)
        return self.inserts - before.inserts if same and self.inserts > before.inserts else None


def marks_of(backend: Backend, url: str, table: ir.Table) -> Marks:
    """The parts of a table and the mark of each; `table` is that of `table_of`."""
    parts = urlsplit(url)
    if parts.scheme in FILES and FILENAME not in table.columns:
        layout = table.op().layout
        # The same file of Iceberg has other columns by the same names, once these were renamed.
        ids = f" {crc32(repr(layout.snapshot.ids).encode())}" if layout.snapshot else ""
        marks = {file: file_mark(file) for file in layout.files}
        return {file: mark and mark + ids for file, mark in marks.items()}
    if parts.scheme == DUCKDB:
        file = parts.netloc + parts.path
        return {"": f"{file_mark(file)} {file_mark(f'{file}.wal')}"}
    if parts.scheme == POSTGRESQL:
        connection: Any = backend.ibis.con
        names = filter(None, (table.op().namespace.database, table.get_name()))
        with connection.cursor() as cursor:
            rows = cursor.execute(_RELATIONS, [sql.Identifier(*names).as_string(connection)]).fetchall()
        if not rows or any(kind not in (_LEAF, _TREE) for _, _, kind, *_ in rows):
            return NO_MARKS
        return {
            json.dumps([schema, name]): json.dumps(counters)
            for schema, name, kind, *counters in rows
            if kind == _LEAF
        }
    return NO_MARKS


def tables_of(url: str, table: ir.Table, parts: list[str]) -> Iterator[tuple[ir.Table, str | None]]:
    """Tables that together are some parts: one part and its name, or several with a column `filename`."""
    scheme = urlsplit(url).scheme
    if scheme in FILES and FILENAME not in table.columns:
        yield parquet.part(table, parts, FILENAME), None
        return
    for part in parts:
        if part and scheme == POSTGRESQL:
            schema_name, name = json.loads(part)
            yield ibis.table(table.schema(), name=name, database=schema_name), part
        else:
            yield table, part
