"""Rows in SQLite, by Ibis: a database without lists, and one that the product doesn't open.

It stands for a further database that joins the conformance suite in steps (CONTRIBUTING.md).
"""

import sqlite3
from contextlib import closing
from typing import Any
from urllib.parse import SplitResult, urlsplit

import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.compilers.sqlite import SQLiteCompiler
from ibis.backends.sqlite import Backend as SQLite

from lib.engines.connected.backends import Backend

SCHEME, TITLE = "sqlite", "SQLite"
INSTANT = "timestamptz"
TYPES = {"string": "text", "double": "double", "date32[day]": "date"}


class _Compiler(SQLiteCompiler):  # type: ignore[misc]
    """Ibis's own compares the ends of texts by LIKE, to which % and _ stand for others, and knows no NaN."""

    UNSUPPORTED_OPS = ()  # those of its own stay so, but for IsNan

    def visit_StartsWith(self, op: Any, *, arg: Any, start: Any) -> Any:  # noqa: N802
        return self.f.substr(arg, 1, self.f.length(start)).eq(start)

    def visit_EndsWith(self, op: Any, *, arg: Any, end: Any) -> Any:  # noqa: N802
        return self.f.substr(arg, self.f.length(arg) - self.f.length(end) + 1).eq(end)

    def visit_IsNan(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        return sge.false()


class _SQLite(SQLite):  # type: ignore[misc]
    compiler = _Compiler()


def open_sqlite(parts: SplitResult, url: str) -> Backend:
    """The file of a URL, to read."""
    file = sqlite3.connect(f"file:{parts.path}?mode=ro", uri=True, check_same_thread=False)
    opened: SQLBackend = _SQLite.from_connection(file, type_map={INSTANT: "timestamp('UTC')"})
    return Backend(opened, file.interrupt)


def publish(columns: pa.Table, url: str, table: str) -> None:
    """Put rows into a table of the file."""
    names = ", ".join(f'"{name}"' for name in columns.column_names)
    kinds = ", ".join(f'"{field.name}" {TYPES.get(str(field.type), INSTANT)}' for field in columns.schema)
    texts = [_written(column) for column in columns.columns]
    with closing(sqlite3.connect(urlsplit(url).path)) as file, file:
        file.execute(f'CREATE TABLE "{table}" ({kinds})')
        marks = ", ".join("?" * columns.num_columns)
        file.executemany(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', zip(*texts, strict=True))


def _written(column: pa.ChunkedArray) -> list[Any]:
    """As SQLite has it: times are texts."""
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp("s")).cast(pa.string()).to_pylist()
    return column.cast(pa.string()).to_pylist() if pa.types.is_date(column.type) else column.to_pylist()
