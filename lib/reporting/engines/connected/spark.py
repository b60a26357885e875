"""Sessions on a Spark cluster: an optional part, `pip install tranche[spark]`, and Java."""

import re
import socket
import threading
import warnings
from typing import Any
from urllib.parse import SplitResult, unquote

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.compilers.pyspark import PySparkCompiler
from ibis.common.exceptions import TableNotFound

from lib.reporting.engines.connected.dialects import BLANKS, url_options
from lib.wire.errors import BadRequest, Misconfigured

Errors = tuple[type[Exception], ...]
try:
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    ERRORS: Errors = (PySparkException, Py4JError)
    CONNECTION_ERRORS: Errors = (Py4JNetworkError,)
except ImportError:
    ERRORS, CONNECTION_ERRORS = (), ()

END_ERRORS: Errors = (*ERRORS, OSError)
REACH_SECONDS = 5.0
DRIVER_SETTINGS = {
    "spark.app.name": "tranche",
    "spark.driver.defaultJavaOptions": "-Duser.timezone=UTC",
    "spark.executor.defaultJavaOptions": "-Duser.timezone=UTC",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
PORT, MOST_PARTS = "7077", 3
FEW_PARTITIONS = "8"
PARQUET = "parquet"
OF_DRIVER = {
    "driver_host": "spark.driver.host",
    "memory": "spark.executor.memory",
    "cores": "spark.cores.max",
}
OPTIONS = frozenset({*OF_DRIVER, "folder", "partitions"})
# A text in a statement stays that text: a ${…} in it is not replaced, and \ is escaped, as Ibis writes it.
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


class Driver:
    """A driver that is started when it is first needed, and again after it has ended. Safe among threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._context: Any = None
        self._started_for: tuple[str, dict[str, str]] | None = None

    def session(self, master: str, settings: dict[str, str]) -> Any:
        """A session of its own. OSError where no master answers, Misconfigured for a second cluster."""
        from pyspark.sql import SparkSession

        with self._lock:
            if not is_alive(self._context) or self._started_for != (master, settings):
                self._start(master, settings)
            return SparkSession(self._context).newSession()

    def stop(self) -> None:
        """End it, and with it every session."""
        with self._lock:
            context, self._context = self._context, None
            if context is not None:
                _end(context)

    def _start(self, master: str, settings: dict[str, str]) -> None:
        from pyspark import SparkConf, SparkContext

        _reach(master)
        if is_alive(self._context):
            raise Misconfigured(
                "All connections to Spark share one driver: give their urls the same hosts, driver_host, "
                "memory and cores"
            )
        if self._context is not None:
            _end(self._context)
        conf = SparkConf().setAll([*DRIVER_SETTINGS.items(), *settings.items()])
        try:
            self._context = SparkContext(master=f"spark://{master}", conf=conf)
        except PySparkException as error:
            if error.getCondition() == "JAVA_GATEWAY_EXITED":
                raise Misconfigured("Spark's driver did not start: it needs Java 17 or later") from None
            raise
        self._started_for = (master, settings)


DRIVER = Driver()


def is_alive(context: Any) -> bool:
    """Whether there is a driver that can still be asked."""
    try:
        return context is not None and context._jsc is not None and not context._jsc.sc().isStopped()
    except END_ERRORS:
        return False


def _end(context: Any) -> None:
    """Stop a driver. Where its process has ended, forget that process: the next needs another."""
    kind = type(context)
    try:
        context._jvm.System.currentTimeMillis()
        context.stop()
    except END_ERRORS:
        kind._gateway = kind._jvm = kind._active_spark_context = None


def _reach(master: str) -> None:
    """OSError where no master answers: Spark itself would try for a minute."""
    hosts = master.split(",")
    for host in hosts:
        name, _, port = host.rpartition(":")
        try:
            socket.create_connection((name, int(port)), REACH_SECONDS).close()
        except OSError:
            if host == hosts[-1]:
                raise
        else:
            return


def connect(parts: SplitResult) -> SQLBackend:
    """A session on the cluster at spark://host:7077/database?memory=1g, in UTC."""
    options, ibis_spark = url_options(parts, OPTIONS, "A Spark"), _backend()
    settings = {OF_DRIVER[name]: value for name, value in options.items() if name in OF_DRIVER}
    session = DRIVER.session(_master(parts), settings)
    partitions = {"spark.sql.shuffle.partitions": options.get("partitions", FEW_PARTITIONS)}
    backend: SQLBackend = ibis_spark.connect(session, **SETTINGS, **partitions)
    if database := unquote(parts.path.strip("/")):
        session.catalog.setCurrentDatabase(database)
    return backend


class _Compiler(PySparkCompiler):  # type: ignore[misc]
    """Ibis's own takes the mark between elements for a pattern, and knows the blanks of ASCII alone."""

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        return sge.Trim(this=arg, expression=sge.convert(BLANKS))

    def visit_StringSplit(self, op: Any, *, arg: Any, delimiter: Any) -> Any:  # noqa: N802
        return self.f.split(arg, sge.convert(re.escape(op.delimiter.value)))


def _backend() -> Any:
    """Ibis's own for Spark, which would copy answers by way of pandas, and end the driver with a session."""
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
    try:
        from ibis.backends.pyspark import Backend
    except ImportError:
        raise Misconfigured("Spark needs a package that is not installed: pip install pyspark") from None

    class Session(Backend):  # type: ignore[misc]
        """Answers come as Arrow, and the driver is left to the other sessions."""

        compiler = _Compiler()

        def to_pyarrow(self, expr: ir.Table, /, **kwargs: Any) -> pa.Table:
            try:
                return self._session.sql(self.compile(expr)).toArrow()
            except ERRORS as error:
                _check_driver(self, error)
                raise

        def disconnect(self) -> None:
            pass

    Session.register_options()
    return Session()


def _master(parts: SplitResult) -> str:
    """The hosts of a URL, each with its port."""
    hosts = parts.netloc.rpartition("@")[2].split(",")
    return ",".join(host if ":" in host else f"{host}:{PORT}" for host in hosts)


def _check_driver(backend: Any, error: Exception | None = None) -> None:
    """ConnectionResetError where the driver of a session has ended."""
    if not is_alive(backend._session.sparkContext):
        raise ConnectionResetError("Spark's driver has ended") from error


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
    try:
        columns = backend._session.table(identifier).schema
    except ERRORS as error:
        condition = error.getCondition() if hasattr(error, "getCondition") else None
        if (condition or "").startswith(_ABSENT):
            raise TableNotFound(identifier) from None
        raise
    *place, table = parts
    database, catalog = [*reversed(place), None, None][:2]
    return ibis.table(_schema(columns), name=table, database=database, catalog=catalog)


def _schema(columns: Any) -> ibis.Schema:
    """The types of columns. Ibis takes Spark's timestamps for those of some clock; they are instants.

    A column with ${…} in its name is left out: Spark replaces that in Parquet, and reads nothing.
    """
    from ibis.backends.pyspark.datatypes import PySparkType
    from pyspark.sql.types import TimestampType

    instant = dt.Timestamp(timezone="UTC")
    return ibis.schema(
        {
            field.name: instant
            if isinstance(field.dataType, TimestampType)
            else PySparkType.to_ibis(field.dataType)
            for field in columns
            if "${" not in field.name
        }
    )


def start_group(backend: Any, name: str, label: str) -> None:
    """What this thread asks from now on can be interrupted by this name, and is listed by the label."""
    _check_driver(backend)
    backend._session.sparkContext.setJobGroup(name, label, interruptOnCancel=True)


def interrupt(backend: Any, name: str) -> None:
    """Cancel what was asked under a name and still runs."""
    if is_alive(backend._session.sparkContext):
        backend._session.sparkContext.cancelJobGroup(name)
