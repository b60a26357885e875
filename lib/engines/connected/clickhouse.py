"""Opening ClickHouse, over its HTTP protocol: an optional part, `pip install tranche[clickhouse]`."""

import math
from typing import Any, ClassVar
from urllib.parse import SplitResult, unquote

import ibis.expr.operations as ops
from ibis.backends.sql import SQLBackend
from ibis.backends.sql.compilers.clickhouse import ClickHouseCompiler

from lib.engines.connected.dialects import BLANKS, url_options
from lib.wire.errors import Misconfigured

Errors = tuple[type[Exception], ...]
try:
    from clickhouse_connect.driver import exceptions

    ERRORS: Errors = (exceptions.ClickHouseError,)
    CONNECTION_ERRORS: Errors = (exceptions.OperationalError,)
except ImportError:
    ERRORS, CONNECTION_ERRORS = (), ()

# Ibis writes groups as they are: a number among them is a constant, no column's position.
SETTINGS = {"session_timezone": "UTC", "enable_positional_arguments": 0}
OPTIONS = frozenset({"secure"})


def connect(parts: SplitResult) -> SQLBackend:
    """A connection to the server at clickhouse://name:password@host:8123/database?secure=1, in UTC.

    Misconfigured where the server is too old for the client.
    """
    options = url_options(parts, OPTIONS, "A ClickHouse")
    try:
        backend: SQLBackend = _backend().connect(
            host=parts.hostname or "localhost",
            port=parts.port,
            database=parts.path.strip("/") or "default",
            user=unquote(parts.username or "default"),
            password=unquote(parts.password or ""),
            secure=options.get("secure") == "1",
            settings=SETTINGS,
        )
    except ERRORS as error:
        # the client first reads columns of system.settings that servers have not always had
        if "Code: 47" in str(error):
            raise Misconfigured(
                "The ClickHouse server is too old for the package clickhouse-connect: update the server, or "
                "import the rows"
            ) from error
        raise
    return backend


class _Compiler(ClickHouseCompiler):  # type: ignore[misc]
    """Ibis's own counts distinct values with `uniq`, an estimate; its sums of integers overflow silently."""

    SIMPLE_OPS: ClassVar = {**ClickHouseCompiler.SIMPLE_OPS, ops.CountDistinct: "uniqExact"}

    def visit_Strip(self, op: Any, *, arg: Any) -> Any:  # noqa: N802
        """Without the blanks that an import takes off; Ibis's own knows those of ASCII."""
        return self.f.replaceRegexpAll(arg, f"^[{BLANKS}]+|[{BLANKS}]+$", "")

    def visit_StringSplit(self, op: Any, *, arg: Any, delimiter: Any) -> Any:  # noqa: N802
        """Of a missing text no elements; Ibis's own casts it to a type without NULL, which fails."""
        return self.f.splitByString(delimiter, self.f.ifNull(arg, ""))

    def visit_Sum(self, op: Any, *, arg: Any, where: Any) -> Any:  # noqa: N802
        """Of doubles the compensated sum."""
        if op.arg.dtype.is_floating():
            return self.agg.sumKahan(arg, where=where)
        return self.agg.sum(self.f.toInt128(arg) if op.arg.dtype.is_integer() else arg, where=where)


def _backend() -> Any:
    """Ibis's backend for ClickHouse, with exact counts of distinct values."""
    try:
        from ibis.backends.clickhouse import Backend
    except ImportError:
        raise Misconfigured(
            "ClickHouse needs a package that is not installed: pip install clickhouse-connect"
        ) from None

    class Exact(Backend):  # type: ignore[misc]
        compiler = _Compiler()

    return Exact()


def begin(backend: SQLBackend, seconds: float | None, label: str) -> None:
    """Let the server stop each further statement after so many seconds (None: never), and log its label."""
    backend.con.set_client_setting("log_comment", label)
    backend.con.set_client_setting("max_execution_time", 0 if seconds is None else max(1, math.ceil(seconds)))
