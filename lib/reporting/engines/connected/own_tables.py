"""Tables of ours in the databases that the settings name: how each kind of database keeps them."""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import ibis
import ibis.expr.types as ir
import psycopg
import pyarrow.parquet as pq
from ibis.backends.sql import SQLBackend
from psycopg import sql

from lib.reporting.engines.connected.backends import PARQUET, parquet_folder
from lib.wire.errors import BadRequest

BATCH_ROWS = 20_000
Place = tuple[str, str]
_TYPES = {"int64": "bigint", "float64": "double precision", "string": "text", "array<string>": "text[]"}


@dataclass(frozen=True)
class TableKind:
    """How a kind of database keeps tables of ours.

    `write` puts the rows of a Parquet file into a new table, `drop` removes one; both take a URL, and raise
    BadRequest, which says what is missing, where that is not allowed. `table` is what expressions call a
    table, and `exists` asks a connection whether there is one.
    """

    write: Callable[[str, Place, ibis.Schema, Path], None]
    drop: Callable[[str, Place], None]
    table: Callable[[str, Place, ibis.Schema], ir.Table]
    exists: Callable[[SQLBackend, str, Place], bool]


def table_kind(url: str) -> TableKind:
    """The kind of the database at a URL. BadRequest where it can't have tables of ours."""
    kind = KINDS.get(urlsplit(url).scheme)
    if kind is None:
        raise BadRequest(
            f"A connection over {urlsplit(url).scheme}:// can't have a sample; samples need "
            f"{' or '.join(f'{one}://' for one in KINDS)}"
        )
    return kind


def _file(url: str, place: Place) -> Path:
    return parquet_folder(url) / place[0] / f"{place[1]}.parquet"


def _write_parquet(url: str, place: Place, schema: ibis.Schema, rows: Path) -> None:
    target = _file(url, place)
    draft = target.with_suffix(".draft")
    try:
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(rows, draft)
        draft.replace(target)
    except OSError as error:
        raise BadRequest(f"The sample can't be written to {target.parent}: {error.strerror}") from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _drop_parquet(url: str, place: Place) -> None:
    _file(url, place).unlink(missing_ok=True)


def _parquet_table(url: str, place: Place, schema: ibis.Schema) -> ir.Table:
    return ibis.table(schema, name=str(_file(url, place)))


def _exists_parquet(backend: SQLBackend, url: str, place: Place) -> bool:
    return _file(url, place).is_file()


def _write_postgresql(url: str, place: Place, schema: ibis.Schema, rows: Path) -> None:
    columns = sql.SQL(", ").join(
        sql.SQL("{} {}").format(sql.Identifier(name), sql.SQL(_TYPES[_kind(kind)]))
        for name, kind in schema.items()
    )
    table = sql.Identifier(*place)
    with _postgresql(url, place) as cursor:
        if cursor.execute("SELECT to_regnamespace(quote_ident(%s))", [place[0]]).fetchone() == (None,):
            cursor.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(place[0])))
        cursor.execute(sql.SQL("CREATE TABLE {} ({})").format(table, columns))
        with cursor.copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
            for batch in pq.ParquetFile(rows).iter_batches(BATCH_ROWS, columns=list(schema)):
                for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                    copy.write_row(row)
        cursor.execute(sql.SQL("CREATE INDEX ON {} ({})").format(table, sql.Identifier("q")))
        cursor.execute(sql.SQL("ANALYZE {}").format(table))


def _drop_postgresql(url: str, place: Place) -> None:
    with _postgresql(url, place) as cursor:
        cursor.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(sql.Identifier(*place)))


def _postgresql_table(url: str, place: Place, schema: ibis.Schema) -> ir.Table:
    return ibis.table(schema, name=place[1], database=place[0])


def _exists_postgresql(backend: SQLBackend, url: str, place: Place) -> bool:
    return place[1] in backend.list_tables(database=place[0])


@contextmanager
def _postgresql(url: str, place: Place) -> Iterator[psycopg.Cursor[Any]]:
    """A cursor in one transaction that may write. BadRequest where the role may not."""
    try:
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            yield cursor
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction) as error:
        schema, why = place[0], str(error).splitlines()[0]
        raise BadRequest(
            f"The role of this connection may not write to the schema {schema} ({why}). Create the schema "
            f"for it: CREATE SCHEMA {schema} AUTHORIZATION …; or name another one with --sample-into"
        ) from None


def _kind(kind: Any) -> str:
    return "array<string>" if kind.is_array() else str(kind)


KINDS: Mapping[str, TableKind] = {
    PARQUET: TableKind(_write_parquet, _drop_parquet, _parquet_table, _exists_parquet),
    "postgresql": TableKind(_write_postgresql, _drop_postgresql, _postgresql_table, _exists_postgresql),
}
