"""Sessions on Spark through Spark Connect: an optional part, `pip install tranche[spark]`, without Java.

The cluster's server of Spark Connect (`start-connect-server.sh`, or a managed cluster's own) plans and runs.
Statements go there as SQL, rows come back in batches of Arrow. A connection of ours is a session there.
"""

import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import SplitResult

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.common.exceptions import IbisTypeError, TableNotFound

from lib.engines.connected.dialects import BLANKS, sum_in_millionths, url_options
from lib.wire.errors import BadRequest, Misconfigured

Errors = tuple[type[Exception], ...]
try:
    from pyspark.errors import PySparkException

    ERRORS: Errors = (PySparkException,)
except ImportError:
    ERRORS = ()

REACH_SECONDS, RETRIES = 5.0, 2
PORT, MOST_PARTS = 15002, 3
AGENT = "tranche"
FEW_PARTITIONS = "8"
PARQUET = "parquet"
OPTIONS = frozenset({"database", "folder", "partitions"})
# A text in a statement stays that text: a ${…} in it is not replaced, and \\ is escaped, as Ibis writes it.
SETTINGS = {
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.variable.substitute": "false",
}
_ABSENT = (
    "TABLE_OR_VIEW_NOT_FOUND",
    "SCHEMA_NOT_FOUND",
    "CATALOG_NOT_FOUND",
    "PATH_NOT_FOUND",
    "UNABLE_TO_INFER_SCHEMA",
)
_LOST = ("INVALID_HANDLE", "RETRIES_EXCEEDED")  # a session that the server has ended, a server that is gone
_GONE = "StatusCode.UNAVAILABLE"  # gRPC's, which Spark passes on without a condition of its own
_REFUSED = ("UNAUTHENTICATED", "PERMISSION_DENIED")


def connect(parts: SplitResult) -> SQLBackend:
    """A session at sc://host:15002/;token=…?database=…, in UTC. OSError where no server answers.

    What follows `/` is Spark's own: `;token=…`, which is sent by TLS, `;use_ssl=true`, `;user_id=…`, headers.
    """
    options, ibis_spark = url_options(parts, OPTIONS, "A Spark"), _backend()
    host, port = parts.hostname or "", parts.port or PORT
    socket.create_connection((host, port), REACH_SECONDS).close()  # Spark itself would try for minutes
    with _known_errors():
        session = _session(host, port, parts.path.lstrip("/"))
        partitions = {"spark.sql.shuffle.partitions": options.get("partitions", FEW_PARTITIONS)}
        backend: SQLBackend = ibis_spark.connect(session, **SETTINGS, **partitions)
        if database := options.get("database"):
            session.catalog.setCurrentDatabase(database)
    return backend


def _session(host: str, port: int, parameters: str) -> Any:
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession

    names = {part.partition("=")[0] for part in parameters.split(";")}
    more = "".join(f";{name}={AGENT}" for name in ("user_id", "user_agent") if name not in names)
    netloc = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    session = SparkSession.builder.remote(f"sc://{netloc}/{parameters}{more}").create()
    session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
    return session


class _Compiler(PySparkCompiler):  # type: ignore[misc]
    """Ibis's own takes the mark between elements for a pattern, and knows the blanks of ASCII alone."""

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:  # noqa: N802
        """Of integers as doubles, which don't overflow."""
        if op.arg.dtype.is_decimal():
            return self.agg.sum(arg, where=where)
        return sum_in_millionths(self, self.cast(arg, dt.float64), where)

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        return sge.Trim(this=arg, expression=sge.convert(BLANKS))

    def visit_StringSplit(self, op: Any, *, arg: Any, delimiter: Any) -> Any:  # noqa: N802
        return self.f.split(arg, sge.convert(re.escape(op.delimiter.value)))


def _backend() -> Any:
    """Ibis's own for Spark, which would copy answers by way of pandas."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    warnings.filterwarnings("ignore", re.escape("[RETRIES_EXCEEDED]"))
    try:
        import pyspark.sql.connect.session  # noqa: F401
        from ibis.backends.pyspark import Backend
    except (ImportError, SystemExit):  # PySpark ends the process where a package of the client is missing
        raise Misconfigured(
            "Spark needs packages that are not installed: pip install tranche[spark]"
        ) from None

    class Session(Backend):  # type: ignore[misc]
        """Answers come as Arrow."""

        compiler = _Compiler()

        def to_pyarrow(self, expr: ir.Table, /, **kwargs: Any) -> pa.Table:
            with _known_errors():
                return self._session.sql(self.compile(expr)).toArrow()

    Session.register_options()
    return Session()


@contextmanager
def _known_errors() -> Iterator[None]:
    """OSError where the server is gone or has ended the session, or refuses the token."""
    try:
        yield
    except ERRORS as error:
        condition = _condition(error)
        if condition.startswith(_LOST) or _GONE in str(error):
            raise ConnectionResetError(f"The session has ended: {condition}") from error
        if any(word in f"{condition} {error}" for word in _REFUSED):
            raise PermissionError(f"Authentication failed: {error}") from error
        raise


def _condition(error: Exception) -> str:
    """Spark's name of an error."""
    condition = getattr(error, "getCondition", None)
    return (condition() or "") if condition else ""


def version(backend: Any) -> str:
    """The version of the server, which plans nothing for it."""
    with _known_errors():
        return str(backend._session.version)


def table_of(backend: Any, parts: SplitResult, name: str) -> ir.Table:
    """A table named `table`, `database.table` or `catalog.database.table`, or Parquet files of the folder.

    Where there is none: TableNotFound.
    """
    folder = url_options(parts, OPTIONS, "A Spark").get("folder")
    if folder is None:
        return _table(backend, name.split("."))
    if not re.fullmatch(r"[\w-]+", name):
        raise BadRequest(f"A table of Parquet files is named by letters, digits, - and _, not '{name}'")
    try:
        return _table(backend, [PARQUET, f"{folder.rstrip('/')}/{name}.parquet"])
    except TableNotFound:
        return _table(backend, [PARQUET, f"{folder.rstrip('/')}/{name}"])


def _table(backend: Any, parts: list[str]) -> ir.Table:
    if len(parts) > MOST_PARTS:
        raise TableNotFound(".".join(parts))
    identifier = ".".join("`" + part.replace("`", "``") + "`" for part in parts)
    with _known_errors():
        try:
            columns = backend._session.table(identifier).schema
        except ERRORS as error:
            if _condition(error).startswith(_ABSENT):
                raise TableNotFound(identifier) from None
            raise
    *place, table = parts
    database, catalog = [*reversed(place), None, None][:2]
    return ibis.table(_schema(columns), name=table, database=database, catalog=catalog)


def _schema(columns: Any) -> ibis.Schema:
    """The types of columns. Ibis takes Spark's timestamps for those of some clock; they are instants.

    A column with ${…} in its name is left out: Spark replaces that in Parquet, and reads nothing.
    """
    return ibis.schema({field.name: _type(field.dataType) for field in columns if "${" not in field.name})


def _type(kind: Any) -> dt.DataType:
    """A type of Spark; one that Ibis does not know, such as a span of days and seconds, blocks no table."""
    from ibis.backends.pyspark.datatypes import PySparkType
    from pyspark.sql.types import TimestampType

    if isinstance(kind, TimestampType):
        return dt.Timestamp(timezone="UTC")
    try:
        return PySparkType.to_ibis(kind)
    except (IbisTypeError, NotImplementedError):
        return dt.Unknown(kind.simpleString())


def begin(backend: Any, name: str, label: str) -> None:
    """What this thread asks from now on can be interrupted by this name, and is listed by the label."""
    backend._session.clearTags()
    for tag in (name, label):
        backend._session.addTag(tag.replace(",", " "))


def interrupt(backend: Any, name: str) -> None:
    """Cancel what was asked under a name and still runs."""
    backend._session.interruptTag(name)
