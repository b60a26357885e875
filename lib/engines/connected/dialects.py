"""What databases do otherwise than Ibis has it: seconds since 1970, types of texts, small answers."""

import io
from collections.abc import Collection
from contextlib import suppress
from typing import Any
from urllib.parse import SplitResult, parse_qsl

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.csv
import sqlglot.expressions as sge
from ibis.backends.duckdb import Backend as DuckDB
from ibis.backends.postgres import Backend as PostgreSQL
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.backends.sql.compilers.postgres import PostgresCompiler
from ibis.backends.sql.datatypes import PostgresType
from ibis.common.exceptions import TableNotFound
from psycopg import sql
from sqlglot.errors import ParseError

from lib.wire.errors import Misconfigured

NULL = ""
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
NAN_IS_GREATEST = frozenset({"parquet", "delta", "iceberg", "duckdb", "postgresql"})
_TEXTS = ("text", "character varying", "character", "name")
_MONEY = "money"  # which PostgreSQL casts to no number but numeric
_COLUMNS = """
SELECT attname, format_type(coalesce(nullif(typbasetype, 0), atttypid), NULL),
  CASE typbasetype WHEN 0 THEN format_type(atttypid, atttypmod) ELSE format_type(typbasetype, typtypmod) END,
  coalesce(collisdeterministic, true)
FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
  LEFT JOIN pg_collation c ON c.oid = attcollation
WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""


def url_options(parts: SplitResult, names: Collection[str], whose: str) -> dict[str, str]:
    """The options by name. Misconfigured, which lists those of `whose` connections, for any other one."""
    options = dict(parse_qsl(parts.query))
    if unknown := sorted(options.keys() - set(names)):
        raise Misconfigured(f"{whose} connection's url can have {', '.join(sorted(names))}, not {unknown[0]}")
    return options


def sum_in_millionths(compiler: Any, arg: Any, where: Any) -> Any:
    """The sum of doubles by a database without a compensated one: whole millionths, and what is left of each.

    Whole numbers have one sum in any order, which is that of decimals (slicers/digits.py).
    """
    million = sge.convert(1e6)
    whole = compiler.f.round(sge.Mul(this=sge.paren(arg), expression=million))
    rest = sge.Sub(this=sge.paren(arg), expression=sge.Div(this=whole, expression=million))
    sums = (compiler.agg.sum(part, where=where) for part in (whole, rest))
    return sge.paren(sge.Add(this=sge.Div(this=next(sums), expression=million), expression=next(sums)))


class _DuckDBCompiler(DuckDBCompiler):  # type: ignore[misc]
    """Ibis's own casts an instant to a timestamp, by way of the calendars of zones: ten times slower."""

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:  # noqa: N802
        """Of doubles the compensated sum."""
        is_double = op.arg.dtype.is_floating()
        return self.agg.fsum(arg, where=where) if is_double else self.agg.sum(arg, where=where)

    def visit_Between(self, op: Any, *, arg: Any, lower_bound: Any, upper_bound: Any) -> Any:  # noqa: N802
        """Of doubles not NaN: DuckDB answers by the statistics of a Parquet file, which leave NaN out."""
        between = super().visit_Between(op, arg=arg, lower_bound=lower_bound, upper_bound=upper_bound)
        return sge.and_(self.f.isfinite(arg), between) if op.arg.dtype.is_floating() else between

    def visit_ParquetFiles(self, op: Any, **_: Any) -> Any:  # noqa: N802
        """The files of a table (parquet.py)."""
        return sge.Table(this=sge.Var(this=op.layout.sql()))

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Without the blanks that an import takes off; Ibis's own knows those of ASCII."""
        return self.f.trim(arg, BLANKS)

    def visit_ArrayDistinct(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """The different elements of a list without missing ones; Ibis's own computes the list three times."""
        return self.f.list_distinct(arg)

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Whole seconds, rounded down."""
        return self.cast(self.f.floor(self.f.epoch_us(arg) / 1_000_000), dt.int64)


class _PostgresCompiler(PostgresCompiler):  # type: ignore[misc]
    """Ibis's own extracts a decimal number, which takes twice the time, and rounds half a second up.

    PostgreSQL takes any COALESCE for true of every second row; it estimates IS TRUE by what is inside.
    """

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:  # noqa: N802
        is_double = op.arg.dtype.is_floating()
        return sum_in_millionths(self, arg, where) if is_double else self.agg.sum(arg, where=where)

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Without the blanks that an import takes off; Ibis's own knows those of ASCII."""
        return self.f.btrim(arg, BLANKS)

    def visit_Cast(self, op: Any, *, arg: Any, to: Any) -> Any:  # noqa: N802
        """Of types that compare differently texts that compare as they are stored."""
        text = super().visit_Cast(op, arg=arg, to=to)
        is_unusual = op.arg.dtype.is_unknown() and to.is_string()
        collation = sge.to_identifier("C", quoted=True)
        return sge.paren(sge.Collate(this=text, expression=collation)) if is_unusual else text

    def visit_Coalesce(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """A condition that is false where it is NULL, as IS TRUE; anything else as it is."""
        is_false_default = op.dtype.is_boolean() and len(arg) == 2 and arg[1] == sge.false()
        return (
            sge.Is(this=sge.paren(arg[0]), expression=sge.true())
            if is_false_default
            else self.f.coalesce(*arg)
        )

    def visit_ExtractEpochSeconds(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Whole seconds, rounded down."""
        return self.f.floor(self.f.date_part("epoch", arg))


class _DuckDB(DuckDB):  # type: ignore[misc]
    compiler = _DuckDBCompiler()


class _PostgreSQL(PostgreSQL):  # type: ignore[misc]
    compiler = _PostgresCompiler()


def duckdb(*arguments: Any, **options: Any) -> SQLBackend:
    """A connection of DuckDB."""
    backend: SQLBackend = _DuckDB().connect(*arguments, **options)
    return backend


def postgresql(**options: Any) -> SQLBackend:
    """A connection to PostgreSQL."""
    backend: SQLBackend = _PostgreSQL().connect(**options)
    return backend


def postgresql_schema(backend: SQLBackend, schema: str, table: str) -> ibis.Schema:
    """The types of a table's columns, those of a domain's values. TableNotFound.

    Ibis calls enumerations and citext texts, which compare differently, as texts of nondeterministic
    collations do, and fails at types such as regclass.
    """
    connection: Any = backend.con
    identifier = sql.Identifier(*filter(None, (schema, table))).as_string(connection)
    with connection.cursor() as cursor:
        rows = cursor.execute(_COLUMNS, [identifier]).fetchall()
    if not rows:
        raise TableNotFound(table)
    return ibis.schema({name: _postgresql_type(*kind) for name, *kind in rows})


def _postgresql_type(base: str, kind: str, is_deterministic: bool) -> dt.DataType:
    if base in _TEXTS:
        return dt.string if is_deterministic else dt.Unknown(kind)
    with suppress(ParseError, AttributeError):
        column_type = PostgresType.from_string(kind)
        if not column_type.is_string() and base != _MONEY:
            return column_type
    return dt.Unknown(kind)


def rows_by_copy(backend: SQLBackend, expression: ir.Table) -> pa.Table:
    """The rows of an expression from PostgreSQL, by COPY.

    Ibis reads by a cursor of the server, for which PostgreSQL plans no parallel work.
    """
    schema = expression.schema().to_pyarrow()
    if any(pa.types.is_nested(field.type) or pa.types.is_null(field.type) for field in schema):
        return backend.to_pyarrow(expression)
    statement = f"COPY ({backend.compile(expression)}) TO STDOUT (FORMAT csv)"
    connection: Any = backend.con
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        content = b"".join(bytes(block) for block in copy)
    if not content:
        return schema.empty_table()
    return pyarrow.csv.read_csv(
        io.BytesIO(content),
        pyarrow.csv.ReadOptions(column_names=schema.names, use_threads=False),
        pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        pyarrow.csv.ConvertOptions(
            column_types={field.name: field.type for field in schema},
            null_values=[NULL],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )
