"""The driver of this process on a Spark cluster: one for all connections, each of which is a session."""

import socket
import threading
from typing import Any

from lib.wire.errors import Misconfigured

Errors = tuple[type[Exception], ...]
try:
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    ERRORS: Errors = (PySparkException, Py4JError)
    LOST: Errors = (Py4JNetworkError,)
except ImportError:
    ERRORS, LOST = (), ()

ENDED: Errors = (*ERRORS, OSError)
REACH_SECONDS = 5.0
SETTINGS = {
    "spark.app.name": "tranche",
    "spark.driver.defaultJavaOptions": "-Duser.timezone=UTC",
    "spark.executor.defaultJavaOptions": "-Duser.timezone=UTC",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


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
        conf = SparkConf().setAll([*SETTINGS.items(), *settings.items()])
        try:
            self._context = SparkContext(master=f"spark://{master}", conf=conf)
        except PySparkException as error:
            if error.getCondition() == "JAVA_GATEWAY_EXITED":
                raise Misconfigured("Spark's driver did not start: it needs Java 17 or later") from None
            raise
        self._started_for = (master, settings)


def is_alive(context: Any) -> bool:
    """Whether there is a driver that can still be asked."""
    try:
        return context is not None and context._jsc is not None and not context._jsc.sc().isStopped()
    except ENDED:
        return False


def _end(context: Any) -> None:
    """Stop a driver. Where its process has ended, forget that process: the next needs another."""
    kind = type(context)
    try:
        context._jvm.System.currentTimeMillis()
        context.stop()
    except ENDED:
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
